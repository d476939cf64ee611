"""What forests, networks and bootstraps share: members that disagree, as one Gaussian process.

K members were each fitted to a part of the labels. With f̄(x) their mean and D_k(x) the departure
of member k from it, a draw is

    f(x) = ȳ + a(f̄(x) − ȳ) + c Σ_k z_k D_k(x) / √(K − 1) + s(wᵀb(x) / √d + u) / √(1 + t)

with standard normal z, w and u: its covariance is c² times that of the members, and there are as
many draws as one likes. The last term, in units of the spread s of labels, is what t labels leave
open where all members agree: a trend and a level. Slope a, spread c and the noise come from how
well members foretell labels that they have not seen (`calibration.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from serendip.core.arguments import generator
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, HeldOut, Observation, Optima, Summary, Tradeoff
from serendip.core.laws import Law, laws_of
from serendip.core.likelihood import Gaussian, Likelihood
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.core.reductions.scanning import ScanFn, plain_scan
from serendip.models.draws import LinearDraws, LogisticDraws, distinct, equal_weights
from serendip.models.ensemble.calibration import SLOPES, Calibration, Scale, Unseen, bounded
from serendip.models.fitting import check_draws, check_one, check_seen, features, stacked
from serendip.models.linear_forms import LinearTradeoff
from serendip.models.lookahead import LinearLookahead, Outlook
from serendip.models.wide import WIDE, Spanned, WideDraws, linear_draws

_ROWS = 2048
"""Rows refined at once."""
_LEVEL = 64.0
"""A level that is so much larger than all features is added in float64."""


class Members(Protocol):
    """K fitted functions."""

    @property
    def grain(self) -> float:
        """How much a prediction may differ in other company: hardly ever, and no more than this."""
        ...

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        """(b,) f̄ and (b, K) D."""
        ...

    def reach(self, x: Floats) -> float:
        """A bound on the size of all that a call returns."""
        ...


@dataclass(frozen=True, slots=True)
class Nobody:
    """No members: all that is known is a level."""

    level: float
    grain: float = 0.0

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        return np.full(len(x), self.level), np.zeros((len(x), 0))

    def reach(self, x: Floats) -> float:
        """The level."""
        return abs(self.level)


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """f(x) = mean(x) + features(x)ᵀz with z standard normal."""

    members: Members
    width: int
    """1 + K + d + 1: the mean, departures, trend and level."""
    scale: Scale
    calibration: Calibration
    drift: float
    """s / √(1 + t)"""
    n_features: int
    """d"""

    def __call__(self, x: Array) -> Floats:
        """(b, 1 + K + d + 1) mean and features."""
        x = features(x, self.n_features, "the block")
        mean, departures = self.members(x)
        stop, centre = departures.shape[1] + 1, self.scale.centre
        found = np.empty((len(x), self.width))
        found[:, 0] = centre + self.calibration.slope * (mean - centre)
        share = np.sqrt(self.calibration.spread_variance / max(stop - 2, 1))
        np.multiply(departures, share, out=found[:, 1:stop])
        np.multiply(bounded(x), self.drift / np.sqrt(x.shape[1]), out=found[:, stop:-1])
        found[:, -1] = self.drift
        return found

    def reach(self, x: Array) -> float:
        """A bound on the size of mean and features."""
        reach = self.members.reach(np.asarray(x, dtype=np.float64))
        return 2.0 * max(SLOPES) * (reach + abs(self.scale.centre)) + 3.0 * self.drift

    def moments(self) -> "EnsembleMoments":
        """Exact mean and standard deviation of f."""
        return EnsembleMoments(self)

    @property
    def law(self) -> tuple[Floats, Floats | Spanned]:
        """Mean and covariance of the coefficients: the first is 1, all others standard normal."""
        mean = np.zeros(self.width)
        mean[0] = 1.0
        return mean, np.diag(1.0 - mean) if self.width <= WIDE else Spanned.diagonal(1.0 - mean)

    def coefficients(self, size: int, rng: Generator) -> Floats:
        """(size, 1 + K + d + 1) ones for the mean, and z, w and u of fresh draws."""
        theta = np.ones((size, self.width))
        theta[:, 1:] = rng.standard_normal((size, self.width - 1))
        return theta


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleMoments:
    """Mean and standard deviation of f(x)."""

    ensemble: Ensemble

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        found = self.ensemble(block.x)
        return found[:, 0], np.sqrt(np.einsum("bq,bq->b", found[:, 1:], found[:, 1:]))


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Featured(Generic[T_co]):
    """A function of features, as one of candidates."""

    ensemble: Ensemble
    inner: BlockFn[T_co]

    def __call__(self, block: Block) -> T_co:
        return self.inner(Block(block.items, self.ensemble(block.x)))


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleTradeoff:
    """A tradeoff by features, which need not be computed for what none of them can pass."""

    ensemble: Ensemble
    inner: BlockFn[Tradeoff]

    def __call__(self, block: Block) -> Tradeoff:
        return self.inner(Block(block.items, self.ensemble(block.x)))

    def rough(self) -> Tradeoff | None:
        """G ≤ λ_max for linear draws, and no regret is negative."""
        if not isinstance(self.inner, LinearTradeoff):
            return None
        gain = 1.001 * float(self.inner.sizes[-1])
        return Tradeoff(np.zeros(1), np.array([gain]), np.full(1, np.inf))


@dataclass(frozen=True, slots=True, eq=False)
class FeaturedRows:
    """Features of some candidates, some rows at a time: there may be very many."""

    ensemble: Ensemble
    x: Array
    """(c, d), or what is read when it is asked for."""

    def __len__(self) -> int:
        return len(self.x)

    @property
    def shape(self) -> tuple[int, int]:
        """As of the array."""
        return len(self.x), self.ensemble.width

    def __getitem__(self, rows: slice | Ints) -> Floats:
        return self.ensemble(np.asarray(self.x[rows]))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.asarray(self.ensemble(np.asarray(self.x)), dtype=dtype)

    def __reduce__(self) -> tuple[Callable[[Array], Array], tuple[Array]]:
        return np.asarray, (np.asarray(self),)  # travels as the array that it stands for


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleDraws:
    """Draws that are functions of the features of an ensemble: all closed forms of theirs hold."""

    ensemble: Ensemble
    inner: LinearDraws | WideDraws | LogisticDraws

    @property
    def weights(self) -> Floats:
        """(M,) equal."""
        return self.inner.weights

    @property
    def likelihood(self) -> Likelihood:
        """How labels scatter around f."""
        return self.inner.likelihood

    def values(self, block: Block) -> Array:
        """(b, M) in float64."""
        return self.inner.values(Block(block.items, self.ensemble(block.x)))

    def scan(self, block: Block) -> ScanFn:
        """Members are asked of the whole block at once; the product is in float32."""
        if isinstance(self.inner, LogisticDraws):
            return plain_scan(self, block)
        found, level = self.ensemble(block.x), self.ensemble.scale.centre
        found[:, 0] -= level
        largest = float(np.abs(found).max(initial=0.0))
        if not 1e-15 < largest + abs(level) < 1e15:
            return plain_scan(self, block)
        single = Block(block.items, found.astype(np.float32))
        slack = self.inner.slack(single) + self.grains
        wide = abs(level) > _LEVEL * largest
        if not wide:
            slack += 2.0 * float(np.finfo(np.float32).eps) * abs(level)
        return EnsembleScan(self.inner, single.x, level, slack, wide)

    def slack(self, block: Block) -> Floats:
        """The rounding of a product, by a bound on features that need not be computed for it."""
        row = np.full((1, self.ensemble.width), self.ensemble.reach(block.x))
        product = self.inner.slack(Block(block.items[:1], row))
        return np.asarray(product + self.grains)

    @property
    def grains(self) -> Floats:
        """(M,) how far values may differ in other company."""
        grains = self.ensemble.members.grain * np.abs(self.inner.theta).sum(axis=1)
        return np.asarray(2.0 * max(SLOPES) * grains)

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Row by row; a row that repeats, as those of a pool do for many draws, is met once."""
        rows, place = distinct(np.asarray(x, dtype=np.float64))
        features = self.ensemble(rows)
        found = np.empty(len(place))
        for start in range(0, len(place), _ROWS):
            part = slice(start, start + _ROWS)
            found[part] = self.inner.refine(features[place[part]], draws[part])
        return found

    def laws(self, block: Block) -> tuple[Law, ...]:
        """As for draws of features; a fantasised label changes no member."""
        return laws_of(self.inner, Block(block.items, self.ensemble(block.x)))

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """As for draws of features; in closed form where these are linear."""
        return Featured(self.ensemble, self.inner.summary(best))

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """As for draws of features; in closed form where these are linear."""
        features = replace(contenders, x=FeaturedRows(self.ensemble, contenders.x))
        return EnsembleTradeoff(self.ensemble, self.inner.tradeoff(features))


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleScan:
    """Values by features less the level of the labels, in float32."""

    inner: LinearDraws | WideDraws
    features: Array
    """(b, 1 + K + d + 1), the first less the level."""
    level: float
    slack: Floats
    """(M,)"""
    wide: bool
    """Whether the level is too large for float32."""

    def __call__(self, rows: slice) -> tuple[Array, Floats]:
        found = self.inner.values(Block(np.empty(0, dtype=np.int64), self.features[rows]))
        if self.wide:
            found = found.astype(np.float64)
        found += self.level
        return found, self.slack


Fitted = tuple[Members, int, Unseen]
"""Members, how many they are, and what they say of labels that they have not seen."""


class Fitter(Protocol):
    """Settings of a model that fits members."""

    @property
    def n_features(self) -> int:
        """How many there are."""
        ...

    def fit(self, x: Floats, y: Floats, scale: Scale, rng: Generator) -> "Fitted":
        """Members for at least two labels."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class EnsemblePosterior:
    """An ensemble fitted to all labels so far."""

    model: Fitter
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,)"""
    n_labels: int
    ensemble: Ensemble

    @classmethod
    def of(cls, model: Fitter, seen: Sequence[Observation], rng: Generator) -> "EnsemblePosterior":
        """One fit to all observations in their order."""
        check_seen(seen)
        generator("rng", rng)
        x, y = stacked(np.empty((0, model.n_features)), np.empty(0), seen)
        return cls(model, x, y, len(seen), _fitted(model, x, y, rng))

    def update(self, seen: Observation, rng: Generator) -> Self:
        """A fit anew: what came of the last one is not used."""
        check_one(seen)
        generator("rng", rng)
        x, y = stacked(self.x, self.y, (seen,))
        ensemble = _fitted(self.model, x, y, rng)
        return replace(self, x=x, y=y, n_labels=self.n_labels + 1, ensemble=ensemble)

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.y

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        features(x, self.model.n_features, "the pool")

    def sample(self, size: int, rng: Generator) -> EnsembleDraws:
        """Fresh draws."""
        check_draws(size, rng)
        theta = self.ensemble.coefficients(size, rng)
        mean, covariance = self.ensemble.law
        likelihood = Gaussian(self.noise_variance)
        linear = linear_draws(theta, equal_weights(size), mean, covariance, likelihood)
        return EnsembleDraws(self.ensemble, linear)

    def moments(self) -> MomentsFn:
        """Exact mean and standard deviation of f."""
        return EnsembleMoments(self.ensemble)

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """As for linear functions of the features."""
        mean, covariance = self.ensemble.law
        there = self.ensemble(others.x)
        return Featured(
            self.ensemble, LinearLookahead(mean, covariance, there, self.noise_variance)
        )

    def held_out(self) -> HeldOut:
        """By members that have not seen label i; scales are those of all labels."""
        return self.ensemble.calibration.held_out

    @property
    def noise_variance(self) -> float:
        """(E σ)²."""
        return self.ensemble.calibration.noise_variance


def _fitted(model: Fitter, x: Floats, y: Floats, rng: Generator) -> Ensemble:
    scale = Scale.of(y)
    drift = scale.spread / np.sqrt(1.0 + len(y))
    members: Members = Nobody(scale.centre)
    n_members, unseen = 0, Unseen.of(np.zeros((len(y), 0)), np.zeros((len(y), 0), dtype=bool))
    if len(y) >= 2:
        members, n_members, unseen = model.fit(x, y, scale, rng)
    calibration = Calibration.of(x, y, unseen, scale)
    d, drift = x.shape[1], float(drift)
    return Ensemble(members, n_members + d + 2, scale, calibration, drift, d)
