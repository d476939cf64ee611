"""Draws grouped by where they peak: Θ(x) of Algorithm 2."""

from dataclasses import dataclass

import numpy as np

from serendip.core.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Groups:
    """Draws that share an outcome, such as the same X*, put side by side."""

    order: Ints
    """(M,) draws, group after group."""
    starts: Ints
    """(G,) where each group begins in `order`."""
    weights: Floats
    """(M,) weights of the draws in that order, within their group."""
    masses: Floats
    """(G,) p_a, the weight of each group; a single one has exactly 1."""

    @classmethod
    def of(cls, outcomes: Ints, weights: Floats) -> "Groups":
        """Groups of equal outcomes; `outcomes` is (M,), or (M, k) to compare whole rows."""
        if outcomes.ndim == 2:
            _, outcomes = np.unique(outcomes, axis=0, return_inverse=True)
        outcomes = np.ravel(outcomes)
        order = np.argsort(outcomes, kind="stable")
        ranked = outcomes[order]
        starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        masses = np.add.reduceat(weights[order], starts)
        own = np.repeat(masses, np.diff(np.r_[starts, len(order)]))
        within = np.divide(weights[order], own, out=np.zeros(len(order)), where=own > 0)
        return cls(order, starts, within, masses / masses.sum())

    def means(self, values: Floats) -> Floats:
        """(G, …) weighted mean of `values` (M, …) within each group."""
        weighted = values[self.order] * self.weights.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(np.add.reduceat(weighted, self.starts, axis=0))

    def spread(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean f̄ (n,) and Σ_a p_a (E[f | a] − f̄)² (n,) of `values` (M, n)."""
        within = self.means(values)
        mean = self.masses @ within
        return mean, np.asarray(self.masses @ (within - mean) ** 2)
