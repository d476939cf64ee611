"""Pools made by combining components: every ligand with every base, each described by columns.

Columns belong to one component, a factor, where they do not vary freely of one another. What a
component does beyond what its columns say is then an effect of its own (`kernel_terms.Levels`).
"""

import numpy as np

from serendip.core.arrays import Array, Ints
from serendip.models.gp.kernel_terms import Columns

_CROSSED = 0.8
"""Share of the combinations of two factors that the pool must hold; the rest may be missing."""

_MOST_ROWS = 200_000
"""Larger pools are not looked through."""


def factors_of(x: Array) -> tuple[Columns, ...]:
    """The columns of each factor, where the pool is made of two factors or more.

    Args:
        x: (n, d) features of the whole pool.
    """
    n = len(x)
    if n > _MOST_ROWS:
        return ()
    found: list[tuple[Ints, Columns]] = []
    for column in range(x.shape[1]):
        codes = _codes(x[:, column])
        columns: Columns = (column,)
        while True:  # what a joined factor depends on joins it as well
            bound = [one for one in found if not _crossed(codes, one[0])]
            if not bound:
                break
            for other, others in bound:
                codes, columns = _joined(codes, other), (*others, *columns)
            found = [one for one in found if not any(one is other for other in bound)]
        if 2 * _count(codes) > n:
            return ()
        found.append((codes, columns))
    cells = np.prod([float(_count(codes)) for codes, _ in found])
    if len(found) < 2 or _CROSSED * cells > n:
        return ()
    return tuple(tuple(sorted(columns)) for _, columns in found)


def _codes(values: Array) -> Ints:
    return np.ravel(np.unique(values, return_inverse=True)[1]).astype(np.int64)


def _count(codes: Ints) -> int:
    return int(codes.max(initial=-1)) + 1


def _joined(one: Ints, other: Ints) -> Ints:
    return _codes(one * _count(other) + other)


def _crossed(one: Ints, other: Ints) -> bool:
    """Whether most combinations of the two occur."""
    return _count(_joined(one, other)) >= _CROSSED * _count(one) * _count(other)
