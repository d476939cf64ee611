"""Logistic regression with a Gaussian prior, by Laplace's approximation   [ASD §4.1, §5.2]

θ ~ N(0, σ_θ²I),  P(y = 1 | x) = μ(xᵀθ),  μ(z) = 1 / (1 + e^{−z})
θ | data ≈ N(θ̂, H⁻¹),  H = Xᵀ diag(p(1 − p)) X + I/σ_θ²

An unknown σ_θ² has a grid, weighted by the evidence as Laplace's method has it,

    log p(y) ≈ log p(y | θ̂) + log N(θ̂ | 0, σ_θ²I) + ½d log 2π − ½ log det H,

and draws, moments and looks ahead are those of the mixture.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.special import expit, log_expit

from serendip.core.arguments import numbers, whole_fields
from serendip.core.arrays import Array, Floats
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Bernoulli
from serendip.core.linalg import Cholesky
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.core.rng import Purpose, stream
from serendip.models.draws import LogisticDraws, equal_weights
from serendip.models.fitting import (
    check_constant,
    check_draws,
    check_one,
    check_seen,
    check_variances,
    features,
)
from serendip.models.left_out import refitted
from serendip.models.lookahead import MixedLookahead, Outlook
from serendip.models.sigmoid import sigmoid_moments
from serendip.models.wide import WIDE, Spanned, SpannedPrecision, spectrum

_CONSTANT_VARIANCE = 16.0
"""Prior variance of a constant beside unknown widths: chances from 0.03 % to 99.97 %."""
_NEGLIGIBLE = 1e-4
"""Grid points with less weight than this are left out of draws and moments."""


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Logistic regression for labels 0 and 1 (and for chances between them).

    Attributes:
        prior_variance: σ_θ²; unknown where not given.
        constant_column: Which feature is a column of ones, if any; an unknown width leaves its
            prior wide.
        signal_ratios: What the variance of xᵀθ may be for features of unit size: σ_θ² = ratio / d.
    """

    n_features: int
    prior_variance: float | None = None
    constant_column: int | None = None
    signal_ratios: Sequence[float] = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0)

    def __post_init__(self) -> None:
        whole_fields(self, 1, "n_features")
        check_constant(self.constant_column, self.n_features)
        check_variances(prior_variance=self.prior_variance)
        if min(numbers("signal_ratios", self.signal_ratios), default=0.0) <= 0:
            raise InvalidInput(f"signal_ratios must be positive; got {self.signal_ratios}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "LogisticPosterior":
        """The posterior given these observations; the generator is not used."""
        check_seen(seen)
        start, nothing = np.zeros(self.n_features), np.empty((0, self.n_features))
        grid = self._grid()
        fits = tuple(
            LogisticFit(widths, start, _precision(nothing, widths), 1.0 / len(grid))
            for widths in grid
        )
        prior = LogisticPosterior(fits, nothing, np.empty(0), 0)
        return prior.absorb(seen)

    def _grid(self) -> list[Floats]:
        """(d,) prior variances at each point of the grid."""
        if self.prior_variance is not None:
            return [np.full(self.n_features, self.prior_variance)]
        grid = []
        for ratio in self.signal_ratios:
            widths = np.full(self.n_features, ratio / self.n_features)
            if self.constant_column is not None:
                widths[self.constant_column] = _CONSTANT_VARIANCE
            grid.append(widths)
        return grid


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """N(θ̂, H⁻¹) around the mode, for one setting of the prior variances."""

    widths: Floats
    """(d,) prior variances."""
    mode: Floats
    """(d,) θ̂"""
    precision: Cholesky | SpannedPrecision
    """of H"""
    weight: float


@dataclass(frozen=True, slots=True)
class LogisticPosterior:
    """A Gaussian over θ, or a mixture of them where the prior variance is unknown."""

    fits: tuple[LogisticFit, ...]
    """One for each point of the grid; their weights sum to one."""
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,)"""
    n_labels: int

    def absorb(self, seen: Sequence[Observation]) -> Self:
        """The posterior once these observations are taken in, warm started at the last modes."""
        if not seen:
            return self
        width = self.x.shape[1]
        rows = (features(one.x, width, f"item {one.item}") for one in seen)
        x = np.concatenate([self.x, *rows])
        y = np.concatenate([self.y, *(one.y for one in seen)])
        if np.any((y < 0) | (y > 1)):
            raise InvalidInput(
                f"The logistic model needs labels in [0, 1]; got {y[(y < 0) | (y > 1)][0]:g}. "
                "Use the linear model for other labels."
            )
        return self._refitted(x, y, self.n_labels + len(seen))

    def _refitted(self, x: Floats, y: Floats, n_labels: int) -> Self:
        """The posterior of these labels instead, warm started at the modes of this one."""
        fits, evidence = [], []
        for fit in self.fits:
            mode, precision, height = _newton(x, y, fit.mode, fit.widths)
            fits.append(replace(fit, mode=mode, precision=precision))
            volume = float(np.log(fit.widths).sum()) + precision.log_determinant
            evidence.append(-height - 0.5 * volume)
        weights = np.exp(np.array(evidence) - max(evidence))
        weights /= weights.sum()
        weighted = (replace(fit, weight=float(w)) for fit, w in zip(fits, weights, strict=True))
        return type(self)(tuple(weighted), x, y, n_labels)

    def update(self, seen: Observation, rng: Generator) -> Self:
        """Deterministic: the generator is not used."""
        check_one(seen)
        return self.absorb((seen,))

    def update_all(self, seen: Sequence[Observation], rng: Generator) -> Self:
        """Likewise."""
        return self.absorb(seen)

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.y

    @property
    def scales_known(self) -> bool:
        """Whether there is one prior variance and no grid of them."""
        return len(self.fits) == 1

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        features(x, self.x.shape[1], "the pool")

    @property
    def best(self) -> LogisticFit:
        """The fit with the largest weight."""
        return max(self.fits, key=lambda fit: fit.weight)

    @property
    def mode(self) -> Floats:
        """(d,) θ̂ of that fit."""
        return self.best.mode

    @property
    def precision(self) -> Cholesky | SpannedPrecision:
        """H of that fit."""
        return self.best.precision

    @property
    def kept(self) -> tuple[LogisticFit, ...]:
        """The fits that count, their weights summing to one."""
        kept = [fit for fit in self.fits if fit.weight > _NEGLIGIBLE]
        total = sum(fit.weight for fit in kept)
        return tuple(replace(fit, weight=fit.weight / total) for fit in kept)

    def sample(self, size: int, rng: Generator) -> LogisticDraws:
        """Fresh θ's."""
        check_draws(size, rng)
        kept = self.kept
        normal = rng.standard_normal((self.x.shape[1], size))
        picks = np.zeros(size, dtype=np.int64)
        if len(kept) > 1:
            picks = rng.choice(len(kept), size=size, p=[fit.weight for fit in kept])
        theta = np.empty((size, self.x.shape[1]))
        for place, fit in enumerate(kept):
            own = picks == place
            theta[own] = (fit.mode[:, None] + fit.precision.colour(normal[:, own])).T
        return LogisticDraws(theta, equal_weights(size), Bernoulli())

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of μ(xᵀθ), over the Gaussians of xᵀθ."""
        return LogisticMoments(self.kept)

    def design(self) -> MomentsFn:
        """μ(xᵀθ̂) and ‖x‖_{V⁻¹} with V = XᵀX + I/σ_θ², of the fit with the largest weight."""
        gram = _precision(self.x, self.best.widths)
        return DesignNorm(self.best.mode, gram)

    def held_out(self) -> HeldOut:
        """By refits at the grid points that count."""
        if not len(self.y):
            return HeldOut(np.empty(0), np.empty(0), np.empty(0))
        again = LogisticAgain(type(self)(self.kept, self.x[:0], self.y[:0], 0))
        return refitted(again, (Observation(0, self.x, self.y),), stream(0, Purpose.HELD_OUT))

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """Chances of the others after a miss and after a hit, each by one Newton step."""
        x = np.asarray(others.x, dtype=np.float64)
        parts = tuple(LogisticLookahead(fit.mode, fit.precision.inverse(), x) for fit in self.kept)
        if len(parts) == 1:
            return parts[0]
        return MixedLookahead(parts, np.array([fit.weight for fit in self.kept]))


@dataclass(frozen=True, slots=True)
class LogisticAgain:
    """The model with the grid of a posterior, fits to other labels starting at its modes."""

    start: LogisticPosterior

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> LogisticPosterior:
        """The posterior given these observations; the generator is not used."""
        x = np.concatenate([self.start.x, *(np.asarray(one.x, dtype=np.float64) for one in seen)])
        y = np.concatenate([self.start.y, *(one.y for one in seen)])
        return self.start._refitted(x, y, len(seen))


def _precision(
    x: Floats, widths: Floats, weights: Floats | None = None
) -> Cholesky | SpannedPrecision:
    """Of Xᵀ diag(w) X + D⁻¹; without a d × d matrix where there are many features, fewer labels."""
    if len(widths) > WIDE and len(x) < len(widths):
        rows = x if weights is None else x * np.sqrt(weights)[:, None]
        return SpannedPrecision(widths, *spectrum(rows, widths), 1.0)
    weighted = x if weights is None else x * weights[:, None]
    return Cholesky.of(weighted.T @ x + np.diag(1.0 / widths))


def _newton(
    x: Floats, y: Floats, start: Floats, widths: Floats
) -> tuple[Floats, Cholesky | SpannedPrecision, float]:
    """The mode, the curvature there and minus the log of the posterior, by damped Newton steps."""

    def loss(theta: Floats) -> float:
        score = x @ theta
        fit = y @ log_expit(score) + (1.0 - y) @ log_expit(-score)
        return float(0.5 * theta @ (theta / widths) - fit)

    def curvature(theta: Floats) -> Cholesky | SpannedPrecision:
        chance = expit(x @ theta)
        return _precision(x, widths, chance * (1.0 - chance))

    theta, height = start, loss(start)
    for _ in range(100):
        slope = theta / widths + x.T @ (expit(x @ theta) - y)
        step = curvature(theta).solve(slope)
        decrement = float(slope @ step)
        if decrement < 1e-16 * max(1.0, height):
            break
        size = 1.0
        while size > 1e-8 and loss(theta - size * step) > height - 1e-4 * size * decrement:
            size *= 0.5
        theta = theta - size * step
        height = loss(theta)
    return theta, curvature(theta), height


@dataclass(frozen=True, slots=True)
class LogisticMoments:
    """E[μ(z)] and sd of μ(z) for z ~ N(xᵀθ̂, xᵀH⁻¹x), over the mixture."""

    fits: tuple[LogisticFit, ...]

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        x = features(block.x, len(self.fits[0].mode), "the block")
        mean, square = np.zeros(len(x)), np.zeros(len(x))
        parts = []
        for fit in self.fits:
            spread = fit.precision.norms(x)
            level, deviation = sigmoid_moments(x @ fit.mode, spread)
            parts.append((fit.weight, level, deviation))
            mean += fit.weight * level
        for weight, level, deviation in parts:
            square += weight * (deviation**2 + (level - mean) ** 2)
        return mean, np.sqrt(square)


@dataclass(frozen=True, slots=True)
class DesignNorm:
    """Plug-in chance and ‖x‖_{V⁻¹}."""

    mode: Floats
    gram: Cholesky | SpannedPrecision

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        x = np.asarray(block.x, dtype=np.float64)
        return expit(x @ self.mode), self.gram.norms(x)


@dataclass(frozen=True, slots=True)
class LogisticLookahead:
    """P(y′ = 1 | x, y) for y = 0, 1.

    One label adds p(1 − p)xxᵀ to H, so mode and covariance move by a rank-one step; the mean of the
    sigmoid over the Gaussian that results is MacKay's μ(z / √(1 + πs²/8)).
    """

    mode: Floats
    covariance: Floats | Spanned
    others: Floats
    """(n, d)"""

    def __call__(self, block: Block) -> Outlook:
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
