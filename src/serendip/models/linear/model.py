"""Bayesian linear regression, conjugate; scales given, or unknown and averaged over.

    θ ~ N(0, s²D),  y = xᵀθ + ε,  ε ~ N(0, s²r)                                     [ASD §4.1, §5.2]

With given scales s² = 1, D = prior_variance·I and r = noise_variance. With unknown scales
s² ~ InvGamma(shape, rate), and a grid over r and the size of D carries weights proportional to
its marginal likelihood: a draw picks a grid point, then s², then θ (empirical Bayes by averaging).

While there are many features and fewer labels, the algebra is that of the labels, and nothing of
size d × d arises (`models/wide.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, logsumexp

from serendip.core.arguments import instance, numbers, whole_fields
from serendip.core.arrays import Array, Floats
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.linalg import Cholesky
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import LinearDraws, equal_weights
from serendip.models.fitting import (
    check_constant,
    check_draws,
    check_one,
    check_seen,
    check_unit,
    check_variances,
    features,
)
from serendip.models.label_scale import label_scale
from serendip.models.left_out import gaussian_held_out, inverses, student_held_out
from serendip.models.lookahead import LinearLookahead, Outlook
from serendip.models.wide import (
    WIDE,
    Spanned,
    SpannedPrecision,
    WideDraws,
    linear_draws,
    spectrum,
)


@dataclass(frozen=True, slots=True)
class UnknownScales:
    """The grid and the prior that stand in for scales nobody told us.

    Labels are measured in units of their own spread so far, so their size does not matter; the
    constant, if there is one, has prior variance s².
    """

    noise_ratios: Sequence[float] = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    """r, the noise variance over s²."""
    signal_ratios: Sequence[float] = (0.25, 1.0, 4.0)
    """Variance of xᵀθ over s² for features of unit size: D = ratio / d."""
    shape: float = 1.5
    rate: float = 0.09

    def __post_init__(self) -> None:
        for name in ("noise_ratios", "signal_ratios"):
            if min(numbers(name, getattr(self, name)), default=0.0) <= 0:
                raise InvalidInput(f"{name} must be positive; got {getattr(self, name)}.")
        check_variances(shape=self.shape, rate=self.rate)


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Linear regression with a Gaussian prior.

    Give both variances, or neither: then they are unknown (`UnknownScales`).

    Attributes:
        prior_variance: σ_θ²
        noise_variance: σ_ε²
        constant_column: Which feature is a column of ones, if any; unknown scales leave its prior
            wide.
        label_unit: What labels of the usual size measure, where it is known: 1 for yields in [0,
            1], 100 for percentages. Otherwise it is taken from the labels seen.
    """

    n_features: int
    prior_variance: float | None = None
    noise_variance: float | None = None
    constant_column: int | None = None
    scales: UnknownScales = UnknownScales()
    label_unit: float | None = None

    def __post_init__(self) -> None:
        whole_fields(self, 1, "n_features")
        check_constant(self.constant_column, self.n_features)
        check_unit(self.label_unit)
        given = [self.prior_variance, self.noise_variance]
        if (given[0] is None) != (given[1] is None):
            raise InvalidInput(
                "Give both prior_variance and noise_variance, or neither to have them inferred."
            )
        check_variances(prior_variance=self.prior_variance, noise_variance=self.noise_variance)
        instance("scales", self.scales, UnknownScales, "UnknownScales()")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "LinearPosterior":
        """The posterior given these observations; the generator is not used."""
        check_seen(seen)
        d = self.n_features
        prior = LinearPosterior(
            components=self._components(),
            scale=None if self.noise_variance is not None else self.scales,
            constant_column=self.constant_column,
            label_unit=self.label_unit,
            gram=np.zeros((d, d)) if d <= WIDE else None,
            moment=np.zeros(d),
            n_labels=0,
            x=np.empty((0, d)),
            y=np.empty(0),
            fits=(),
        )
        return prior.absorb(seen)

    def _components(self) -> "tuple[Component, ...]":
        if self.prior_variance is not None and self.noise_variance is not None:
            fixed = np.full(self.n_features, self.prior_variance)
            return (Component(fixed, self.noise_variance),)
        found = []
        for signal, noise in product(self.scales.signal_ratios, self.scales.noise_ratios):
            widths = np.full(self.n_features, signal / self.n_features)
            if self.constant_column is not None:
                widths[self.constant_column] = 1.0
            found.append(Component(widths, noise))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Component:
    """One setting of the scales: prior variances D (d,) and noise ratio r, both over s²."""

    widths: Floats
    noise: float


@dataclass(frozen=True, slots=True)
class Fit:
    """What a component has become given the data."""

    mean: Floats
    precision: Cholesky | SpannedPrecision
    """of A = D⁻¹ + XᵀX / r"""
    shape: float
    """of the inverse gamma of s²; 0 where s² = 1 is known."""
    rate: float
    weight: float
    noise: float

    @property
    def scale(self) -> float:
        """E[s²]."""
        return self.rate / (self.shape - 1.0) if self.shape else 1.0


@dataclass(frozen=True, slots=True)
class LinearPosterior:
    """A Gaussian over θ, or a mixture of them where scales are unknown."""

    components: tuple[Component, ...]
    scale: UnknownScales | None
    """None where the scales are known."""
    constant_column: int | None
    label_unit: float | None
    gram: Floats | None
    """XᵀX; None while it is not needed."""
    moment: Floats
    """Xᵀy"""
    n_labels: int
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,)"""
    fits: tuple[Fit, ...]

    def absorb(self, seen: Sequence[Observation]) -> Self:
        """The posterior once these observations are taken in; their order does not matter."""
        gram, moment = self.gram, self.moment
        for one in seen:
            x = features(one.x, len(self.moment), f"item {one.item}")
            gram = None if gram is None else gram + x.T @ x
            moment = moment + x.T @ one.y
        x = np.concatenate([self.x, *(np.asarray(one.x, dtype=np.float64) for one in seen)])
        if gram is None and len(x) >= len(moment):
            gram = x.T @ x
        grown = replace(
            self,
            gram=gram,
            moment=moment,
            n_labels=self.n_labels + len(seen),
            x=x,
            y=np.concatenate([self.y, *(one.y for one in seen)]),
        )
        return replace(grown, fits=grown._fit())

    def update(self, seen: Observation, rng: Generator) -> Self:
        """Conjugate: the generator is not used."""
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
        """Whether prior and noise were given."""
        return self.scale is None

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        features(x, len(self.moment), "the pool")

    def _precisions(self) -> Iterator[Cholesky | SpannedPrecision]:
        """Of A = D⁻¹ + XᵀX / r, for each component."""
        for widths, parts in groupby(self.components, key=lambda part: part.widths.tolist()):
            if self.gram is None:
                span, sizes = spectrum(self.x, np.asarray(widths))
                for part in parts:
                    yield SpannedPrecision(part.widths, span, sizes, part.noise)
            else:
                for part in parts:
                    yield Cholesky.of(np.diag(1.0 / part.widths) + self.gram / part.noise)

    def _fit(self) -> tuple[Fit, ...]:
        if self.scale is None:
            (part,), (precision,) = self.components, self._precisions()
            mean = precision.solve(self.moment / part.noise)
            return (Fit(mean, precision, 0.0, 0.0, 1.0, part.noise),)
        offset, unit = self._label_scale()
        labels, t = (self.y - offset) / unit, len(self.y)
        moment, energy = self.x.T @ labels, float(labels @ labels)
        fits, evidence = [], []
        for part, precision in zip(self.components, self._precisions(), strict=True):
            mean = precision.solve(moment / part.noise)
            misfit = max(0.0, (energy - float(mean @ moment)) / part.noise)
            shape = self.scale.shape + 0.5 * t
            rate = self.scale.rate + 0.5 * misfit
            evidence.append(
                -0.5 * np.log(part.widths).sum()
                - 0.5 * precision.log_determinant
                - 0.5 * t * np.log(part.noise)
                + self.scale.shape * np.log(self.scale.rate)
                - shape * np.log(rate)
                + gammaln(shape)
                - gammaln(self.scale.shape)
            )
            mean = unit * mean
            if self.constant_column is not None:
                mean[self.constant_column] += offset
            fits.append(Fit(mean, precision, shape, rate * unit**2, 0.0, part.noise))
        weights = np.exp(np.array(evidence) - logsumexp(evidence))
        return tuple(replace(fit, weight=float(w)) for fit, w in zip(fits, weights, strict=True))

    def _label_scale(self) -> tuple[float, float]:
        """What the labels are measured from, and in: so that their units do not matter."""
        constant = self.constant_column is not None
        return label_scale(self.y, constant=constant, unit=self.label_unit)

    @property
    def mean(self) -> Floats:
        """(d,) E[θ]."""
        return np.asarray(sum(fit.weight * fit.mean for fit in self.fits))

    @property
    def covariance(self) -> Floats | Spanned:
        """(d, d) Cov(θ), over the mixture."""
        centre = self.mean
        total: Floats = np.zeros(1)
        spanned: list[Spanned] = []
        for fit in self.fits:
            if isinstance(fit.precision, Cholesky):
                apart = np.outer(fit.mean - centre, fit.mean - centre)
                total = total + fit.weight * (fit.scale * fit.precision.inverse() + apart)
            else:
                inverse = fit.precision.inverse(fit.weight * fit.scale)
                spanned += [inverse, Spanned.outer(fit.mean - centre, fit.weight)]
        return Spanned.total(spanned) if spanned else total

    @property
    def noise_variance(self) -> float:
        """E[σ_ε²]."""
        return sum(fit.weight * fit.scale * fit.noise for fit in self.fits)

    def sample(self, size: int, rng: Generator) -> LinearDraws | WideDraws:
        """Fresh θ's."""
        check_draws(size, rng)
        normal = rng.standard_normal((len(self.moment), size))
        if len(self.fits) == 1:
            fit = self.fits[0]
            theta = (fit.mean[:, None] + fit.precision.colour(normal)).T
        else:
            theta = self._sample_mixture(normal, rng)
        likelihood = Gaussian(self.noise_variance)
        return linear_draws(theta, equal_weights(size), self.mean, self.covariance, likelihood)

    def _sample_mixture(self, normal: Floats, rng: Generator) -> Floats:
        size = normal.shape[1]
        picks = rng.choice(len(self.fits), size=size, p=[fit.weight for fit in self.fits])
        gammas = rng.standard_gamma(self.fits[0].shape, size=(size,))
        theta = np.empty((size, len(self.moment)))
        for part in np.unique(picks):
            fit, chosen = self.fits[part], picks == part
            spread = np.sqrt(fit.rate / gammas[chosen])
            theta[chosen] = (fit.mean[:, None] + fit.precision.colour(normal[:, chosen]) * spread).T
        return theta

    def moments(self) -> MomentsFn:
        """xᵀμ and √(xᵀΣx)."""
        return LinearMoments(self.mean, self.covariance, 1.0)

    def confidence(self, failure: float) -> MomentsFn:
        """OFUL: √(2 log(1/δ) + log det S₀/det S) + √d posterior standard deviations.

        S₀ and S are prior and posterior covariance; with unknown scales, those of the grid point
        with the largest weight.
        """
        best = max(range(len(self.fits)), key=lambda j: self.fits[j].weight)
        widths = self.components[best].widths
        shrinkage = self.fits[best].precision.log_determinant + float(np.log(widths).sum())
        width = np.sqrt(2.0 * np.log(1.0 / failure) + max(0.0, shrinkage)) + np.sqrt(len(widths))
        return LinearMoments(self.mean, self.covariance, float(width))

    def held_out(self) -> HeldOut:
        """Exact; where scales are unknown, given what labels are measured from and in."""
        if self.scale is None:
            (part,) = self.components
            features, noise = self.x * np.sqrt(part.widths), np.array([part.noise])
            pull, precision = inverses(features, self.y, noise)
            return gaussian_held_out(self.y, pull[0], precision[0])
        labels = self.y - self._label_scale()[0]
        noise, found = np.array(self.scale.noise_ratios, dtype=np.float64), []
        for part in self.components[:: len(noise)]:  # the noise varies fastest
            found.append(inverses(self.x * np.sqrt(part.widths), labels, noise))
        pull, precision = (np.concatenate(one) for one in zip(*found, strict=True))
        rates, weights = np.array([(fit.rate, fit.weight) for fit in self.fits]).T
        return student_held_out(self.y, pull, precision, rates, self.fits[0].shape, weights)

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """By the exact mean and covariance."""
        x = np.asarray(others.x, dtype=np.float64)
        return LinearLookahead(self.mean, self.covariance, x, self.noise_variance)


@dataclass(frozen=True, slots=True)
class LinearMoments:
    """Mean and a multiple of the standard deviation."""

    mean: Floats
    covariance: Floats | Spanned
    width: float

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        x = features(block.x, len(self.mean), "the block")
        variance = np.einsum("bd,bd->b", x @ self.covariance, x)
        return x @ self.mean, self.width * np.sqrt(np.clip(variance, 0.0, None))
