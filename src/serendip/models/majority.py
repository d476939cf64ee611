"""Which parts of a mixture are drawn from: each costs a walk of the pool."""

import numpy as np

from serendip.core.arrays import Array, Floats

_MINORITY = 0.1


def major(weights: Floats) -> Array:
    """Whether an entry is one of the fewest that have all but a tenth; the weights sum to one."""
    order = np.argsort(weights, kind="stable")
    kept = np.ones(len(weights), dtype=bool)
    kept[order[np.cumsum(weights[order]) < _MINORITY]] = False
    return kept
