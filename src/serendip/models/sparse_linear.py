"""Sparse linear regression with a spike-and-slab prior, by collapsed Gibbs sampling   [ASD App. G]

    y = xᵀθ + ε,  ε ~ N(0, σ²),  θ_j = γ_j β_j,  γ_j ~ Bernoulli(π),  β_j ~ N(0, τ²)

Made for d ≫ T with few features at work. With β integrated out, y/τ | γ ~ N(0, K) where
K = (σ²/τ²)I + X_γX_γᵀ, and with s = x_jᵀK⁻¹x_j, q = x_jᵀK⁻¹y/τ, where K leaves feature j out,

    log P(γ_j = 1 | rest) / P(γ_j = 0 | rest) = logit π − ½ log(1 + s) + ½ q² / (1 + s).

One sweep scans all γ_j in turn; moves a few active features, each to a place drawn from its full
conditional (which lets correlated features stand in for each other); draws β; then those of π, τ²
and σ² that are unknown. M chains run side by side and go on from where the last label left them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Observation, Optima, Summary
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models import draws as shared

_CELLS = 1 << 16
"""Chains × features worked on at once, so that a sweep stays in the cache."""


@dataclass(frozen=True, slots=True)
class SparsePriors:
    """Stand in for settings nobody told us; made for labels of the size of those in [0, 1]."""

    expected_active: float = 5.0
    """π ~ Beta(1, max(1, d / expected_active − 1)): so many features are expected to be at work."""
    slab_shape: float = 1.5
    slab_rate: float = 0.09
    """τ² ~ InvGamma(slab_shape, slab_rate)."""
    noise_shape: float = 1.5
    noise_rate: float = 0.09
    """σ² ~ InvGamma(noise_shape, noise_rate)."""


@dataclass(frozen=True, slots=True)
class SparseLinearModel:
    """Linear regression where most coefficients are zero; settings that are None are unknown."""

    n_features: int
    inclusion: float | None = None
    """π"""
    slab_variance: float | None = None
    """τ²"""
    noise_variance: float | None = None
    """σ²"""
    n_chains: int = 200
    """M, how many draws there are to sample from."""
    sweeps: int = 2
    """Gibbs sweeps per label."""
    n_relocations: int = 3
    """Active features moved per sweep and chain."""
    priors: SparsePriors = SparsePriors()

    def __post_init__(self) -> None:
        for name, least in (
            ("n_features", 1),
            ("n_chains", 1),
            ("sweeps", 1),
            ("n_relocations", 0),
        ):
            if getattr(self, name) < least:
                raise InvalidInput(f"{name} must be at least {least}; got {getattr(self, name)}.")
        for name, most in (
            ("inclusion", 1.0),
            ("slab_variance", np.inf),
            ("noise_variance", np.inf),
        ):
            value = getattr(self, name)
            if value is not None and not 0 < value < most:
                raise InvalidInput(
                    f"{name} must lie between 0 and {most}, or be None; got {value}."
                )

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "SparseLinearPosterior":
        """The posterior given these observations; () gives exact draws from the prior."""
        x, y = np.empty((0, self.n_features)), np.empty(0)
        posterior = SparseLinearPosterior(self, x, y, self._prior(rng), 0)
        for one in seen:
            posterior = posterior.update(one, rng)
        return posterior

    def _prior(self, rng: Generator) -> "SparseChains":
        size, nothing = (self.n_chains, self.n_features), np.empty((self.n_chains, 0))
        inclusion, slab, noise = self._scales(nothing, nothing, rng)
        active = rng.random(size) < inclusion[:, None]
        theta = np.where(active, np.sqrt(slab)[:, None] * rng.standard_normal(size), 0.0)
        return SparseChains(theta, inclusion, slab, noise)

    def _scales(self, theta: Floats, misfit: Floats, rng: Generator) -> tuple[Floats, ...]:
        """(M,) each: π, τ², σ² given θ (M, d) and residuals (M, t); given empty ones, the prior."""
        prior, n_active = self.priors, (theta != 0).sum(axis=1)
        inclusion, slab, noise = (
            np.full(len(theta), np.nan if known is None else known)
            for known in (self.inclusion, self.slab_variance, self.noise_variance)
        )
        if self.inclusion is None:
            misses = max(1.0, self.n_features / prior.expected_active - 1.0)
            inclusion = rng.beta(1.0 + n_active, misses + theta.shape[1] - n_active)
        if self.slab_variance is None:
            gammas = rng.standard_gamma(prior.slab_shape + 0.5 * n_active)
            slab = (prior.slab_rate + 0.5 * (theta**2).sum(axis=1)) / gammas
        if self.noise_variance is None:
            gammas = rng.standard_gamma(prior.noise_shape + 0.5 * misfit.shape[1], len(theta))
            noise = (prior.noise_rate + 0.5 * (misfit**2).sum(axis=1)) / gammas
        return inclusion, slab, noise


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
                f"The model needs {self.model.n_features} finite features a row; item {seen.item} "
                f"came with shape {x.shape} or with numbers that are not finite. Check the table."
            )
        x, y = np.concatenate([self.x, x]), np.concatenate([self.y, seen.y])
        return replace(self, x=x, y=y, n_labels=self.n_labels + 1).settle(self.model.sweeps, rng)

    def settle(self, n_sweeps: int, rng: Generator) -> Self:
        """The chains after more sweeps over the same labels."""
        if len(self.x) == 0:
            return replace(self, chains=self.model._prior(rng))
        labels = np.broadcast_to(self.y, (self.model.n_chains, len(self.x)))
        n_parts = -(-self.chains.theta.size // _CELLS)
        swept = [
            self._swept(
                labels[part], SparseChains(*(one[part] for one in self.chains)), n_sweeps, rng
            )
            for part in np.array_split(np.arange(self.model.n_chains), n_parts)
        ]
        return replace(self, chains=SparseChains(*map(np.concatenate, zip(*swept, strict=True))))

    def _swept(
        self, y: Floats, chains: SparseChains, n_sweeps: int, rng: Generator
    ) -> SparseChains:
        model = self.model
        known = None not in (model.inclusion, model.slab_variance, model.noise_variance)
        work = _Collapsed.of(self.x, y, chains.theta != 0, chains)
        for left in reversed(range(n_sweeps)):
            work.scan(chains.inclusion, rng)
            for _ in range(model.n_relocations):
                work.relocate(rng)
            if known and left:
                continue  # K stays as it is, and nobody asks for β yet
            active = work.sign < 0
            theta = _coefficients(self.x, y, active, chains, rng)
            chains = SparseChains(theta, *model._scales(theta, y - theta @ self.x.T, rng))
            if left:
                work = _Collapsed.of(self.x, y, active, chains)
        return chains

    @property
    def inclusion(self) -> Floats:
        """(d,) P(θ_j ≠ 0), the share of chains in which feature j is at work."""
        return np.asarray((self.chains.theta != 0).mean(axis=0))

    def sample(self, size: int, rng: Generator) -> "SparseLinearDraws":
        """States of different chains; more than there are chains are drawn with replacement."""
        n_chains = len(self.chains.theta)
        return self._draws(rng.choice(n_chains, size=size, replace=size > n_chains))

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of xᵀθ over all chains."""
        return shared.SampledMoments(self._draws(np.arange(len(self.chains.theta))))

    def _draws(self, picks: Ints) -> "SparseLinearDraws":
        theta, noise = self.chains.theta[picks], Gaussian(float(self.chains.noise_variance.mean()))
        columns = np.flatnonzero(np.any(theta != 0, axis=0))
        weights, unused = shared.equal_weights(len(picks)), np.empty((0, 0))
        reduced = shared.LinearDraws(theta[:, columns], weights, unused, noise)
        return SparseLinearDraws(columns, reduced, weights, noise)


@dataclass(frozen=True, slots=True, eq=False)
class SparseLinearDraws:
    """f_i(x) = xᵀθ_i over the c columns that are at work in any draw; nothing of size d × d."""

    columns: Ints
    """(c,)"""
    reduced: shared.LinearDraws
    """θ (M, c) of those columns; its closed forms are not used, so it holds no covariance."""
    weights: Floats
    likelihood: Gaussian
    """With the mean noise variance of the chains."""

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

    def reduction(self, contenders: Contenders) -> BlockFn[Summary]:
        """The fallback."""
        return shared.sampled_reduction(self, contenders)


# --- the sampler; arrays lead with the chain -----------------------------------------------------


def _active_rows(x: Floats, active: Array, ridge: Floats) -> tuple[Array, Floats, Floats]:
    """Which of k places are filled (M, k), X_γᵀ (M, k, t), the factor of P = X_γᵀX_γ + ridge·I."""
    count = active.sum(axis=1)
    filled = np.arange(max(1, count.max())) < count[:, None]
    rows = np.zeros((*filled.shape, len(x)))
    rows[filled] = x.T[np.nonzero(active)[1]]
    gram = rows @ rows.swapaxes(1, 2) + ridge[:, None, None] * np.eye(filled.shape[1])
    return filled, rows, np.linalg.cholesky(gram)


def _coefficients(
    x: Floats, y: Floats, active: Array, chains: SparseChains, rng: Generator
) -> Floats:
    """(M, d) θ | γ, y ~ N(P⁻¹X_γᵀy, σ²P⁻¹), P = X_γᵀX_γ + σ²/τ²·I, and zeros."""
    ridge = chains.noise_variance / chains.slab_variance
    filled, rows, lower = _active_rows(x, active, ridge)
    noise = np.sqrt(chains.noise_variance)[:, None] * rng.standard_normal(filled.shape)
    white = np.linalg.solve(lower, rows @ y[:, :, None]) + noise[:, :, None]
    theta = np.zeros(active.shape)
    theta[active] = np.linalg.solve(lower.swapaxes(1, 2), white)[filled, 0]
    return theta


@dataclass(slots=True, eq=False)
class _Collapsed:
    """γ of every chain, β integrated out, with what all d conditionals need; changed in place.

    With ς_j = 1 for a feature that is out and −1 for one that is in, s and q taken with K as it is,
    r_j = 1 + ς_js_j is 1 + s without j, or its reciprocal: one formula serves both cases.
    """

    x: Floats
    inverse: Floats
    """(M, t, t) K⁻¹"""
    pull: Floats
    """(M, d) q"""
    room: Floats
    """(M, d) r"""
    sign: Floats
    """(M, d) ς"""

    @classmethod
    def of(cls, x: Floats, y: Floats, active: Array, chains: SparseChains) -> "_Collapsed":
        ridge = chains.noise_variance / chains.slab_variance
        filled, rows, lower = _active_rows(x, active, ridge)
        white = np.linalg.solve(lower, rows)
        inverse = (np.eye(len(x)) - white.swapaxes(1, 2) @ white) / ridge[:, None, None]
        left_over = np.tile(np.einsum("td,td->d", x, x), (len(active), 1))
        for place in range(filled.shape[1]):
            who = filled[:, place]
            left_over[who] -= (white[who, place] @ x) ** 2
        sign = np.where(active, -1.0, 1.0)
        room = 1.0 + sign * left_over / ridge[:, None]
        # For active features r_j = ridge·(P⁻¹)_jj, which the difference above would lose.
        roots = np.linalg.solve(lower, np.broadcast_to(np.eye(filled.shape[1]), lower.shape))
        room[active] = (ridge[:, None] * (roots**2).sum(axis=1))[filled]
        pull = (inverse @ y[:, :, None])[:, :, 0] @ x / np.sqrt(chains.slab_variance)[:, None]
        return cls(x, inverse, pull, room, sign)

    def log_factors(self, chains: Ints) -> Floats:
        """(m, d) log of p(y | γ_j = 1, rest) / p(y | γ_j = 0, rest)."""
        room = self.room[chains]
        return np.asarray(0.5 * (self.pull[chains] ** 2 / room - self.sign[chains] * np.log(room)))

    def flip(self, chains: Ints, columns: Ints) -> None:
        """Put features in or take them out, one per chain: a rank-one step of K⁻¹."""
        at = (chains, columns)
        sign, room, pull = self.sign[at], self.room[at], self.pull[at]
        size = (sign / room)[:, None]
        reach = (self.inverse[chains] @ self.x.T[columns][:, :, None])[:, :, 0]
        across = reach @ self.x
        self.inverse[chains] -= (size * reach)[:, :, None] * reach[:, None, :]
        self.pull[chains] -= size * pull[:, None] * across
        across *= across
        across *= size
        across *= self.sign[chains]
        self.room[chains] = np.maximum(self.room[chains] - across, 1e-12)
        self.sign[at], self.room[at], self.pull[at] = -sign, 1.0 / room, pull / room

    def scan(self, inclusion: Floats, rng: Generator) -> None:
        """Gibbs over γ₁ … γ_d, in order, in every chain.

        A feature that stays as it is changes nothing for the next; so all are judged at once, each
        chain jumps to its first change, and only what comes after is judged anew.
        """
        bar = rng.logistic(size=self.sign.shape) - np.log(inclusion / (1.0 - inclusion))[:, None]
        chains, done = np.arange(len(bar)), np.full(len(bar), -1)
        while len(chains):
            changes = (self.log_factors(chains) > bar[chains]) == (self.sign[chains] > 0)
            changes &= np.arange(bar.shape[1]) > done[:, None]
            first = changes.argmax(axis=1)
            moved = changes[np.arange(len(chains)), first]
            chains, done = chains[moved], first[moved]
            self.flip(chains, done)

    def relocate(self, rng: Generator) -> None:
        """Take one active feature out, any with the same chance, and put one in by its posterior.

        The number of active features stays, so its prior and the chance of the pick cancel: this is
        Gibbs over the place of one feature and needs no test of acceptance.
        """
        count = (self.sign < 0).sum(axis=1)
        chains = np.flatnonzero(count)
        start = (np.cumsum(count) - count)[chains]
        picks = start + (rng.random(len(chains)) * count[chains]).astype(np.int64)
        self.flip(chains, np.nonzero(self.sign < 0)[1][picks])
        weights = np.where(self.sign[chains] > 0, self.log_factors(chains), -np.inf)
        reached = np.cumsum(np.exp(weights - weights.max(axis=1, keepdims=True)), axis=1)
        level = rng.random(len(chains)) * reached[:, -1]
        self.flip(chains, (reached <= level[:, None]).sum(axis=1))
