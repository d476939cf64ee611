"""A pool whose rows are read or made block by block: from a file, from bits, from reagents."""

from dataclasses import dataclass, field, replace
from typing import Protocol, Self, TypeVar

import numpy as np

from serendip.core.arguments import able, whole
from serendip.core.arrays import Array, Ints
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Names, Reduction
from serendip.pools.walking import Roll, checked_removed, usual_rows, walk

R = TypeVar("R")


class Rows(Protocol):
    """Where rows come from. Any of them may be asked for, by any thread, as often as needed."""

    def __len__(self) -> int: ...

    @property
    def width(self) -> int:
        """d, the number of features."""
        ...

    def read(self, start: int, stop: int) -> Array:
        """(stop − start, d) consecutive rows; finite, or an error that names the row."""
        ...

    def take(self, items: Ints) -> Array:
        """(len(items), d) rows in this order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class StreamedPool:
    """Candidates that are never in memory all at once.

    A thread holds one block at a time; the pool itself is little more than a path, so it can
    travel to other processes.

    Attributes:
        ids: (n,) the user's own names, looked up when needed; None where items are called by
            number.
        block_rows: 0 for what suits the number of features.
        removed: Items that have been labelled, increasing; a small set beside the data.
    """

    rows: Rows
    ids: Names | None = None
    block_rows: int = 0
    removed: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        able("rows", self.rows, ("read", "take"), "mapped_rows(path)")
        if whole("block_rows", self.block_rows) < 0:
            raise InvalidInput(f"block_rows must be at least 1; got {self.block_rows}.")
        object.__setattr__(self, "removed", checked_removed(self.removed, len(self.rows)))
        if self.block_rows == 0:
            object.__setattr__(self, "block_rows", usual_rows(self.rows.width))
        if self.ids is not None and len(self.ids) != len(self.rows):
            raise InvalidInput(
                f"Each candidate needs one id; got {len(self.ids)} ids for {len(self.rows)} rows."
            )

    def __len__(self) -> int:
        return len(self._roll)

    def __contains__(self, item: int) -> bool:
        return item in self._roll

    @property
    def _roll(self) -> Roll:
        return Roll(len(self.rows), self.removed)

    def take(self, items: Ints) -> Array:
        """(len(items), d) features, of labelled candidates too."""
        return self.rows.take(items)

    def without(self, item: int) -> Self:
        """The pool once this item has left it."""
        return replace(self, removed=self._roll.without(item, self.name))

    def name(self, item: int) -> str:
        """The user's name of an item, or its number."""
        return str(item) if self.ids is None else self.ids[item]

    def with_block_rows(self, block_rows: int) -> Self:
        """The same pool, cut differently."""
        return replace(self, block_rows=block_rows)

    def fold(self, reduction: Reduction[R]) -> R:
        """The reduction over all blocks, on as many threads as there are cores."""
        return walk(self.rows.read, self._roll, self.block_rows, reduction)
