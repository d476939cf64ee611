"""pyarrow's functions on columns."""

from typing import Any


def compute() -> Any:
    """The module of functions; it makes them when it is imported, so type checkers miss them."""
    import pyarrow.compute

    return pyarrow.compute
