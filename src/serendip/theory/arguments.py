"""Checks that the functions of this package share."""

import numpy as np

from serendip.core.arguments import floats
from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput


def as_table(values: object) -> Floats:
    """A finite table of numbers with two axes."""
    table = floats("A table", values)
    if table.ndim != 2 or table.size == 0:
        raise InvalidInput(
            f"Expected a table of finite numbers with rows; got shape {table.shape}."
        )
    return table


def squares(rows: Floats) -> Floats:
    """(n,) squared norm of each row."""
    return np.asarray(np.einsum("nd,nd->n", rows, rows))
