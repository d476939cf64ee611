"""The least shortfall and the largest gain that float32 allows: most candidates are beaten by that.

Most need no more than their kernel with the labels. It tells the mean, and by Cauchy–Schwarz, with
e the part of Cov(f(x), f_(k)) that is no news,

    Σ w(x′) (C[x, x′] − e)² / (v + σ²) ≤ (√(S v / (v + σ²)) + |e| √(Σ w / (v + σ²)))²,

v = Var f(x) and S = Σ w(x′) Var f(x′), so what they could tell of the contenders is bounded without
a covariance. Variances come second, as they cost much where labels are many. Covariances, and the
path that tells how a candidate varies with f_(k), are for those who are left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import LEVEL_DISCOUNT, Block, Tradeoff, settled
from serendip.core.laws import gaussian_shortfall
from serendip.core.likelihood import Gaussian, Likelihood
from serendip.models.condensed import Condensed
from serendip.models.gp.company import Company
from serendip.models.gp.process import slices
from serendip.models.gp.quick_fit import Beside, Glance, QuickFit
from serendip.models.gp.single import RANGE, UNIT

_SPARE = 1e-6
"""What bounds give away beyond rounding in float32: far more than rounding in float64 takes."""
_FINE = 1e-9
"""What a covariance in float64 may be off by, beside the prior's variance: by far less."""

_FEW = 0.5
"""Of a block, those for whom variances are bounded before covariances."""

_Bounds = tuple[Floats, Floats, Floats]
"""(b,) the least regret, and the largest gain and mean."""


class Exact(Protocol):
    """The tradeoff that is bounded: `paths.PathTradeoff`."""

    @property
    def company(self) -> Company: ...
    @property
    def contenders(self) -> Condensed: ...
    @property
    def stake(self) -> float: ...
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
    weights: Floats
    """(R,) of the mixture, over the noise ratios of all fits."""
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
        return cls(exact, tuple(parts), weights, np.ascontiguousarray(there.T))

    def __call__(self, block: Block, matters: Callable[[Tradeoff], Array]) -> Tradeoff:
        """Closer and closer, for those to whom it matters; where that is most, at once."""
        x, own = block.x, self.exact.contenders.own(block.items)
        found = Tradeoff(*(np.full(len(block), value) for value in (0.0, np.inf, np.inf)))
        n_labels, n_others = len(self.exact.company.fits[0].x), len(self.exact.company.x)

        def look(how: Callable[[Floats, Floats], _Bounds], left: Ints, width: int) -> None:
            for rows in slices(len(left), width):
                some = left[rows]
                bounds = how(np.asarray(x[some], dtype=np.float64), own[some])
                found.regret[some], found.gain[some], found.mean[some] = bounds

        look(self._glance, np.arange(len(block)), n_labels)
        left = np.flatnonzero(matters(found))
        if len(left) <= _FEW * len(block):
            look(self._closer, left, n_labels)
            left = np.flatnonzero(matters(found))
        look(self._closest, left, n_labels + n_others)
        return found

    def _glance(self, x: Floats, own: Floats) -> _Bounds:
        """As if variances could be anything up to the prior's."""
        about = self._about([part.glance(x) for part in self.fits], own)
        return about.bounds(self.exact, self._most_gain(about))

    def _closer(self, x: Floats, own: Floats) -> _Bounds:
        """With variances."""
        found = [part.glance(x) for part in self.fits]
        about = self._with_variances(self._about(found, own), found)
        return about.bounds(self.exact, self._most_gain(about))

    def _closest(self, x: Floats, own: Floats) -> _Bounds:
        """Beside the contenders."""
        doubt = self.exact.contenders.doubt
        beside = [part.beside(x, doubt) for part in self.fits]
        found = [one.glance for one in beside]
        about = self._with_variances(self._about(found, own), found)
        told = self._told(beside, about) / about.label_variance(self.exact, about.least)
        return about.bounds(self.exact, told)

    def _about(self, found: Sequence[Glance], own: Floats) -> "_About":
        exact, weights = self.exact, self.weights
        means = np.concatenate([one.means for one in found], axis=1)
        error = np.concatenate([one.means_error for one in found], axis=1)
        mean, mean_error = means @ weights, error @ weights
        apart, error = means - mean[:, None], error + mean_error[:, None]
        size = float(np.hypot(exact.level, np.sqrt(exact.level_variance)))
        mean = mean + self.fits[0].fit.offset
        between = (np.abs(apart) + error) ** 2 @ weights
        prior = np.asarray(sum(one.prior for one in found))
        return _About(
            mean=mean + mean_error + 1e-12 * (np.abs(mean) + size),
            apart=apart,
            error=error,
            prior=prior,
            between=between,
            least=np.clip(np.abs(apart) - error, 0.0, None) ** 2 @ weights,
            most=between + prior,
            shared=np.asarray(sum(one.shared for one in found)),
            shared_error=np.asarray(sum(one.shared_error for one in found)),
            own=own,
        )

    def _with_variances(self, about: "_About", found: Sequence[Glance]) -> "_About":
        least, most = about.least, about.between
        for part, one in zip(self.fits, found, strict=True):
            low, high = part.variances(one)
            least, most = least + low, most + high
        return replace(about, least=np.clip(least, 0.0, None), most=np.clip(most, 0.0, None))

    def _most_gain(self, about: "_About") -> Floats:
        """(b,) at most Σ w (C[x, x′] − β shared)² / Var(Y_x), whatever the covariances."""
        share = about.most / about.label_variance(self.exact, about.most)
        common = LEVEL_DISCOUNT * (np.abs(about.shared) + about.shared_error)
        common = (common + _FINE * about.prior) * np.sqrt(self.exact.contenders.doubt.sum())
        alone = common / np.sqrt(about.label_variance(self.exact, about.least))
        return np.asarray((np.sqrt(self.exact.stake * share) + alone) ** 2)

    def _told(self, found: Sequence[Beside], about: "_About") -> Floats:
        """(b,) likewise, by the covariances."""
        doubt, apart = self.exact.contenders.doubt, about.apart
        covariance = found[0].covariance
        for one in found[1:]:
            covariance += one.covariance
        common = LEVEL_DISCOUNT * about.shared
        covariance += apart.astype(np.float32) @ self.there.astype(np.float32)
        covariance -= common.astype(np.float32)[:, None]
        covariance *= covariance
        root = np.sqrt((covariance @ doubt.astype(np.float32)).astype(np.float64))
        spread = np.sqrt(self.there**2 @ doubt)
        total = sum(one.covariance_error for one in found) * (1.0 + 1e-3)
        total = total + (about.error + 32.0 * UNIT * np.abs(apart)) @ spread
        total += np.sqrt(doubt.sum()) * (
            LEVEL_DISCOUNT * about.shared_error + 8.0 * UNIT * np.abs(common)
        )
        count = len(doubt) + 16 + 4 * len(found)
        return np.asarray((root * (1.0 + count * UNIT) + total) ** 2)


@dataclass(frozen=True, slots=True, eq=False)
class _About:
    """What is known of some candidates, their covariances apart."""

    mean: Floats
    """(b,) at most"""
    apart: Floats
    """(b, R) means of the grid points less that of the mixture."""
    error: Floats
    """(b, R) how far these may be off."""
    prior: Floats
    """(b,) the variance before any label, that between the means apart."""
    between: Floats
    """(b,) the variance between the means, at most."""
    least: Floats
    """(b,) the variance, at least."""
    most: Floats
    """(b,) the variance, at most."""
    shared: Floats
    """(b,) Cov(f(x), f_(k))"""
    shared_error: Floats
    own: Floats
    """(b,) surplus of doubt"""

    def label_variance(self, exact: Exact, variance: Floats) -> Floats:
        """(b,) if this were the variance."""
        return exact.likelihood.label_variance(self.mean, variance)

    def bounds(self, exact: Exact, gain: Floats) -> _Bounds:
        """The least shortfall and the largest gain, `own` apart; (v − e)² / (v + σ²) is convex."""
        ends = [(v, self.label_variance(exact, v)) for v in (self.least, self.most)]
        common = [LEVEL_DISCOUNT * (self.shared + sign * self.shared_error) for sign in (-1.0, 1.0)]
        corners = [(v - e) ** 2 / total for v, total in ends for e in common]
        apart = np.maximum(np.maximum(self.least - common[1], common[0] - self.most), 0.0)
        own = np.where(self.own > 0.0, np.max(corners, axis=0), apart**2 / ends[1][1])
        size = float(np.hypot(exact.level, np.sqrt(exact.level_variance)))
        spread = exact.level_variance - 2.0 * (self.shared + self.shared_error) + self.least
        regret = gaussian_shortfall(exact.level - self.mean, np.clip(spread, 0.0, None))
        regret = settled(regret * (1.0 - _SPARE) - 1e-12 * size, size)
        return regret, np.clip(gain + self.own * own, 0.0, None) * (1.0 + _SPARE), self.mean
