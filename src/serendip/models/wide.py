"""Linear functions of more features than a d × d matrix is to be had for.

Such a covariance is known by what it spans: D less what a few labels have taken from it. All that
is asked of it are products with features, and what contenders have in common with a candidate; so
nothing of size d × d arises, and results are those of `LinearDraws` up to rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import LEVEL_DISCOUNT, Block, Contenders, Optima, Summary, Tradeoff, settled
from serendip.core.laws import Law, gaussian_shortfall
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import BlockFn
from serendip.models.condensed import Condensed
from serendip.models.draws import LinearDraws
from serendip.models.fitting import check_width
from serendip.models.linear_forms import (
    linear_summary,
    product_slack,
    ratio,
    squared_norms,
    working_type,
)

WIDE = 512
"""Features up to which a d × d matrix is the faster way."""

_CONTENDERS = 1024
"""Contenders whose covariance is computed; of more, so many are taken at even steps of doubt."""


@dataclass(frozen=True, slots=True, eq=False)
class Spanned:
    """Σ = diag(sizes) + B diag(core) Bᵀ; `x @ covariance` is as with a matrix."""

    sizes: Floats
    """(d,)"""
    span: Floats
    """(d, r) B"""
    core: Floats
    """(r,) of either sign."""
    __array_ufunc__ = None  # x @ covariance is ours to say

    def __rmatmul__(self, x: Floats) -> Floats:
        found = x * self.sizes
        if len(self.core):
            found += ((x @ self.span) * self.core) @ self.span.T
        return np.asarray(found)

    @classmethod
    def diagonal(cls, sizes: Floats) -> Self:
        """diag(sizes)"""
        return cls(sizes, np.empty((len(sizes), 0)), np.empty(0))

    @classmethod
    def outer(cls, shift: Floats, weight: float) -> Self:
        """The outer product w ssᵀ."""
        return cls(np.zeros(len(shift)), shift[:, None], np.array([weight]))

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """The sum; parts with one and the same B are as one."""
        cores: dict[int, tuple[Floats, Floats]] = {}
        for part in parts:
            span, core = cores.get(id(part.span), (part.span, 0.0))
            cores[id(part.span)] = span, core + part.core
        spans, found = zip(*cores.values(), strict=True)
        sizes = np.sum([part.sizes for part in parts], axis=0)
        return cls(sizes, np.concatenate(spans, axis=1), np.concatenate(found))

    def variance(self, x: Floats) -> Floats:
        """(b,) xᵀΣx, none negative."""
        found = x**2 @ self.sizes
        if len(self.core):
            found += (x @ self.span) ** 2 @ self.core
        return np.asarray(np.clip(found, 0.0, None))


def spectrum(rows: Floats, widths: Floats) -> tuple[Floats, Floats]:
    """(d, t) DXᵀU and (t,) λ of XDXᵀ = U diag(λ) Uᵀ.

    Args:
        rows: (t, d) X.
        widths: (d,) D.
    """
    pulls = rows * widths
    sizes, basis = np.linalg.eigh(pulls @ rows.T)
    return pulls.T @ basis, np.clip(sizes, 0.0, None)


@dataclass(frozen=True, slots=True, eq=False)
class SpannedPrecision:
    """A = D⁻¹ + XᵀX / r of t labels, by XDXᵀ = U diag(λ) Uᵀ.

    A⁻¹ = D − B diag(1 / (λ + r)) Bᵀ with B = DXᵀU, and a root of it is
    √D − B diag(1 / (λ + r + √(r(λ + r)))) Bᵀ √D⁻¹.
    """

    widths: Floats
    """(d,) D"""
    span: Floats
    """(d, t) B"""
    sizes: Floats
    """(t,) λ"""
    noise: float
    """r"""

    @property
    def log_determinant(self) -> float:
        """Log det A."""
        return float(np.log1p(self.sizes / self.noise).sum() - np.log(self.widths).sum())

    def solve(self, right: Floats) -> Floats:
        """A⁻¹b."""
        along = (right @ self.span) / (self.sizes + self.noise)
        return np.asarray(self.widths * right - self.span @ along)

    def inverse(self, scale: float = 1.0) -> Spanned:
        """A⁻¹ times a scale."""
        return Spanned(scale * self.widths, self.span, -scale / (self.sizes + self.noise))

    def colour(self, normal: Floats) -> Floats:
        """(d, m) of covariance A⁻¹ for z ~ N(0, I)."""
        root, spread = np.sqrt(self.widths)[:, None], self.sizes + self.noise
        share = 1.0 / (spread + np.sqrt(self.noise * spread))
        return root * normal - self.span @ (share[:, None] * (self.span.T @ (normal / root)))

    def norms(self, x: Floats) -> Floats:
        """(b,) √(xᵀA⁻¹x)"""
        return np.sqrt(self.inverse().variance(x))


@dataclass(frozen=True, slots=True)
class WideDraws:
    """f_i(x) = xᵀθ_i, as `LinearDraws`, with a covariance that is known by what it spans."""

    theta: Floats
    """(M, d)"""
    weights: Floats
    mean: Floats
    """(d,) posterior mean of θ: the exact one."""
    covariance: Spanned
    """Likewise."""
    likelihood: Likelihood

    def values(self, block: Block) -> Array:
        """(b, M), in the precision of the block."""
        check_width(block.x, self.theta.shape[1])
        return block.x @ self.theta.T.astype(working_type(block.x), copy=False)

    def slack(self, block: Block) -> Floats:
        """As with `LinearDraws`."""
        return product_slack(block.x, np.linalg.norm(self.theta, axis=1))

    def refine(self, x: Array, draws: Ints) -> Floats:
        """Row by row in float64."""
        return np.asarray(np.einsum("hd,hd->h", np.asarray(x, dtype=np.float64), self.theta[draws]))

    def laws(self, block: Block) -> tuple[Law, ...]:
        """Of the exact mean and covariance."""
        x = np.asarray(block.x, dtype=np.float64)
        covariance = (x @ self.covariance) @ x.T
        values = self.theta @ x.T
        return (Law(1.0, self.weights, values, x @ self.mean, covariance, self.likelihood),)

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """As with `LinearDraws`; of rank M at most."""
        return linear_summary(self.theta, self.likelihood, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """As with `LinearDraws`, but that of very many contenders some stand for all."""
        few = Condensed.of(contenders, _CONTENDERS)
        x = np.asarray(contenders.x[few.picked], dtype=np.float64)
        level = float(self.weights @ contenders.thresholds)
        apart = self.weights * (contenders.thresholds - level)
        shared = apart @ (self.theta - self.weights @ self.theta)
        pulls = x @ self.covariance - LEVEL_DISCOUNT * shared
        return WideTradeoff(
            mean=self.mean,
            covariance=self.covariance,
            pulls=pulls.T * np.sqrt(few.doubt),
            contenders=few,
            stake=float(few.doubt @ self.covariance.variance(x)),
            level=level,
            level_variance=float(apart @ (contenders.thresholds - level)),
            level_covariance=shared,
            likelihood=self.likelihood,
        )


def linear_draws(
    theta: Floats,
    weights: Floats,
    mean: Floats,
    covariance: Floats | Spanned,
    likelihood: Likelihood,
) -> LinearDraws | WideDraws:
    """Of a posterior over θ, whatever its covariance is known by."""
    if isinstance(covariance, Spanned):
        return WideDraws(theta, weights, mean, covariance, likelihood)
    return LinearDraws(theta, weights, mean, covariance, likelihood)


@dataclass(frozen=True, slots=True, eq=False)
class WideTradeoff:
    """f̄ = xᵀμ, g = ‖Pᵀx‖² / Var(Y_x), and the shortfall of a Gaussian."""

    mean: Floats
    covariance: Spanned
    pulls: Floats
    """(d, c) P, a column √w (Σx′ − βCov(θ, f_(k))) for each contender."""
    contenders: Condensed
    stake: float
    """Σ w(x′) Var f(x′): what there is to be told."""
    level: float
    """E[f_(k)]"""
    level_variance: float
    level_covariance: Floats
    """(d,) Cov(θ, f_(k))"""
    likelihood: Likelihood

    def __call__(self, block: Block) -> Tradeoff:
        x = np.asarray(block.x, dtype=np.float64)
        mean, variance = x @ self.mean, self.covariance.variance(x)
        shared = x @ self.level_covariance
        apart = self.level_variance - 2.0 * shared + variance
        size = float(np.hypot(self.level, np.sqrt(self.level_variance)))
        regret = settled(gaussian_shortfall(self.level - mean, apart), size)
        own = self.contenders.own(block.items)
        told = squared_norms(x @ self.pulls) + own * (variance - LEVEL_DISCOUNT * shared) ** 2
        gain = ratio(told, self.likelihood.label_variance(mean, variance))
        return Tradeoff(regret, settled(gain, self.stake), mean)
