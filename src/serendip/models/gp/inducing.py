"""Many labels: a kernel conditioned through inducing points, variationally (Titsias 2009).

The posterior of f is told by its values at m labelled candidates Z of the t, X. Then the labels
have the covariance s²(Q + rI), and with C = k + 1, C_ZZ = LLᵀ and W = L⁻¹C_ZX

    Q = C_XZ C_ZZ⁻¹ C_ZX = WᵀW = P diag(μ) Pᵀ,   WWᵀ = E diag(μ) Eᵀ,   P = WᵀE diag(μ^−½)
    E f(x) = c_Z(x)ᵀα,                           α = B diag(1 / (μ + r)) Pᵀy
    Var f(x) = s² (k(x, x) + 1 − Σ (c_Z(x)ᵀB)² / (μ + r)),   B = L⁻ᵀE diag(μ^½)

so that μ and B stand where all labels have the eigenvalues and eigenvectors of C; with Z = X they
say the same. This is the variational posterior that is best for each s² and r; that of s² is an
inverse gamma. Kernels and noise ratios are weighed by N(y; 0, s²(Q + rI)) with s² integrated out.
The variational bound has −tr(C − Q) / 2r besides, whatever s² is; with it too much noise is seen,
and unseen labels are predicted worse (docs/models.md). Time O(tm²), memory O(tm).

References: Titsias 2009; Matthews, Hensman, Turner and Ghahramani 2016 (the same bound, between
processes); Wilson et al. 2020 (paths).
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from serendip.core.arrays import Floats, Ints
from serendip.models.gp.kernels import Kernel
from serendip.models.gp.process import Scale, Solution, finite, solved
from serendip.models.left_out import spectral_inverses

_JITTER = 1e-8
"""Of the mean variance, added at the inducing points: rows may repeat."""
_NULL = 1e-12
"""Directions with less of the largest μ say nothing but rounding."""
_SAMPLE = 1024
"""Labels that rule out kernels before the others are solved from all."""
_UNLIKELY = 1e-2
"""The weight there below which they do. Of nine kernels one to four are left (enamine10k)."""

Weighed = tuple[Kernel, float]
"""A kernel and what its evidence is corrected by."""


def inducing_points(x: Floats, labels: Floats, count: int) -> Ints:
    """(count,) rows at even ranks of the labels; ties go by the features, not by the order."""
    ranks = np.lexsort((*x.T, labels))
    return np.sort(ranks[np.linspace(0, len(labels) - 1, count).round().astype(np.int64)])


def plausible_kernels(
    kernels: Sequence[Weighed],
    x: Floats,
    labels: Floats,
    noise: Floats,
    scale: Scale,
    sample: int = _SAMPLE,
) -> tuple[Weighed, ...]:
    """Those that so many of the labels, at even ranks, do not rule out; all of no more labels."""
    if len(labels) <= sample:
        return tuple(kernels)
    few = inducing_points(x, labels, sample)
    found = [solved(kernel, x[few], labels[few], 1.0, noise) for kernel, _ in kernels]
    weights = scale.weights(found, [correction for _, correction in kernels]).sum(axis=1)
    return tuple(one for one, w in zip(kernels, weights, strict=True) if w > _UNLIKELY)


def solved_through(
    points: Ints, kernel: Kernel, x: Floats, labels: Floats, unit: float, noise: Floats
) -> Solution:
    """From all labels, through some of the rows.

    A label left out is predicted with Q, by which A⁻¹ = P diag(1 / (μ + r)) Pᵀ + (I − PPᵀ) / r,
    and with what C has beyond Q there as noise of its own.
    """
    cross = finite(kernel.matrix(x, x[points]) + 1.0)
    factor = _factor(cross[points])
    white = solve_triangular(factor, cross.T, lower=True, overwrite_b=True, check_finite=False)
    sizes, turn = np.linalg.eigh(white @ white.T)
    kept = sizes > _NULL * sizes[-1]
    sizes, turn = sizes[kept], turn[:, kept]
    across = white.T @ turn
    across /= np.sqrt(sizes)
    basis = np.sqrt(sizes) * solve_triangular(factor, turn, lower=True, trans="T")
    lack = np.clip(kernel.diagonal(x) + 1.0 - np.einsum("mt,mt->t", white, white), 0.0, None)

    turned, spread = labels @ across, sizes + noise[:, None]
    beyond = max(float(labels @ labels - turned @ turned), 0.0)
    held, precision = spectral_inverses(across, sizes, unit * labels, noise)
    share = 1.0 / (1.0 + lack * precision)
    return Solution(
        x=x[points],
        basis=basis,
        sizes=sizes,
        log_determinant=np.log(spread).sum(axis=1) + (len(x) - len(sizes)) * np.log(noise),
        misfit=(1.0 / spread) @ turned**2 + beyond / noise,
        pull=unit * (turned / spread) @ basis.T,
        held=share * held,
        precision=share * precision,
    )


def _factor(inner: Floats) -> Floats:
    """L, lower."""
    inner = inner.copy()
    inner[np.diag_indices_from(inner)] += _JITTER * float(np.trace(inner)) / len(inner)
    return np.asarray(cholesky(inner, lower=True, check_finite=False))
