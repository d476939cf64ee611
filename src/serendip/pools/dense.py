"""A pool held as one array in memory, walked in blocks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np

from serendip.core.arguments import shown, whole, whole_fields
from serendip.core.arrays import Array, Ints
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Reduction
from serendip.pools.walking import MOST_ROWS, Roll, checked_removed, walk

R = TypeVar("R")


@dataclass(frozen=True, slots=True, eq=False)
class DensePool:
    """Candidates as the rows of an array.

    Rows are features, or (row, column) of a matrix, or a node of a graph. Threads walk the blocks
    where there are enough of them; how the pool is cut changes the speed, never the answer.

    Attributes:
        x: (n, d), finite; float32 or float64, or integers for indices.
        ids: (n,) the user's own names, all different.
        removed: Items that have been labelled, increasing; a small set beside the data.
    """

    x: Array
    ids: Sequence[str] | None = None
    block_rows: int = MOST_ROWS
    removed: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        try:
            x = np.asarray(self.x)
            if x.dtype.kind == "O":  # as pandas hands over columns of several kinds of numbers
                x = x.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(
                "A pool needs a table of numbers, its rows equally long; "
                f"got {shown(self.x)}. Encode text first."
            ) from None
        if x.ndim != 2 or x.shape[0] == 0 or x.shape[1] == 0:
            raise InvalidInput(
                f"A pool needs a table with at least one row and one column; got shape {x.shape}."
            )
        if x.dtype.kind not in "iuf":
            raise InvalidInput(f"Pool features must be numbers; got {x.dtype}. Encode text first.")
        if x.dtype.kind == "f" and x.dtype.itemsize < 4:
            x = x.astype(np.float32)
        if x.dtype.kind == "f" and not np.isfinite(x).all():
            row, column = np.argwhere(~np.isfinite(x))[0]
            raise InvalidInput(
                f"Pool features must be finite; row {row}, column {column} holds {x[row, column]}. "
                "Fill or drop such rows before making the pool."
            )
        whole_fields(self, 1, "block_rows")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "removed", checked_removed(self.removed, len(x)))
        if self.ids is not None:
            object.__setattr__(self, "ids", _checked_ids(self.ids, len(x)))

    def __len__(self) -> int:
        return len(self._roll)

    def __contains__(self, item: int) -> bool:
        return item in self._roll

    @property
    def _roll(self) -> Roll:
        return Roll(len(self.x), self.removed)

    def take(self, items: Ints) -> Array:
        """(len(items), d) features, of labelled candidates too."""
        return self.x[items]

    def without(self, item: int) -> Self:
        """The pool once this item has left it."""
        return self._changed(removed=self._roll.without(item, self.name))

    def _changed(self, **changes: object) -> Self:
        """A copy that need not be checked again."""
        copy = object.__new__(type(self))
        for name in ("x", "ids", "block_rows", "removed"):
            object.__setattr__(copy, name, changes.get(name, getattr(self, name)))
        return copy

    def name(self, item: int) -> str:
        """The user's name of an item, or its number."""
        return str(item) if self.ids is None else self.ids[item]

    def with_block_rows(self, block_rows: int) -> Self:
        """The same pool, cut differently."""
        return self._changed(block_rows=whole("block_rows", block_rows, 1))

    def fold(self, reduction: Reduction[R]) -> R:
        """The reduction over all blocks, on as many threads as there are cores."""
        return walk(lambda start, stop: self.x[start:stop], self._roll, self.block_rows, reduction)


def _checked_ids(ids: Sequence[str], count: int) -> tuple[str, ...]:
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise InvalidInput(f"ids must be a sequence of names; got {shown(ids)}.")
    names = tuple(str(name) for name in ids)
    if len(names) != count:
        raise InvalidInput(f"Each candidate needs one id; got {len(names)} ids for {count} rows.")
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if name in seen:
            raise InvalidInput(
                f"Ids must be unique; {name!r} stands in rows {seen[name]} and {row}. "
                "Rename or drop one of them."
            )
        seen[name] = row
    return names
