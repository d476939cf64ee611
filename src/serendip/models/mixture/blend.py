"""Draws of several posteriors as one: each draw belongs to a member of the mixture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Optima, Summary, Tradeoff
from serendip.core.laws import Law, laws_of
from serendip.core.likelihood import Gaussian, Likelihood
from serendip.core.protocols import BlockFn, Draws, MomentsFn
from serendip.core.reductions.scanning import QuickFn, ScanFn, quick_of, scan_of
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
        return blended(self.weights, [part(block) for part in self.parts])

    def quick(self) -> "BlendedQuick | None":
        """Where a member can be bounded: the others are looked at last, and only where need be."""
        best = [quick_of(part) for part in self.parts]
        rough = [part.rough() if isinstance(part, SupportsRough) else None for part in self.parts]
        if not any(best):
            return None
        return BlendedQuick(self, tuple(best), tuple(rough))


@runtime_checkable
class SupportsRough(Protocol):
    """A tradeoff with a bound for all candidates."""

    def rough(self) -> Tradeoff | None:
        """(1,) the least regret, and the largest gain and mean that any candidate could have."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class BlendedQuick:
    """Bounds of the members, those last that have one for all candidates beforehand."""

    exact: BlendedTradeoff
    best: tuple[QuickFn[Tradeoff] | None, ...]
    rough: tuple[Tradeoff | None, ...]

    def __call__(self, block: Block, matters: Callable[[Tradeoff], Array]) -> Tradeoff:
        weights, best = self.exact.weights, self.best
        free = Tradeoff(np.zeros(1), np.full(1, np.inf), np.full(1, np.inf))
        found = [rough or free for rough in self.rough]
        order = sorted(range(len(found)), key=lambda place: self.rough[place] is not None)
        for place in order:

            def so_far(one: Tradeoff, place: int = place) -> Array:
                return matters(blended(weights, [*found[:place], one, *found[place + 1 :]]))

            quick = best[place]
            if quick is not None:
                found[place] = quick(block, so_far)
                continue
            size = len(block)
            wide = Tradeoff(*(np.broadcast_to(part, size) for part in _columns(found[place])))
            left = np.flatnonzero(so_far(wide))
            told = self.exact.parts[place](Block(block.items[left], block.x[left]))
            closer = []
            for all_rows, some in zip(_columns(wide), _columns(told), strict=True):
                closer.append(all_rows.copy())
                closer[-1][left] = some
            found[place] = Tradeoff(*closer)
        return blended(weights, found)


def _columns(found: Tradeoff) -> tuple[Floats, Floats, Floats]:
    return found.regret, found.gain, found.mean


def blended(weights: Floats, found: Sequence[Tradeoff]) -> Tradeoff:
    """Σ_j w_j (Δ_j, g_j, f̄_j)"""
    return Tradeoff(
        _summed(weights, [one.regret for one in found]),
        _summed(weights, [one.gain for one in found]),
        _summed(weights, [one.mean for one in found]),
    )


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
