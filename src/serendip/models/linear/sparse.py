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
from typing import Self

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import generator, number, whole_fields
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, HeldOut, Observation, Optima, Summary, Tradeoff
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.progress import counted
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models import draws as shared
from serendip.models.fitting import (
    FITTING,
    check_constant,
    check_draws,
    check_one,
    check_seen,
    check_unit,
    check_width,
    features,
)
from serendip.models.label_scale import far_apart, label_scale
from serendip.models.left_out import inverses, reweighted
from serendip.models.linear.sparse_sweeps import Collapsed, SparseChains
from serendip.models.mixing import chain_picks

_CELLS = 1 << 16  # chains × features worked on at once, so that a sweep stays in the cache
_RELOCATIONS = 3  # active features moved per sweep and chain
_ANEW = 10  # times as many sweeps where the unit of the labels has changed much


@dataclass(frozen=True, slots=True)
class SparsePriors:
    """π ~ Beta(1, max(1, d/expected_active − 1)); τ², σ² ~ InvGamma, for labels of size ½."""

    expected_active: float = 5.0
    slab_shape: float = 1.5
    slab_rate: float = 0.09
    noise_shape: float = 1.5
    noise_rate: float = 0.09


@dataclass(frozen=True, slots=True)
class SparseLinearModel:
    """Linear regression where most coefficients are zero; of π, τ² and σ², None is unknown.

    Where neither τ² nor σ² is given, labels are measured in units of their own size.

    Attributes:
        n_chains: M, how many draws there are to sample from.
        sweeps: Gibbs sweeps per label.
        constant_column: Which feature is a column of ones, if any; it carries the level of the
            labels.
        label_unit: What labels of the usual size measure, where it is known: 1 for yields in [0,
            1], 100 for percentages. Otherwise it is taken from the labels seen.
    """

    n_features: int
    inclusion: float | None = None
    slab_variance: float | None = None
    noise_variance: float | None = None
    n_chains: int = 200
    sweeps: int = 2
    priors: SparsePriors = SparsePriors()
    constant_column: int | None = None
    label_unit: float | None = None

    def __post_init__(self) -> None:
        for name in ("n_features", "n_chains", "sweeps"):
            whole_fields(self, 1, name)
        check_constant(self.constant_column, self.n_features)
        check_unit(self.label_unit)
        limits = {"inclusion": 1.0, "slab_variance": np.inf, "noise_variance": np.inf}
        for name, limit in limits.items():
            value = getattr(self, name)
            if value is not None and not 0 < number(name, value) < limit:
                raise InvalidInput(f"{name} must be None or within 0 and {limit}; got {value}.")
        if not min(astuple(self.priors)) > 0:
            raise InvalidInput(f"Every setting of the priors must be positive; got {self.priors}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "SparseLinearPosterior":
        """The posterior given these observations; () gives exact draws from the prior."""
        check_seen(seen)
        generator("rng", rng)
        nothing = np.empty((0, self.n_features)), np.empty(0)
        scale = self._label_scale(nothing[1])
        posterior = SparseLinearPosterior(self, *nothing, self._prior(rng), *scale, 0)
        for one in seen:
            posterior = posterior.update(one, rng)
        return posterior

    def _label_scale(self, y: Floats) -> tuple[float, float]:
        """What labels are measured from and in: as they are, beside scales that are given."""
        if self.slab_variance is not None or self.noise_variance is not None:
            return 0.0, 1.0
        constant = self.constant_column is not None
        return label_scale(y, constant=constant, unit=self.label_unit)

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


@dataclass(frozen=True, slots=True, eq=False)
class SparseLinearPosterior:
    """A bag of M coefficient vectors, each the latest state of its chain."""

    model: SparseLinearModel
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,) labels; (M, t) gives each chain its own, as the joint-distribution test does."""
    chains: SparseChains
    """In the unit of the labels."""
    offset: float
    """What labels are measured from, and in."""
    unit: float
    n_labels: int

    def update(self, seen: Observation, rng: Generator) -> Self:
        """A few sweeps with the new rows among the data, starting where the chains stand."""
        check_one(seen)
        generator("rng", rng)
        x = features(seen.x, self.model.n_features, f"item {seen.item}")
        x, y = np.concatenate([self.x, x]), np.concatenate([self.y, seen.y])
        offset, unit = self.model._label_scale(y)
        grown = replace(self, x=x, y=y, offset=offset, unit=unit, n_labels=self.n_labels + 1)
        if self.n_labels and far_apart(self.y, self.unit, unit):
            chains = self.model._prior(rng)
            return replace(grown, chains=chains).settle(_ANEW * self.model.sweeps, rng)
        # Chains go on with the same coefficients, measured anew; draws of the prior have no unit.
        chains = self.chains.remeasured(self.unit / unit) if self.n_labels else self.chains
        return replace(grown, chains=chains).settle(self.model.sweeps, rng)

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.y

    @property
    def scales_known(self) -> bool:
        """Whether τ² and σ² were given; how many features are at work is always learnt."""
        return None not in (self.model.slab_variance, self.model.noise_variance)

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        features(x, self.model.n_features, "the pool")

    def settle(self, n_sweeps: int, rng: Generator) -> Self:
        """The chains after more sweeps over the same labels."""
        if len(self.x) == 0:
            return replace(self, chains=self.model._prior(rng))
        measured = (self.y - self.offset) / self.unit
        swept, labels = [], np.broadcast_to(measured, (self.model.n_chains, len(self.x)))
        n_parts = -(-self.chains.theta.size // _CELLS)
        for part in np.array_split(np.arange(self.model.n_chains), n_parts):
            chains, y = SparseChains(*(one[part] for one in self.chains)), labels[part]
            for _ in counted(FITTING, n_sweeps):
                work = Collapsed.of(self.x, y, chains)
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
        """States of different chains; where there are not so many, all equally often or nearly."""
        check_draws(size, rng)
        return self._draws(chain_picks(size, self.model.n_chains, rng))

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of xᵀθ over all chains."""
        return shared.SampledMoments(self._draws(np.arange(len(self.chains.theta))))

    def held_out(self) -> HeldOut:
        """From the chains, by importance weights.

        The coefficients are integrated out, which features are at work is left to the weights; the
        unit of the labels is that of all.
        """
        labels, chains = (self.y - self.offset) / self.unit, self.chains
        active = chains.theta != 0
        # As many columns for each chain as the largest has; those beyond its own are zero.
        columns = np.argsort(~active, axis=1, kind="stable")[:, : int(active.sum(axis=1).max())]
        widths = chains.slab_variance[:, None] * np.take_along_axis(active, columns, axis=1)
        features = self.x[:, columns].swapaxes(0, 1) * np.sqrt(widths)[:, None]
        pull, precision = inverses(features, labels, chains.noise_variance[:, None])
        variances = 1.0 / precision[:, 0].T
        found = reweighted(labels, labels[:, None] - pull[:, 0].T * variances, variances)
        return HeldOut(
            self.offset + self.unit * found.mean,
            self.unit * found.deviation,
            found.log_density - np.log(self.unit),
        )

    def _draws(self, picks: Ints) -> "SparseLinearDraws":
        theta = self.chains.theta[picks] * self.unit
        if self.model.constant_column is not None:
            theta[:, self.model.constant_column] += self.offset
        noise = Gaussian(float(self.chains.noise_variance.mean()) * self.unit**2)
        columns, weights = np.flatnonzero(theta.any(axis=0)), shared.equal_weights(len(picks))
        reduced = shared.LinearDraws(
            theta[:, columns], weights, np.empty(0), np.empty((0, 0)), noise
        )
        return SparseLinearDraws(columns, reduced, weights, noise, theta.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class SparseLinearDraws:
    """f_i(x) = xᵀθ_i over the c columns that are at work in any draw; nothing of size d × d."""

    columns: Ints
    reduced: shared.LinearDraws
    """θ (M, c) of those columns; its closed forms are not used, so it holds no moments."""
    weights: Floats
    likelihood: Gaussian
    n_features: int
    """d"""

    def values(self, block: Block) -> Array:
        """(b, M), in the precision of the block."""
        check_width(block.x, self.n_features)
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
