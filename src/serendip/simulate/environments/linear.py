"""Linear and logistic worlds   [ASD §5.2]"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from serendip.core.arguments import counts, generator, non_negative, positive, whole
from serendip.core.arrays import Floats
from serendip.core.data import Observation
from serendip.pools.dense import DensePool
from serendip.simulate.environments.world import World


@dataclass(frozen=True, slots=True)
class NoisyOracle:
    """y = f(x) + ε, ε ~ N(0, σ_ε²)."""

    x: Floats
    values: Floats
    noise_std: float

    def reveal(self, item: int, rng: Generator) -> Observation:
        """The noisy value of one item."""
        item = whole("item", item, 0, len(self.values) - 1)
        label = self.values[item] + self.noise_std * rng.standard_normal()
        return Observation(item, self.x[item : item + 1], np.array([label]))


@dataclass(frozen=True, slots=True)
class CoinOracle:
    """y = 1 with probability f(x)."""

    x: Floats
    values: Floats

    def reveal(self, item: int, rng: Generator) -> Observation:
        """A hit or a miss."""
        item = whole("item", item, 0, len(self.values) - 1)
        label = float(rng.random() < self.values[item])
        return Observation(item, self.x[item : item + 1], np.array([label]))


def linear_world(
    n: int,
    d: int,
    noise_variance: float,
    rng: Generator,
    prior_variance: float = 1.0,
    feature_variance: float = 1.0,
) -> World:
    """X ~ N(0, σ_x²I), θ ~ N(0, σ_θ²I), y = xᵀθ + ε."""
    counts(n=n, d=d)
    non_negative(noise_variance=noise_variance)
    positive(prior_variance=prior_variance, feature_variance=feature_variance)
    generator("rng", rng)
    x = np.sqrt(feature_variance) * rng.standard_normal((n, d))
    values = x @ (np.sqrt(prior_variance) * rng.standard_normal(d))
    return World(DensePool(x), NoisyOracle(x, values, float(np.sqrt(noise_variance))), values)


def logistic_world(n: int, d: int, rng: Generator, prior_variance: float = 1.0) -> World:
    """X ~ N(0, I), θ ~ N(0, σ_θ²I), P(y = 1) = μ(xᵀθ)."""
    counts(n=n, d=d)
    positive(prior_variance=prior_variance)
    generator("rng", rng)
    x = rng.standard_normal((n, d))
    values = expit(x @ (np.sqrt(prior_variance) * rng.standard_normal(d)))
    return World(DensePool(x), CoinOracle(x, values), values)
