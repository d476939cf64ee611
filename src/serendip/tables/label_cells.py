"""Cells of a label column, and the numbers they stand for."""

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.core.errors import InvalidInput
from serendip.core.labels import Continuous, Labels, Ordered
from serendip.tables.amounts import number_in
from serendip.tables.columns import numbers_of, odd_one, row_number
from serendip.tables.numerals import is_share
from serendip.tables.unsure import Unsure

if TYPE_CHECKING:
    import pandas as pd

_QUOTED = re.compile(r"'\s*'*[=+\-@\t\r\n＝＋－＠]")


def original(text: str) -> str:
    """The text without the apostrophe that kept a spreadsheet from taking it for a formula."""
    return text[1:] if _QUOTED.match(text) else text


def numbers_in(cells: "pd.Series[Any]", labels: Labels, words: Sequence[str] = ()) -> list[float]:
    """The numbers that written labels stand for.

    Args:
        cells: None of them empty.
        labels: The kind they are of.
        words: What may be written instead of a label elsewhere, for messages.
    """
    written: Sequence[Any] = cells.tolist()
    if isinstance(labels, Continuous):
        _check_kinds(cells)
        written = [cell if _is_share(cell) else _plain(cell) for cell in written]
        numbers = [at for at, cell in enumerate(written) if not _is_share(cell)]
        amounts = cells.iloc[numbers].astype(object)
        amounts[:] = [written[at] for at in numbers]
        remedy = f"; or write {' or '.join(words)}" if words else ""
        values = numbers_of(amounts, remedy) if numbers else ()
        if values is None:
            at = odd_one(amounts)
            wanted = " or ".join(filter(None, (", ".join(("numbers", *words[:-1])), *words[-1:])))
            raise InvalidInput(
                f"Labels must be {wanted}; column {cells.name!r} holds {amounts.iloc[at]!r} in row "
                f"{row_number(amounts, at)}."
            )
        for at, value in zip(numbers, values, strict=True):
            written[at] = value
    found = []
    for at, cell in enumerate(written):
        try:
            found.append(written_label(cell, labels))
        except InvalidInput as problem:
            said = str(problem).rstrip(".")
            raise InvalidInput(f"{said} (row {row_number(cells, at)}).") from None
    return found


def _check_kinds(cells: "pd.Series[Any]") -> None:
    """Refuses what is neither number nor text: Python would count True as 1."""
    for at, cell in enumerate(cells.tolist()):
        if isinstance(cell, bool | np.bool_):
            what, remedy = str(cell).upper(), "declare binary labels, or write the number"
        elif not isinstance(cell, str | Real | Decimal):
            what, remedy = f"{cell} ({_kind(cell)})", "write the number"
        else:
            continue
        raise InvalidInput(
            f"Labels must be numbers; column {cells.name!r} holds {what} in row "
            f"{row_number(cells, at)}; {remedy}."
        )


def _kind(cell: object) -> str:
    times = datetime.date | datetime.time | datetime.timedelta
    return "a date or a time" if isinstance(cell, times) else type(cell).__name__


def written_label(written: object, labels: Labels) -> float:
    """The number that stands for what was written, of a kind of label."""
    if isinstance(labels, Ordered):
        if isinstance(written, float) and written.is_integer():
            written = int(written)
        if isinstance(written, str):
            written = original(written.strip())
    elif isinstance(written, str):
        written = _amount(written, labels)
    return labels.encode(written) + 0.0  # no negative zero


def _amount(written: str, labels: Labels) -> float:
    if isinstance(written, Unsure):
        raise InvalidInput(f"A label must be a number, and {written.says}.")
    return number_in(original(written.strip()), labels)


def _is_share(cell: object) -> bool:
    return isinstance(cell, str) and is_share(original(cell.strip()))


def _plain(cell: object) -> object:
    return original(cell) if isinstance(cell, str) and not isinstance(cell, Unsure) else cell
