"""What counts as a tie: numbers so close that rounding may have told them apart."""

import numpy as np

from serendip.core.arrays import Floats, Ints

TIE = 1e-9
"""Two scores this close, beside their size, are a tie: rounding is far below that."""


def near_lowest(key: Floats) -> Ints:
    """Who ties with the lowest."""
    low = key.min()
    room = TIE * abs(low) + 1e-12 if np.isfinite(low) else 0.0
    return np.flatnonzero(key <= low + room)


def first_of_lowest(keys: tuple[Floats, ...], rank: Ints) -> int:
    """Who is lowest: by the first key, of those that tie by the second, …, and then by rank."""
    left = np.arange(len(rank))
    for key in keys:
        left = left[near_lowest(key[left])]
    return int(left[np.argmin(rank[left])])
