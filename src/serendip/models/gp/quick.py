"""The least shortfall and the largest gain that float32 allows: most candidates are beaten by that.

Variances cost as much as all the rest, so they are bounded last, and only where that may matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import LEVEL_DISCOUNT, Block, Tradeoff, settled
from serendip.core.laws import gaussian_shortfall
from serendip.core.likelihood import Gaussian, Likelihood
from serendip.models.condensed import Condensed
from serendip.models.gp.company import Company
from serendip.models.gp.process import slices
from serendip.models.gp.quick_fit import QuickFit, QuickSeen
from serendip.models.gp.single import RANGE, UNIT

_SPARE = 1e-6
"""What bounds give away beyond rounding in float32: far more than rounding in float64 takes."""


class Exact(Protocol):
    """The tradeoff that is bounded: `paths.PathTradeoff`."""

    @property
    def company(self) -> Company: ...
    @property
    def contenders(self) -> Condensed: ...
    @property
    def level(self) -> float: ...
    @property
    def level_variance(self) -> float: ...
    @property
    def likelihood(self) -> Likelihood: ...


@dataclass(frozen=True, slots=True, eq=False)
class QuickTradeoff:
    """Bounds on a `PathTradeoff`: regrets no larger, gains and means no smaller."""

    exact: Exact
    fits: tuple[QuickFit, ...]
    there: Floats
    """(R, c) means of the contenders less those of the mixture, by their weights."""

    @classmethod
    def of(cls, exact: Exact) -> "QuickTradeoff | None":
        """None where sizes are not for float32."""
        company = exact.company
        if not isinstance(exact.likelihood, Gaussian):
            return None
        parts = []
        for place, (fit, seen) in enumerate(zip(company.fits, company.seen, strict=True)):
            features = company.features[place]
            parts.append(QuickFit.of(fit, seen, company.x, features, company.paths.get(place)))
        for part in parts:
            sizes = np.r_[part.total, part.root, part.pull.sizes, part.told.sizes, part.longest]
            if part.path is not None:
                sizes = np.r_[sizes, part.path.sizes]
            if not (part.total > 1.0 / RANGE and np.all(sizes < RANGE)):
                return None
        weights = np.concatenate([fit.weights for fit in company.fits])
        there = np.concatenate([one.means for one in company.seen], axis=1)
        there = (there - (there @ weights)[:, None]) * weights
        return cls(exact, tuple(parts), np.ascontiguousarray(there.T))

    def __call__(self, block: Block, matters: Callable[[Tradeoff], Array]) -> Tradeoff:
        x, own = block.x, self.exact.contenders.own(block.items)
        parts = [
            self._chunk(np.asarray(x[rows], dtype=np.float64), own[rows], matters)
            for rows in slices(len(x))
        ]
        regret, gain, mean = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Tradeoff(regret, gain, mean)

    def _chunk(
        self, x: Floats, own: Floats, matters: Callable[[Tradeoff], Array]
    ) -> tuple[Floats, Floats, Floats]:
        """First as if variances could be anything up to the prior's; they cost as much again."""
        exact, doubt = self.exact, self.exact.contenders.doubt
        found = [part(x, doubt) for part in self.fits]
        weights = np.concatenate([part.fit.weights for part in self.fits])
        means = np.concatenate([one.means for one in found], axis=1)
        error = np.concatenate([one.means_error for one in found], axis=1)
        mean, mean_error = means @ weights, error @ weights
        apart, error = means - mean[:, None], error + mean_error[:, None]
        shared = np.asarray(sum(one.shared for one in found))
        shared_error = np.asarray(sum(one.shared_error for one in found))
        told = self._told(found, apart, error, shared, shared_error)
        apart = np.abs(apart)
        least = np.clip(apart - error, 0.0, None) ** 2 @ weights
        between = (apart + error) ** 2 @ weights
        most = between + np.asarray(sum(one.prior for one in found))
        size = float(np.hypot(exact.level, np.sqrt(exact.level_variance)))
        mean = mean + self.fits[0].fit.offset
        mean = mean + mean_error + 1e-12 * (np.abs(mean) + size)
        about = _About(mean, told, shared, shared_error, own)
        regret, gain = about.bounds(exact, least, most)
        some = np.flatnonzero(matters(Tradeoff(regret, gain, mean)))
        if len(some):
            least, most = least[some], between[some]
            for part, one in zip(self.fits, found, strict=True):
                low, high = part.variances(one, some)
                least, most = least + low, most + high
            regret[some], gain[some] = about.of(some).bounds(exact, least, most)
        return regret, gain, mean

    def _told(
        self,
        found: list[QuickSeen],
        apart: Floats,
        error: Floats,
        shared: Floats,
        shared_error: Floats,
    ) -> Floats:
        """(b,) at most Σ w (C[x, x′] − β shared)²"""
        doubt = self.exact.contenders.doubt
        covariance = found[0].covariance
        for one in found[1:]:
            covariance += one.covariance
        common = LEVEL_DISCOUNT * shared
        covariance += apart.astype(np.float32) @ self.there.astype(np.float32)
        covariance -= common.astype(np.float32)[:, None]
        covariance *= covariance
        root = np.sqrt((covariance @ doubt.astype(np.float32)).astype(np.float64))
        spread = np.sqrt(self.there**2 @ doubt)
        total = sum(one.covariance_error for one in found) * (1.0 + 1e-3)
        total = total + (error + 32.0 * UNIT * np.abs(apart)) @ spread
        total += np.sqrt(doubt.sum()) * (
            LEVEL_DISCOUNT * shared_error + 8.0 * UNIT * np.abs(common)
        )
        count = len(doubt) + 16 + 4 * len(found)
        return np.asarray((root * (1.0 + count * UNIT) + total) ** 2)


@dataclass(frozen=True, slots=True, eq=False)
class _About:
    """What is known of some candidates but for their variance."""

    mean: Floats
    """(b,) at most"""
    told: Floats
    """(b,) at most"""
    shared: Floats
    """(b,)"""
    shared_error: Floats
    own: Floats
    """(b,) surplus of doubt"""

    def of(self, some: Ints) -> "_About":
        """Some of them."""
        columns = (self.mean, self.told, self.shared, self.shared_error, self.own)
        return _About(*(column[some] for column in columns))

    def bounds(self, exact: Exact, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """The least shortfall and the largest gain, given bounds of the variance."""
        least, most = np.clip(least, 0.0, None), np.clip(most, 0.0, None)
        low, high = (
            LEVEL_DISCOUNT * (self.shared + sign * self.shared_error) for sign in (-1.0, 1.0)
        )
        low, high = least - high, most - low
        smaller, larger = np.sort(np.abs([low, high]), axis=0)
        inside = (low <= 0.0) & (high >= 0.0)
        apart = np.where(self.own > 0.0, larger, np.where(inside, 0.0, smaller))
        told = self.told + self.own * apart**2
        gain = told / exact.likelihood.label_variance(self.mean, least)
        size = float(np.hypot(exact.level, np.sqrt(exact.level_variance)))
        spread = exact.level_variance - 2.0 * (self.shared + self.shared_error) + least
        regret = gaussian_shortfall(exact.level - self.mean, np.clip(spread, 0.0, None))
        regret = settled(regret * (1.0 - _SPARE) - 1e-12 * size, size)
        return regret, np.clip(gain, 0.0, None) * (1.0 + _SPARE)
