"""Logistic regression with a Gaussian prior, by Laplace's approximation   [ASD §4.1, §5.2]

θ ~ N(0, σ_θ²I),  P(y = 1 | x) = μ(xᵀθ),  μ(z) = 1 / (1 + e^{−z})
θ | data ≈ N(θ̂, H⁻¹),  H = Xᵀ diag(p(1 − p)) X + I/σ_θ²
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.special import expit, log_expit

from serendip.core.arrays import Floats
from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Bernoulli
from serendip.core.linalg import Cholesky
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import LogisticDraws, equal_weights

_NODES, _RAW = np.polynomial.hermite_e.hermegauss(15)
_MASSES = _RAW / _RAW.sum()


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Logistic regression for labels 0 and 1 (and for chances between them)."""

    n_features: int
    prior_variance: float = 1.0
    """σ_θ²"""

    def __post_init__(self) -> None:
        if self.n_features < 1:
            raise InvalidInput(f"n_features must be at least 1; got {self.n_features}.")
        if not self.prior_variance > 0:
            raise InvalidInput(f"prior_variance must be positive; got {self.prior_variance}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "LogisticPosterior":
        """The posterior given these observations; the generator is not used."""
        empty = np.empty((0, self.n_features)), np.empty(0)
        start = np.zeros(self.n_features)
        precision = Cholesky.of(np.eye(self.n_features) / self.prior_variance)
        prior = LogisticPosterior(self.prior_variance, *empty, start, precision, 0)
        return prior.absorb(seen)


@dataclass(frozen=True, slots=True)
class LogisticPosterior:
    """N(θ̂, H⁻¹) around the mode."""

    prior_variance: float
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,)"""
    mode: Floats
    """(d,) θ̂"""
    precision: Cholesky
    """of H"""
    n_labels: int

    def absorb(self, seen: Sequence[Observation]) -> Self:
        """The posterior once these observations are taken in, warm started at the last mode."""
        if not seen:
            return self
        x = np.concatenate([self.x, *(np.asarray(one.x, dtype=np.float64) for one in seen)])
        y = np.concatenate([self.y, *(one.y for one in seen)])
        if np.any((y < 0) | (y > 1)):
            raise InvalidInput(
                f"The logistic model needs labels in [0, 1]; got {y[(y < 0) | (y > 1)][0]:g}. "
                "Use the linear model for other labels."
            )
        mode, precision = _newton(x, y, self.mode, self.prior_variance)
        grown = self.n_labels + len(seen)
        return type(self)(self.prior_variance, x, y, mode, precision, grown)

    def update(self, seen: Observation, rng: Generator) -> Self:
        """Deterministic: the generator is not used."""
        return self.absorb((seen,))

    def sample(self, size: int, rng: Generator) -> LogisticDraws:
        """Fresh θ's."""
        normal = rng.standard_normal((len(self.mode), size))
        theta = (self.mode[:, None] + self.precision.colour(normal)).T
        return LogisticDraws(theta, equal_weights(size), Bernoulli())

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of μ(xᵀθ), by quadrature over the Gaussian of xᵀθ."""
        return LogisticMoments(self.mode, self.precision)

    def design(self) -> MomentsFn:
        """μ(xᵀθ̂) and ‖x‖_{V⁻¹} with V = XᵀX + I/σ_θ²."""
        prior = np.eye(len(self.mode)) / self.prior_variance
        return DesignNorm(self.mode, Cholesky.of(self.x.T @ self.x + prior))

    def lookahead(self, others: Block) -> BlockFn[tuple[Floats, Floats, Floats]]:
        """Chances of the others after a miss and after a hit, each by one Newton step."""
        return LogisticLookahead(
            self.mode, self.precision.inverse(), np.asarray(others.x, dtype=np.float64)
        )


def _newton(x: Floats, y: Floats, start: Floats, prior_variance: float) -> tuple[Floats, Cholesky]:
    """The mode and the curvature there, by damped Newton steps."""

    def loss(theta: Floats) -> float:
        score = x @ theta
        fit = y @ log_expit(score) + (1.0 - y) @ log_expit(-score)
        return float(0.5 * theta @ theta / prior_variance - fit)

    def curvature(theta: Floats) -> Cholesky:
        chance = expit(x @ theta)
        information = (x * (chance * (1.0 - chance))[:, None]).T @ x
        return Cholesky.of(information + np.eye(len(theta)) / prior_variance)

    theta, height = start, loss(start)
    for _ in range(100):
        slope = theta / prior_variance + x.T @ (expit(x @ theta) - y)
        step = curvature(theta).solve(slope)
        decrement = float(slope @ step)
        if decrement < 1e-16 * max(1.0, height):
            break
        size = 1.0
        while size > 1e-8 and loss(theta - size * step) > height - 1e-4 * size * decrement:
            size *= 0.5
        theta = theta - size * step
        height = loss(theta)
    return theta, curvature(theta)


@dataclass(frozen=True, slots=True)
class LogisticMoments:
    """E[μ(z)] and sd of μ(z) for z ~ N(xᵀθ̂, xᵀH⁻¹x)."""

    mode: Floats
    precision: Cholesky

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        x = np.asarray(block.x, dtype=np.float64)
        spread = np.linalg.norm(self.precision.whiten(x.T), axis=0)
        chances = expit((x @ self.mode)[:, None] + spread[:, None] * _NODES)
        mean = chances @ _MASSES
        return mean, np.sqrt((chances - mean[:, None]) ** 2 @ _MASSES)


@dataclass(frozen=True, slots=True)
class DesignNorm:
    """Plug-in chance and ‖x‖_{V⁻¹}."""

    mode: Floats
    gram: Cholesky

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        x = np.asarray(block.x, dtype=np.float64)
        return expit(x @ self.mode), np.linalg.norm(self.gram.whiten(x.T), axis=0)


@dataclass(frozen=True, slots=True)
class LogisticLookahead:
    """P(y′ = 1 | x, y) for y = 0, 1.

    One label adds p(1 − p)xxᵀ to H, so mode and covariance move by a rank-one step; the mean of the
    sigmoid over the Gaussian that results is MacKay's μ(z / √(1 + πs²/8)).
    """

    mode: Floats
    covariance: Floats
    others: Floats
    """(n, d)"""

    def __call__(self, block: Block) -> tuple[Floats, Floats, Floats]:
        x = np.asarray(block.x, dtype=np.float64)
        reach = x @ self.covariance
        score = x @ self.mode
        plug_in = expit(score)
        variance = np.einsum("bd,bd->b", reach, x)
        chance = _mackay(score, variance)
        shrink = 1.0 + plug_in * (1.0 - plug_in) * variance
        across = reach @ self.others.T
        scores = self.others @ self.mode
        variances = np.einsum("nd,nd->n", self.others @ self.covariance, self.others)
        remaining = variances - across**2 * (plug_in * (1.0 - plug_in) / shrink)[:, None]
        after = [
            _mackay(scores + across * ((label - plug_in) / shrink)[:, None], remaining)
            for label in (0.0, 1.0)
        ]
        return chance, np.stack([1.0 - chance, chance], axis=1), np.stack(after, axis=1)


def _mackay(score: Floats, variance: Floats) -> Floats:
    return np.asarray(expit(score / np.sqrt(1.0 + np.pi / 8.0 * np.clip(variance, 0.0, None))))
