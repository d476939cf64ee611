"""Small dense linear algebra in float64."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from serendip.core.arrays import Floats
from serendip.core.errors import SerendipError


class Cholesky(NamedTuple):
    """A = LLᵀ of a positive definite matrix, and what is asked of it."""

    factor: Floats

    @classmethod
    def of(cls, matrix: Floats) -> "Cholesky":
        """The factor; an error that helps where the matrix is not positive definite."""
        try:
            factor, _ = cho_factor(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise SerendipError(
                "A covariance is not positive definite: features or settings differ too much in "
                "size. Standardise the features, or use a larger noise variance."
            ) from None
        return cls(np.tril(factor))

    @property
    def log_determinant(self) -> float:
        """Log det A."""
        return float(2.0 * np.log(np.diag(self.factor)).sum())

    def solve(self, right: Floats) -> Floats:
        """A⁻¹b."""
        return np.asarray(cho_solve((self.factor, True), right, check_finite=False))

    def whiten(self, right: Floats) -> Floats:
        """L⁻¹b, so that the squared norm is bᵀA⁻¹b."""
        return np.asarray(solve_triangular(self.factor, right, lower=True, check_finite=False))

    def norms(self, x: Floats) -> Floats:
        """(b,) √(xᵀA⁻¹x)"""
        return np.asarray(np.linalg.norm(self.whiten(x.T), axis=0))

    def colour(self, normal: Floats) -> Floats:
        """L⁻ᵀz: covariance A⁻¹ for z ~ N(0, I)."""
        return np.asarray(
            solve_triangular(self.factor, normal, lower=True, trans="T", check_finite=False)
        )

    def inverse(self) -> Floats:
        """A⁻¹, where a closed form needs the covariance itself."""
        return self.solve(np.eye(len(self.factor)))


def gaussian_draws(precision: Floats, shift: Floats, normal: Floats) -> Floats:
    """(r, …) draws Λ⁻¹b + L⁻ᵀz with Λ = LLᵀ, for many small Λ (r, r, …) at once.

    Cholesky by columns, each step an array operation over all of them: with r of a few this beats
    one library call per matrix many times over. Only the lower triangle of Λ is read.
    """
    rank = len(shift)
    lower = np.empty_like(precision)
    out = np.empty_like(shift)
    for a in range(rank):
        for b in range(a):
            inner = precision[a, b] - (lower[a, :b] * lower[b, :b]).sum(axis=0)
            lower[a, b] = inner / lower[b, b]
        lower[a, a] = np.sqrt(precision[a, a] - (lower[a, :a] ** 2).sum(axis=0))
        out[a] = (shift[a] - (lower[a, :a] * out[:a]).sum(axis=0)) / lower[a, a]
    out += normal
    for a in reversed(range(rank)):
        out[a] = (out[a] - (lower[a + 1 :, a] * out[a + 1 :]).sum(axis=0)) / lower[a, a]
    return out
