"""Reading rules 1: how pools of campaigns that began before rules had a number are read.

Kept exactly as it was, for the logs of such campaigns name their candidates by ids that came out
of it; nothing else is read by these rules. What they read wrongly is in `serendip.tables.reading`.
"""

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serendip.core.errors import InvalidInput
from serendip.tables.cells import (
    MISSING,
    ROW,
    bytes_of,
    check_header,
    column_names,
    reason,
    texts_of,
    without_empty_columns,
)
from serendip.tables.delimited import text_table
from serendip.tables.numerals import COMMA, POINT, Style, reading_of

if TYPE_CHECKING:
    import pandas as pd

_LEADING_ZERO = re.compile(rb'0[0-9](?<=[,;\t"\r\n ]..)')
"""A field such as 007; starting from the zero is what makes the search fast."""


def read_delimited(file: Path) -> "pd.DataFrame":
    """The table in a .csv or .tsv file."""
    with text_table(file) as table:
        # Fast path: pandas reads the numbers. Where that could lose or miss something (codes with
        # leading zeros, decimal commas, blanks among integers), all is read as text and settled.
        fast = None if _LEADING_ZERO.search(table.data) else table.frame(None)
        if fast is not None and not _needs_care(fast):
            return fast
        usual = {",": POINT, ";": COMMA}.get(table.separator)
        return _settled(table.frame(str).dropna(how="all"), usual)


def _needs_care(frame: "pd.DataFrame") -> bool:
    blank = frame.isna().all(axis=1).any()
    return bool(blank) or any(reading_of(texts).styles for _, texts in texts_of(frame))


def read_xlsx(file: Path) -> "pd.DataFrame":
    """The table in the first sheet of a workbook."""
    import openpyxl
    import pandas as pd

    data = bytes_of(file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles and validations we have no use for
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            rows = [list(row) for row in sheet.iter_rows(values_only=True)]
        rows = [[_cell(value) for value in row] for row in rows]
        start = next((at for at, row in enumerate(rows) if any(v is not None for v in row)), None)
        if start is None:
            raise InvalidInput(
                f"The first sheet of {file.name} ({sheet.title!r}) is empty; put the table there."
            )
        width = max(len(row) for row in rows)
        rows = [row + [None] * (width - len(row)) for row in rows]
        header = ["" if value is None else str(value) for value in rows[start]]
        while not header[-1].strip() and all(row[len(header) - 1] is None for row in rows):
            header.pop()
        check_header(file, header)
        names = column_names(file, header)
        index = pd.RangeIndex(start + 2, len(rows) + 1, name=ROW)
        columns = {
            name: pd.Series([row[at] for row in rows[start + 1 :]], index=index, dtype=object)
            for at, name in enumerate(names)
        }
        frame = pd.DataFrame({name: _inferred(column) for name, column in columns.items()})
        return _settled(without_empty_columns(frame, header), None)
    except InvalidInput:
        raise
    except Exception as problem:  # openpyxl has no error of its own for a broken workbook
        raise InvalidInput(
            f"{file.name} is not a readable .xlsx workbook ({reason(problem)}); "
            "open it in a spreadsheet and save it again as .xlsx or .csv."
        ) from None


def _cell(value: object) -> object:
    if isinstance(value, str):
        value = value.strip()
        return None if value in MISSING else value
    return value


def _inferred(column: "pd.Series[Any]") -> "pd.Series[Any]":
    import pandas as pd

    values = column.dropna()
    if len(values) and {type(value) for value in values} <= {int, float}:
        return pd.to_numeric(column)
    return column.infer_objects()


def read_parquet(file: Path) -> "pd.DataFrame":
    """The table in a .parquet file."""
    import pandas as pd
    import pyarrow.parquet

    data = bytes_of(file)
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
        names = column_names(file, [str(name) for name in table.column_names])
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
        frame.columns = pd.Index(names)
        frame.index = pd.RangeIndex(2, 2 + len(frame), name=ROW)
        keep = [name for name in frame.columns if not re.fullmatch(r"__index_level_\d+__", name)]
        return frame[keep]
    except InvalidInput:
        raise
    except Exception as problem:  # pyarrow raises many kinds for a broken file
        raise InvalidInput(
            f"{file.name} is not a readable .parquet file ({reason(problem)}); "
            "write it again, or save the table as .csv."
        ) from None


def _settled(frame: "pd.DataFrame", usual: Style | None) -> "pd.DataFrame":
    """Text columns turned into numbers or truth values where every value is one.

    A column such as 1,234 and 2,500 can be read two ways; it follows the columns of the same file
    that can be read in one way only, else the usual style; failing both it stays text.
    """
    import pandas as pd

    columns = dict(texts_of(frame))
    readings = {name: reading_of(texts) for name, texts in columns.items()}
    decided = {r.styles[0] for r in readings.values() if r.marked and len(r.styles) == 1}
    usual = decided.pop() if len(decided) == 1 else usual
    for name, reading in readings.items():
        style = reading.style(usual)
        values: list[Any] = frame[name].tolist()
        if style is not None:
            plain = [style.plain(v) if isinstance(v, str) else _number(v) for v in values]
            numbers = pd.to_numeric(pd.Series(plain, index=frame.index, dtype=object))
            frame[name] = numbers
        elif {text.lower() for text in columns[name]} <= {"true", "false"}:
            truth = [v.lower() == "true" if isinstance(v, str) else v for v in values]
            frame[name] = pd.Series(truth, index=frame.index, dtype=object).infer_objects()
    return frame


def _number(value: object) -> object:
    """A cell that is not text, as it goes beside numbers."""
    return value if isinstance(value, int | float) else None
