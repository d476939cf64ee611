"""Cells of a label column, and the numbers they stand for."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from serendip.core.errors import InvalidInput
from serendip.core.labels import Continuous, Labels, Ordered
from serendip.tables.columns import numbers_of, row_number
from serendip.tables.numerals import reading_of

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
    written: Iterable[Any] = cells.tolist()
    if isinstance(labels, Continuous):
        plain = cells.map(lambda cell: original(cell) if isinstance(cell, str) else cell)
        remedy = f"; or write {' or '.join(words)}" if words else ""
        numbers = numbers_of(plain, remedy) if len(cells) else ()
        if numbers is None:
            wanted = " or ".join(filter(None, (", ".join(("numbers", *words[:-1])), *words[-1:])))
            raise InvalidInput(
                f"Labels must be {wanted}; column {cells.name!r} holds {cells.iloc[0]!r} in row "
                f"{row_number(cells, 0)}."
            )
        written = numbers
    found = []
    for at, cell in enumerate(written):
        try:
            found.append(written_label(cell, labels))
        except InvalidInput as problem:
            said = str(problem).rstrip(".")
            raise InvalidInput(f"{said} (row {row_number(cells, at)}).") from None
    return found


def written_label(written: object, labels: Labels) -> float:
    """The number that stands for what was written, of a kind of label."""
    in_words = isinstance(labels, Ordered)
    if isinstance(written, float) and in_words and written.is_integer():
        written = int(written)
    if isinstance(written, str):
        written = original(written.strip())
        if not in_words:
            style = reading_of([written]).style()
            written = style.plain(written) if style is not None else written
    return labels.encode(written) + 0.0  # no negative zero
