"""Names and what they stand for: entries of serendip, of installed packages, and import paths.

Three ways to name a model or a policy:

- an entry of serendip's own tables, `models.registry.MODELS` and `policies.registry.POLICIES`;
- an entry point that an installed package declares, in the group `serendip.models` or
  `serendip.policies`; its name is read from the package's metadata, and the package is imported
  when the name is chosen;
- an import path, `mypackage:MyPolicy`, which is imported only where whoever names it says so: on
  the command line or in Python, never because a log, a page or a request holds it.

Reading names and titles imports nothing of any package.
"""

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from serendip.core.errors import InvalidInput, NotAvailable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Entry(Protocol):
    """What is known of a model or a policy before it is imported."""

    @property
    def name(self) -> str:
        """As people write it."""
        ...

    @property
    def title(self) -> str:
        """What it is, in one line."""
        ...

    @property
    def offered(self) -> bool:
        """Whether lists of choices show it."""
        ...


E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class Registry(Generic[E]):
    """All names of one kind."""

    one: str
    """`policy`, as messages say it."""
    many: str
    group: str
    """Of the entry points."""
    own: Mapping[str, E]
    adopt: Callable[[str, object], E]
    """The entry for an object from elsewhere that goes by this name; nonsense is refused."""

    def titles(self, installed: bool = True) -> dict[str, str]:
        """The choices that lists show, each in one line: ours, then those of packages.

        Args:
            installed: Whether to look for packages, which takes some hundredths of a second.
        """
        ours = {name: entry.title for name, entry in self.own.items() if entry.offered}
        if not installed:
            return ours
        found = _installed(self.group, tuple(sys.path))
        theirs = {name: f"from the package {_package(ones[0])}" for name, ones in found.items()}
        return ours | {name: title for name, title in theirs.items() if name not in self.own}

    def check(self, name: str) -> str:
        """The name, if it is of serendip or of an installed package; nothing is imported."""
        if isinstance(name, str) and (name in self.own or name in self.titles()):
            return name
        if is_path(name):
            raise NotAvailable(
                f"The {self.one} {name} is an import path, and those run only for who names them "
                f"on the command line (--{self.one}, --allow) or in Python; elsewhere a package "
                f"offers its {self.many} by entry points of {self.group!r}."
            )
        from serendip.core.naming import known

        return known(name, self.titles(), self.one, self.many)

    def get(self, name: str, allow: Collection[str] = ()) -> E:
        """What a name stands for; a package is imported now.

        Args:
            name: Of serendip, of an installed package, or an import path.
            allow: Import paths that the user has named, and that may therefore run.
        """
        if is_path(name) and name in allow:
            return self.adopt(name, _imported(name, lambda: load(name)))
        self.check(name)
        if name in self.own:
            return self.own[name]
        point, *others = _installed(self.group, tuple(sys.path))[name]
        if others:
            packages = " and ".join(_package(one) for one in (point, *others))
            raise InvalidInput(
                f"The {self.one} {name!r} is offered by {packages}; uninstall one of them."
            )
        return self.adopt(name, _imported(point.value, point.load))

    def recall(self, name: str, allow: Collection[str] = ()) -> E:
        """The same for a name that a log holds: what is missing is said as a campaign needs it."""
        if name not in self.own and name not in self.titles() and not is_path(name):
            raise NotAvailable(
                f"This campaign uses the {self.one} {name!r}, which is not installed here; install "
                f"the package that offers it by an entry point of {self.group!r}. Results can be "
                "recorded and exported without it."
            )
        if is_path(name) and name not in allow:
            raise NotAvailable(
                f"This campaign uses the {self.one} {name}, an import path that only its log "
                f"names; to run that code, name it yourself: add --allow {name} to the command, "
                f'or allow=["{name}"] in Python. Results can be recorded and exported without it.'
            )
        return self.get(name, allow)


def is_path(name: object) -> bool:
    """Whether this is an import path such as `mypackage:MyPolicy`."""
    if not isinstance(name, str):
        return False
    module, colon, attribute = name.partition(":")
    parts = (*module.split("."), *attribute.split("."))
    return bool(colon) and all(part.isidentifier() for part in parts)


@lru_cache(maxsize=16)
def _installed(group: str, path: tuple[str, ...]) -> "Mapping[str, tuple[EntryPoint, ...]]":
    """The entry points of a group by name, as long as packages are looked for on this path."""
    from importlib.metadata import entry_points

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=group), key=lambda one: (one.name, _package(one))):
        if ":" not in point.name and point.name.isprintable():
            found[point.name] = (*found.get(point.name, ()), point)
    return found


def _package(point: "EntryPoint") -> str:
    return "unknown" if point.dist is None else point.dist.name


def load(path: str) -> object:
    """The object that `module:attribute` names."""
    module, _, attributes = path.partition(":")
    found: object = import_module(module)
    for name in attributes.split("."):
        found = getattr(found, name)
    return found


def _imported(path: str, found: Callable[[], object]) -> object:
    """An object of a package that is not ours, whose faults are told in one sentence."""
    try:
        return found()
    except (Exception, SystemExit) as problem:  # whatever the package does when it is imported
        raise NotAvailable(
            f"{path} could not be imported ({first_line(problem)}); install its package, or "
            "correct it."
        ) from problem


def called(what: str, function: Callable[..., object], *given: object) -> object:
    """What a function that is not ours makes; its faults are told in one sentence."""
    try:
        return function(*given)
    except Exception as problem:  # whatever it does
        with_what = " and ".join(map(repr, given)) or "nothing"
        raise InvalidInput(
            f"{what} could not be made: called with {with_what}, it said: {first_line(problem)}."
        ) from problem


def first_line(problem: BaseException) -> str:
    """What an error says, for a sentence of ours."""
    return str(problem).partition("\n")[0].rstrip(".") or type(problem).__name__


@dataclass(frozen=True, slots=True)
class Ready:
    """A factory of what is made already."""

    made: object

    def __call__(self, *given: object) -> object:
        return self.made
