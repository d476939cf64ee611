"""One kernel given the data, and the moments of a mixture of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from serendip.core.arrays import Floats
from serendip.core.data import HeldOut
from serendip.core.errors import SerendipError
from serendip.models.gp.kernels import Kernel
from serendip.models.left_out import student_held_out

_CHUNK = 1024
"""Rows worked on at once, at least."""
_ENTRIES = 2**17
"""Entries of a matrix worked on at once, where rows are short: threads hinder each other less."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A⁻¹y of one kernel, A = C + rI at each noise ratio r, and what says how well it explains y.

    C = k(X, X) + 1 = U diag(λ) Uᵀ serves all of them: A⁻¹ = U diag(1 / (λ + r)) Uᵀ. Many labels
    have Z for X, B for U and μ for λ (`inducing.py`); then m and q are less than t.
    """

    x: Floats
    """(m, d) X, or Z"""
    basis: Floats
    """(m, q) U, or B"""
    sizes: Floats
    """(q,) λ, or μ"""
    log_determinant: Floats
    """(R,) log det A"""
    misfit: Floats
    """(R,) yᵀA⁻¹y, where y is measured in its own unit."""
    pull: Floats
    """(R, m) α, so that E f(x) = c(x)ᵀα; times that unit."""
    held: Floats
    """(R, t) A⁻¹y times that unit, as labels left out need it."""
    precision: Floats
    """(R, t) diag A⁻¹, likewise."""


def solved(kernel: Kernel, x: Floats, labels: Floats, unit: float, noise: Floats) -> Solution:
    """Exactly, from all labels."""
    sizes, basis = np.linalg.eigh(finite(kernel.matrix(x, x) + 1.0))
    sizes = np.clip(sizes, 0.0, None)
    spread = sizes + noise[:, None]
    turned = labels @ basis
    pull = unit * (turned / spread) @ basis.T
    return Solution(
        x=x,
        basis=basis,
        sizes=sizes,
        log_determinant=np.log(spread).sum(axis=1),
        misfit=(1.0 / spread) @ turned**2,
        pull=pull,
        held=pull,
        precision=(1.0 / spread) @ (basis**2).T,
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """s² ~ InvGamma(shape, rate)."""

    shape: float
    rate: float

    def rates(self, found: Solution) -> Floats:
        """(R,) given the labels, in their unit; the shape grows by ½ a label."""
        return self.rate + 0.5 * found.misfit

    def weights(self, found: Sequence[Solution], corrections: Sequence[float]) -> Floats:
        """(kernels, R) by log p(y) = −½ log det A − a log b + …; they sum to one.

        Args:
            found: Of each kernel.
            corrections: What is added to the evidence of each.
        """
        shape = self.shape + 0.5 * found[0].held.shape[1]
        evidence = np.stack(
            [
                correction - 0.5 * one.log_determinant - shape * np.log(self.rates(one))
                for one, correction in zip(found, corrections, strict=True)
            ]
        )
        evidence += gammaln(shape) - gammaln(self.shape) + self.shape * np.log(self.rate)
        return np.asarray(np.exp(evidence - logsumexp(evidence)))


def finite(matrix: Floats) -> Floats:
    """The same, of finite values alone."""
    if not np.all(np.isfinite(matrix)):
        raise SerendipError("A kernel took a value that is not finite; standardise the features.")
    return matrix


@dataclass(frozen=True, slots=True)
class Fit:
    """What one kernel has become given the data, at each noise ratio that counts."""

    kernel: Kernel
    x: Floats
    """(m, d) as of the solution, as are the next two."""
    basis: Floats
    """(m, q)"""
    sizes: Floats
    """(q,)"""
    offset: float
    """What labels were measured from."""
    noise: Floats
    """(R,) r"""
    weights: Floats
    """(R,) of the mixture over all fits."""
    shape: float
    rates: Floats
    """(R,) with shape, of the inverse gamma of s²."""
    pull: Floats
    """(R, m) α, so that E f(x) = c(x)ᵀα + offset."""

    @property
    def scales(self) -> Floats:
        """(R,) E[s²]."""
        return self.rates / (self.shape - 1.0)

    def cross(self, x: Floats) -> Floats:
        """(b, m) c(x) = k(x, X) + 1."""
        return self.kernel.matrix(x, self.x) + 1.0

    def means(self, cross: Floats) -> Floats:
        """(b, R) E f(x) less the offset."""
        return cross @ self.pull.T

    def variances(self, x: Floats, turned: Floats) -> Floats:
        """(b, R) Var f(x) = E[s²] (k(x, x) + 1 − c(x)ᵀA⁻¹c(x)), given Uᵀc(x)."""
        gone = turned**2 @ (1.0 / (self.sizes + self.noise[:, None])).T
        left = self.kernel.diagonal(x)[:, None] + 1.0 - gone
        return np.asarray(self.scales * np.clip(left, 0.0, None))


def slices(count: int, width: int = _CHUNK) -> Iterator[slice]:
    """Consecutive rows, so many at once that what is made of them stays small.

    Args:
        count: Of all rows.
        width: How many entries are made of a row.
    """
    step = max(_CHUNK, _ENTRIES // max(1, width))
    return (slice(start, start + step) for start in range(0, count, step))


def mixture_moments(fits: tuple[Fit, ...], x: Floats) -> tuple[Floats, Floats]:
    """(b,) mean and variance of f over the mixture."""
    mean, variance = np.empty(len(x)), np.empty(len(x))
    for rows in slices(len(x)):
        found = [Seen.of(fit, x[rows], fit.cross(x[rows])) for fit in fits]
        mean[rows], variance[rows] = pooled(fits, found)
    return mean, variance


@dataclass(frozen=True, slots=True)
class Seen:
    """Some candidates as one fit sees them."""

    turned: Floats
    """(b, q) Uᵀc(x)"""
    means: Floats
    """(b, R)"""
    variances: Floats
    """(b, R)"""

    @classmethod
    def of(cls, fit: Fit, x: Floats, cross: Floats) -> "Seen":
        """These candidates, (b, d), with their c(x)."""
        turned = cross @ fit.basis
        return cls(turned, fit.means(cross), fit.variances(x, turned))


def pooled(fits: tuple[Fit, ...], found: Sequence[Seen]) -> tuple[Floats, Floats]:
    """(b,) mean and variance over the mixture of what each fit sees."""
    weights = np.concatenate([fit.weights for fit in fits])
    means = np.concatenate([seen.means for seen in found], axis=1)
    variances = np.concatenate([seen.variances for seen in found], axis=1)
    mean = means @ weights
    variance = (variances + (means - mean[:, None]) ** 2) @ weights
    return mean + fits[0].offset, variance


@dataclass(frozen=True, slots=True)
class Grid:
    """All grid points given the data, also those that weigh too little to be drawn from.

    Without a label they may weigh more, so labels left out need them.
    """

    shape: float
    rates: Floats
    """(P,)"""
    weights: Floats
    """(P,)"""
    pull: Floats
    """(P, t) A⁻¹y"""
    precision: Floats
    """(P, t) diag A⁻¹"""

    @classmethod
    def empty(cls) -> "Grid":
        """Before there is any."""
        return cls(0.0, *(np.empty(0),) * 2, *(np.empty((0, 0)),) * 2)

    def held_out(self, y: Floats) -> HeldOut:
        """Every label left out of the mixture in turn, in closed form."""
        if len(y) == 0:
            return HeldOut(np.empty(0), np.empty(0), np.empty(0))
        return student_held_out(y, self.pull, self.precision, self.rates, self.shape, self.weights)
