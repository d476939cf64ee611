"""Sparse linear regression with a spike-and-slab prior, by collapsed Gibbs sampling   [ASD App. G]

    y = xᵀθ + ε,  ε ~ N(0, σ²),  θ_j = γ_j β_j,  γ_j ~ Bernoulli(π),  β_j ~ N(0, τ²)

Made for d ≫ T with few features at work. With β integrated out, y | γ ~ N(0, K), K = σ²I + τ²X_γX_γᵀ,
and with s = x_jᵀK⁻¹x_j, q = x_jᵀK⁻¹y, where K leaves feature j out,

    log P(γ_j = 1 | rest) / P(γ_j = 0 | rest) = logit π − ½ log(1 + τ²s) + ½ τ²q² / (1 + τ²s).

One sweep scans all γ_j in turn; moves a few active features to a place drawn from its full
conditional (what lets correlated features stand in for each other); draws β; then those of π, τ²
and σ² that are unknown. M chains run side by side and go on from where the last label left them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Observation, Optima, Summary
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import (
    LinearDraws,
    SampledMoments,
    equal_weights,
    grouped_summary,
    sampled_reduction,
)


@dataclass(frozen=True, slots=True)
class SparsePriors:
    """What stands in for settings nobody told us; made for labels of the size of those in [0, 1]."""

    expected_active: float = 5.0
    """π ~ Beta(1, max(1, d / expected_active − 1)): so many features are expected to be at work."""
    slab_shape: float = 1.5
    slab_rate: float = 0.09
    """τ² ~ InvGamma(slab_shape, slab_rate)."""
    noise_shape: float = 1.5
    noise_rate: float = 0.09
    """σ² ~ InvGamma(noise_shape, noise_rate)."""

    def misses(self, n_features: int) -> float:
        """The second parameter of the Beta."""
        return max(1.0, n_features / self.expected_active - 1.0)


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
        for name in ("n_features", "n_chains", "sweeps"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} must be at least 1; got {getattr(self, name)}.")
        for name in ("slab_variance", "noise_variance"):
            width = getattr(self, name)
            if width is not None and not (np.isfinite(width) and width > 0):
                raise InvalidInput(f"{name} must be a positive number or None; got {width}.")
        if self.inclusion is not None and not 0 < self.inclusion < 1:
            raise InvalidInput(f"inclusion must lie between 0 and 1; got {self.inclusion}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "SparseLinearPosterior":
        """The posterior given these observations; () gives exact draws from the prior."""
        x, y = np.empty((0, self.n_features)), np.empty(0)
        posterior = SparseLinearPosterior(self, x, y, self._prior(rng), 0)
        for one in seen:
            posterior = posterior.update(one, rng)
        return posterior

    def _prior(self, rng: Generator) -> "SparseChains":
        shape, nothing = (self.n_chains, self.n_features), np.zeros(self.n_chains)
        inclusion, slab, noise = self._scales(0, nothing, nothing, 0, nothing, rng)
        active = rng.random(shape) < inclusion[:, None]
        theta = np.where(active, np.sqrt(slab)[:, None] * rng.standard_normal(shape), 0.0)
        return SparseChains(theta, inclusion, slab, noise)

    def _scales(
        self,
        n_looked_at: int,
        n_active: Floats,
        energy: Floats,
        n_rows: int,
        misfit: Floats,
        rng: Generator,
    ) -> tuple[Floats, Floats, Floats]:
        """(M,) each: π, τ², σ² given Σγ_j of so many γ's, Σθ_j² and the squared residuals."""
        prior, size = self.priors, len(n_active)
        inclusion, slab, noise = (
            np.full(size, np.nan if known is None else known)
            for known in (self.inclusion, self.slab_variance, self.noise_variance)
        )
        if self.inclusion is None:
            misses = prior.misses(self.n_features) + n_looked_at - n_active
            inclusion = rng.beta(1.0 + n_active, misses)
        if self.slab_variance is None:
            gammas = rng.standard_gamma(prior.slab_shape + 0.5 * n_active)
            slab = (prior.slab_rate + 0.5 * energy) / gammas
        if self.noise_variance is None:
            gammas = rng.standard_gamma(prior.noise_shape + 0.5 * n_rows, size=size)
            noise = (prior.noise_rate + 0.5 * misfit) / gammas
        return inclusion, slab, noise


@dataclass(frozen=True, slots=True, eq=False)
class SparseChains:
    """Where M chains stand."""

    theta: Floats
    """(M, d), zero where γ is."""
    inclusion: Floats
    """(M,) π"""
    slab_variance: Floats
    """(M,) τ²"""
    noise_variance: Floats
    """(M,) σ²"""


@dataclass(frozen=True, slots=True, eq=False)
class SparseLinearPosterior:
    """A bag of M coefficient vectors, each the latest state of its chain."""

    model: SparseLinearModel
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,) labels; (M, t) gives every chain labels of its own, as the joint-distribution test does."""
    chains: SparseChains
    n_labels: int

    def update(self, seen: Observation, rng: Generator) -> Self:
        """A few sweeps with the new rows among the data, starting where the chains stand."""
        x = np.asarray(seen.x, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != self.model.n_features or not np.isfinite(x).all():
            raise InvalidInput(
                f"The model has {self.model.n_features} features, all finite; "
                f"item {seen.item} came with an array of shape {x.shape}. "
                "Give one finite number per feature."
            )
        grown = replace(
            self,
            x=np.concatenate([self.x, x]),
            y=np.concatenate([self.y, seen.y]),
            n_labels=self.n_labels + 1,
        )
        return grown.settle(self.model.sweeps, rng)

    def settle(self, n_sweeps: int, rng: Generator) -> Self:
        """The chains after more sweeps over the same labels."""
        if len(self.x) == 0:
            return replace(self, chains=self.model._prior(rng))
        model, chains = self.model, self.chains
        known = None not in (model.inclusion, model.slab_variance, model.noise_variance)
        active = chains.theta != 0
        work = _Collapsed.of(self.x, self.y, active, chains)
        for sweep in range(n_sweeps):
            work.scan(chains.inclusion, rng)
            for _ in range(model.n_relocations):
                work.relocate(rng)
            if known and sweep < n_sweeps - 1:
                continue  # K does not change, and nobody asks for β yet
            active = work.sign < 0
            theta = _coefficients(self.x, self.y, active, chains, rng)
            misfit = self.y - theta @ self.x.T
            scales = model._scales(
                model.n_features,
                active.sum(axis=1).astype(np.float64),
                np.einsum("md,md->m", theta, theta),
                len(self.x),
                np.einsum("mt,mt->m", misfit, misfit),
                rng,
            )
            chains = SparseChains(theta, *scales)
            if sweep < n_sweeps - 1:
                work = _Collapsed.of(self.x, self.y, active, chains)
        return replace(self, chains=chains)

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
        return SampledMoments(self._draws(np.arange(len(self.chains.theta))))

    def _draws(self, picks: Ints) -> "SparseLinearDraws":
        theta = self.chains.theta[picks]
        columns = np.flatnonzero(np.any(theta != 0, axis=0))
        noise = Gaussian(float(self.chains.noise_variance.mean()))
        # Of the covariance nothing is asked below: at d ≫ T it would be the largest thing around.
        reduced = LinearDraws(
            theta[:, columns], equal_weights(len(picks)), np.empty((0, 0)), noise
        )
        return SparseLinearDraws(columns, reduced)


@dataclass(frozen=True, slots=True, eq=False)
class SparseLinearDraws:
    """f_i(x) = xᵀθ_i over the columns that are at work in any draw; nothing of size d × d."""

    columns: Ints
    """(c,)"""
    reduced: LinearDraws
    """θ (M, c) of those columns; its closed forms, which need a covariance, are not used."""

    @property
    def weights(self) -> Floats:
        """(M,)"""
        return self.reduced.weights

    @property
    def likelihood(self) -> Gaussian:
        """With the mean noise variance of the chains."""
        noise = self.reduced.likelihood
        assert isinstance(noise, Gaussian)  # set above
        return noise

    def values(self, block: Block) -> Array:
        """(b, M), in the precision of the block."""
        return self.reduced.values(self._narrow(block))

    def slack(self, block: Block) -> Floats:
        """That of the linear draws, with c columns."""
        return self.reduced.slack(self._narrow(block))

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Row by row in float64."""
        return self.reduced.refine(x[:, self.columns], draws)

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback."""
        return grouped_summary(self, best)

    def reduction(self, contenders: Contenders) -> BlockFn[Summary]:
        """The fallback."""
        return sampled_reduction(self, contenders)

    def _narrow(self, block: Block) -> Block:
        return Block(block.items, block.x[:, self.columns])
