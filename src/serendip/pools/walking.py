"""How every pool is walked: block by block, on threads, past the candidates that have left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from threading import Event
from typing import TypeVar

import numpy as np

from serendip.core.arguments import array, shown, whole
from serendip.core.arrays import Array, Ints
from serendip.core.data import Block
from serendip.core.errors import AlreadyLabelled, InvalidInput
from serendip.core.progress import counting
from serendip.core.protocols import Reduction
from serendip.core.threads import n_threads, one_blas_thread, spread

R = TypeVar("R")

MOST_ROWS = 8192
"""Rows a block has unless told, and at most."""

LOOKING = "looking through the pool"
"""What is reported of a walk."""

_FEW_ROWS = 2048
"""Rows that are worth a thread of their own."""

_BLOCK_BYTES = 16 << 20
"""What a block may take in float64; wide pools get fewer rows, so that threads stay small."""


def checked_removed(removed: object, n: int) -> Ints:
    """Items that have left, as an increasing array of different numbers below n."""
    items = array("removed", removed)
    if items.size == 0:
        return np.empty(0, dtype=np.int64)
    if items.ndim != 1 or items.dtype.kind not in "iu" or (np.diff(items) <= 0).any():
        raise InvalidInput(f"removed must be increasing item numbers; got {shown(removed)}.")
    if items[0] < 0 or items[-1] >= n:
        raise InvalidInput(f"removed must name items 0 to {n - 1}; got {items[0]} to {items[-1]}.")
    return np.asarray(items, dtype=np.int64)


def usual_rows(width: int) -> int:
    """Rows of a block of this many features."""
    return max(128, min(MOST_ROWS, _BLOCK_BYTES // (8 * max(1, width))))


@dataclass(frozen=True, slots=True, eq=False)
class Roll:
    """Who of n candidates is still there: all but a small set."""

    n: int
    removed: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Items that have left, increasing."""

    def __len__(self) -> int:
        return self.n - len(self.removed)

    def __contains__(self, item: int) -> bool:
        place = np.searchsorted(self.removed, item)
        gone = place < len(self.removed) and self.removed[place] == item
        return 0 <= item < self.n and not gone

    def without(self, item: int, name: Callable[[int], str]) -> Ints:
        """What is removed once this item has left, too; `name` is what to call an item."""
        if not 0 <= whole("item", item) < self.n:
            raise InvalidInput(f"The pool has items 0 to {self.n - 1}; got {item}.")
        if item not in self:
            raise AlreadyLabelled(
                f"Candidate {name(item)} has been labelled already; each can be tried once."
            )
        return np.insert(self.removed, int(np.searchsorted(self.removed, item)), item)

    def left(self, start: int, stop: int) -> tuple[Ints, Ints | None]:
        """The items left from start to stop, and where they stand among them; None for all."""
        first, last = np.searchsorted(self.removed, (start, stop))
        items = np.arange(start, stop)
        if last == first:
            return items, None
        kept = np.ones(stop - start, dtype=bool)
        kept[self.removed[first:last] - start] = False
        return items[kept], np.flatnonzero(kept)


def walk(
    read: Callable[[int, int], Array], roll: Roll, block_rows: int, reduction: Reduction[R]
) -> R:
    """The reduction over all blocks, on as many threads as there are cores.

    How the pool is cut changes the speed, never the answer.

    Args:
        read: The rows from start to stop, (stop − start, d), whoever has left.
        roll: Who is still there.
        block_rows: How many rows a block has at most.
        reduction: What is made of them.
    """
    block_rows, workers = _cut(roll.n, block_rows, n_threads())
    starts = range(0, roll.n, block_rows)
    with counting(LOOKING, roll.n) as tell:
        if workers <= 1:
            return _walk_some(read, roll, block_rows, reduction, tell, None, starts)
        halt = Event()
        some = partial(_walk_some, read, roll, block_rows, reduction, tell, halt)
        cuts = [len(starts) * worker // workers for worker in range(workers + 1)]
        shares = [starts[first:last] for first, last in pairwise(cuts)]
        # Each thread multiplies its own blocks: BLAS threads on top would only fight over cores.
        with one_blas_thread():
            parts = spread(some, shares, halt)
    result = parts[0]
    for part in parts[1:]:
        result = reduction.merge(result, part)
    return result


def _cut(n: int, most: int, threads: int) -> tuple[int, int]:
    """Rows of a block and threads, all with as many blocks as one another, nearly alike."""
    workers = max(1, min(threads, n // min(most, _FEW_ROWS)))
    blocks = workers * max(1, -(-n // (most * workers)))
    return max(1, -(-n // blocks)), workers


def _walk_some(
    read: Callable[[int, int], Array],
    roll: Roll,
    block_rows: int,
    reduction: Reduction[R],
    tell: Callable[[int], None],
    halt: Event | None,
    starts: Sequence[int],
) -> R:
    state = reduction.start()
    for start in starts:
        if halt is not None and halt.is_set():
            break  # nobody waits for the answer any more
        stop = min(start + block_rows, roll.n)
        items, kept = roll.left(start, stop)
        if len(items) > 0:
            x = read(start, stop)
            state = reduction.step(state, Block(items, x if kept is None else x[kept]))
        tell(stop - start)
    return state
