"""Members that disagree, and the features of a candidate that they make."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Array, Floats
from serendip.core.data import Block
from serendip.models.ensemble.calibration import SLOPES, Calibration, Scale, bounded
from serendip.models.fitting import features
from serendip.models.wide import WIDE, Spanned


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
