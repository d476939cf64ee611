"""Checks of what callers hand over: one sentence each, before anything is computed with it."""

from collections.abc import Iterable, Sequence
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Array, Floats
from serendip.core.errors import InvalidInput

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def shown(value: object) -> str:
    """A value as a message names it: itself where that is short, else what it is."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    shape = getattr(value, "shape", None)
    if shape is not None and shape != ():
        return f"{type(value).__name__} of shape {shape}"
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def whole(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """A whole number, Python's or NumPy's; a float or True is none, even where it would do."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = index(value)  # type: ignore[arg-type]  # whatever it is, index() says so
    except TypeError:
        raise InvalidInput(f"{name} must be a whole number; got {shown(value)}.") from None
    if (least is not None and number < least) or (most is not None and number > most):
        wanted = f"at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidInput(f"{name} must be {wanted}; got {number}.")
    return number


def number(name: str, value: object) -> float:
    """A finite number, Python's or NumPy's; True is none."""
    if isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value)):
        return float(value)
    raise InvalidInput(f"{name} must be a finite number; got {shown(value)}.")


def numbers(name: str, values: object) -> tuple[float, ...]:
    """Finite numbers, one at least or none at all."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} must be a sequence of numbers; got {shown(values)}.")
    return tuple(number(f"Each of {name}", value) for value in values)


def flag(name: str, value: object) -> None:
    """True or False, and nothing that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"{name} must be True or False; got {shown(value)}.")


def generator(name: str, value: object) -> None:
    """A source of random numbers."""
    if not isinstance(value, Generator):
        raise InvalidInput(
            f"{name} must be a NumPy generator, such as stream(0); got {shown(value)}."
        )


def instance(name: str, value: object, kind: type | tuple[type, ...], example: str) -> None:
    """One of these kinds."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{name} must be {example}; got {shown(value)}.")


def able(name: str, value: object, methods: Sequence[str], example: str) -> None:
    """An object with these methods; its class, or its name, is not it."""
    missing = [one for one in methods if not callable(getattr(value, one, None))]
    if missing or isinstance(value, type):
        raise InvalidInput(f"{name} must be an object such as {example}; got {shown(value)}.")


def array(name: str, values: object) -> Array:
    """An array of finite numbers, of any shape and in its own precision, not copied if need be."""
    try:
        found = np.asarray(values)
        if found.dtype.kind == "O":  # what a table of pandas with several kinds of numbers becomes
            found = found.astype(np.float64)
    except (TypeError, ValueError):  # rows of unlike lengths, texts, nothing
        raise InvalidInput(f"{name} must be an array of numbers; got {shown(values)}.") from None
    if found.dtype.kind not in "iuf":
        raise InvalidInput(f"{name} must be numbers; got {shown(values)}, of {found.dtype}.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        wrong = found[~np.isfinite(found)][0]
        raise InvalidInput(f"{name} must be finite numbers; one of them is {wrong}.")
    return found


def floats(name: str, values: object) -> Floats:
    """The same in float64."""
    return np.asarray(array(name, values), dtype=np.float64)


def sparse(name: str, values: Any) -> "csr_array":
    """A matrix of finite numbers as a sparse array; a dense one will do."""
    from scipy.sparse import csr_array, issparse

    given: Any = values if issparse(values) else array(name, values)
    if len(given.shape) != 2 or given.shape[0] == 0:
        raise InvalidInput(f"{name} must be a matrix with rows; got {shown(values)}.")
    matrix: csr_array = csr_array(given)
    array(f"The entries of {name}", matrix.data)
    return matrix


def masses(name: str, values: object, count: int) -> Floats:
    """(count,) chances: not negative, and summing to one."""
    found = floats(name, values)
    if found.shape != (count,) or (found < 0).any():
        raise InvalidInput(
            f"{name} must be {count} numbers that are not negative; got {shown(values)}."
        )
    if abs(float(found.sum()) - 1.0) > 1e-9:
        raise InvalidInput(
            f"{name} must sum to 1; got a sum of {found.sum():.9g}. Divide them by their sum."
        )
    return found


def positive(**values: object) -> None:
    """Every value must be a positive number; the error names the one that is not."""
    for name, value in values.items():
        if not number(name, value) > 0:
            raise InvalidInput(f"{name} must be a positive number; got {value}.")


def non_negative(**values: object) -> None:
    """Every value must be a number that is not negative."""
    for name, value in values.items():
        if not number(name, value) >= 0:
            raise InvalidInput(f"{name} must be a number that is not negative; got {value}.")


def counts(**values: object) -> tuple[int, ...]:
    """Every value must be a whole number from 1 upward; all as Python's, which never overflow."""
    return tuple(whole(name, value, 1) for name, value in values.items())


def whole_fields(owner: object, least: int, *names: str) -> None:
    """Fields of a frozen dataclass that are whole numbers, as Python's."""
    for name in names:
        object.__setattr__(owner, name, whole(name, getattr(owner, name), least))
