"""Public names of a package, imported when first used.

Each is said once, in the block that type checkers read:

    if TYPE_CHECKING:
        from serendip.pools.dense import DensePool as DensePool
    else:
        __getattr__, __dir__ = public_names(__name__)
"""

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_known: "dict[str, Mapping[str, str]]" = {}


def public_names(package: str) -> "tuple[Callable[[str], object], Callable[[], list[str]]]":
    """`__getattr__` and `__dir__` of the package."""

    def found(name: str) -> object:
        if name == "__all__":
            return sorted(_homes(package))
        if name == "__version__" and "." not in package:
            from importlib.metadata import version

            return version(package)
        if name.startswith("_") or name not in _homes(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = _homes(package)[name]
        value = import_module(f"{home}.{name}") if home == package else None
        value = getattr(import_module(home), name) if value is None else value
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted(_homes(package))

    return found, listed


def _homes(package: str) -> "Mapping[str, str]":
    """Where each name comes from; the package itself for a package inside it."""
    if package not in _known:
        import ast

        loader: Any = sys.modules[package].__loader__
        _known[package] = {
            alias.asname: node.module
            for block in ast.parse(loader.get_source(package) or "").body
            if isinstance(block, ast.If)
            for node in block.body
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
            if alias.asname
        }
    return _known[package]
