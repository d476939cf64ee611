"""A label that somebody wrote as a number, or as a number of per cent."""

from decimal import Decimal

from serendip.core.errors import InvalidInput
from serendip.core.labels import Continuous, Labels
from serendip.tables.numerals import (
    POINT,
    is_code,
    is_number,
    is_share,
    reading_of,
    reading_of_shares,
    share_in,
    two_ways,
)


def number_in(text: str, labels: Labels) -> float:
    """The number in a text; refuses what float() would take and nobody writes, such as 1_000.

    A label that stands alone has no column to say what its marks mean: a point is the decimal mark.
    """
    if is_share(text):
        return _share(text, labels)
    style = reading_of([text]).style()
    if style is None and POINT.matches(text) and POINT.group not in text:
        style = POINT
    if style is None:
        more = f" that {two_ways(text)}" if is_number(text) and not is_code(text) else ""
        raise InvalidInput(f"A label must be a number; got {text!r}{more}.")
    return float(style.plain(text))


def _share(text: str, labels: Labels) -> float:
    """72 % is 72 where labels go up to 100, and 0.72 where they go up to 1."""
    style = reading_of_shares([text]).style()
    low, high = (labels.low, labels.high) if isinstance(labels, Continuous) else (None, None)
    if style is None or low is None or low < 0 or high not in (1.0, 100.0):
        bare = text.removesuffix("%").rstrip()
        raise InvalidInput(
            f"Whether {text!r} is {bare} or a hundredth of it, only a range of 0 to 100 or of 0 "
            "to 1 would say; write the number without the per cent sign."
        )
    return float(Decimal(share_in(text, style)) / (1 if high == 100.0 else 100))
