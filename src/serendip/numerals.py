"""Numbers as people write them: 0.73, 0,73, 1,234.5, 1.234,5, 1 234."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SPACES = "\u0020\u00a0\u2009\u202f'\u2019"
"""Marks that only ever group thousands: spaces (plain, no-break, thin) and apostrophes."""

_MINUS = str.maketrans({"\u2212": "-"})


@dataclass(frozen=True, slots=True)
class Style:
    """One way of writing numbers; grouped thousands are allowed, not required."""

    decimal: str
    """The decimal mark, "." or ","."""
    group: str
    """The mark that may group thousands besides spaces and apostrophes."""

    def matches(self, text: str) -> bool:
        """Whether the text is a number in this style."""
        return _PATTERNS[self.decimal].fullmatch(text.translate(_MINUS)) is not None

    def plain(self, text: str) -> str:
        """The same number as Python writes it; the text must match."""
        bare = text.translate(_MINUS)
        for mark in (self.group, *_SPACES):
            bare = bare.replace(mark, "")
        return bare.replace(self.decimal, ".")


POINT = Style(decimal=".", group=",")
COMMA = Style(decimal=",", group=".")


def _pattern(style: Style) -> re.Pattern[str]:
    mark, group = re.escape(style.decimal), f"[{re.escape(style.group)}{_SPACES}]"
    plain = rf"(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    grouped = rf"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+(?:{mark}[0-9]*)?"
    return re.compile(rf"[+-]?(?:{plain}|{grouped})")


_PATTERNS = {style.decimal: _pattern(style) for style in (POINT, COMMA)}

_CODE = re.compile(r"[+-]?0[0-9]+")


def is_number(text: str) -> bool:
    """Whether the text is a number in either style."""
    return POINT.matches(text) or COMMA.matches(text)


def is_code(text: str) -> bool:
    """Whether the text is digits that would lose a leading zero as a number, such as 007."""
    return _CODE.fullmatch(text) is not None


def styles_of(texts: Iterable[str]) -> tuple[Style, ...]:
    """The styles in which every text is a number: none, one, or both.

    Both are given only where it matters: where every text means the same number either way (whole
    numbers without marks), the answer is `POINT` alone. Codes with leading zeros are no numbers.
    """
    left = [POINT, COMMA]
    same = True
    for text in texts:
        if is_code(text):
            return ()
        left = [style for style in left if style.matches(text)]
        if not left:
            return ()
        same = same and len(left) == 2 and POINT.plain(text) == COMMA.plain(text)
    return (POINT,) if same else tuple(left)
