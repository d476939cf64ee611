"""Users' files in: CSV, TSV, XLSX and Parquet, with bad rows named as a spreadsheet shows them."""

import difflib
import io
import re
import warnings
from collections.abc import Callable
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
    settled,
    without_empty_columns,
)
from serendip.tables.delimited import read_delimited

if TYPE_CHECKING:
    import pandas as pd


def read_table(path: str | Path) -> "pd.DataFrame":
    """The table in a .csv, .tsv, .xlsx (first sheet) or .parquet file.

    Text files may be UTF-8 (with or without a byte order mark), UTF-16, or Windows-1252; a .csv
    may be separated by commas, semicolons or tabs. Decimal commas and grouped thousands are
    numbers where a whole column agrees; codes with leading zeros (007) stay text. Blank rows are
    skipped. The index, named "spreadsheet row", holds the row numbers a spreadsheet shows: the
    header is row 1 and the first candidate row 2.
    """
    file = _existing(Path(path))
    frame = _READERS[file.suffix.lower()](file)
    frame = frame.dropna(how="all")
    if frame.empty:
        raise InvalidInput(
            f"{file.name} has a header but no rows; add at least one row below the header."
        )
    return frame


def _existing(file: Path) -> Path:
    if file.is_dir():
        raise InvalidInput(f"{file} is a folder; give the path of one file inside it.")
    if file.suffix.lower() not in _READERS:
        endings = ", ".join(_READERS)
        raise InvalidInput(
            f"A table must be a file ending in {endings}; got {file.name!r}. "
            "Save or export it in one of these formats."
        )
    if not file.is_file():
        try:
            near = difflib.get_close_matches(file.name, [p.name for p in file.parent.iterdir()], 1)
        except (OSError, ValueError):
            near = []
        hint = f"did you mean {near[0]}?" if near else "check the path."
        raise InvalidInput(f"There is no file {file}; {hint}")
    return file


def _read_xlsx(file: Path) -> "pd.DataFrame":
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
        return settled(without_empty_columns(frame, header), None)
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


def _read_parquet(file: Path) -> "pd.DataFrame":
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


_READERS: dict[str, Callable[[Path], "pd.DataFrame"]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".xlsx": _read_xlsx,
    ".parquet": _read_parquet,
}
