"""What the result of a run comes from: code and values, as a digest that changes when they do.

Of serendip and of the user's own files the source counts, with all that they import; of installed
packages the version; of functions and objects what they hold: closures, defaults, fields.
"""

import ast
import copyreg
import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

_OURS = Path(__file__).parents[2]
_NO_RUN = ("cli", "web", "plots", "campaigns")
"""Folders of ours that a run knows nothing of, unless the user's code imports them."""
_LIBRARIES = tuple(
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_NO_CODE = frozenset(
    {
        *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
        *("__slots__", "__match_args__", "__dataclass_fields__", "__dataclass_params__"),
        *("__firstlineno__", "__static_attributes__", "__abstractmethods__", "_abc_impl"),
        *("__annotate_func__", "__annotations_cache__"),
    }
)


class Unknown(Exception):
    """Code or values that cannot be known, with what they are."""


def provenance(*roots: object) -> str:
    """A digest of all that functions and objects are made of.

    Raises:
        Unknown: Where that cannot be known: code that is in no file, objects that say nothing of
            what they hold.
    """
    reader = _Reader()
    try:
        for root in roots:
            reader.add(root)
    except RecursionError:
        raise Unknown(f"the values in {roots[0]!r}, which are nested too deep") from None
    reader.add_files()
    return reader.digest.hexdigest()


class _Reader:
    """One walk over code and values."""

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=16)
        self._seen: dict[int, int] = {}
        self._alive: list[object] = []  # so that no two objects have one id
        self._files: dict[Path, str] = {}
        self._packages: set[str] = set()

    def _write(self, *tokens: object) -> None:
        self.digest.update(repr(tokens).encode("utf-8", "backslashreplace"))

    def add(self, one: Any) -> None:
        """A value, or code."""
        if type(one) in _PLAIN:
            self._write(type(one).__name__, one)
            return
        if type(one) is tuple:  # not remembered: whether two are one is up to the compiler
            self._add_all("tuple", one)
            return
        if id(one) in self._seen:
            self._write("again", self._seen[id(one)])
            return
        self._seen[id(one)] = len(self._seen)
        self._alive.append(one)
        if isinstance(one, type):
            self._add_class(one)
        elif isinstance(one, FunctionType):
            self._add_function(one)
        elif isinstance(one, ModuleType):
            self._module(one.__name__)
        elif isinstance(one, MethodType):
            self._add_all("method", (one.__func__, one.__self__))
        elif isinstance(one, staticmethod | classmethod):
            self._add_all(type(one).__name__, (one.__func__,))
        elif isinstance(one, property):
            self._add_all("property", (one.fget, one.fset, one.fdel))
        elif type(one) is list:
            self._add_all("list", one)
        elif type(one) in (dict, MappingProxyType):
            self._add_all("dict", [part for item in one.items() for part in item])
        elif type(one) in (set, frozenset):
            self._write("set", sorted(self._apart(part) for part in one))
        elif type(one) is np.ndarray and not one.dtype.hasobject:
            self._write("array", one.dtype.str, one.shape, one.tobytes())
        else:
            self._add_object(one)

    def _add_all(self, kind: str, parts: Sequence[object]) -> None:
        self._write(kind, len(parts))
        for part in parts:
            self.add(part)

    def _apart(self, one: object) -> str:
        """The digest of a value on its own, as the members of a set have no order."""
        reader = _Reader()
        reader._files, reader._packages = self._files, self._packages
        reader.add(one)
        return reader.digest.hexdigest()

    def _add_object(self, one: Any) -> None:
        """Whatever else says what it is made of."""
        try:
            reduce = copyreg.dispatch_table.get(type(one))
            made = one.__reduce_ex__(4) if reduce is None else reduce(one)
        except Exception:
            raise Unknown(f"what a {type(one).__qualname__} holds") from None
        if isinstance(made, str):  # the name of something in a module
            name = getattr(one, "__module__", None) or type(one).__module__
            self._write("global", name, made)
            self._module(name)
            self.add(getattr(one, "__wrapped__", None))
            if not isinstance(one, BuiltinFunctionType):
                self.add(type(one))
            return
        self._write("object", len(made))
        for part in made:
            self.add(list(part) if isinstance(part, Iterator) else part)

    def _add_class(self, one: type) -> None:
        self._write("class", one.__module__, one.__qualname__)
        if not self._module(one.__module__):
            return
        self._add_all("bases", one.__bases__)
        for name, part in vars(one).items():
            known = isinstance(part, MemberDescriptorType | GetSetDescriptorType)
            if name in _NO_CODE or known:
                continue
            self._write(name)
            self.add(part)

    def _add_function(self, one: FunctionType) -> None:
        self._write("function", one.__module__, one.__qualname__)
        own = self._module(one.__module__)
        if own and not (Path(one.__code__.co_filename).is_file() or _generated(one)):
            raise Unknown(f"the code of {one.__qualname__}, which is in no file")
        self._add_code(one.__code__)
        cells = [_content(cell) for cell in one.__closure__ or ()]
        self._add_all("held", (one.__defaults__, one.__kwdefaults__, one.__dict__, *cells))
        if own:
            names = sorted(_names_in(one.__code__))
            for name in names:
                if name in one.__globals__:
                    self._write(name)
                    self._add_global(one.__globals__[name], names)

    def _add_global(self, one: object, names: Sequence[str]) -> None:
        """A value of a user's module that code refers to; of a module what is named beside it."""
        self.add(one)
        if not isinstance(one, ModuleType) or not self._module(one.__name__):
            return
        for name in names:
            part = vars(one).get(name)
            if part is not None and id(part) not in self._seen:
                self._write(name)
                self._add_global(part, names)

    def _add_code(self, one: CodeType) -> None:
        self._write("code", one.co_code, one.co_names, one.co_varnames, one.co_freevars)
        for part in one.co_consts:
            if isinstance(part, CodeType):
                self._add_code(part)
            else:
                self.add(part)

    def _module(self, name: str | None) -> bool:
        """Notes a module; whether it is the user's own."""
        name = name or "builtins"
        top = name.partition(".")[0]
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if file is None and (top in sys.stdlib_module_names and name != "__main__"):
            return False
        if file is None:
            if hasattr(module, "__path__"):  # a folder of modules without a file of its own
                return False
            said = "what was typed in or piped in" if name == "__main__" else f"module {name}"
            raise Unknown(f"the code of {said}, which is in no file")
        return self._note(Path(file).absolute(), top, _package_of(module))

    def _note(self, file: Path, top: str, package: str) -> bool:
        """Notes the file of a module; whether it is the user's own."""
        if _OURS in file.parents and file.relative_to(_OURS).parts[0] not in _NO_RUN:
            return False
        if _OURS not in file.parents and any(folder in file.parents for folder in _LIBRARIES):
            self._packages.add(top)
            return False
        if not file.is_file():
            raise Unknown(f"the code of {file.name}, which is no longer there")
        self._files.setdefault(file, package)
        return True

    def add_files(self) -> None:
        """All files noted, those that they import, and the versions of what is installed."""
        texts: dict[Path, bytes] = {}
        while left := [file for file in self._files if file not in texts]:
            for file in left:
                texts[file] = file.read_bytes()
                for name in _imports(texts[file], file, self._files[file]):
                    self._note_import(name)
        self._write(sorted(hashlib.blake2b(text).hexdigest() for text in texts.values()))
        for file in _own_files():
            self._write(file.relative_to(_OURS).as_posix(), file.read_bytes())
        for name in sorted((self._packages | _libraries()) - set(sys.stdlib_module_names)):
            self._write(name, _version(name))

    def _note_import(self, name: str) -> None:
        """A module that a file imports, found without importing anything."""
        top, folders = name.partition(".")[0], None
        if top in sys.stdlib_module_names:
            return
        at = ""
        for part in name.split("."):
            at = f"{at}.{part}" if at else part
            spec = PathFinder.find_spec(at, folders)
            if spec is None:
                return
            folders = spec.submodule_search_locations
            if spec.origin is not None and spec.has_location:
                package = at if folders is not None else at.rpartition(".")[0]
                own = self._note(Path(spec.origin).absolute(), top, package)
                if not own and top != "serendip":
                    return


def _generated(one: FunctionType) -> bool:
    """Whether `dataclass` or the like wrote it, from what the class says."""
    name = one.__name__
    return one.__code__.co_filename == "<string>" and name[:2] == name[-2:] == "__"


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _names_in(code: CodeType) -> set[str]:
    """Names of globals and attributes, also in functions within."""
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*(_names_in(part) for part in inner))


def _package_of(module: ModuleType | None) -> str:
    return getattr(module, "__package__", None) or ""


def _imports(text: bytes, file: Path, package: str) -> Iterator[str]:
    """Full names of the modules that a source imports, and perhaps of things in them."""
    if file.suffix != ".py":
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                above = parts[: len(parts) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            yield from (f"{base}.{one.name}" if base else one.name for one in node.names)


def _own_files() -> list[Path]:
    """The modules of ours that a run may need."""
    files = sorted(_OURS.rglob("*.py"))
    return [file for file in files if file.relative_to(_OURS).parts[0] not in _NO_RUN]


@lru_cache(maxsize=1)
def _libraries() -> frozenset[str]:
    """What these modules import, by the names of the packages; also within functions."""
    named = (name for file in _own_files() for name in _imports(file.read_bytes(), file, ""))
    return frozenset(name.partition(".")[0] for name in named) - {"serendip"}


@lru_cache(maxsize=1)
def _distributions() -> Mapping[str, Sequence[str]]:
    """What is installed, by the names it is imported by; looking it up takes a while."""
    return metadata.packages_distributions()


def _version(package: str) -> str:
    """Of an installed package, by the name it is imported by."""
    owners = _distributions().get(package, [])
    return ", ".join(sorted(f"{name} {metadata.version(name)}" for name in set(owners)))
