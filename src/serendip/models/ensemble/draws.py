"""Draws from an ensemble, as functions of the features that its members make."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Optima, Summary, Tradeoff
from serendip.core.laws import Law, laws_of
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import BlockFn
from serendip.core.reductions.scanning import ScanFn, plain_scan
from serendip.models.draws import LinearDraws, LogisticDraws, distinct
from serendip.models.ensemble.calibration import SLOPES
from serendip.models.ensemble.members import Ensemble
from serendip.models.linear_forms import LinearTradeoff
from serendip.models.wide import WideDraws

_ROWS = 2048
"""Rows worked on at once."""
_LEVEL = 64.0
"""A level that is so much larger than all features is added in float64."""

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
        found, level = self._single(block.x), self.ensemble.scale.centre
        largest = float(np.abs(found).max(initial=0.0))
        if not 1e-15 < largest + abs(level) < 1e15:
            return plain_scan(self, block)
        single = Block(block.items, found)
        slack = self.inner.slack(single) + self.grains
        wide = abs(level) > _LEVEL * largest
        if not wide:
            slack += 2.0 * float(np.finfo(np.float32).eps) * abs(level)
        return EnsembleScan(self.inner, single.x, level, slack, wide)

    def _single(self, x: Array) -> Array:
        """(b, 1 + K + d + 1) features in float32, the first less the level; some infinite."""
        found = np.empty((len(x), self.ensemble.width), dtype=np.float32)
        with np.errstate(over="ignore"):
            for start in range(0, len(x), _ROWS):
                features = self.ensemble(x[start : start + _ROWS])
                features[:, 0] -= self.ensemble.scale.centre
                found[start : start + _ROWS] = features
        return found

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
