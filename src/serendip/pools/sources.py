"""Where the rows of a shard come from, in a form that travels to other processes and machines."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from serendip.core.arrays import Array, Ints
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.protocols import Pool
from serendip.pools.dense import DensePool
from serendip.pools.streamed import Rows, StreamedPool

BLOCK_ROWS = 8192
"""Rows a block has unless told."""


class Source(Protocol):
    """Rows that can be cut into shards and opened elsewhere."""

    @property
    def block_rows(self) -> int:
        """Rows a block has, however the pool is sharded."""
        ...

    def __len__(self) -> int: ...

    def take(self, items: Ints) -> Array:
        """(len(items), d) rows, read by this process."""
        ...

    def cut(self, start: int, stop: int) -> "Source":
        """The rows from start to stop; nothing is read."""
        ...

    def open(self) -> Pool:
        """The rows as a pool, numbered from 0; called where they will be folded."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ArraySource:
    """Rows in the memory of this process."""

    x: Array
    """(n, d), numbers."""
    block_rows: int = BLOCK_ROWS

    def __post_init__(self) -> None:
        if self.x.ndim != 2 or self.x.size == 0 or self.x.dtype.kind not in "iuf":
            raise InvalidInput(
                "A pool needs a table of numbers with at least one row and one column; got shape "
                f"{self.x.shape} of {self.x.dtype}."
            )

    def __len__(self) -> int:
        return len(self.x)

    def take(self, items: Ints) -> Array:
        """Rows of the array."""
        return self.x[items]

    def cut(self, start: int, stop: int) -> "ArraySource":
        """A part of the array that lies in memory as it does here: sums round by that."""
        by_columns = self.x.flags.f_contiguous and not self.x.flags.c_contiguous
        rows = self.x[start:stop]
        return ArraySource(np.asfortranarray(rows) if by_columns else rows, self.block_rows)

    def open(self) -> DensePool:
        """The array as a pool."""
        return DensePool(self.x, block_rows=self.block_rows)


@dataclass(frozen=True, slots=True)
class FileSource:
    """Rows of an .npy file, which every process maps for itself: they are in memory once."""

    path: str
    """As all processes and machines see it."""
    shape: tuple[int, int]
    """Of the whole file, as it was when the source was made."""
    dtype: str
    start: int
    stop: int
    block_rows: int = BLOCK_ROWS

    @classmethod
    def of(cls, path: str | Path, block_rows: int = BLOCK_ROWS) -> "FileSource":
        """All rows of a file; its values are checked where they are opened."""
        where = str(Path(path).resolve())
        x = _mapped(where)
        if x.ndim != 2 or x.shape[0] == 0 or x.shape[1] == 0:
            raise InvalidInput(
                f"A pool needs a table with at least one row and one column; {where} has shape "
                f"{x.shape}."
            )
        return cls(where, (x.shape[0], x.shape[1]), x.dtype.str, 0, len(x), block_rows)

    def __len__(self) -> int:
        return self.stop - self.start

    def take(self, items: Ints) -> Array:
        """Rows of the file."""
        return np.array(self._rows()[items])

    def cut(self, start: int, stop: int) -> "FileSource":
        """A range of rows of the same file."""
        first = self.start
        return FileSource(
            self.path, self.shape, self.dtype, first + start, first + stop, self.block_rows
        )

    def open(self) -> DensePool:
        """The rows as a pool that maps the file."""
        try:
            return DensePool(self._rows(), block_rows=self.block_rows)
        except InvalidInput as problem:
            if self.start == 0:
                raise
            raise InvalidInput(f"Counted from row {self.start} of the pool: {problem}") from None

    def _rows(self) -> Array:
        x = _mapped(self.path)
        if x.shape != self.shape or x.dtype.str != self.dtype:
            raise SerendipError(
                f"{self.path} should hold {self.shape} values of type {self.dtype} and holds "
                f"{x.shape} of type {x.dtype.str}; every process must see the same, unchanged file."
            )
        return x[self.start : self.stop]


def _mapped(path: str) -> Array:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as problem:
        raise SerendipError(
            f"{path} could not be read ({problem.strerror or problem}); it must be there, and "
            "readable, on every machine that holds a part of the pool."
        ) from None
    except (ValueError, EOFError) as problem:
        said = (str(problem).splitlines() or [type(problem).__name__])[0].rstrip(".")
        raise InvalidInput(
            f"{path} is not a whole .npy file of numbers ({said}); write it again with numpy.save."
        ) from None


@dataclass(frozen=True, slots=True, eq=False)
class RowsSource:
    """Some of the rows of a pool on disk; every process reads them for itself."""

    rows: Rows
    block_rows: int = BLOCK_ROWS

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, items: Ints) -> Array:
        """Rows read by this process."""
        return self.rows.take(items)

    def cut(self, start: int, stop: int) -> "RowsSource":
        """A range of the rows."""
        return RowsSource(_Range(self.rows, start, stop), self.block_rows)

    def open(self) -> StreamedPool:
        """The rows as a pool that reads them block by block."""
        return StreamedPool(self.rows, block_rows=self.block_rows)


@dataclass(frozen=True, slots=True, eq=False)
class _Range:
    """The rows from start to stop of some others."""

    whole: Rows
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def width(self) -> int:
        return self.whole.width

    def read(self, start: int, stop: int) -> Array:
        return self.whole.read(self.start + start, self.start + stop)

    def take(self, items: Ints) -> Array:
        return self.whole.take(np.asarray(items) + self.start)
