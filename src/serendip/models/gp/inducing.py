"""Many labels: a kernel conditioned through inducing points, variationally (Titsias 2009).

The posterior of f is told by its values at m labelled candidates Z of the t, X. Then the labels
have the covariance s²(Q + rI), and with C = k + 1, C_ZZ = LLᵀ and W = L⁻¹C_ZX

    Q = C_XZ C_ZZ⁻¹ C_ZX = WᵀW = P diag(μ) Pᵀ,   WWᵀ = E diag(μ) Eᵀ,   P = WᵀE diag(μ^−½)
    E f(x) = c_Z(x)ᵀα,                           α = B diag(1 / (μ + r)) Pᵀy
    Var f(x) = s² (k(x, x) + 1 − Σ (c_Z(x)ᵀB)² / (μ + r)),   B = L⁻ᵀE diag(μ^½)

so that μ and B stand where all labels have the eigenvalues and eigenvectors of C; with Z = X they
say the same. What Q lacks of C counts against a kernel, as in the bound

    log p(y | s²) ≥ log N(y; 0, s²(Q + rI)) − tr(C − Q) / 2r

in which s² has cancelled from the last term: integrated over s² the bound stays one, and the
posterior of s² an inverse gamma. Time O(tm²), memory O(tm).

References: Titsias 2009; Matthews, Hensman, Turner and Ghahramani 2016 (the same as the distance of
processes); paths by Wilson et al. 2020.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from serendip.core.arrays import Floats, Ints
from serendip.core.errors import SerendipError
from serendip.models.gp.kernels import Kernel
from serendip.models.gp.process import Solution, finite
from serendip.models.left_out import spectral_inverses

_JITTER = 1e-8
"""Of the mean variance, added at the inducing points: rows may repeat."""
_NULL = 1e-12
"""Directions with less of the largest μ say nothing but rounding."""
_PENALTY = 1.0


def inducing_points(x: Floats, labels: Floats, count: int) -> Ints:
    """(count,) rows at even ranks of the labels; ties go by the columns, never by the order."""
    ranks = np.lexsort((*x.T, labels))
    return np.asarray(np.sort(ranks[np.linspace(0, len(labels) - 1, count).round().astype(int)]))


def solved_through(
    points: Ints, kernel: Kernel, x: Floats, labels: Floats, unit: float, noise: Floats
) -> Solution:
    """From all labels through some of the rows; a label left out has what Q lacks as noise."""
    t = len(labels)
    cross = finite(kernel.matrix(x, x[points]) + 1.0)
    factor = _factor(cross[points])
    across = solve_triangular(factor, cross.T, lower=True, overwrite_b=True, check_finite=False)
    sizes, turn = np.linalg.eigh(across @ across.T)
    kept = sizes > _NULL * sizes[-1]
    sizes, turn = sizes[kept], turn[:, kept]
    explained = (across.T @ turn) / np.sqrt(sizes)
    lack = np.clip(kernel.diagonal(x) + 1.0 - np.einsum("mt,mt->t", across, across), 0.0, None)
    basis = np.sqrt(sizes) * solve_triangular(factor, turn, lower=True, trans="T")
    turned, spread = labels @ explained, sizes + noise[:, None]
    outside = max(float(labels @ labels - turned @ turned), 0.0)
    held, precision = spectral_inverses(explained, sizes, unit * labels, noise)
    left = 1.0 / (1.0 + lack * precision)
    return Solution(
        x=x[points],
        basis=basis,
        sizes=sizes,
        log_determinant=np.log(spread).sum(axis=1)
        + (t - len(sizes)) * np.log(noise)
        + _PENALTY * lack.sum() / noise,
        misfit=(1.0 / spread) @ turned**2 + outside / noise,
        pull=unit * (turned / spread) @ basis.T,
        held=held * left,
        precision=precision * left,
    )


def _factor(inner: Floats) -> Floats:
    """L"""
    inner = inner.copy()
    inner[np.diag_indices_from(inner)] += _JITTER * float(np.trace(inner)) / len(inner)
    return np.asarray(cholesky(inner, lower=True, check_finite=False))
