"""Settings said once: fields of a frozen dataclass, each with all that is told of it.

    budget: Annotated[int, About("Experiments there is money for.", Section.aim, 40, least=1)]

Options of commands, the TOML example, requests of the REST API and the page's forms are made of
such fields, so none of them can say something else. This is no pydantic, which only the extra `web`
installs and which would cost `serendip --help` more than all else; `web/api` makes its models of
what stands here.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Flag, StrEnum, auto
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from serendip.core.errors import InvalidInput

if TYPE_CHECKING:
    from serendip.core.registry import Registry

Owner = TypeVar("Owner")

_LARGEST = 2**63 - 1


class Section(StrEnum):
    """What a setting is about, in the order in which settings are shown; a heading each."""

    aim = "what it is about"
    labels = "labels: numbers of any size, unless one of these says otherwise"
    columns = "columns of the table: numbers are standardised, words become categories"
    shapes = "other kinds of candidates"
    rare = "rarely needed"


class Where(Flag):
    """Who offers a setting."""

    command = auto()
    """As an option."""
    file = auto()
    """In TOML."""
    api = auto()
    page = auto()
    everywhere = command | file | api | page


class Control(StrEnum):
    """How the page asks for a setting."""

    field = "a field made of what is said here"
    role = "the role of a column of the table"
    own = "drawn in a template, beside what it goes with"


@dataclass(frozen=True, slots=True)
class About:
    """All that is told of a setting besides its name, its type and its default."""

    help: str
    """A sentence, the same wherever the setting is offered."""
    section: Section
    example: object
    """A value as it may stand in a TOML file."""
    more: str = ""
    """Further sentences, where there is room for them."""
    title: str = ""
    """What the page's form calls it; by default its name."""
    otherwise: str = ""
    """What holds where nothing is said, if the default does not say it."""
    word: str = ""
    """What logs, TOML files and requests call it; by default its name. It must never change, so a
    field that is renamed keeps its old name here."""
    retired: tuple[str, ...] = ()
    """Words of the past, which logs and TOML files may still have."""
    option: str = ""
    """The option of commands; by default its name."""
    least: int | None = None
    """Of numbers."""
    served: int | None = None
    """The largest number that a server accepts, whose time others wait for."""
    column: bool = False
    """Whether it names columns of the table."""
    tables: bool = False
    """Whether it is for tables only: of a pool folder it was decided when that was imported."""
    commas: bool = False
    """Whether an option takes several words at once, with commas between them."""
    among: Callable[[], "Registry[Any]"] | None = None
    """Whose names it takes; a function, so that nothing is imported before names are wanted."""
    where: Where = Where.everywhere
    control: Control = Control.field

    def __repr__(self) -> str:
        return "…"  # signatures stay readable; the docstring says what is told


class Kind(StrEnum):
    """What a value is."""

    text = "text"
    whole = "a whole number"
    number = "a number"
    flag = "true or false"
    choice = "one of a few words"
    file = "the path of a file"
    pair = "two numbers"
    several = "several words"


_KINDS: Mapping[object, Kind] = {
    str: Kind.text,
    int: Kind.whole,
    float: Kind.number,
    bool: Kind.flag,
    Path: Kind.file,
    tuple[float, float]: Kind.pair,
    tuple[str, ...]: Kind.several,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of a class of settings, with what is told of it."""

    name: str
    kind: Kind
    default: Any
    """None where there is none, or where nothing is the default."""
    required: bool
    choices: tuple[str, ...]
    about: About

    @property
    def word(self) -> str:
        """What logs, TOML files and requests call it."""
        return self.about.word or self.name

    @property
    def title(self) -> str:
        """What the page calls it."""
        return self.about.title or self.name.replace("_", " ").capitalize()

    @property
    def option(self) -> str:
        """What commands call it."""
        return self.about.option or f"--{self.name.replace('_', '-')}"

    @property
    def default_in_words(self) -> str:
        """What holds where nothing is said; empty where that is no more than its absence."""
        if self.about.otherwise:
            return self.about.otherwise
        plain = isinstance(self.default, str | int | float) and self.kind is not Kind.flag
        return str(self.default) if plain else ""

    def help(self, installed: bool = False) -> str:
        """The sentence about it, with the names it takes, if it takes names.

        Args:
            installed: Whether to look for those of installed packages.
        """
        if self.about.among is None:
            return self.about.help
        return f"{self.about.help[:-1]}: {', '.join(self.about.among().titles(installed))}."

    def told(self, sentence: str, *more: str) -> str:
        """A sentence about it, further ones, and what holds where nothing is said."""
        default = self.default_in_words
        parts = (sentence, *more, f"Default: {default}." if default else "")
        return " ".join(part for part in parts if part)

    def typed(self, value: Any, beside: Path | None = None) -> Any:
        """A plain value as the field wants it; lists become tuples, texts paths.

        Args:
            value: As TOML, JSON or the options of a command have it.
            beside: The folder that paths are relative to; by default the working folder.
        """
        name = self.word
        if self.kind is Kind.file:
            if not isinstance(value, str | Path) or not str(value).strip() or "\0" in str(value):
                raise InvalidInput(f"{name} must be the path of a file; got {value!r}.")
            return (beside or Path()) / Path(value).expanduser()
        if self.kind is Kind.pair:
            try:
                low, high = (float(part) for part in value)
            except (TypeError, ValueError, OverflowError):
                raise InvalidInput(
                    f"{name} must be two numbers, low and high; got {value!r}."
                ) from None
            return (low, high)
        if self.kind is Kind.several:
            parts = value.split(",") if isinstance(value, str) else value
            if not isinstance(parts, list | tuple) or not all(isinstance(p, str) for p in parts):
                raise InvalidInput(f"{name} must be a list of words; got {value!r}.")
            return tuple(part.strip() for part in parts)
        if self.kind is Kind.flag and not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false; got {value!r}.")
        if self.kind is Kind.whole and not _is_number(value, int):
            raise InvalidInput(f"{name} must be a whole number; got {value!r}.")
        if self.kind is Kind.number and not _is_number(value, int | float):
            raise InvalidInput(f"{name} must be a number; got {value!r}.")
        if self.kind is Kind.text and not isinstance(value, str):
            raise InvalidInput(f"{name} must be text; got {value!r}.")
        return value

    def check(self, value: Any) -> None:
        """Refuses a value of the field that cannot be meant, whatever the others are."""
        if value is not None or self.required:
            self._check(value)

    def _check(self, value: Any) -> None:
        least = self.about.least
        if self.kind is Kind.whole and not (
            _is_number(value, int) and (least is None or least <= value) and value <= _LARGEST
        ):
            wanted = "a whole number" if least is None else f"a whole number from {least} on"
            raise InvalidInput(f"{self.name} must be {wanted}; got {value!r}.")
        if self.kind is Kind.number and not (_is_number(value, int | float) and isfinite(value)):
            raise InvalidInput(f"{self.name} must be a finite number; got {value!r}.")
        if self.kind is Kind.choice and value not in self.choices:
            wanted = " or ".join(map(repr, self.choices))
            raise InvalidInput(f"{self.name} must be {wanted}; got {value!r}.")
        if self.about.column:
            for one in value if self.kind is Kind.several else (value,):
                if not (isinstance(one, str) and one.strip()):
                    raise InvalidInput(f"{self.name} must name a column; got {one!r}.")


def _is_number(value: object, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def described(owner: type) -> tuple[Setting, ...]:
    """The settings of a class, by section, those that must be said first."""
    return _described(owner)


@cache
def _described(owner: type) -> tuple[Setting, ...]:
    found = [_setting(field.name, field.type, field.default) for field in fields(owner)]
    sections = list(Section)
    return tuple(
        sorted(found, key=lambda one: (sections.index(one.about.section), not one.required))
    )


def documented(owner: type[Owner]) -> type[Owner]:
    """Adds what is told of each setting to the docstring of the class, where `help` shows it."""
    told = "\n".join(f"    {one.name}: {one.told(one.about.help)}" for one in described(owner))
    owner.__doc__ = f"{owner.__doc__}\n\nAttributes:\n{told}\n"
    return owner


def offered(owner: type, where: Where) -> tuple[Setting, ...]:
    """The settings of a class that are offered there."""
    return tuple(one for one in described(owner) if one.about.where & where)


def _setting(name: str, annotation: Any, default: Any) -> Setting:
    plain, about = get_args(annotation)
    possible = [one for one in get_args(plain) if one is not NoneType]
    kind = possible[0] if NoneType in get_args(plain) and len(possible) == 1 else plain
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    required = default is MISSING
    return Setting(
        name,
        Kind.choice if choices else _KINDS[kind],
        None if required else default,
        required,
        choices,
        about,
    )


def as_plain(settings: Any) -> dict[str, Any]:
    """Plain values by their words, as JSON has them."""
    plain: dict[str, Any] = {}
    for one in described(type(settings)):
        value = getattr(settings, one.name)
        if isinstance(value, Path):
            value = str(value)
        plain[one.word] = list(value) if isinstance(value, tuple) else value
    return plain


def todays(owner: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the words of today; words that nobody knows stay as they are."""
    retired = {old: one.word for one in described(owner) for old in one.about.retired}
    return {retired.get(name, name): value for name, value in settings.items()}


def typed(
    owner: type, what: str, values: Mapping[str, Any], beside: Path | None = None
) -> dict[str, Any]:
    """Plain values as the fields of a class want them; what is None counts as not given.

    Args:
        owner: The class.
        what: What it describes, for messages.
        values: By the words of the settings.
        beside: The folder that paths are relative to; by default the working folder.
    """
    known = {one.word: one for one in described(owner)}
    given = {name: value for name, value in todays(owner, values).items() if value is not None}
    for name in given:
        if name not in known:
            from serendip.core.naming import known as check

            check(name, known, "setting", "settings")
    for one in known.values():
        if one.required and one.word not in given:
            raise InvalidInput(f"A {what} needs a {one.word}; add it to the settings.")
    return {known[name].name: known[name].typed(value, beside) for name, value in given.items()}
