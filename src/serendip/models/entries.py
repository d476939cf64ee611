"""Candidates of a table of rows × columns: each is a pair of numbers."""

import numpy as np

from serendip.core.arrays import Ints
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput


def checked_entries(seen: Observation, shape: tuple[int, int]) -> Ints:
    """(r, 2) row and column of all that was seen, inside a table of this shape."""
    entries = np.asarray(seen.x)
    if entries.ndim != 2 or entries.shape[1] != 2 or entries.dtype.kind not in "iu":
        raise InvalidInput(
            "The low-rank model needs candidates as whole numbers (row, column); "
            f"item {seen.item} has {entries.dtype} features of shape {entries.shape}."
        )
    if np.any(entries < 0) or np.any(entries >= shape):
        raise InvalidInput(
            f"The matrix is {shape[0]} × {shape[1]}, counted from 0; "
            f"item {seen.item} lies at {entries.tolist()}."
        )
    return entries.astype(np.int64)
