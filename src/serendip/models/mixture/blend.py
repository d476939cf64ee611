"""Draws of several posteriors as one: each draw belongs to a member of the mixture."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Optima, Summary, Tradeoff
from serendip.core.laws import Law, laws_of
from serendip.core.likelihood import Gaussian, Likelihood
from serendip.core.protocols import BlockFn, Draws, MomentsFn
from serendip.core.reductions.scanning import ScanFn, quick_of, scan_of
from serendip.models.draws import grouped_summary


@dataclass(frozen=True, slots=True)
class BlendedDraws:
    """The draws of the members, one after the other."""

    parts: tuple[Draws, ...]
    trust: Floats
    """(J,) what the draws of each member count for in all; they sum to one."""
    noise_variance: float
    """E[σ_ε²] over the members."""

    @property
    def _sizes(self) -> Ints:
        return np.array([len(part.weights) for part in self.parts])

    @property
    def weights(self) -> Floats:
        """(M,)"""
        return np.concatenate(
            [share * part.weights for share, part in zip(self.trust, self.parts, strict=True)]
        )

    @property
    def likelihood(self) -> Likelihood:
        """Gaussian, with the noise expected over the members."""
        return Gaussian(self.noise_variance)

    def values(self, block: Block) -> Array:
        """(b, M)"""
        found = [np.asarray(part.values(block), dtype=np.float64) for part in self.parts]
        return np.concatenate(found, axis=1)

    def scan(self, block: Block) -> ScanFn:
        """Each member its own way."""
        return BlendedScan(tuple(scan_of(part, block) for part in self.parts))

    def slack(self, block: Block) -> Floats:
        """(M,)"""
        return np.concatenate([part.slack(block) for part in self.parts])

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Each by the member it belongs to."""
        found, first = np.empty(len(draws)), 0
        for part, size in zip(self.parts, self._sizes.tolist(), strict=True):
            own = np.flatnonzero((draws >= first) & (draws < first + size))
            if len(own):
                found[own] = part.refine(x[own], draws[own] - first)
            first += size
        return found

    def laws(self, block: Block) -> tuple[Law, ...]:
        """Those of the members, by their trust."""
        return tuple(
            replace(law, weight=share * law.weight)
            for share, part in zip(self.trust.tolist(), self.parts, strict=True)
            for law in laws_of(part, block)
        )

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback: which member a draw belongs to is part of what X* tells."""
        return grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """Regret and mean are those of the mixture; the gain is what each member expects to learn.

        Δ(x) = Σ_j w_j Δ_j(x) exactly. The gain Σ_j w_j g_j(x) leaves out what a label would tell
        about which member is right: that is not worth an experiment of its own.
        """
        parts, first = [], 0
        for part in self.parts:
            own = slice(first, first + len(part.weights))
            thresholds = contenders.thresholds[own]
            mine = replace(contenders, thresholds=thresholds, weights=part.weights)
            parts.append(part.tradeoff(mine))  # who is in doubt is what all draws say
            first = own.stop
        return BlendedTradeoff(tuple(parts), self.trust)


@dataclass(frozen=True, slots=True, eq=False)
class BlendedScan:
    """Those of the members side by side."""

    parts: tuple[ScanFn, ...]

    def __call__(self, rows: slice) -> tuple[Array, Floats]:
        values, slack = zip(*(part(rows) for part in self.parts), strict=True)
        return np.concatenate(values, axis=1), np.concatenate(slack)


@dataclass(frozen=True, slots=True)
class BlendedTradeoff:
    """Σ_j w_j (Δ_j, g_j, f̄_j)."""

    parts: tuple[BlockFn[Tradeoff], ...]
    weights: Floats

    def __call__(self, block: Block) -> Tradeoff:
        found = [part(block) for part in self.parts]
        return Tradeoff(
            _summed(self.weights, [one.regret for one in found]),
            _summed(self.weights, [one.gain for one in found]),
            _summed(self.weights, [one.mean for one in found]),
        )

    def quick(self) -> "BlendedTradeoff | None":
        """Of the best that each member says, or of what it says."""
        best = [quick_of(part) for part in self.parts]
        if not any(best):
            return None
        pairs = zip(best, self.parts, strict=True)
        return BlendedTradeoff(tuple(found or part for found, part in pairs), self.weights)


@dataclass(frozen=True, slots=True)
class BlendedMoments:
    """Mean and standard deviation of f(x) over the members and within them."""

    parts: tuple[MomentsFn, ...]
    weights: Floats

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        found = [part(block) for part in self.parts]
        mean = _summed(self.weights, [mean for mean, _ in found])
        squares = [deviation**2 + (own - mean) ** 2 for own, deviation in found]
        return mean, np.sqrt(_summed(self.weights, squares))


def _summed(weights: Floats, parts: Sequence[Floats]) -> Floats:
    return np.asarray(sum(weight * part for weight, part in zip(weights, parts, strict=True)))
