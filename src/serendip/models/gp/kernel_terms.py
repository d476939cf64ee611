"""The terms that kernels are sums of, isotropic in standardised features.

A term either has finitely many features, k(x, z) = φ(x)ᵀφ(z) exactly, or is evaluated as it is and
sketched by random features where a path is drawn (Rahimi and Recht 2007). Every term has a variance
of about one for features of unit size.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri, stdtrit

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.errors import InvalidInput

Sketch = Callable[[Floats], Floats]
"""(b, d) to (b, F) random features, with E[φ(x)ᵀφ(z)] = k(x, z). A frozen dataclass."""

Columns = tuple[int, ...]
Relevance = tuple[float, ...]

_ORTHOGONAL = 64
"""Columns up to which random directions are made orthogonal; with more they nearly are."""

_SAME = 1e-6
"""Marks closer than this, beside their size, are of one level: far more than rounding."""

_CACHED = 2**17
"""Entries of a matrix worked on at once, which stay in the cache."""


class ExactTerm(Protocol):
    """A term with finitely many features."""

    @property
    def columns(self) -> Columns:
        """Of x, those it looks at."""
        ...

    def features(self, x: Floats) -> Floats:
        """(b, F), with φ(x)ᵀφ(z) = k(x, z)."""
        ...

    def diagonal(self, x: Floats) -> Floats:
        """(b,) k(x, x)."""
        ...


class SketchedTerm(Protocol):
    """A term without; paths are drawn from a sketch of it."""

    @property
    def columns(self) -> Columns:
        """Of x, those it looks at."""
        ...

    def matrix(self, x: Floats, z: Floats) -> Floats:
        """(b, c) k(x, z)."""
        ...

    def diagonal(self, x: Floats) -> Floats:
        """(b,) k(x, x)."""
        ...

    def sketch(self, size: int, rng: Generator) -> Sketch:
        """Fresh random features, about `size` of them."""
        ...


# --- terms with finitely many features -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Linear:
    """k(x, z) = Σ_c r_c x_c z_c / divisor over some columns."""

    columns: Columns
    divisor: float
    """How many columns of unit size they count for: the levels of a text count as one."""
    relevance: Relevance = ()
    """r, one for each column; none for all 1."""

    def features(self, x: Floats) -> Floats:
        """(b, columns)"""
        return np.asarray(chosen(x, self.columns, self.relevance) / np.sqrt(self.divisor))

    def diagonal(self, x: Floats) -> Floats:
        """(b,) squared length."""
        return norms(chosen(x, self.columns, self.relevance)) / self.divisor


@dataclass(frozen=True, slots=True)
class Waves:
    """k(x, z) = 1/d Σ_c κ(x_c − z_c): one smooth function of each column, added up.

    κ(δ) = Σ_q p_q cos(ω_q δ): Gauss–Legendre over the quantiles of the spectral density of the RBF
    or Matérn kernel. It is a kernel in its own right; with Q = 10, up to three lengthscales, it is
    within 0.01 of the RBF, 0.04 of Matérn 5/2 and 0.07 of Matérn 3/2.
    """

    columns: Columns
    lengthscale: float
    smoothness: float = np.inf
    """ν: 3/2 or 5/2; infinite for the RBF kernel."""
    n_frequencies: int = 10
    """Q"""

    def __post_init__(self) -> None:
        _check_shape(self.lengthscale, self.smoothness)

    def features(self, x: Floats) -> Floats:
        """(b, 2Q·columns)"""
        frequencies, masses = _spectrum(self.smoothness, self.n_frequencies)
        angle = x[:, self.columns, None] * (frequencies / self.lengthscale)
        shares = np.tile(np.sqrt(0.5 * masses / len(self.columns)), len(self.columns))
        return np.asarray(_waves(angle.reshape(len(x), len(shares)), shares))

    def diagonal(self, x: Floats) -> Floats:
        """(b,) ones."""
        return np.ones(len(x))


@lru_cache(maxsize=16)
def _spectrum(smoothness: float, count: int) -> tuple[Floats, Floats]:
    """(Q,) positive frequencies at a lengthscale of 1, and what each stands for."""
    nodes, masses = np.polynomial.legendre.leggauss(count)
    levels = 0.75 + 0.25 * nodes
    rough = np.isfinite(smoothness)
    found = stdtrit(2.0 * smoothness, levels) if rough else ndtri(levels)
    return np.asarray(found, dtype=np.float64), masses


@dataclass(frozen=True, slots=True)
class Levels:
    """k(x, z) = 1 where some columns of x and z agree, all of them, and 0 otherwise.

    A level, one combination of values, is told by its mark: the columns in a fixed direction.
    """

    columns: Columns
    marks: tuple[float, ...]
    """Of the levels, increasing."""

    @classmethod
    def of(cls, columns: Columns, x: Floats) -> "Levels":
        """Those of these rows."""
        _, first = np.unique(x[:, columns], axis=0, return_index=True)
        return cls(columns, tuple(np.sort(_marks(columns, x[first])).tolist()))

    def features(self, x: Floats) -> Floats:
        """(b, levels) one of them 1, the others 0; all 0 where the level is not known."""
        known, marks = np.array(self.marks), _marks(self.columns, x)
        place = np.searchsorted(known, marks)
        near = np.stack([np.maximum(place - 1, 0), np.minimum(place, len(known) - 1)])
        apart = np.abs(known[near] - marks)
        nearest = np.where(apart[0] <= apart[1], near[0], near[1])
        found = np.zeros((len(x), len(known)))
        found[np.arange(len(x)), nearest] = apart.min(axis=0) <= _SAME * (1.0 + np.abs(marks))
        return found

    def diagonal(self, x: Floats) -> Floats:
        """(b,) ones, but for levels that are not known."""
        return np.asarray(self.features(x).sum(axis=1))


def _marks(columns: Columns, x: Floats) -> Floats:
    """(b,) one number for each row; where the columns differ, so do the numbers."""
    return np.asarray(x[:, columns] @ np.random.default_rng(0).standard_normal(len(columns)))


def _some_rows(matrix: Array) -> Iterator[slice]:
    """Its rows, some at a time."""
    step = max(16, _CACHED // max(1, matrix.shape[1]))
    return (slice(start, start + step) for start in range(0, len(matrix), step))


def _waves(angle: Floats, sizes: Floats | float, out: Array | None = None) -> Array:
    """(b, 2F) cos and sin by their sizes, to 10⁻⁷: reduced in float64, then in fast float32."""
    count = angle.shape[1]
    found = np.empty((len(angle), 2 * count)) if out is None else out
    sizes = np.asarray(sizes, dtype=found.dtype)
    for rows in _some_rows(angle):
        turns = angle[rows] * (0.5 / np.pi)
        turns -= np.rint(turns)
        turns *= 2.0 * np.pi
        small = turns.astype(np.float32)
        np.multiply(np.cos(small), sizes, out=found[rows, :count])
        np.multiply(np.sin(small), sizes, out=found[rows, count:])
    return found


def _check_shape(lengthscale: float, smoothness: float) -> None:
    if not (np.isfinite(lengthscale) and lengthscale > 0):
        raise InvalidInput(f"A lengthscale must be a positive number; got {lengthscale}.")
    if smoothness not in (1.5, 2.5, np.inf):
        raise InvalidInput(f"smoothness must be 1.5, 2.5 or infinite; got {smoothness}.")


# --- terms that are sketched ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Radial:
    """RBF or Matérn, a function of r² = Σ_c r_c (x_c − z_c)² / ℓ² over some columns.

    RBF exp(−r²/2); Matérn 5/2 (1 + a + a²/3)e^{−a}, a = √5 r; Matérn 3/2 (1 + a)e^{−a}, a = √3 r.
    """

    columns: Columns
    lengthscale: float
    smoothness: float = np.inf
    """ν: 3/2 or 5/2; infinite for the RBF kernel."""
    relevance: Relevance = ()
    """r_c, one for each column; none for all 1."""

    def __post_init__(self) -> None:
        _check_shape(self.lengthscale, self.smoothness)

    def matrix(self, x: Floats, z: Floats) -> Floats:
        """(b, c)"""
        x, z = (chosen(x, self.columns, self.relevance) / self.lengthscale for x in (x, z))
        found, lengths, others = x @ z.T, norms(x), norms(z)
        for rows in _some_rows(found):
            squared = lengths[rows, None] + others
            squared -= 2.0 * found[rows]
            found[rows] = self._profile(np.maximum(squared, 0.0, out=squared))
        return found

    def single(self, squared: Array, weight: float) -> Array:
        """(b, c) weight·k to 16·2⁻²⁴ of the weight, in float32, of r² before it is over ℓ²."""
        found, scale = np.empty_like(squared), float(self.lengthscale) ** -2
        smooth = float(self.smoothness)
        for rows in _some_rows(found):
            part, out = squared[rows], found[rows]
            if not np.isfinite(smooth):
                np.exp(np.multiply(part, -0.5 * scale, out=out), out=out)
            else:
                root = part * (2.0 * smooth * scale)
                if smooth == 2.5:
                    np.multiply(root, 1.0 / 3.0, out=out)
                np.sqrt(root, out=root)
                np.add(out, root, out=out) if smooth == 2.5 else np.copyto(out, root)
                out += 1.0
                out *= np.exp(np.negative(root, out=root), out=root)
            if weight != 1.0:
                out *= weight
        return found

    def _profile(self, squared: Floats) -> Floats:
        """The kernel as a function of r²."""
        if not np.isfinite(self.smoothness):
            return np.asarray(np.exp(-0.5 * squared))
        squared *= 2.0 * self.smoothness
        root = np.sqrt(squared)
        shape = 1.0 + root
        if self.smoothness == 2.5:
            shape += squared / 3.0
        return np.asarray(shape * np.exp(-root))

    def diagonal(self, x: Floats) -> Floats:
        """(b,) ones."""
        return np.ones(len(x))

    def sketch(self, size: int, rng: Generator) -> Sketch:
        """Waves whose frequencies come from the spectral density."""
        d, count = len(self.columns), max(1, size // 2)
        frequencies = _directions(d, count, rng) / self.lengthscale
        if np.isfinite(self.smoothness):
            degrees = 2.0 * self.smoothness
            frequencies *= np.sqrt(degrees / rng.chisquare(degrees, count))
        if self.relevance:
            frequencies *= np.sqrt(self.relevance)[:, None]
        return WaveSketch(self.columns, frequencies)


def chosen(x: Floats, columns: Columns, relevance: Relevance) -> Floats:
    """(b, columns) √r_c x_c."""
    own = x if columns == tuple(range(x.shape[1])) else x[:, columns]
    return np.asarray(own * np.sqrt(relevance) if relevance else own)


def norms(rows: Floats) -> Floats:
    """(b,) squared norm of each row."""
    return np.asarray(np.einsum("bd,bd->b", rows, rows))


def _directions(d: int, count: int, rng: Generator) -> Floats:
    """(d, count) standard normal vectors, orthogonal in turns of d where d is small."""
    if d > _ORTHOGONAL:
        return rng.standard_normal((d, count))
    turns = -(-count // d)
    basis, _ = np.linalg.qr(rng.standard_normal((turns, d, d)))
    lengths = np.sqrt(rng.chisquare(d, (turns, 1, d)))
    return np.asarray(np.concatenate(list(basis * lengths), axis=1)[:, :count])


@dataclass(frozen=True, slots=True)
class WaveSketch:
    """φ(x) = F^{−1/2} (cos Ωᵀx, sin Ωᵀx); φ(x)ᵀφ(x) = 1."""

    columns: Columns
    frequencies: Floats
    """(d, F)"""

    def __call__(self, x: Floats) -> Floats:
        return np.asarray(self.written(x, None))

    def written(self, x: Floats, out: Array | None) -> Array:
        """The same, in place and in the precision of what is given."""
        return _waves(x[:, self.columns] @ self.frequencies, self._size, out)

    def single(self, x: Array, turns: Array, out: Array) -> None:
        """Likewise from angles in float32: (b, columns) x, and frequencies over 2π."""
        count = turns.shape[1]
        for rows in _some_rows(out):
            angle, part = x[rows] @ turns, out[rows]
            angle -= np.rint(angle)
            angle *= np.float32(2.0 * np.pi)
            np.cos(angle, out=part[:, :count])
            np.sin(angle, out=part[:, count:])
            part *= np.float32(self._size)

    @property
    def _size(self) -> float:
        return 1.0 / float(np.sqrt(self.frequencies.shape[1]))


@dataclass(frozen=True, slots=True)
class Tanimoto:
    """k(x, z) = |x ∧ z| / |x ∨ z| of binary fingerprints; two empty ones are alike."""

    columns: Columns

    def matrix(self, x: Floats, z: Floats) -> Floats:
        """(b, c)"""
        x, z = self._bits(x), self._bits(z)
        both = x @ z.T
        either = x.sum(axis=1)[:, None] + z.sum(axis=1) - both
        return np.asarray(np.divide(both, either, out=np.ones_like(both), where=either > 0))

    def diagonal(self, x: Floats) -> Floats:
        """(b,) ones."""
        return np.ones(len(x))

    def sketch(self, size: int, rng: Generator) -> Sketch:
        """The first bit set in a random order agrees with chance k(x, z) (Broder 1997)."""
        d = len(self.columns)
        orders = rng.permuted(np.tile(np.arange(d), (size, 1)), axis=1)
        return HashSketch(self.columns, orders, rng.choice((-1.0, 1.0), (size, d + 1)))

    def _bits(self, x: Floats) -> Floats:
        return (x[:, self.columns] > 0).astype(np.float64)


@dataclass(frozen=True, slots=True)
class HashSketch:
    """φ_q(x) = F^{−1/2} ξ_q[first bit of x in the q-th order], ξ random signs."""

    columns: Columns
    orders: Ints
    """(F, d)"""
    signs: Floats
    """(F, d + 1), the last for an empty fingerprint."""

    def __call__(self, x: Floats) -> Floats:
        bits = x[:, self.columns] > 0
        empty = ~bits.any(axis=1)
        found = np.empty((len(x), len(self.orders)))
        for q, (order, signs) in enumerate(zip(self.orders, self.signs, strict=True)):
            first = order[bits[:, order].argmax(axis=1)]
            found[:, q] = signs[np.where(empty, len(order), first)]
        return np.asarray(found / np.sqrt(len(self.orders)))
