"""Paths of a mixture of Gaussian processes, and what can be said of a pool from them.

A path is a function that can be evaluated anywhere (Wilson et al. 2020): features with weights, and
a pull from each labelled candidate, or inducing point. Nothing of size n × n arises.

The features are random, and all draws of a kernel share them, so the law of paths is that of the
process but for their error: standard deviations within 4 % and correlations within .09 on PNDC and
CNCCI; where one kernel is left and labels have taken most of its variance, within 15 % and .3.
Means are exact. More features found no more (docs/models.md).
"""

from dataclasses import dataclass

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import (
    LEVEL_DISCOUNT,
    Block,
    Contenders,
    Optima,
    Summary,
    Tradeoff,
    settled,
)
from serendip.core.laws import Law, gaussian_shortfall
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import BlockFn
from serendip.core.reductions.scanning import QuickFn, ScanFn, plain_scan
from serendip.models.condensed import Condensed
from serendip.models.draws import distinct, grouped_summary
from serendip.models.fitting import check_width, features
from serendip.models.gp.company import Company
from serendip.models.gp.path import Path
from serendip.models.gp.process import Fit, mixture_moments, pooled, slices
from serendip.models.gp.quick import QuickTradeoff
from serendip.models.gp.single import PathScan

_CONTENDERS = 256
"""Contenders whose covariance is computed; of more, so many are taken at even steps of doubt."""

_STEP = 2.0**-30
"""Values of a path are told apart in such steps of its size."""


@dataclass(frozen=True, slots=True)
class PathDraws:
    """M paths, each from the kernel it picked."""

    paths: tuple[Path, ...]
    weights: Floats
    likelihood: Likelihood
    fits: tuple[Fit, ...]
    """The posterior they were drawn from."""

    def values(self, block: Block) -> Array:
        """(b, M) in float64, whatever the block is; in steps, so that its company does not show."""
        x = features(block.x, self.paths[0].x.shape[1], "the block")
        values, level = self._departures(x)
        steps = self.steps
        values /= steps
        np.rint(values, out=values)
        values *= steps
        values += level
        return values

    def _departures(self, x: Floats) -> tuple[Floats, Floats]:
        values, level = np.empty((len(x), len(self.weights))), np.empty(len(self.weights))
        for path in self.paths:
            values[:, path.draws] = path.departures(x)
            level[path.draws] = path.level
        return values, level

    def scan(self, block: Block) -> ScanFn:
        """In float32, with a bound on what that takes from them."""
        check_width(block.x, self.paths[0].x.shape[1])
        return PathScan.of(self.paths, self.steps, block.x) or plain_scan(self, block)

    @property
    def steps(self) -> Floats:
        """(M,) the steps of the values."""
        steps = np.empty(len(self.weights))
        for path in self.paths:
            steps[path.draws] = _STEP * (path.size + np.abs(path.level) * 2.0**-20)
        return steps

    def slack(self, block: Block) -> Floats:
        """Zero: `values` are what `refine` returns."""
        return np.zeros(len(self.weights))

    def refine(self, x: Array, draws: Ints) -> Floats:
        """As `values`; rows that repeat, one after the other, are computed once."""
        x, found, steps = np.asarray(x, dtype=np.float64), np.empty(len(x)), self.steps[draws]
        for path in self.paths:
            first = path.draws.start
            own = np.flatnonzero((draws >= first) & (draws < path.draws.stop))
            rows, place = distinct(x[own])
            for part in slices(len(rows)):
                inside = slice(*np.searchsorted(place, (part.start, part.stop)))
                some, values = own[inside], path.departures(rows[part])
                found[some] = values[place[inside] - part.start, draws[some] - first]
            found[own] = (
                np.rint(found[own] / steps[own]) * steps[own] + path.level[draws[own] - first]
            )
        return found

    def laws(self, block: Block) -> tuple[Law, ...]:
        """The exact mean and covariance of the mixture."""
        x = np.asarray(block.x, dtype=np.float64)
        covariance = Company.of(self.fits, x)(x)[1]
        mean, _ = mixture_moments(self.fits, x)
        values = np.ascontiguousarray(self.values(block).T)
        return (Law(1.0, self.weights, values, mean, covariance, self.likelihood),)

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback."""
        return grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """Both by the exact covariance of the mixture; the law of f_(k) by the draws.

        f_(k) − f(x) is taken as a Gaussian, as with linear draws.
        """
        few = Condensed.of(contenders, _CONTENDERS)
        level = float(self.weights @ contenders.thresholds)
        apart = self.weights * (contenders.thresholds - level)
        x = np.asarray(contenders.x[few.picked], dtype=np.float64)
        level_paths = {path.fit: path.averaged(apart[path.draws]) for path in self.paths}
        company = Company.of(self.fits, x, level_paths)
        return PathTradeoff(
            company=company,
            contenders=few,
            stake=float(few.doubt @ pooled(self.fits, company.seen)[1]),
            level=level,
            level_variance=float(apart @ (contenders.thresholds - level)),
            likelihood=self.likelihood,
        )


@dataclass(frozen=True, slots=True)
class PathTradeoff:
    """Shortfall and gain of each candidate of a block, by the moments of the mixture."""

    company: Company
    """The contenders, and Cov(f(x), f_(k)) as a sum of paths."""
    contenders: Condensed
    stake: float
    """Σ w(x′) Var f(x′): what there is to be told."""
    level: float
    """E[f_(k)]"""
    level_variance: float
    likelihood: Likelihood

    def __call__(self, block: Block) -> Tradeoff:
        x = np.asarray(block.x, dtype=np.float64)
        own = self.contenders.own(block.items)
        parts = [self._chunk(x[rows], own[rows]) for rows in slices(len(x))]
        regret, gain, mean = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Tradeoff(regret, gain, mean)

    def quick(self) -> QuickFn[Tradeoff] | None:
        """In float32, with bounds on what that takes from it."""
        return QuickTradeoff.of(self)

    def _chunk(self, x: Floats, own: Floats) -> tuple[Floats, Floats, Floats]:
        found, covariance, shared = self.company(x)
        mean, variance = pooled(self.company.fits, found)
        apart = self.level_variance - 2.0 * shared + variance
        size = float(np.hypot(self.level, np.sqrt(self.level_variance)))
        regret = settled(gaussian_shortfall(self.level - mean, apart), size)
        common = LEVEL_DISCOUNT * shared
        told = (covariance - common[:, None]) ** 2 @ self.contenders.doubt + own * (
            variance - common
        ) ** 2
        label_variance = self.likelihood.label_variance(mean, variance)
        return regret, settled(told / label_variance, self.stake), mean
