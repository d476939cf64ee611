"""A pool of pools: contiguous shards, each folded where its rows are, merged by the driver."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from serendip.core.arguments import able, whole
from serendip.core.arrays import Array, Ints
from serendip.core.data import Block
from serendip.core.errors import AlreadyLabelled, InvalidInput, SerendipError
from serendip.core.protocols import Names, Pool, Reduction
from serendip.pools.sources import Source

R = TypeVar("R")

LIVES = 3
"""How often the worker of one shard may be lost during one fold before it is given up."""


def lost(place: int, n_shards: int, what: str) -> SerendipError:
    """The error of a shard whose worker was lost again and again."""
    return SerendipError(
        f"Shard {place + 1} of {n_shards} lost {what} {LIVES} times in one step, most likely for "
        "want of memory; nothing was chosen. Use fewer shards, or free some memory."
    )


class Executor(Protocol):
    """Who holds the shards: processes of this machine, or actors of a cluster."""

    @property
    def source(self) -> Source:
        """All rows."""
        ...

    @property
    def bounds(self) -> Ints:
        """(shards + 1,) where each shard begins, and the number of rows."""
        ...

    def fold(self, reduction: Reduction[R], removed: Sequence[Ints]) -> list[R]:
        """The reduction over each shard, but for the items removed from it.

        One message goes to each shard and one comes back. A worker that is lost is replaced.
        """
        ...


def shard_bounds(n: int, n_shards: int, block_rows: int) -> Ints:
    """(shards + 1,) where shards begin: on the edge of a block, nearly equal in size.

    So every block is the same as without shards, and so is every number computed from it. Small
    pools get fewer shards, at least one block each.
    """
    whole("n_shards", n_shards, 1)
    n_blocks = -(-n // block_rows)
    n_shards = min(n_shards, n_blocks)
    edges = np.arange(n_shards + 1, dtype=np.int64) * n_blocks // n_shards
    return np.minimum(edges * block_rows, n)


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Consecutive rows, as the worker that holds them sees them."""

    pool: Pool
    """Numbered from 0."""
    start: int
    """The number of its first row in the whole pool."""

    def fold(self, reduction: Reduction[R], removed: Ints) -> R:
        """The reduction over the shard; items have their numbers in the whole pool."""
        return self.pool.fold(_Numbered(reduction, self.start, removed))


@dataclass(frozen=True, slots=True)
class _Numbered(Generic[R]):
    """A reduction that sees the items by their number in the whole pool, without those removed."""

    reduction: Reduction[R]
    first: int
    removed: Ints
    """Increasing, numbered in the whole pool."""

    def start(self) -> R:
        return self.reduction.start()

    def step(self, state: R, block: Block) -> R:
        items = block.items + self.first
        low, high = np.searchsorted(self.removed, (items[0], items[-1] + 1))
        if low == high:
            return self.reduction.step(state, Block(items, block.x))
        left = ~np.isin(items, self.removed[low:high])
        if not left.any():
            return state
        return self.reduction.step(state, Block(items[left], block.x[left]))

    def merge(self, left: R, right: R) -> R:
        return self.reduction.merge(left, right)


@dataclass(frozen=True, slots=True, eq=False)
class ShardedPool:
    """Candidates in shards that processes or machines hold.

    A fold sends the reduction to all shards at once, with the small set of items that have left,
    and merges what comes back. Nothing else is sent: the driver looks up single rows for itself.
    Blocks are cut as in one process, so that results are the same for any number of shards.

    Attributes:
        ids: (n,) the user's own names.
        removed: Items that have been labelled, increasing.
    """

    executor: Executor
    ids: Names | None = None
    removed: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        able("executor", self.executor, ("fold",), "ProcessExecutor(…)")
        n = len(self.executor.source)
        if self.ids is not None and len(self.ids) != n:
            raise InvalidInput(f"Each candidate needs one id; got {len(self.ids)} for {n} rows.")

    def __len__(self) -> int:
        return len(self.executor.source) - len(self.removed)

    def __contains__(self, item: int) -> bool:
        place = np.searchsorted(self.removed, item)
        gone = place < len(self.removed) and self.removed[place] == item
        return 0 <= item < len(self.executor.source) and not gone

    def take(self, items: Ints) -> Array:
        """(len(items), d) features, of labelled candidates too."""
        return self.executor.source.take(items)

    def without(self, item: int) -> Self:
        """The pool once this item has left it; the shards are told with the next fold."""
        n = len(self.executor.source)
        if not 0 <= whole("item", item) < n:
            raise InvalidInput(f"The pool has items 0 to {n - 1}; got {item}.")
        if item not in self:
            raise AlreadyLabelled(
                f"Candidate {self.name(item)} has been labelled already; each can be tried once."
            )
        place = int(np.searchsorted(self.removed, item))
        return replace(self, removed=np.insert(self.removed, place, item))

    def name(self, item: int) -> str:
        """The user's name of an item, or its number."""
        return str(item) if self.ids is None else self.ids[item]

    def fold(self, reduction: Reduction[R]) -> R:
        """The reduction over all shards at once, merged in the order of their rows."""
        cuts = np.searchsorted(self.removed, self.executor.bounds)
        removed = [self.removed[low:high] for low, high in pairwise(cuts)]
        parts = self.executor.fold(reduction, removed)
        result = parts[0]
        for part in parts[1:]:
            result = reduction.merge(result, part)
        return result
