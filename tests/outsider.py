"""A policy and a model as somebody outside would write them, in as few lines as it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from serendip.core.arrays import Floats
from serendip.core.data import Choice, Observation
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import Pool, SupportsImprovement
from serendip.models.sampled import SampledPosterior, ValueDraws
from serendip.policies.index import choose_by


def improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """E[(f(x) − best)₊] of a Gaussian."""
    gap, width = mean - best, np.maximum(deviation, 1e-12)
    return np.asarray(gap * norm.cdf(gap / width) + width * norm.pdf(gap / width))


@dataclass(frozen=True)
class EI:
    """Expected improvement over the best label so far."""

    def choose(
        self, posterior: SupportsImprovement, pool: Pool, remaining: int, rng: Generator
    ) -> Choice:
        best = max(posterior.labels, default=0.0)
        score = partial(improvement, best=best)
        return choose_by(pool, posterior.moments(), score, rng)


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
