"""Sparse linear worlds, with many more features than labels   [ASD App. G]"""

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import counts, generator, non_negative, whole
from serendip.core.errors import InvalidInput
from serendip.pools.dense import DensePool
from serendip.simulate.environments.linear import NoisyOracle
from serendip.simulate.environments.world import World


def sparse_world(n: int, d: int, sparsity: int, noise_variance: float, rng: Generator) -> World:
    """X ~ N(0, I), θ with `sparsity` entries ~ N(0, 1) at random places and zeros elsewhere.

    Gaussian features point everywhere, so the pool stays exploratory whatever leaves it, as the
    paper's assumption asks.
    """
    counts(n=n, d=d)
    non_negative(noise_variance=noise_variance)
    generator("rng", rng)
    if not 1 <= whole("sparsity", sparsity) <= d:
        raise InvalidInput(
            f"sparsity must lie between 1 and the number of features, {d}; got {sparsity}."
        )
    x = rng.standard_normal((n, d))
    theta = np.zeros(d)
    theta[rng.choice(d, size=sparsity, replace=False)] = rng.standard_normal(sparsity)
    values = x @ theta
    return World(DensePool(x), NoisyOracle(x, values, float(np.sqrt(noise_variance))), values)
