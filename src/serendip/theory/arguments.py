"""Checks that the functions of this package share."""

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput


def as_table(values: npt.ArrayLike) -> Floats:
    """A finite table of numbers with two axes."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
        raise InvalidInput(
            f"Expected a table of finite numbers with rows; got shape {table.shape}."
        )
    return table


def positive(**values: float) -> None:
    """Every value must be a positive number; the error names the one that is not."""
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise InvalidInput(f"{name} must be a positive number; got {value}.")


def non_negative(**values: float) -> None:
    """Every value must be a number that is not negative."""
    for name, value in values.items():
        if not (np.isfinite(value) and value >= 0):
            raise InvalidInput(f"{name} must be a number that is not negative; got {value}.")


def positive_integers(**values: int) -> None:
    """Every value must be a whole number from 1 upward."""
    for name, value in values.items():
        if value < 1 or value != int(value):
            raise InvalidInput(f"{name} must be a whole number, at least 1; got {value}.")


def squares(rows: Floats) -> Floats:
    """(n,) squared norm of each row."""
    return np.asarray(np.einsum("nd,nd->n", rows, rows))
