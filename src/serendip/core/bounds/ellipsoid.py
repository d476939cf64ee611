"""An ellipsoid around parameters, and how far from its centre a linear function can be.

For any positive definite B, by Cauchy and Schwarz,

    |xᵀ(θ − μ)| ≤ ‖θ − μ‖_{B⁻¹} · √(xᵀBx),

so the width √(xᵀBx) of a candidate, once known, bounds every draw at it. B need not be the
posterior covariance: an old or a rough one gives bounds that hold, only wider.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from serendip.core.arrays import Array, Floats

_BLUR = 2.0**-32
"""η² over the trace of B: far above rounding in float64, far below what is worth telling apart."""

_ROUNDING = 2.0**-46
"""Rounding of a sum of d products in float64, over the sizes of what is summed; per update."""


@dataclass(frozen=True, slots=True)
class Belief:
    """Where the parameters of a linear function are believed to be."""

    mean: Floats
    """(d,)"""
    covariance: Floats
    """(d, d)"""
    noise_variance: float
    """What a label adds to that, so that the effect of one more label is known beforehand."""


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """μ and B + η²I, whose square root at x is the width of x.

    The blur η² is there for rounding: B + η²I/2 is seen to be positive definite, so that a width
    is never below η‖x‖/√2, and what a solution leaves unexplained can be paid for in widths.
    """

    centre: Floats
    """(d,) μ"""
    form: Floats
    """(d, d) B"""
    noise_variance: float
    size: float
    """Trace of B when it was first made."""
    n_updates: int = 0
    factor: Array = field(init=False, repr=False)
    """Of Cholesky, of B + η²I/2."""

    def __post_init__(self) -> None:
        blurred = self.form + 0.5 * self.blur**2 * np.eye(len(self.form))
        object.__setattr__(self, "factor", cho_factor(blurred, lower=True, check_finite=False)[0])

    @classmethod
    def of(cls, belief: Belief) -> Self | None:
        """The one that fits a belief best; None where its numbers are out of range."""
        form = 0.5 * (belief.covariance + belief.covariance.T)
        size = float(np.trace(form))
        usable = 1e-200 < size < 1e200 and belief.noise_variance > 0
        if not (usable and np.isfinite(form).all() and np.isfinite(belief.mean).all()):
            return None
        try:
            return cls(belief.mean, form, belief.noise_variance, size)
        except LinAlgError:
            return None

    @property
    def blur(self) -> float:
        """η"""
        return float(np.sqrt(_BLUR * self.size))

    @property
    def root(self) -> Floats:
        """(d, d) C with a width of at most ‖Cᵀx‖ + η‖x‖."""
        return np.tril(self.factor)

    @property
    def _rounding(self) -> float:
        return _ROUNDING * (1 + self.n_updates) * len(self.centre) * self.size

    def _explained(self, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """For each row δ: w with Bw ≈ δ; Bw; and a bound on xᵀ(δ − Bw) over the width of x."""
        solved = cho_solve((self.factor, True), rows.T, check_finite=False).T
        fitted = solved @ self.form + 0.5 * self.blur**2 * solved
        left = np.linalg.norm(rows - fitted, axis=1)
        left += self._rounding * np.linalg.norm(solved, axis=1)
        return solved, fitted, 1.5 * left / self.blur

    def radii(self, theta: Floats) -> Floats:
        """(m,) r with |xᵀ(θ − μ)| ≤ r · width(x) for all x, of `theta` (m, d).

        With δ = θ − μ and any w: xᵀδ = xᵀBw + xᵀ(δ − Bw) ≤ (√(wᵀBw) + ‖δ − Bw‖/η) · width(x).
        """
        apart = theta - self.centre
        solved, fitted, left = self._explained(apart)
        squares = np.clip(np.einsum("md,md->m", solved, fitted), 0.0, None)
        squares += self._rounding * np.einsum("md,md->m", solved, solved)
        sizes = np.linalg.norm(theta, axis=1) + np.linalg.norm(self.centre)
        return np.asarray(np.sqrt(squares) + left + 1e-15 * sizes / self.blur) * (1.0 + 1e-9)

    def stretch(self, root: Floats) -> float:
        """κ with ‖Rᵀx‖ ≤ κ · width(x) for all x, of R (d, r)."""
        if root.shape[1] == 0:
            return 0.0
        solved, fitted, left = self._explained(root.T)
        inner = solved @ fitted.T
        largest = float(np.linalg.eigvalsh(0.5 * (inner + inner.T))[-1])
        rounding = self._rounding * float(np.sum(solved**2))
        kappa = np.sqrt(max(0.0, largest) + rounding)
        return float(kappa + np.linalg.norm(left)) * (1.0 + 1e-9)

    def mismatch(self, belief: Belief) -> float:
        """How much wider than needed the bounds are, squared: 1 where B is the covariance's shape.

        The mean of the relative eigenvalues times the mean of their reciprocals.
        """
        covariance = belief.covariance + self.blur**2 * np.eye(len(self.centre))
        try:
            theirs = cho_factor(covariance, lower=True, check_finite=False)
        except LinAlgError:
            return float("inf")
        ours = self.form + 0.5 * self.blur**2 * np.eye(len(self.centre))
        there = np.trace(cho_solve((self.factor, True), covariance, check_finite=False))
        back = np.trace(cho_solve(theirs, ours, check_finite=False))
        return float(there * back) / len(self.centre) ** 2

    def moved(self, centre: Floats) -> "Ellipsoid":
        """The same about another centre."""
        return Ellipsoid(centre, self.form, self.noise_variance, self.size, self.n_updates)

    def labelled(self, x: Floats) -> "tuple[Ellipsoid, Floats, Floats] | None":
        """Once these rows (q, d) have labels: B shrinks by Σ c_j p_j p_jᵀ; with p (d, q), c (q,).

        p = Bx and c = 1 / (σ² + xᵀBx), one label after the other. None where rounding spoils it.
        """
        form = self.form
        pulls, shares = np.empty((len(self.centre), len(x))), np.empty(len(x))
        for place, row in enumerate(np.asarray(x, dtype=np.float64)):
            pull = form @ row
            share = 1.0 / (self.noise_variance + max(0.0, float(row @ pull)))
            form = form - share * np.outer(pull, pull)
            pulls[:, place], shares[place] = pull, share
        count = self.n_updates + len(x)
        if not np.isfinite(form).all():
            return None
        try:
            shrunk = Ellipsoid(self.centre, form, self.noise_variance, self.size, count)
        except LinAlgError:
            return None
        return shrunk, pulls, shares
