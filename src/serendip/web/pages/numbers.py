"""Numbers that people type into forms."""

import re

from serendip.core.errors import InvalidInput
from serendip.core.labels import Continuous
from serendip.tables.amounts import number_in

_WHOLE = re.compile(r"[0-9]{1,18}|[1-9][0-9]{0,2}(?:[ ,\u00a0\u2009\u202f][0-9]{3}){1,5}")
"""Digits, and marks only where they can stand between thousands: 1,5 is not 15."""


def whole(written: str, least: int = 0) -> int:
    """A whole number."""
    if not written.strip():
        raise InvalidInput("A whole number, please.")
    plain = _WHOLE.fullmatch(written.strip()) is not None
    number = int(re.sub("[^0-9]", "", written)) if plain else -1
    if number < least:
        raise InvalidInput(f"A whole number from {least} on, please; got {written!r}.")
    return number


def decimal(written: str) -> float:
    """A number as a cell of a table may hold it; what can be read in two ways is refused."""
    return number_in(written.strip(), Continuous())
