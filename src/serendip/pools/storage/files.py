"""Pieces of files, read when they are needed into arrays of their own.

Plain reads rather than memory maps: a file that is cut short while it is scanned then gives an
error that can be told, not a signal that kills the process; and what a block does not need is not
kept in the memory of the process.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from serendip.core.arrays import Array
from serendip.core.errors import DamagedPool

Piece = tuple[int, Array]
"""Where in the file, and a contiguous array to fill from there."""

Span = tuple[int, int]
"""Where in the file, and how many bytes."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that must stay what it was when it was first seen."""

    path: Path
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "DataFile":
        """The file as it is now."""
        try:
            found = path.stat()
        except OSError as problem:
            raise _unreadable(path, problem) from None
        return cls(path, found.st_size, found.st_mtime_ns)

    def fill(self, pieces: Iterable[Piece], ahead: Iterable[Span] = ()) -> None:
        """Fills each array from its place.

        Args:
            pieces: What is needed now.
            ahead: What will be needed next; the system is told, so that it reads while we compute.
        """
        try:
            with self.path.open("rb", buffering=0) as data:
                found = os.fstat(data.fileno())
                if (found.st_size, found.st_mtime_ns) != (self.size, self.mtime_ns):
                    raise DamagedPool(
                        f"{self.path} changed while it was in use; restore it, or open the pool "
                        "again if the change was meant."
                    )
                for offset, out in pieces:
                    data.seek(offset)
                    rest = memoryview(out.reshape(-1).view(np.uint8))
                    while len(rest) > 0:
                        count = data.readinto(rest)
                        if not count:
                            raise DamagedPool(f"{self.path} ends too soon; restore the file.")
                        rest = rest[count:]
                if hasattr(os, "posix_fadvise"):
                    for offset, size in ahead:
                        os.posix_fadvise(data.fileno(), offset, size, os.POSIX_FADV_WILLNEED)
        except OSError as problem:
            raise _unreadable(self.path, problem) from None


def _unreadable(path: Path, problem: OSError) -> DamagedPool:
    return DamagedPool(
        f"{path} could not be read ({problem.strerror or problem}); check that it is there and "
        "that you may read it."
    )
