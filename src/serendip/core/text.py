"""Text that people type: what may be kept, and how what may not is written out."""

import re

from serendip.core.errors import InvalidInput

_LONGEST = 200

_HALF = re.compile("[\ud800-\udfff]")
"""Halves of characters: what Python makes of bytes that are no text."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What moves the cursor, rings, or breaks the line."""


def checked_text(what: str, text: str) -> str:
    """The text, once it is known that every file, database and screen can hold it.

    Args:
        what: It is, to begin a sentence with.
        text: As it came.
    """
    if _HALF.search(text):
        raise InvalidInput(
            f"{what} holds bytes that are no text, {_shortened(text)}; write it in UTF-8."
        )
    return text


def checked_line(what: str, text: str) -> str:
    """The text, once it is also known to be one line, not blank and not too long."""
    checked_text(what, text)
    if _CONTROL.search(text) or not text.strip() or len(text) > _LONGEST:
        raise InvalidInput(
            f"{what} must be one line of 1 to {_LONGEST} letters, without control characters; got "
            f"{_shortened(text)}."
        )
    return text


def escaped(text: str, control: bool = True) -> str:
    """The text with whatever `checked_line` refuses in it written out as Python writes it.

    Args:
        text: Of an old log, or the name of a file.
        control: Whether control characters are written out, too.
    """
    plain = _HALF.sub(_written_out, text)
    return _CONTROL.sub(_written_out, plain) if control else plain


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
