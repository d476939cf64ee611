"""Fields of requests, made of what `core/settings.py` has of each setting."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, create_model

from serendip.core.settings import Kind, Setting, Where, offered
from serendip.web.api.kinds import Body, Column, Finite, TableId, Word

Request = TypeVar("Request", bound=Body)

_MOST_COLUMNS = 5000
_MOST_WORDS = 100


def with_settings(
    owner: type,
    *,
    names: Mapping[str, str] | None = None,
    types: Mapping[str, Any] | None = None,
    optional: frozenset[str] = frozenset(),
) -> Callable[[type[Request]], type[Request]]:
    """Gives a request a field for each setting of a class.

    Args:
        owner: The class, whose fields `core.settings.About` describes.
        names: Settings that have another name here, since theirs means something else.
        types: Settings that are stricter or wider here than their kind is.
        optional: Settings without which a request may do.
    """

    def decorated(request: type[Request]) -> type[Request]:
        made: dict[str, Any] = {}
        for one in offered(owner, Where.api):
            needed = one.required and one.word not in optional
            kind = (types or {}).get(one.word) or _type(one)
            made[(names or {}).get(one.word, one.word)] = _field(one, kind, needed)
        found: type[Request] = create_model(
            request.__name__,
            __base__=request,
            __doc__=request.__doc__,
            __module__=request.__module__,
            **made,
        )
        return found

    return decorated


def default_of(setting: Setting) -> Any:
    """What a request has where it does not say; None for nothing at all."""
    empty = setting.default is None or setting.default in ("", ())
    return None if empty else setting.default


def _field(setting: Setting, kind: Any, needed: bool) -> tuple[Any, Any]:
    about = setting.about
    parts = [setting.help(installed=True), about.more]
    if about.otherwise:  # a plain default stands in the schema
        parts.append(f"Default: {about.otherwise}.")
    told = " ".join(part for part in parts if part)
    if needed:
        return kind, Field(description=told)
    optional = kind if setting.kind is Kind.flag else kind | None
    return optional, Field(default=default_of(setting), description=told)


def _type(setting: Setting) -> Any:
    about = setting.about
    if setting.kind is Kind.choice:
        return Literal[setting.choices]
    if setting.kind is Kind.whole:
        return Annotated[int, Field(ge=about.least, le=about.served)]
    word: Any = Column if about.column else Word
    most = _MOST_COLUMNS if about.column else _MOST_WORDS
    kinds: Mapping[Kind, Any] = {
        Kind.text: word,
        Kind.number: Finite,
        Kind.flag: bool,
        Kind.file: TableId,
        Kind.pair: Annotated[list[Finite], Field(min_length=2, max_length=2)],
        Kind.several: Annotated[list[word], Field(max_length=most)],
    }
    return kinds[setting.kind]
