"""What linear draws say of a block in closed form: quadratic forms, and bounds on them."""

from dataclasses import dataclass

import numpy as np

from serendip.core.arrays import Array, Floats
from serendip.core.bounds.ellipsoid import Ellipsoid
from serendip.core.bounds.screening import Sight
from serendip.core.data import Block, Contenders, Optima, Summary, Tradeoff, settled
from serendip.core.groups import Groups
from serendip.core.laws import gaussian_shortfall
from serendip.core.likelihood import Gaussian, Likelihood

_ROWS = 2048
"""Contenders held in float64 at once."""


def thin(root: Floats) -> Floats:
    """A root of the same quadratic form with no more columns than rows."""
    if root.shape[1] <= root.shape[0]:
        return root
    size, basis = np.linalg.eigh(root @ root.T)
    return np.asarray(basis * np.sqrt(np.clip(size, 0.0, None)))


def squared_norms(rows: Floats) -> Floats:
    """(b,) squared norm of each row."""
    return np.asarray(np.einsum("br,br->b", rows, rows))


def ratio(top: Floats, bottom: Floats) -> Floats:
    """Top / bottom, and 0 where there is nothing to divide by."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def working_type(x: Array) -> np.dtype[np.floating]:
    """The precision of products with these rows."""
    return np.dtype(np.float32) if x.dtype == np.float32 else np.dtype(np.float64)


def product_slack(x: Array, sizes: Floats) -> Floats:
    """(M,) a bound on the rounding of xᵀθ_i over the rows of x, given ‖θ_i‖."""
    kind = np.finfo(working_type(x))
    # The largest entry bounds a row's norm without squares, which could overflow in float32.
    largest = max(float(x.max(initial=0.0)), -float(x.min(initial=0.0)))
    rounding = float(kind.eps) * np.sqrt(x.shape[1]) * largest * sizes
    return np.asarray((x.shape[1] + 4) * (rounding + float(kind.tiny)))


def square_root(covariance: Floats) -> Floats:
    """(d, d) C with CCᵀ = Σ, also where Σ is singular."""
    try:
        return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    except np.linalg.LinAlgError:
        size, basis = np.linalg.eigh(covariance)
        return np.asarray(basis * np.sqrt(np.clip(size, 0.0, None)))


def doubtful_form(contenders: Contenders, root: Floats, level: Floats) -> Floats:
    """(d, d) Σ_x′ w(x′) zzᵀ with z = Cᵀx′ − e; a few thousand contenders at a time.

    Args:
        contenders: x′, with w.
        root: (d, d) C, CCᵀ = Σ.
        level: (d,) e with Ce = βCov(θ, f_(k)).
    """
    total = np.zeros((root.shape[1],) * 2)
    roots = np.sqrt(contenders.doubt)
    for start in range(0, len(roots), _ROWS):
        rows = slice(start, start + _ROWS)
        z = np.asarray(contenders.x[rows], dtype=np.float64) @ root - level
        z *= roots[rows, None]
        total += z.T @ z
    return total


@dataclass(frozen=True, slots=True)
class LinearSummary:
    """f̄ = xᵀμ and v = ‖Rᵀx‖²."""

    mean: Floats
    root: Floats
    noise_variance: float
    """The least a label varies by, beside which a smaller v is rounding."""

    def __call__(self, block: Block) -> Summary:
        x = np.asarray(block.x, dtype=np.float64)
        return Summary(x @ self.mean, settled(squared_norms(x @ self.root), self.noise_variance))

    def bounded(self, around: Ellipsoid) -> "SummaryBounds":
        """By v ≤ (κ · width)²."""
        shift = float(around.radii(self.mean[None])[0])
        return SummaryBounds(shift, around.stretch(self.root))


def linear_summary(theta: Floats, likelihood: Likelihood, best: Optima) -> LinearSummary:
    """v(x) = xᵀLx with L = Σ_a p_a (μ_a − μ)(μ_a − μ)ᵀ of draws θ (M, d), built once per step."""
    groups = Groups.of(best.peaks, best.weights)
    within = groups.means(theta)
    mean = groups.masses @ within
    root = (within - mean).T * np.sqrt(groups.masses)
    nothing = np.zeros(1)
    return LinearSummary(mean, thin(root), float(likelihood.label_variance(nothing, nothing)[0]))


@dataclass(frozen=True, slots=True)
class SummaryBounds:
    """The largest mean and the largest v that a width allows."""

    shift: float
    stretch: float

    def __call__(self, sight: Sight) -> Summary:
        gain = (self.stretch * sight.width) ** 2
        return Summary(sight.mean + self.shift * sight.width, gain)


@dataclass(frozen=True, slots=True)
class LinearTradeoff:
    """f̄ = xᵀμ, g = Σ λ y² / Var(Y_x) with y = Qᵀx, and the shortfall of a Gaussian."""

    mean: Floats
    axes: Floats
    """(d, d) Q with QQᵀ = Σ"""
    sizes: Floats
    """(d,) λ ≥ 0, increasing"""
    level: float
    """E[f_(k)]"""
    level_variance: float
    level_covariance: Floats
    """(d,) Cov(θ, f_(k))"""
    likelihood: Likelihood

    def __call__(self, block: Block) -> Tradeoff:
        x = np.asarray(block.x, dtype=np.float64)
        mean = x @ self.mean
        squares = (x @ self.axes) ** 2
        variance = squares.sum(axis=1)
        apart = self.level_variance - 2.0 * (x @ self.level_covariance) + variance
        regret = settled(gaussian_shortfall(self.level - mean, apart), self.size)
        gain = ratio(squares @ self.sizes, self.likelihood.label_variance(mean, variance))
        return Tradeoff(regret, settled(gain, float(self.sizes.sum())), mean)

    @property
    def size(self) -> float:
        """√E[f_(k)²], beside which differences of labels are rounding."""
        return float(np.hypot(self.level, np.sqrt(self.level_variance)))

    def bounded(self, around: Ellipsoid) -> "TradeoffBounds | None":
        """Δ ≥ E f_(k) − f̄, and g ≤ λ_max s² / (s² + σ²) with s ≤ κ · width."""
        if not isinstance(self.likelihood, Gaussian):
            return None
        shift = float(around.radii(self.mean[None])[0])
        return TradeoffBounds(self, shift, around.stretch(self.axes))


@dataclass(frozen=True, slots=True)
class TradeoffBounds:
    """The least shortfall and the largest gain that mean and width allow."""

    tradeoff: LinearTradeoff
    shift: float
    stretch: float

    def __call__(self, sight: Sight) -> Tradeoff:
        level, largest = self.tradeoff.level, float(self.tradeoff.sizes[-1])
        mean = sight.mean + self.shift * sight.width
        variance = (self.stretch * sight.width) ** 2
        gain = largest * ratio(variance, self.tradeoff.likelihood.label_variance(mean, variance))
        return Tradeoff(settled(level - mean, self.tradeoff.size), gain, mean)
