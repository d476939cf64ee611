"""One column at a time: which it is, its numbers, the labels, the ids; bad rows are named."""

import difflib
from collections.abc import Hashable, Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.core.arguments import shown
from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.tables.cells import ROW
from serendip.tables.numerals import COMMA, POINT, Style, is_code, is_number, is_share, reading_of
from serendip.tables.unsure import Unsure

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any]


def labels_of(
    frame: "pd.DataFrame", column: str, minimize: bool = False, require_all: bool = True
) -> Floats:
    """(n,) the labels in a column, larger is better.

    Args:
        frame: The table.
        column: The name of the label column.
        minimize: Whether smaller labels are better; they are then negated.
        require_all: Whether every row needs a label; otherwise a row without one is NaN.
    """
    labels = frame[known_column(frame, column)]
    gaps = np.flatnonzero(labels.isna())
    if require_all:
        check_complete(labels)
    refuse_shares(labels)
    values = np.full(len(frame), np.nan) if len(gaps) == len(frame) else numbers_of(labels)
    if values is None:
        place = odd_one(labels)
        raise InvalidInput(
            f"Labels must be numbers; column {column!r} holds {labels.iloc[place]!r} in row "
            f"{row_number(frame, place)}. Correct the column or choose another for the labels."
        )
    check_finite(labels, values)
    return -values if minimize else values


def check_complete(labels: "Column") -> None:
    """Refuses a column of labels with empty cells."""
    gaps = np.flatnonzero(labels.isna())
    if len(gaps):
        raise InvalidInput(
            f"Column {labels.name!r} has no label in {row_list(labels, gaps)}; fill in the labels, "
            "or remove the rows."
        )


def ids_of(frame: "pd.DataFrame", column: str | None = None) -> tuple[str, ...]:
    """(n,) the candidates' names, all different; without an id column "row 2", "row 3", …"""
    if column is None:
        return tuple(f"row {row_number(frame, place)}" for place in range(len(frame)))
    values = frame[known_column(frame, column)]
    refuse_unsure(values)
    gaps = np.flatnonzero(values.isna())
    if len(gaps):
        raise InvalidInput(
            f"Every candidate needs an id; column {column!r} has none in {row_list(frame, gaps)}."
        )
    names = tuple(_id(value) for value in values.tolist())
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if name in first:
            raise InvalidInput(
                f"Ids must be unique; {name!r} stands in rows {row_number(frame, first[name])} and "
                f"{row_number(frame, place)} of column {column!r}. Rename or remove one of them."
            )
        first[name] = place
    return names


def _id(value: object) -> str:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return str(int(value)) if isinstance(value, float) and whole else str(value).strip()


def refuse_shares(labels: "Column") -> None:
    """Refuses labels of per cent where nothing says whether 72 % is 72 or 0.72."""
    for place, value in enumerate(labels.tolist()):
        if isinstance(value, str) and is_share(value):
            bare = value.removesuffix("%").rstrip()
            raise InvalidInput(
                f"Column {labels.name!r} holds {value!r} in row {row_number(labels, place)}, and "
                f"nothing says whether that is {bare} or a hundredth of it; write all labels "
                "without the per cent sign."
            )


def odd_one(column: "Column") -> int:
    """The place of the first text that is no number, or not in the style of those before it."""
    left: tuple[Style, ...] = (POINT, COMMA)
    first = None
    for place, value in enumerate(column.tolist()):
        if isinstance(value, str):
            first = place if first is None else first
            left = tuple(one for one in left if one.matches(value) and not is_code(value))
            if not left:
                return place
    return first or 0


def known_column(frame: "pd.DataFrame", name: str) -> str:
    """The name, once the table is known to have such a column."""
    if not isinstance(name, Hashable):
        raise InvalidInput(f"A column is given by its name; got {shown(name)}.")
    if name not in frame.columns:
        raise InvalidInput(no_such_column(name, [str(column) for column in frame.columns]))
    return name


def no_such_column(name: str, known: Sequence[str]) -> str:
    """What to say of a column that a table does not have."""
    lower = {column.lower(): column for column in known}
    near = difflib.get_close_matches(str(name).lower(), lower, 1, cutoff=0.5)
    hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
    more = f" and {len(known) - 20} more" if len(known) > 20 else ""
    return f"The table has no column {name!r}; it has {', '.join(known[:20])}{more}.{hint}"


def row_number(frame: "pd.DataFrame | Column", place: int) -> int:
    """The row a spreadsheet shows; tables that were not read from a file count from row 2."""
    return int(frame.index[place]) if frame.index.name == ROW else int(place) + 2


def row_list(frame: "pd.DataFrame | Column", places: Ints) -> str:
    """The first few of these rows in words."""
    shown = ", ".join(str(row_number(frame, place)) for place in places[:5])
    more = f" and {len(places) - 5} more" if len(places) > 5 else ""
    return f"row{'s' if len(places) > 1 else ''} {shown}{more}"


def numbers_of(column: "Column", remedy: str = "") -> Floats | None:
    """The column as numbers, NaN where missing; None where it is text."""
    import pandas as pd
    from pandas.api import types

    if column.dtype == "category":
        return None
    if types.is_numeric_dtype(column) and not types.is_complex_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    refuse_unsure(column)
    gaps = column.isna().to_numpy()
    values = column.astype(object).tolist()
    for place, value in enumerate(values):
        if not gaps[place] and not isinstance(value, str | Real | Decimal | np.bool_):
            raise InvalidInput(
                f"Column {column.name!r} holds a {type(value).__name__} in row "
                f"{row_number(column, place)}; only numbers and text can be used, so convert the "
                "column or leave it out with --ignore."
            )
    texts = {value for value in values if isinstance(value, str)}
    reading = reading_of(texts)
    style = reading.style()
    if reading.styles and style is None:
        place = next(p for p, value in enumerate(values) if _is_ambiguous(value))
        raise InvalidInput(
            f"Column {column.name!r} holds numbers such as {values[place]!r} that can be read in "
            f"two ways (row {row_number(column, place)}); write them with a decimal point and "
            "without marks between thousands."
        )
    if style is not None:
        plain = [style.plain(value) if isinstance(value, str) else value for value in values]
        return np.array([np.nan if gap else float(v) for v, gap in zip(plain, gaps, strict=True)])
    words = {text for text in texts if not is_number(text)}
    wrong = [place for place, value in enumerate(values) if value in words]
    if 0 < 2 * len(wrong) < len(values) - gaps.sum():
        more = f" (and text in {len(wrong) - 1} more rows)" if len(wrong) > 1 else ""
        raise InvalidInput(
            f"Column {column.name!r} holds numbers, but {values[wrong[0]]!r} in row "
            f"{row_number(column, wrong[0])}{more}; correct that, or leave the cell empty{remedy}."
        )
    return None if texts else np.asarray(pd.to_numeric(column), dtype=np.float64)


def _is_ambiguous(value: object) -> bool:
    return isinstance(value, str) and reading_of([value]).style() is None


def check_finite(column: "Column", numbers: Floats) -> None:
    """Refuses infinite values."""
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise InvalidInput(
            f"Numbers must be finite; column {column.name!r} holds {numbers[infinite[0]]} in "
            f"{row_list(column, infinite)}. Correct or remove these rows."
        )


def refuse_unsure(column: "pd.Series[Any]") -> None:
    """Refuses the first cell of a column that is not certain."""
    if column.dtype != object:
        return
    for place, value in enumerate(column.tolist()):
        if isinstance(value, Unsure):
            raise InvalidInput(
                f"Column {str(column.name)!r}, row {row_number(column, place)}: {value.says}."
            )
