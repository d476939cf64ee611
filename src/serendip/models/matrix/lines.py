"""One side of a matrix, its rows or its columns, and the Gibbs steps over what belongs to it.

Every line i (a row, or a column) has q numbers: its own effect, then its R factors. Each is a sum
over groups of features, the last group being the line itself:

    c_ik = Σ_g φ_g(i)ᵀ w_gk,   w_gk ~ N(0, τ_gk² I),   τ_gk = |α_gk| s_gk,
    α_gk ~ N(0, 1),   s_gk² ~ InvGamma(ν/2, νA_k²/2)

so that τ_gk is half-t with ν degrees of freedom and scale A_k, and every step is conjugate (Gelman
2006). Given the other side, labels are linear in c: all they say of line i is a precision (q, q)
and a pull (q,). Chains come last in every array.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Floats
from serendip.core.linalg import gaussian_draws
from serendip.models.matrix.groups import Drawn, Group, Levels, Told, times


class LineChains(NamedTuple):
    """Where the chains of one side stand."""

    weights: tuple[Floats, ...]
    """w (q, d, M) of each group."""
    stretch: Floats
    """α (groups, q, M)"""
    spread: Floats
    """s² (groups, q, M)"""


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The groups of one side, and the prior of their scales."""

    groups: tuple[Group, ...]
    """The last is the line itself."""
    scales: Floats
    """(q, 1) A"""
    freedom: float
    """ν"""

    @classmethod
    def of(cls, given: Sequence[Group], size: int, scales: Floats, freedom: float) -> "Lines":
        """A constant, what is given, and the lines themselves."""
        constant = Levels(np.zeros(size, dtype=np.int64))
        own = Levels(np.arange(size, dtype=np.int64))
        groups = (constant, *given, own) if size > 1 else (own,)
        return cls(groups, scales[:, None], freedom)

    def prior(self, n_chains: int, rng: Generator) -> LineChains:
        """Exact draws."""
        shape = (len(self.groups), len(self.scales), n_chains)
        stretch = rng.standard_normal(shape)
        spread = self._spread(np.zeros(shape), np.zeros(len(self.groups)), rng)
        widths = np.abs(stretch) * np.sqrt(spread)
        weights = tuple(
            width[:, None] * rng.standard_normal((shape[1], len(group.gram), n_chains))
            for group, width in zip(self.groups, widths, strict=True)
        )
        return LineChains(weights, stretch, spread)

    def _spread(self, energy: Floats, counts: Floats, rng: Generator) -> Floats:
        """S² given the sum of squares of (w/α) over so many weights."""
        gammas = rng.standard_gamma(0.5 * (self.freedom + counts)[:, None, None], energy.shape)
        return np.asarray(0.5 * (self.freedom * self.scales**2 + energy) / gammas)

    def total(self, chains: LineChains) -> Floats:
        """(q, n, M) c"""
        parts = [g.at(w) for g, w in zip(self.groups, chains.weights, strict=True)]
        return np.asarray(sum(parts))

    def sweep(
        self, chains: LineChains, precision: Floats, pull: Floats, rng: Generator
    ) -> LineChains:
        """All weights and scales once, given what labels say of the lines."""
        weights, stretch = list(chains.weights), chains.stretch.copy()
        left = pull - times(precision, self.total(chains))
        energies = np.empty_like(chains.spread)
        counts = np.array([len(group.gram) for group in self.groups], dtype=np.float64)
        for place, group in enumerate(self.groups):
            alpha = stretch[place]
            widths = alpha**2 * chains.spread[place]
            drawn = group.draw(weights[place], widths, Told(precision, left), rng)
            bare = drawn.weights / alpha[:, None]
            stretch[place] = _stretched(drawn, alpha, rng)
            energies[place] = (bare**2).sum(axis=1)
            new = stretch[place][:, None] * bare
            left = left - times(precision, group.at(new - weights[place]))
            weights[place] = new
        spread = self._spread(energies, counts, rng)
        swept = LineChains(tuple(weights), stretch, spread)
        return self._recentred(swept, rng)

    def _recentred(self, chains: LineChains, rng: Generator) -> LineChains:
        """The weights of every group given c itself, which stays: labels have no say in it.

        Without it a group and the lines' own weights, which can do all the group can, trade places
        slowly. Every group is a regression of what the lines' own weights hold.
        """
        variances = chains.stretch**2 * chains.spread
        own, weights = chains.weights[-1], list(chains.weights)
        for place, group in enumerate(self.groups[:-1]):
            around = variances[-1][:, None]
            precision = group.gram[:, None] / around + 1.0 / variances[place][:, None]
            whole = own + group.at(weights[place])
            mean = group.sums(whole) / around / precision
            weights[place] = mean + rng.standard_normal(mean.shape) / np.sqrt(precision)
            own = whole - group.at(weights[place])
        return chains._replace(weights=(*weights[:-1], own))


def _stretched(drawn: Drawn, alpha: Floats, rng: Generator) -> Floats:
    """α given w/α: labels are linear in it, and its prior is N(0, 1)."""
    precision = drawn.energy / (alpha[:, None] * alpha[None])
    for place in range(len(alpha)):
        precision[place, place] += 1.0
    return gaussian_draws(precision, drawn.product / alpha, rng.standard_normal(alpha.shape))
