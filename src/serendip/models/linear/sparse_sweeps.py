"""The collapsed Gibbs sweep over which features are at work   [ASD App. G]

The formulae are those of `sparse_linear`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import logit

from serendip.core.arrays import Array, Floats, Ints


class SparseChains(NamedTuple):
    """Where M chains stand: θ (M, d), zero where γ is, and π, τ², σ², each (M,)."""

    theta: Floats
    inclusion: Floats
    slab_variance: Floats
    noise_variance: Floats

    def remeasured(self, ratio: float) -> "SparseChains":
        """The same where the unit of the labels is 1 / ratio of what it was."""
        return SparseChains(
            self.theta * ratio,
            self.inclusion,
            self.slab_variance * ratio**2,
            self.noise_variance * ratio**2,
        )


def _active_rows(x: Floats, active: Array, ridge: Floats) -> tuple[Array, Floats, Floats]:
    """Which of k places are filled (M, k), X_γᵀ (M, k, t), L of LLᵀ = P = X_γᵀX_γ + ridge·I."""
    count = active.sum(axis=1)
    filled = np.arange(max(1, count.max())) < count[:, None]
    rows = np.zeros((*filled.shape, len(x)))
    rows[filled] = x.T[np.nonzero(active)[1]]
    gram = rows @ rows.swapaxes(1, 2) + ridge[:, None, None] * np.eye(filled.shape[1])
    return filled, rows, np.asarray(np.linalg.cholesky(gram), dtype=np.float64)


@dataclass(slots=True, eq=False)
class Collapsed:
    """γ of M chains, β integrated out, with what all d conditionals need; changed in place.

    r = 1 + ςs, ς = ±1 for a feature out or in, s with K as it is: 1 + s above or its reciprocal.
    """

    x: Floats
    y: Floats
    chains: SparseChains
    inverse: Floats  # (M, t, t) K⁻¹; the rest (M, d): q, r and ς
    pull: Floats
    room: Floats
    sign: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats, chains: SparseChains) -> "Collapsed":
        active, ridge = chains.theta != 0, chains.noise_variance / chains.slab_variance
        filled, rows, lower = _active_rows(x, active, ridge)
        white = np.linalg.solve(lower, rows)
        inverse = (np.eye(len(x)) - white.swapaxes(1, 2) @ white) / ridge[:, None, None]
        pull = (inverse @ y[:, :, None])[:, :, 0] @ x / np.sqrt(chains.slab_variance)[:, None]
        left_over = np.tile((x**2).sum(axis=0), (len(active), 1))
        for place, who in enumerate(filled.T):
            left_over[who] -= (white[who, place] @ x) ** 2
        sign = np.where(active, -1.0, 1.0)
        room = 1.0 + sign * left_over / ridge[:, None]
        # For active features r = ridge·(P⁻¹)_jj, which the difference above would lose.
        roots = np.linalg.solve(lower, np.broadcast_to(np.eye(filled.shape[1]), lower.shape))
        room[active] = (ridge[:, None] * (roots**2).sum(axis=1))[filled]
        return cls(x, y, chains, inverse, pull, room, sign)

    def coefficients(self, rng: Generator) -> Floats:
        """(M, d) θ | γ, y ~ N(P⁻¹X_γᵀy, σ²P⁻¹), P = X_γᵀX_γ + σ²/τ²·I, and zeros."""
        active, noise = self.sign < 0, self.chains.noise_variance
        filled, rows, lower = _active_rows(self.x, active, noise / self.chains.slab_variance)
        jitter = np.sqrt(noise)[:, None] * rng.standard_normal(filled.shape)
        white = np.linalg.solve(lower, rows @ self.y[:, :, None]) + jitter[:, :, None]
        theta = np.zeros(active.shape)
        theta[active] = np.linalg.solve(lower.swapaxes(1, 2), white)[filled, 0]
        return theta

    def log_factors(self, chains: Ints) -> Floats:
        """(m, d) log of p(y | γ_j = 1, rest) / p(y | γ_j = 0, rest)."""
        room, sign = self.room[chains], self.sign[chains]
        return np.asarray(0.5 * (self.pull[chains] ** 2 / room - sign * np.log(room)))

    def flip(self, chains: Ints, columns: Ints) -> None:
        """Put features in or take them out, one per chain: a rank-one step of K⁻¹."""
        at = chains, columns
        sign, room, pull = self.sign[at], self.room[at], self.pull[at]
        size = (sign / room)[:, None]
        reach = (self.inverse[chains] @ self.x.T[columns][:, :, None])[:, :, 0]
        across = reach @ self.x
        self.inverse[chains] -= (size * reach)[:, :, None] * reach[:, None, :]
        self.pull[chains] -= size * pull[:, None] * across
        shrink = self.sign[chains] * size * across**2
        self.room[chains] = np.maximum(self.room[chains] - shrink, 1e-12)  # r > 0 but for rounding
        self.sign[at], self.room[at], self.pull[at] = -sign, 1.0 / room, pull / room

    def scan(self, rng: Generator) -> None:
        """Gibbs over γ₁ … γ_d in order. A feature that stays as it is changes nothing for the next:
        all are judged at once, each chain jumps to its first change, the rest is judged anew.
        """
        bar = rng.logistic(size=self.sign.shape) - logit(self.chains.inclusion)[:, None]
        chains, done = np.arange(len(bar)), np.full(len(bar), -1)
        while len(chains):
            changes = (self.log_factors(chains) > bar[chains]) == (self.sign[chains] > 0)
            changes &= np.arange(bar.shape[1]) > done[:, None]
            first = changes.argmax(axis=1)
            moved = changes[np.arange(len(chains)), first]
            chains, done = chains[moved], first[moved]
            self.flip(chains, done)

    def relocate(self, rng: Generator) -> None:
        """Take an active feature out, each with the same chance, and put one in by its posterior.

        The number of active features stays, so prior and pick cancel: this is Gibbs over a place.
        """
        owner, column = np.nonzero(self.sign < 0)
        chains, start, count = np.unique(owner, return_index=True, return_counts=True)
        self.flip(chains, column[start + rng.integers(count)])
        weights = np.where(self.sign[chains] > 0, self.log_factors(chains), -np.inf)
        reached = np.cumsum(np.exp(weights - weights.max(axis=1, keepdims=True)), axis=1)
        level = rng.random(len(chains)) * reached[:, -1]
        self.flip(chains, (reached <= level[:, None]).sum(axis=1))
