"""A model and a policy as somebody outside would write them, in as few lines as it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Floats
from serendip.core.data import Observation
from serendip.core.likelihood import Gaussian
from serendip.models.sampled import SampledPosterior, ValueDraws


def planes(x: Floats, theta: Floats) -> Floats:
    return x @ theta


@dataclass(frozen=True)
class Planes:
    """f(x) = xᵀθ, θ ~ N(0, I): draws of the prior, corrected by what they miss of the labels."""

    n_features: int
    noise: float = 0.1

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> SampledPosterior:
        return SampledPosterior.of(self, seen, scales_known=True)

    def draws(self, x: Floats, y: Floats, size: int, rng: Generator) -> ValueDraws:
        prior = rng.standard_normal((self.n_features, size))
        missed = y[:, None] - x @ prior - self.noise * rng.standard_normal((len(y), size))
        spread = x @ x.T + self.noise**2 * np.eye(len(y))
        theta = prior + x.T @ np.linalg.solve(spread, missed)
        return ValueDraws.equal(partial(planes, theta=theta), Gaussian(self.noise**2), size)
