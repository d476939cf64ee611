"""Fields of forms, made of what `core/settings.py` has of each setting."""

from collections.abc import Collection, Mapping
from typing import Any

from serendip.core.errors import InvalidInput
from serendip.core.settings import Control, Kind, Setting, Where, offered
from serendip.web.pages.numbers import decimal, whole
from serendip.web.pages.wording import said

YES = "yes"
"""What the box of a flag says where it is ticked."""


def form_settings(owner: type) -> tuple[Setting, ...]:
    """The settings of a class that have a field of their own."""
    return tuple(one for one in offered(owner, Where.page) if one.about.control is Control.field)


def first_values(settings: Collection[Setting]) -> dict[str, str]:
    """The fields as they are first shown."""
    return {one.word: _written(one) for one in settings}


def sent_values(settings: Collection[Setting], form: Mapping[str, Any]) -> dict[str, str]:
    """The fields as they were sent; a box that is not ticked is not sent at all."""
    found = {}
    for one in settings:
        value = form.get(one.word)
        if isinstance(value, str):
            found[one.word] = value.strip()
        elif one.kind is Kind.flag:
            found[one.word] = ""
    return found


def given_settings(
    settings: Collection[Setting], values: Mapping[str, str], errors: dict[str, str]
) -> dict[str, Any]:
    """The settings by their words; an empty field leaves its default, tables are left out.

    Args:
        settings: With a field of their own.
        values: As they were sent.
        errors: What is wrong is added, by the name of the field.
    """
    found = {}
    for one in settings:
        if one.kind is Kind.file:
            continue
        try:
            value = _read(one, values.get(one.word, ""))
        except InvalidInput as problem:
            errors[one.word] = said(problem)
            continue
        if value is not None:
            found[one.word] = value
    return found


def _written(setting: Setting) -> str:
    if setting.kind is Kind.flag:
        return YES if setting.default else ""
    if isinstance(setting.default, tuple):
        return ", ".join(map(str, setting.default))
    return "" if setting.default is None else str(setting.default)


def _read(setting: Setting, written: str) -> Any:
    if setting.kind is Kind.flag:
        return written == YES
    if not written.strip() and not setting.required:
        return None
    if setting.kind is Kind.whole:
        least, most = setting.about.least or 0, setting.about.served
        number = whole(written, least)
        if most is not None and number > most:
            raise InvalidInput(f"At most {most:,}, please.")
        return number
    if setting.kind is Kind.number:
        return decimal(written)
    if setting.kind is Kind.pair:
        return [decimal(part) for part in written.split(",")]
    return written
