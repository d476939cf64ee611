"""Draws, and what can be said of the pool from them: closed forms, and the fallback for the rest.

A model takes the class that fits its parameters. `grouped_summary` and `sampled_tradeoff` serve
any draws at all; the linear closed forms are tested against them.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.bounds.ellipsoid import Belief, Ellipsoid
from serendip.core.data import (
    LEVEL_DISCOUNT,
    Block,
    Contenders,
    Optima,
    Summary,
    Tradeoff,
    settled,
)
from serendip.core.groups import Groups
from serendip.core.laws import Law
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import BlockFn, Draws
from serendip.models.fitting import check_width, places
from serendip.models.linear_forms import (
    LinearTradeoff,
    doubtful_form,
    linear_summary,
    product_slack,
    ratio,
    square_root,
    squared_norms,
    thin,
    working_type,
)

_SINGULAR = 1e-10
"""Directions of Σ that are smaller than this beside the largest have no part in f_(k)."""


def equal_weights(size: int) -> Floats:
    """(size,) weights of 1/size."""
    return np.full(size, 1.0 / size)


def distinct(x: Floats) -> tuple[Floats, Ints]:
    """Rows that differ, and which of them each row is; equal neighbours are enough to be found."""
    fresh = np.r_[True, np.any(x[1:] != x[:-1], axis=1)][: len(x)]
    return x[fresh], np.cumsum(fresh) - 1


# --- what serves any draws -----------------------------------------------------------------------


def _exact_values(draws: Draws, block: Block) -> Floats:
    """(b, M) in float64 of a block in float32, too: else what is zero or ties would not by 1e-7."""
    if block.x.dtype == np.float32:
        block = Block(block.items, block.x.astype(np.float64))
    return np.asarray(draws.values(block), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class GroupedSummary:
    """v(x) = Σ_a p_a (E[f(x) | X* = a] − f̄(x))² from the values of the draws [ASD Alg. 2]."""

    draws: Draws
    groups: Groups

    def __call__(self, block: Block) -> Summary:
        values = _exact_values(self.draws, block)
        mean, gain = self.groups.spread(values.T)
        return Summary(mean, settled(gain, self.draws.likelihood.label_variance(mean, gain)))


def grouped_summary(draws: Draws, best: Optima) -> GroupedSummary:
    """The fallback for `Draws.summary`."""
    return GroupedSummary(draws, Groups.of(best.peaks, best.weights))


@dataclass(frozen=True, slots=True)
class SampledTradeoff:
    """Δ(x) and g(x) against the budget from the values of the draws.

    g(x) = ‖Rᵀ(f(x) − f̄(x))‖² / Var(Y_x), with the sample covariances of the draws.
    """

    draws: Draws
    contenders: Contenders
    excess: Floats
    """(c,) of the contenders."""
    root: Floats
    """(M, r)"""
    stake: float
    """Σ w(x′) Var(f(x′) − βf_(k)): what there is to be told."""

    def __call__(self, block: Block) -> Tradeoff:
        values = _exact_values(self.draws, block)
        weights = self.draws.weights
        mean = values @ weights
        centred = values - mean[:, None]
        explained = squared_norms(centred @ self.root)
        label_variance = self.draws.likelihood.label_variance(mean, centred**2 @ weights)
        regret = self.contenders.shortfall(block.items, mean, self.excess)
        return Tradeoff(regret, settled(ratio(explained, label_variance), self.stake), mean)


def sampled_tradeoff(draws: Draws, contenders: Contenders) -> SampledTradeoff:
    """The fallback for `Draws.tradeoff`.

    Σ_x′ w(x′) Cov(f(x′) − βf_(k), f(x))² is a quadratic form in the M centred values at x; its root
    has at most min(M, contenders) columns, so nothing of size n × n or n × M arises.
    """
    block = Block(contenders.items, np.asarray(contenders.x))
    values = _exact_values(draws, block)
    above = values - LEVEL_DISCOUNT * contenders.thresholds
    centred = above - (above @ draws.weights)[:, None]
    root = (centred * np.sqrt(contenders.doubt)[:, None]).T * draws.weights[:, None]
    stake = float(contenders.doubt @ (centred**2 @ draws.weights))
    return SampledTradeoff(draws, contenders, contenders.excess(values), thin(root), stake)


# --- linear: f_i(x) = xᵀθ_i ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LinearDraws:
    """f_i(x) = xᵀθ_i."""

    theta: Floats
    """(M, d)"""
    weights: Floats
    mean: Floats
    """(d,) posterior mean of θ: the exact one."""
    covariance: Floats
    """(d, d) posterior covariance of θ: the exact one."""
    likelihood: Likelihood
    single: Array = field(init=False, repr=False, compare=False)
    """(d, M) θᵀ in float32, for pools in that precision."""
    sizes: Floats = field(init=False, repr=False, compare=False)
    """(M,) ‖θ‖"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.linalg.norm(self.theta, axis=1))
        object.__setattr__(self, "single", np.ascontiguousarray(self.theta.T, dtype=np.float32))

    def values(self, block: Block) -> Array:
        """(b, M), in the precision of the block."""
        check_width(block.x, self.theta.shape[1])
        return block.x @ (self.single if block.x.dtype == np.float32 else self.theta.T)

    def slack(self, block: Block) -> Floats:
        """(d + 4)·ε·‖x‖‖θ‖, which covers the rounding of θ, of the product and of the norms."""
        return product_slack(block.x, self.sizes)

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Row by row in float64, so that the company a row keeps changes nothing."""
        return np.asarray(np.einsum("hd,hd->h", np.asarray(x, dtype=np.float64), self.theta[draws]))

    @property
    def belief(self) -> Belief:
        """The posterior they were drawn from."""
        noise = float(self.likelihood.label_variance(np.zeros(1), np.zeros(1))[0])
        return Belief(self.mean, self.covariance, noise)

    def reach(self, around: Ellipsoid) -> Floats:
        """(M,) r with xᵀθ_i ≤ mean + r_i · width."""
        return around.radii(self.theta)

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """v(x) = xᵀLx with L = Σ_a p_a (μ_a − μ)(μ_a − μ)ᵀ, built once per step."""
        return linear_summary(self.theta, self.likelihood, best)

    def laws(self, block: Block) -> tuple[Law, ...]:
        """xᵀμ and xᵀΣx′."""
        x = np.asarray(block.x, dtype=np.float64)
        values = np.ascontiguousarray(self.values(Block(block.items, x)).T)
        covariance = x @ self.covariance @ x.T
        return (Law(1.0, self.weights, values, x @ self.mean, covariance, self.likelihood),)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """g(x) = Σ_x′ w(x′) (xᵀΣx′ − βxᵀc)² / Var(Y_x), c = Cov(θ, f_(k)), Δ(x) by two moments.

        f_(k) − xᵀθ has variance Var f_(k) − 2xᵀc + xᵀΣx; Σ is exact, the other two come from the
        draws. With Σ = CCᵀ, βc = Ce and Σ_x′ w (Cᵀx′ − e)(Cᵀx′ − e)ᵀ = U diag(λ) Uᵀ, one product
        y = (CU)ᵀx gives both forms: xᵀΣx = ‖y‖², and the numerator of g is Σ λ y².
        """
        root = square_root(self.covariance)
        level = float(self.weights @ contenders.thresholds)
        apart = self.weights * (contenders.thresholds - level)
        shared = apart @ (self.theta - self.weights @ self.theta)
        common = LEVEL_DISCOUNT * shared
        pull = np.asarray(np.linalg.lstsq(root, common, rcond=_SINGULAR)[0], dtype=np.float64)
        sizes, basis = np.linalg.eigh(doubtful_form(contenders, root, pull))
        return LinearTradeoff(
            mean=self.mean,
            axes=root @ basis,
            sizes=np.clip(sizes, 0.0, None),
            level=level,
            level_variance=float(apart @ (contenders.thresholds - level)),
            level_covariance=shared,
            likelihood=self.likelihood,
        )


# --- a monotone link on top: f_i(x) = μ(xᵀθ_i) ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class LogisticDraws:
    """f_i(x) = 1 / (1 + exp(−xᵀθ_i)); the mean of f is not f of the mean, so no closed form."""

    theta: Floats
    weights: Floats
    likelihood: Likelihood

    def values(self, block: Block) -> Array:
        """(b, M)"""
        check_width(block.x, self.theta.shape[1])
        return expit(block.x @ self.theta.T.astype(working_type(block.x), copy=False))

    def slack(self, block: Block) -> Floats:
        """A quarter of the linear bound, the link being ¼-Lipschitz, and its own rounding."""
        return (
            0.25 * product_slack(block.x, np.linalg.norm(self.theta, axis=1))
            + 4 * np.finfo(working_type(block.x)).eps
        )

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Row by row in float64."""
        product = np.einsum("hd,hd->h", np.asarray(x, dtype=np.float64), self.theta[draws])
        return np.asarray(expit(product))

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback."""
        return grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """The fallback."""
        return sampled_tradeoff(self, contenders)


# --- matrices: f_i(row, column) = u_rowᵀ v_column ------------------------------------------------


@dataclass(frozen=True, slots=True)
class FactorDraws:
    """f_i(row, column) = U_i[row] · V_i[column]; the matrices themselves are never formed."""

    left: Floats
    """(M, m₁, r)"""
    right: Floats
    """(M, m₂, r)"""
    weights: Floats
    likelihood: Likelihood

    def values(self, block: Block) -> Array:
        """(b, M)"""
        sizes = (self.left.shape[1], self.right.shape[1])
        rows, columns = places(block.x, sizes, "row, column").T
        return np.einsum("mbr,mbr->bm", self.left[:, rows], self.right[:, columns])

    def slack(self, block: Block) -> Floats:
        """Zero: `refine` does the same sums."""
        return _exact(self.weights)

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Entry by entry."""
        return np.asarray(
            np.einsum("hr,hr->h", self.left[draws, x[:, 0]], self.right[draws, x[:, 1]])
        )

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback."""
        return grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """The fallback."""
        return sampled_tradeoff(self, contenders)


# --- tables: f_i(node) looked up -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableDraws:
    """f_i(item) read off a table: for models whose candidates are numbered."""

    table: Floats
    """(M, n)"""
    weights: Floats
    likelihood: Likelihood

    def values(self, block: Block) -> Array:
        """(b, M)"""
        return self.table[:, places(block.x, self.table.shape[1:], "number")[:, 0]].T

    def slack(self, block: Block) -> Floats:
        """Zero: a look-up does not round."""
        return _exact(self.weights)

    def refine(self, x: Array, draws: Ints) -> Floats:
        """The same look-up."""
        return np.asarray(self.table[draws, x[:, 0]])

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback."""
        return grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """The fallback."""
        return sampled_tradeoff(self, contenders)


def _exact(weights: Floats) -> Floats:
    return np.zeros(len(weights))


# --- moments from draws --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SampledMoments:
    """Mean and standard deviation of f(x) over the draws, for models without a closed form."""

    draws: Draws

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        values = np.asarray(self.draws.values(block), dtype=np.float64)
        mean = values @ self.draws.weights
        variance = (values - mean[:, None]) ** 2 @ self.draws.weights
        return mean, np.sqrt(variance)
