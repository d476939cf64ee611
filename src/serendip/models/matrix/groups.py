"""Groups of features of the rows or columns of a matrix, and the Gibbs step over their weights.

Every line i (a row, or a column) has q numbers, each a sum over groups: c_ik = Σ_g φ_g(i)ᵀw_gk.
Chains come last in every array.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from serendip.core.arguments import array
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.core.linalg import gaussian_draws

_FEW = 64
"""Levels up to which sums over them are quickest as a product with zeros and ones."""


class Group(Protocol):
    """Features of n lines, with d weights for each of the q numbers."""

    @property
    def gram(self) -> Floats:
        """(d,) the diagonal of ΦᵀΦ, which has nothing else."""
        ...

    def at(self, weights: Floats) -> Floats:
        """(q, n, M) Φw of weights (q, d, M)."""
        ...

    def sums(self, lines: Floats) -> Floats:
        """(q, d, M) Φᵀc of lines (q, n, M)."""
        ...

    def draw(self, old: Floats, widths: Floats, told: "Told", rng: Generator) -> "Drawn":
        """Weights given all others, `told` being what is left to explain of the labels."""
        ...


class Told(NamedTuple):
    """What labels say of each line: Λ (q, q, n, M), and b − Λc (q, n, M) where the lines stand."""

    precision: Floats
    left: Floats


class Drawn(NamedTuple):
    """New weights (q, d, M), with E_kl = w_kᵀΛ_kl w_l (q, q, M) and h_k = w_kᵀb_k (q, M)."""

    weights: Floats
    energy: Floats
    product: Floats


def times(matrices: Floats, vectors: Floats) -> Floats:
    """(q, n, M) the product of many small matrices (q, q, n, M) with vectors (q, n, M)."""
    return np.asarray(np.einsum("abnm,bnm->anm", matrices, vectors))


@dataclass(frozen=True, eq=False)
class Levels:
    """A category of which every line has one level; weights of different levels do not touch."""

    codes: Ints
    """(n,)"""

    @property
    def gram(self) -> Floats:
        """How many lines have each level."""
        return self._counts

    @cached_property
    def _counts(self) -> Floats:
        return np.bincount(self.codes).astype(np.float64)

    @cached_property
    def _own(self) -> bool:
        return bool(np.array_equal(self.codes, np.arange(len(self.codes))))

    @cached_property
    def _indicators(self) -> Floats:
        return np.asarray(self.codes == np.arange(len(self.gram))[:, None], dtype=np.float64)

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.codes, kind="stable")
        return order, np.flatnonzero(np.r_[True, np.diff(self.codes[order]) > 0])

    def at(self, weights: Floats) -> Floats:
        """A look-up."""
        return weights if self._own else weights[:, self.codes]

    def sums(self, lines: Floats) -> Floats:
        """Sums over the lines of each level."""
        if self._own:
            return lines
        if len(self.gram) <= _FEW:
            return np.asarray(self._indicators @ lines)
        order, starts = self._sorted
        return np.asarray(np.add.reduceat(lines[..., order, :], starts, axis=-2))

    def draw(self, old: Floats, widths: Floats, told: Told, rng: Generator) -> Drawn:
        """All levels at once, each with a precision (q, q) of its own."""
        precision = self.sums(told.precision)
        shift = self.sums(told.left) + times(precision, old)
        full = precision.copy()
        for place, width in enumerate(widths):
            full[place, place] += 1.0 / width
        new = gaussian_draws(full, shift, rng.standard_normal(old.shape))
        energy = np.einsum("anm,abnm,bnm->abm", new, precision, new)
        return Drawn(new, energy, np.einsum("anm,anm->am", new, shift))


@dataclass(frozen=True, eq=False)
class Descriptors:
    """Numbers that describe the lines, turned so that their columns are orthogonal."""

    basis: Floats
    """(n, d)"""

    @classmethod
    def of(cls, x: Floats) -> "Descriptors":
        """From centred features (n, p); XXᵀ, which is all that matters, stays as it is."""
        left, size, _ = np.linalg.svd(x, full_matrices=False)
        kept = size > 1e-9 * max(1.0, float(size.max(initial=0.0)))
        return cls(np.asarray((left * size)[:, kept]))

    @property
    def gram(self) -> Floats:
        """Squared lengths of the columns."""
        return np.asarray((self.basis**2).sum(axis=0))

    @cached_property
    def _squares(self) -> Floats:
        outer = np.einsum("nd,ne->nde", self.basis, self.basis)
        return np.asarray(outer.reshape(len(self.basis), -1))

    def at(self, weights: Floats) -> Floats:
        """A product with the basis."""
        return np.asarray(self.basis @ weights)

    def sums(self, lines: Floats) -> Floats:
        """A product with its transpose."""
        return np.asarray(self.basis.T @ lines)

    def draw(self, old: Floats, widths: Floats, told: Told, rng: Generator) -> Drawn:
        """One of the q numbers after the other, its d weights together."""
        d = self.basis.shape[1]
        new, before, left = old.copy(), self.at(old), told.left
        for place, width in enumerate(widths):
            own = told.precision[place, place]
            precision = (own.T @ self._squares).reshape(-1, d, d)
            precision[:, range(d), range(d)] += 1.0 / width[:, None]
            shift = self.basis.T @ (left[place] + own * before[place])
            lower = np.linalg.cholesky(precision)
            half = np.linalg.solve(lower, shift.T[:, :, None])
            half += rng.standard_normal(half.shape)
            new[place] = np.linalg.solve(lower.swapaxes(1, 2), half)[:, :, 0].T
            change = self.basis @ (new[place] - old[place])
            left = left - told.precision[:, place] * change
        after = self.at(new)
        # What the labels ask of this group alone: b − Λ(c − Φw), the same before and after.
        shift = left + times(told.precision, after)
        energy = np.einsum("anm,abnm,bnm->abm", after, told.precision, after)
        return Drawn(new, energy, np.einsum("anm,anm->am", after, shift))


def members(codes: Ints, size: int) -> csr_array:
    """(size, n) ones where a code says so: its product with x sums x by code."""
    n = len(codes)
    return csr_array((np.ones(n), (codes, np.arange(n))), shape=(size, n))


def group_of(values: Array, size: int, name: str) -> Group:
    """A group from what users give: whole numbers (n,) are levels, numbers (n, p) descriptors."""
    table = array(f"A group of {name} features", values)
    if table.ndim not in (1, 2) or len(table) != size or table.size == 0:
        raise InvalidInput(
            f"A group of {name} features needs {size} finite values, one or more a line; "
            f"got shape {table.shape}."
        )
    if table.ndim == 2:
        return Descriptors.of(table - table.mean(axis=0))
    if table.dtype.kind not in "iu":
        raise InvalidInput(
            f"Levels of {name} must be whole numbers; got {table.dtype}. "
            "Give descriptors as an array of two dimensions."
        )
    return Levels(np.unique(table, return_inverse=True)[1].ravel().astype(np.int64))
