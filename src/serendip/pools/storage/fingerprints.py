"""Pools of fingerprints: the numbers of the bits that are set, two bytes each, never unpacked all.

A draw over 2048-bit fingerprints needs the sum of some forty of its 2048 weights per molecule.
Adding those up is ten times faster than a product with rows that are mostly zeros.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from serendip.core.arrays import Array, Ints
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.pools.storage.files import DataFile
from serendip.pools.storage.layouts import npy_header

MARK_ROWS = 1024
"""Every so many rows the place of their first bit is written down."""

MOST_BITS = 1 << 16
"""Bits are numbered in two bytes."""


class BitBlock:
    """Rows of bits that behave like a dense float32 array; only products stay sparse.

    Each row is `scale` at the bits that are set, zero elsewhere, and one in the last column, which
    is the constant.
    """

    __slots__ = ("_matrix",)

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, matrix: csr_array) -> None:
        self._matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """(b, d)"""
        return self._matrix.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __matmul__(self, other: Array) -> Array:
        # Row after row of the other is added up, so its rows must lie together.
        return self._matrix @ np.ascontiguousarray(other)

    def __getitem__(self, place: Any) -> Array:
        """Some rows stay sparse; anything else is taken from the dense array."""
        if isinstance(place, slice) or (isinstance(place, np.ndarray) and place.ndim == 1):
            return BitBlock(self._matrix[place])
        return np.asarray(self)[place]

    @property
    def T(self) -> Array:  # noqa: N802  # as arrays call it
        """(d, b), dense."""
        return np.asarray(self).T

    def max(self, initial: float = -np.inf) -> float:
        """The largest entry."""
        return max(initial, float(self._matrix.data.max(initial=initial)), 0.0)

    def min(self, initial: float = np.inf) -> float:
        """The smallest entry."""
        return min(initial, float(self._matrix.data.min(initial=initial)), 0.0)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Array:
        """Sizes stay sparse; all else is computed on dense arrays."""
        if ufunc is np.absolute and method == "__call__" and not options:
            return BitBlock(abs(self._matrix))
        dense = [np.asarray(one) if isinstance(one, BitBlock) else one for one in inputs]
        return getattr(ufunc, method)(*dense, **options)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("Bits have to be unpacked to become an array.")
        own = self._matrix
        x = np.zeros(self.shape, dtype=dtype or self.dtype)
        rows = np.repeat(np.arange(len(x)) * x.shape[1], np.diff(own.indptr))
        x.reshape(-1)[rows + own.indices] = own.data
        return x


@dataclass(frozen=True, slots=True, eq=False)
class FingerprintRows:
    """Fingerprints in three files: the bits of all rows, how many each row has, and marks."""

    bits: DataFile
    """uint16: the numbers of the bits that are set, row after row."""
    counts: DataFile
    """(n,) uint16: how many a row has."""
    marks: Ints
    """Where in `bits` row 0, row 1024, … begin, and where all end."""
    n: int
    n_bits: int
    scale: float
    """The value of a bit that is set."""
    offset: int
    """Where the numbers begin in both files."""

    def __len__(self) -> int:
        return self.n

    @property
    def width(self) -> int:
        """The bits, and the constant."""
        return self.n_bits + 1

    def read(self, start: int, stop: int) -> BitBlock:
        """(stop − start, d) consecutive rows."""
        low = start - start % MARK_ROWS
        counts = np.empty(stop - low, dtype=np.uint16)
        self.counts.fill([(self.offset + 2 * low, counts)])
        sizes = counts.astype(np.int64)
        first = int(self.marks[low // MARK_ROWS]) + int(sizes[: start - low].sum())
        sizes = sizes[start - low :]
        bits = np.empty(int(sizes.sum()), dtype=np.uint16)
        span = (self.offset + 2 * (first + len(bits)), bits.nbytes)
        self.bits.fill([(self.offset + 2 * first, bits)], [span])
        if len(bits) and int(bits.max()) >= self.n_bits:
            raise DamagedPool(
                f"{self.bits.path} holds bit {int(bits.max())} in one of rows {start} to "
                f"{stop - 1}, and fingerprints have {self.n_bits}; restore the file."
            )
        return BitBlock(self._matrix(bits, sizes))

    def take(self, items: Ints) -> Array:
        """(len(items), d) rows in this order, dense."""
        x = np.empty((len(items), self.width), dtype=np.float32)
        for place, item in enumerate(items.tolist()):
            x[place] = np.asarray(self.read(item, item + 1))[0]
        return x

    def _matrix(self, bits: npt.NDArray[np.uint16], sizes: Ints) -> csr_array:
        """The rows, each with the constant after its bits."""
        ends = np.cumsum(sizes + 1)
        is_bit = np.ones(len(bits) + len(sizes), dtype=bool)
        is_bit[ends - 1] = False
        indices = np.full(len(is_bit), self.n_bits, dtype=np.int32)
        indices[is_bit] = bits
        data = np.where(is_bit, np.float32(self.scale), np.float32(1.0))
        starts = np.concatenate([[0], ends]).astype(np.int32)
        return csr_array((data, indices, starts), shape=(len(sizes), self.width))


def fingerprint_rows(
    bits: Path, counts: Path, marks: Path, n_bits: int, scale: float
) -> FingerprintRows:
    """The fingerprints in these files; headers and sizes are checked, bits when they are read.

    Args:
        bits: The numbers of the bits that are set, a .npy file of uint16.
        counts: How many each row has, a .npy file of uint16.
        marks: Where every 1024th row begins, a .npy file of int64.
        n_bits: Length of a fingerprint.
        scale: The value of a bit that is set.
    """
    if not 1 <= n_bits <= MOST_BITS:
        raise InvalidInput(f"A fingerprint has 1 to {MOST_BITS} bits; got {n_bits}.")
    files = [DataFile.of(path) for path in (bits, counts, marks)]
    headers = [npy_header(file) for file in files]
    for file, header, kind in zip(files, headers, ("uint16", "uint16", "int64"), strict=True):
        if header.dtype != np.dtype(kind) or len(header.shape) != 1:
            raise InvalidInput(
                f"{file.path.name} should be a row of {kind}; it holds {header.dtype} of shape "
                f"{header.shape}."
            )
    total, n = headers[0].shape[0], headers[1].shape[0]
    places = np.empty(headers[2].shape[0], dtype=np.int64)
    files[2].fill([(headers[2].offset, places)])
    if len(places) != -(-n // MARK_ROWS) + 1 or places[-1] != total or (np.diff(places) < 0).any():
        raise DamagedPool(f"{marks} does not belong to {bits.name}; restore both files.")
    return FingerprintRows(files[0], files[1], places, n, n_bits, scale, headers[0].offset)
