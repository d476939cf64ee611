"""Numbers as people write them: 0.73, 0,73, 1,234.5, 1.234,5, 1 234."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

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

_CODE = re.compile(r"0[0-9]+")


def is_number(text: str) -> bool:
    """Whether the text is a number in either style."""
    return POINT.matches(text) or COMMA.matches(text)


def is_code(text: str) -> bool:
    """Whether the text is digits that would lose a leading zero as a number, such as 007."""
    return _CODE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Reading:
    """How a column of texts can be read as numbers."""

    styles: tuple[Style, ...]
    """The styles in which every text is a number: none, one, or both."""
    marked: bool
    """Whether some text would be a different number, or none, in the other style."""

    def style(self, usual: Style | None = None) -> Style | None:
        """The style to read the column in; `usual` decides where both would do."""
        if not self.styles:
            return None
        if not self.marked:
            return POINT
        return self.styles[0] if len(self.styles) == 1 else usual


def reading_of(texts: Iterable[str]) -> Reading:
    """In which styles all the texts are numbers; codes with leading zeros are none."""
    left: tuple[Style, ...] = (POINT, COMMA)
    marked = False
    for text in texts:
        left = () if is_code(text) else tuple(style for style in left if style.matches(text))
        if not left:
            break
        marked = marked or len(left) == 1 or POINT.plain(text) != COMMA.plain(text)
    return Reading(left, marked)


def is_share(text: str) -> bool:
    """Whether the text is a number of per cent, such as 72 % or 0,5%."""
    return text.endswith("%") and is_number(_bare(text))


def share_in(text: str, style: Style) -> str:
    """The number before a per cent sign, as Python writes it."""
    return style.plain(_bare(text))


def _bare(share: str) -> str:
    return share.removesuffix("%").rstrip(_SPACES)


def reading_of_shares(texts: Iterable[str]) -> Reading:
    """In which styles the numbers before per cent signs can be read; none unless all have one."""
    found = list(texts)
    return reading_of(map(_bare, found)) if all(map(is_share, found)) else Reading((), False)


def numbers_meant(text: str) -> frozenset[Decimal]:
    """The numbers a text may stand for, exactly: none, one, or two for such as 1,234."""
    plain = {style.plain(text) for style in (POINT, COMMA) if style.matches(text)}
    try:
        return frozenset(map(Decimal, plain))
    except ArithmeticError:  # an exponent beyond all numbers
        return frozenset()


def two_ways(text: str) -> str:
    """What to say of a number that can be read in two ways, and how to write it in one."""
    point, comma = (Decimal(style.plain(text)) for style in (POINT, COMMA))
    whole, broken = max(point, comma, key=abs), min(point, comma, key=abs)
    mark = "." if point == broken else ","
    longer = f"{broken}0".replace(".", mark)
    return f"can be read in two ways; write {whole} or {longer}"
