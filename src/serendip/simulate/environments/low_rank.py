"""Low-rank matrix worlds   [ASD §4.2, §5.2]"""

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import counts, generator, non_negative, positive
from serendip.core.arrays import Array
from serendip.pools.dense import DensePool
from serendip.simulate.environments.linear import NoisyOracle
from serendip.simulate.environments.world import World


def low_rank_world(
    n_rows: int,
    n_columns: int,
    rank: int,
    noise_variance: float,
    rng: Generator,
    factor_variance: float = 1.0,
) -> World:
    """U, V ~ N(0, σ₀²) entry by entry, f(i, j) = u_iᵀv_j, y = f + ε; one candidate per entry.

    Candidates are (row, column), row by row: item i·n_columns + j is entry (i, j).
    """
    counts(n_rows=n_rows, n_columns=n_columns, rank=rank)
    non_negative(noise_variance=noise_variance)
    positive(factor_variance=factor_variance)
    generator("rng", rng)
    left = np.sqrt(factor_variance) * rng.standard_normal((n_rows, rank))
    right = np.sqrt(factor_variance) * rng.standard_normal((n_columns, rank))
    values = (left @ right.T).ravel()
    entries: Array = np.indices((n_rows, n_columns), dtype=np.int64).reshape(2, -1).T.copy()
    oracle = NoisyOracle(entries, values, float(np.sqrt(noise_variance)))
    return World(DensePool(entries), oracle, values)
