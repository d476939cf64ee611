"""Pools in .npy and Arrow IPC files, larger than memory if need be."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from serendip.core.arguments import instance
from serendip.core.arrays import Array, Ints
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.core.protocols import Names
from serendip.pools.storage.files import DataFile, Piece, Span
from serendip.pools.storage.layouts import Layout, Strip, arrow_layout, npy_layout
from serendip.pools.streamed import StreamedPool

_TAKEN_AT_ONCE = 1024
"""Rows asked of the disk before the first of them is waited for."""


def mapped_pool(path: str | Path, ids: Names | None = None, block_rows: int = 0) -> StreamedPool:
    """The rows of a file as a pool; the file is read, never written, and not copied into memory.

    Args:
        path: A two-dimensional .npy array of float16, float32 or float64, or an Arrow IPC file
            (.arrow, .feather) with columns of one of these types, uncompressed.
        ids: (n,) names of the candidates.
        block_rows: Rows of a block; 0 for what suits the number of features.
    """
    instance("path", path, (str, Path), "the path of a file")
    return StreamedPool(mapped_rows(Path(path)), ids, block_rows)


def mapped_rows(path: Path) -> "MappedRows":
    """The rows of a file; header and size are checked now, the values when they are read."""
    if path.suffix.lower() not in (".npy", ".arrow", ".feather"):
        raise InvalidInput(
            f"A pool on disk is a .npy, .arrow or .feather file; got {path.name!r}. Import other "
            "files with `serendip pool import`."
        )
    file = DataFile.of(path)
    layout = npy_layout(file) if path.suffix.lower() == ".npy" else arrow_layout(file)
    rows = MappedRows(file, layout)
    if len(rows) == 0 or rows.width == 0:
        shape = (len(rows), rows.width)
        raise InvalidInput(
            f"A pool needs at least one row and one column; {path.name} has shape {shape}."
        )
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class MappedRows:
    """Rows of numbers in a file, one after another or column by column."""

    file: DataFile
    layout: Layout

    def __len__(self) -> int:
        return self.layout.n

    @property
    def width(self) -> int:
        """How many features a row has."""
        return self.layout.width

    def read(self, start: int, stop: int) -> Array:
        """(stop − start, d) consecutive rows; float32, or float64 where the file is."""
        after = self._spans(stop, min(2 * stop - start, len(self)))
        x = self._gathered([(start, stop)], after)
        check_finite(x, self.file.path, range(start, stop))
        return x

    def take(self, items: Ints) -> Array:
        """(len(items), d) rows in this order; the disk is asked for many of them at a time."""
        x = np.empty((len(items), self.width), dtype=_working_type(self.layout.dtype))
        order = np.argsort(items, kind="stable")
        for start in range(0, len(order), _TAKEN_AT_ONCE):
            places = order[start : start + _TAKEN_AT_ONCE]
            rows = [(item, item + 1) for item in items[places].tolist()]
            self.file.fill((), [span for row in rows for span in self._spans(*row)])
            x[places] = self._gathered(rows, ())
        check_finite(x, self.file.path, items.tolist())
        return x

    def _gathered(self, ranges: Sequence[tuple[int, int]], ahead: Sequence[Span]) -> Array:
        """The rows of all ranges, one after another."""
        by_rows, dtype = self.layout.by_rows, self.layout.dtype
        filled: list[Array] = []
        pieces: list[Piece] = []
        for strip, low, high in (part for pair in ranges for part in self._parts(*pair)):
            shape = (high - low, self.width) if by_rows else (self.width, high - low)
            filled.append(np.empty(shape, dtype=dtype))
            pieces += zip(
                (offset for offset, _ in self._within(strip, low, high)),
                filled[-1:] if by_rows else filled[-1],
                strict=True,
            )
        self.file.fill(pieces, ahead)
        parts = filled if by_rows else [part.T for part in filled]
        x = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return np.ascontiguousarray(x, dtype=_working_type(dtype))

    def _parts(self, start: int, stop: int) -> Iterator[tuple[Strip, int, int]]:
        """The strips that hold these rows, with the first and the last row within each."""
        place = bisect_right(self.layout.strips, start, key=lambda strip: strip.first) - 1
        while start < stop:
            strip = self.layout.strips[place]
            end = min(stop, strip.first + strip.count)
            if end > start:
                yield strip, start - strip.first, end - strip.first
            start, place = end, place + 1

    def _within(self, strip: Strip, low: int, high: int) -> list[Span]:
        wide = self.layout.dtype.itemsize * (self.width if self.layout.by_rows else 1)
        return [(offset + low * wide, (high - low) * wide) for offset in strip.offsets]

    def _spans(self, start: int, stop: int) -> list[Span]:
        """Where these rows lie in the file."""
        return [span for part in self._parts(start, stop) for span in self._within(*part)]


def check_finite(x: Array, path: Path, numbers: Sequence[int]) -> None:
    """Refuses rows that are not finite; `numbers` says which rows of the file they are."""
    # A sum over a million numbers costs next to nothing and is finite almost always.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(x.sum()):
            return
    wrong = np.argwhere(~np.isfinite(x))
    if len(wrong):
        row, column = wrong[0]
        raise DamagedPool(
            f"Pool features must be finite; row {numbers[row]}, column {column} of {path} holds "
            f"{x[row, column]}. Restore the file, or import it again without such rows."
        )


def _working_type(dtype: np.dtype[np.floating]) -> np.dtype[np.floating]:
    """Blocks are float32 or float64; float16 is for the disk only."""
    return np.dtype(np.float64) if dtype.itemsize == 8 else np.dtype(np.float32)
