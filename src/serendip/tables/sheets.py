"""Tables in workbooks: names as the spreadsheet shows them, per cent as per cent."""

import re
from collections.abc import Container
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serendip.core.errors import InvalidInput
from serendip.tables.cells import (
    MISSING,
    ROW,
    check_header,
    column_names,
    without_empty_columns,
)
from serendip.tables.settling import settled
from serendip.tables.unsure import Unsure
from serendip.tables.workbook import Cell, first_sheet

if TYPE_CHECKING:
    import pandas as pd

_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
"""Parts of a number format that show something whatever the number is."""
_PAINTED = re.compile(r'"[^"]*"|\\.')
_CONDITION = re.compile(r"\[[<>=]")
_FIXED = re.compile(r"0(?:\.(0+))?")
_PADDED = re.compile(r"0+")
_MOST_EXACT = 10**15
"""Whole numbers from here on lose digits: a spreadsheet keeps 15."""
_AS_NUMBER = "format the column as Number and write the number as you mean it"
_AS_TEXT = "write it as text (format the column as Text and type it again)"


def read_xlsx(
    file: Path, names: Container[str | None], labels: Container[str | None]
) -> "pd.DataFrame":
    """The table in the first sheet of a workbook.

    Args:
        file: The workbook.
        names: Columns of names.
        labels: Columns of labels.
    """
    import pandas as pd

    with first_sheet(file) as (title, rows):
        first = next((cells for _, cells in rows if _holds(cells)), {})
        if not first:
            raise InvalidInput(
                f"The first sheet of {file.name} ({title!r}) is empty; put the table there."
            )
        header = [""] * (1 + max(first))
        for at, cell in first.items():
            header[at] = plain_text(cell.value)
        check_header(file, header)
        named = {at for at, name in enumerate(header) if name.strip() in names}
        index: list[int] = []
        columns: dict[int, list[Any]] = {at: [] for at in sorted(first)}
        for row, cells in rows:
            index.append(row)
            for at in cells.keys() - columns.keys():  # without a name
                columns[at] = [None] * (len(index) - 1)
            for at, column in columns.items():
                column.append(_value(cells[at], at in named) if at in cells else None)
    width = 1 + max(columns)
    header += [""] * (width - len(header))
    found = column_names(file, header)
    numbers = pd.Index(index, dtype="int64", name=ROW)
    frame = pd.DataFrame(
        {
            found[at]: _typed(pd.Series(columns[at], index=numbers, dtype=object))
            for at in sorted(columns)
        },
        index=numbers,
    )
    kept = [header[at] for at in sorted(columns)]
    return settled(without_empty_columns(frame, kept), None, names, labels)


def _holds(cells: dict[int, Cell]) -> bool:
    return any(_value(cell, False) is not None for cell in cells.values())


def _value(cell: Cell, named: bool) -> object:
    value = cell.value
    if isinstance(value, str):
        value = value.strip()
        return None if value in MISSING else value
    return shown(value, cell.shown_as) if named else _amount(value, cell.shown_as)


def _typed(column: "pd.Series[Any]") -> "pd.Series[Any]":
    import pandas as pd

    kinds = {type(value) for value in column.dropna()}
    if kinds and kinds <= {int, float}:
        return pd.to_numeric(column)
    return column if kinds & {str, Unsure} else column.infer_objects()


def _amount(value: object, shown_as: str) -> object:
    """A value that is no name; per cent as text with its sign, for 72 % may be 72 or 0.72."""
    if "%" not in shown_as or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    plain = format(Decimal(repr(value)).normalize(), "f")
    parts = _PAINTED.sub(lambda found: found[0].replace(";", "_"), shown_as).split(";")
    if len(parts) > 1 and len({"%" in part for part in parts[:2]}) > 1:
        if _CONDITION.search(shown_as):
            says = f"{plain} is shown as per cent or not by the format {shown_as!r}; {_AS_NUMBER}"
            return Unsure(f"{plain} ({shown_as})", says)  # no number, or it would be read as one
        if "%" not in parts[value < 0]:
            return value
    used = parts[min(value < 0, len(parts) - 1)]
    hundredfold = "%" in _LITERAL.sub("", used if "%" in used else shown_as)
    exact = Decimal(plain) * (100 if hundredfold else 1)
    return f"{exact.normalize():f}%"


def shown(value: object, shown_as: str) -> str:
    """A cell as a spreadsheet shows it; `Unsure` where that is not certain."""
    plain = plain_text(value)
    if isinstance(value, bool):
        return plain
    if not isinstance(value, int | float):
        return Unsure(plain, f"{plain} is a date or a time, and a name is text; {_AS_TEXT}")
    if abs(value) >= _MOST_EXACT:
        says = f"{plain} has more digits than a spreadsheet keeps, and a name is text; {_AS_TEXT}"
        return Unsure(plain, says)
    fixed, padded = _FIXED.fullmatch(shown_as), _PADDED.fullmatch(shown_as)
    if shown_as in ("General", "@"):
        text = plain
    elif fixed:
        text = f"{Decimal(plain):.{len(fixed[1] or '')}f}"
    elif padded and isinstance(value, int):
        text = f"{value:0{len(shown_as) + (value < 0)}d}"
    else:
        return Unsure(
            plain, f"{plain} is a number shown as {shown_as!r}, and a name is text; {_AS_TEXT}"
        )
    if "e" in text or Decimal(text) != Decimal(plain):
        says = f"{plain} is a number that is shown otherwise, and a name is text; {_AS_TEXT}"
        return Unsure(plain, says)
    return text


def plain_text(value: object) -> str:
    """A value as text, numbers with the 15 digits that a spreadsheet knows."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    return str(value)
