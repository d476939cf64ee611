"""Sparse linear regression with a spike-and-slab prior, by collapsed Gibbs sampling   [ASD App. G]

    y = xᵀθ + ε,  ε ~ N(0, σ²),  θ_j = γ_j β_j,  γ_j ~ Bernoulli(π),  β_j ~ N(0, τ²)

Made for d ≫ T with few features at work. With β integrated out, y/τ | γ ~ N(0, K) where
K = (σ²/τ²)I + X_γX_γᵀ, and with s = x_jᵀK⁻¹x_j, q = x_jᵀK⁻¹y/τ, where K leaves feature j out,

    log P(γ_j = 1 | rest) / P(γ_j = 0 | rest) = logit π − ½ log(1 + s) + ½ q² / (1 + s).

One sweep scans all γ_j in turn; moves a few active features, each to a place drawn from its full
conditional, so that correlated features can stand in for each other; draws β, then unknown π, τ²
and σ². M chains run side by side and go on from where the last label left them.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator
from scipy.special import logit

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Observation, Optima, Summary, Tradeoff
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models import draws as shared

_CELLS = 1 << 16  # chains × features worked on at once, so that a sweep stays in the cache
_RELOCATIONS = 3  # active features moved per sweep and chain


@dataclass(frozen=True, slots=True)
class SparsePriors:
    """π ~ Beta(1, max(1, d/expected_active − 1)); τ², σ² ~ InvGamma, made for labels in [0, 1]."""

    expected_active: float = 5.0
    slab_shape: float = 1.5
    slab_rate: float = 0.09
    noise_shape: float = 1.5
    noise_rate: float = 0.09


@dataclass(frozen=True, slots=True)
class SparseLinearModel:
    """Linear regression where most coefficients are zero; of π, τ² and σ², None is unknown."""

    n_features: int
    inclusion: float | None = None
    slab_variance: float | None = None
    noise_variance: float | None = None
    n_chains: int = 200
    """M, how many draws there are to sample from."""
    sweeps: int = 2
    """Gibbs sweeps per label."""
    priors: SparsePriors = SparsePriors()

    def __post_init__(self) -> None:
        for name in ("n_features", "n_chains", "sweeps"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} must be at least 1; got {getattr(self, name)}.")
        limits = {"inclusion": 1.0, "slab_variance": np.inf, "noise_variance": np.inf}
        for name, limit in limits.items():
            value = getattr(self, name)
            if value is not None and not 0 < value < limit:
                raise InvalidInput(f"{name} must be None or within 0 and {limit}; got {value}.")
        if not min(astuple(self.priors)) > 0:
            raise InvalidInput(f"Every setting of the priors must be positive; got {self.priors}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "SparseLinearPosterior":
        """The posterior given these observations; () gives exact draws from the prior."""
        nothing = np.empty((0, self.n_features)), np.empty(0)
        posterior = SparseLinearPosterior(self, *nothing, self._prior(rng), 0)
        for one in seen:
            posterior = posterior.update(one, rng)
        return posterior

    def _prior(self, rng: Generator) -> "SparseChains":
        size, nothing = (self.n_chains, self.n_features), np.empty((self.n_chains, 0))
        start = self._rescaled(nothing, nothing, rng)
        beta = np.sqrt(start.slab_variance)[:, None] * rng.standard_normal(size)
        active = rng.random(size) < start.inclusion[:, None]
        return start._replace(theta=np.where(active, beta, 0.0))

    def _rescaled(self, theta: Floats, misfit: Floats, rng: Generator) -> "SparseChains":
        """θ with π, τ², σ² drawn given θ (M, d) and residuals (M, t); from the prior given none."""
        prior, n_active = self.priors, (theta != 0).sum(axis=1)
        known = (self.inclusion, self.slab_variance, self.noise_variance)
        inclusion, slab, noise = (np.full(len(theta), value or np.nan) for value in known)
        if self.inclusion is None:
            misses = max(1.0, self.n_features / prior.expected_active - 1.0)
            inclusion = rng.beta(1.0 + n_active, misses + theta.shape[1] - n_active)
        if self.slab_variance is None:
            gammas = rng.standard_gamma(prior.slab_shape + 0.5 * n_active)
            slab = (prior.slab_rate + 0.5 * (theta**2).sum(axis=1)) / gammas
        if self.noise_variance is None:
            gammas = rng.standard_gamma(prior.noise_shape + 0.5 * misfit.shape[1], len(theta))
            noise = (prior.noise_rate + 0.5 * (misfit**2).sum(axis=1)) / gammas
        return SparseChains(theta, inclusion, slab, noise)


class SparseChains(NamedTuple):
    """Where M chains stand: θ (M, d), zero where γ is, and π, τ², σ², each (M,)."""

    theta: Floats
    inclusion: Floats
    slab_variance: Floats
    noise_variance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class SparseLinearPosterior:
    """A bag of M coefficient vectors, each the latest state of its chain."""

    model: SparseLinearModel
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,) labels; (M, t) gives each chain its own, as the joint-distribution test does."""
    chains: SparseChains
    n_labels: int

    def update(self, seen: Observation, rng: Generator) -> Self:
        """A few sweeps with the new rows among the data, starting where the chains stand."""
        x = np.asarray(seen.x, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != self.model.n_features or not np.isfinite(x).all():
            raise InvalidInput(
                f"The model needs {self.model.n_features} finite features in each row; those of "
                f"item {seen.item} have shape {x.shape}, or are not finite. Check the table."
            )
        x, y = np.concatenate([self.x, x]), np.concatenate([self.y, seen.y])
        return replace(self, x=x, y=y, n_labels=self.n_labels + 1).settle(self.model.sweeps, rng)

    def settle(self, n_sweeps: int, rng: Generator) -> Self:
        """The chains after more sweeps over the same labels."""
        if len(self.x) == 0:
            return replace(self, chains=self.model._prior(rng))
        swept, labels = [], np.broadcast_to(self.y, (self.model.n_chains, len(self.x)))
        n_parts = -(-self.chains.theta.size // _CELLS)
        for part in np.array_split(np.arange(self.model.n_chains), n_parts):
            chains, y = SparseChains(*(one[part] for one in self.chains)), labels[part]
            for _ in range(n_sweeps):
                work = _Collapsed.of(self.x, y, chains)
                work.scan(rng)
                for _ in range(_RELOCATIONS):
                    work.relocate(rng)
                theta = work.coefficients(rng)
                chains = self.model._rescaled(theta, y - theta @ self.x.T, rng)
            swept.append(chains)
        return replace(self, chains=SparseChains(*map(np.concatenate, zip(*swept, strict=True))))

    @property
    def inclusion(self) -> Floats:
        """(d,) P(θ_j ≠ 0), the share of chains in which feature j is at work."""
        return np.asarray((self.chains.theta != 0).mean(axis=0))

    def sample(self, size: int, rng: Generator) -> "SparseLinearDraws":
        """States of different chains; more than there are chains are drawn with replacement."""
        return self._draws(rng.choice(self.model.n_chains, size, size > self.model.n_chains))

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of xᵀθ over all chains."""
        return shared.SampledMoments(self._draws(np.arange(len(self.chains.theta))))

    def _draws(self, picks: Ints) -> "SparseLinearDraws":
        theta, noise = self.chains.theta[picks], Gaussian(float(self.chains.noise_variance.mean()))
        columns, weights = np.flatnonzero(theta.any(axis=0)), shared.equal_weights(len(picks))
        reduced = shared.LinearDraws(
            theta[:, columns], weights, np.empty(0), np.empty((0, 0)), noise
        )
        return SparseLinearDraws(columns, reduced, weights, noise)


@dataclass(frozen=True, slots=True, eq=False)
class SparseLinearDraws:
    """f_i(x) = xᵀθ_i over the c columns that are at work in any draw; nothing of size d × d."""

    columns: Ints
    reduced: shared.LinearDraws
    """θ (M, c) of those columns; its closed forms are not used, so it holds no moments."""
    weights: Floats
    likelihood: Gaussian

    def values(self, block: Block) -> Array:
        """(b, M), in the precision of the block."""
        return self.reduced.values(Block(block.items, block.x[:, self.columns]))

    def slack(self, block: Block) -> Floats:
        """That of linear draws over c columns."""
        return self.reduced.slack(Block(block.items, block.x[:, self.columns]))

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Row by row in float64."""
        return self.reduced.refine(x[:, self.columns], draws)

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback."""
        return shared.grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """The fallback."""
        return shared.sampled_tradeoff(self, contenders)


def _active_rows(x: Floats, active: Array, ridge: Floats) -> tuple[Array, Floats, Floats]:
    """Which of k places are filled (M, k), X_γᵀ (M, k, t), L of LLᵀ = P = X_γᵀX_γ + ridge·I."""
    count = active.sum(axis=1)
    filled = np.arange(max(1, count.max())) < count[:, None]
    rows = np.zeros((*filled.shape, len(x)))
    rows[filled] = x.T[np.nonzero(active)[1]]
    gram = rows @ rows.swapaxes(1, 2) + ridge[:, None, None] * np.eye(filled.shape[1])
    return filled, rows, np.asarray(np.linalg.cholesky(gram), dtype=np.float64)


@dataclass(slots=True, eq=False)
class _Collapsed:
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
    def of(cls, x: Floats, y: Floats, chains: SparseChains) -> "_Collapsed":
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
