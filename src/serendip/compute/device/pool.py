"""A pool whose rows lie on a device beside the ones they were made from.

Two reductions are where the time goes: the k largest values of each draw, and the lowest score.
For linear models both are narrowed down on the device and finished here, in float64, on the exact
features. All other reductions walk the pool as it is. So choices are those of the pool itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any, Self, TypeVar, cast

import numpy as np

from serendip.compute.device.halved import halved, table_rows
from serendip.compute.device.kernels import kernels_for
from serendip.compute.device.rows import Slab, new_slab, padded_width
from serendip.compute.device.scan import reaching_pairs
from serendip.compute.device.scores import asked, question, survivors
from serendip.compute.device.torch import found_device, torch_module
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block
from serendip.core.errors import SerendipError
from serendip.core.protocols import Reduction
from serendip.core.reductions.folds import LowestFold
from serendip.core.reductions.leaders import NOT_FINITE, Leaders, LeadersFold
from serendip.models.draws import LinearDraws
from serendip.pools.dense import DensePool
from serendip.pools.streamed import StreamedPool

R = TypeVar("R")

BLOCK_ROWS = 1024
"""Rows whose maxima are taken together."""

_SLAB_ROWS = 2**24
"""Rows that come and go together."""

_SPARE = 0.2
"""The share of a device's memory that is left to computing."""

_WALKED = 8192
"""Survivors scored at once."""


class DeviceMemory:
    """The rows of a pool on a device, and who of them has left.

    One is shared by all pools that follow from one another: before a scan it is brought in line
    with the pool that asks. Rows that find no room travel to the device whenever they are scanned.
    """

    def __init__(
        self,
        pool: DensePool | StreamedPool,
        device: str | None = None,
        *,
        block_rows: int = BLOCK_ROWS,
        slab_rows: int | None = None,
        room: int | None = None,
    ) -> None:
        """Fill the device.

        Args:
            pool: The candidates; who has left does not matter here.
            device: As PyTorch calls it; by default the GPU of this machine.
            block_rows: Rows whose maxima are taken together; a power of two.
            slab_rows: Rows that come and go together; by default all, if there is room.
            room: Bytes that rows may take; by default most of what is free.
        """
        self.device = device or found_device()
        self.block_rows = block_rows
        self.slab_rows = max(1, (slab_rows or _SLAB_ROWS) // block_rows) * block_rows
        self.take = pool.take
        self.n_rows = len(pool) + len(pool.removed)
        self.n_features = int(pool.take(np.empty(0, dtype=np.int64)).shape[1])
        self.width = padded_width(self.n_features)
        self.kernels = kernels_for(self.device, self.width)
        self.lock = Lock()
        self.slabs: list[Slab] = []
        room = self._free() if room is None else room
        if 2 * self.width * self.n_rows <= room and slab_rows is None:
            self.slab_rows = -(-self.n_rows // block_rows) * block_rows  # all in one piece
        self._fill(room)

    def _fill(self, room: int) -> None:
        torch = torch_module()
        each = 2 * self.width * self.slab_rows
        for first in range(0, self.n_rows, self.slab_rows):
            if (len(self.slabs) + 1) * each > room:
                return
            try:
                self.slabs.append(self._slab(first))
            except torch.OutOfMemoryError:
                return  # the rest travels

    def _slab(self, first: int) -> Slab:
        count = min(self.slab_rows, self.n_rows - first)
        return new_slab(first, count, self.block_rows, self.take, self.device)

    def _free(self) -> int:
        if not self.device.startswith("cuda"):
            return 2**62
        return int((1.0 - _SPARE) * torch_module().cuda.mem_get_info(self.device)[0])

    def seen_without(self, removed: Ints) -> Iterator[Slab]:
        """All slabs, one after another, just these items having left."""
        for place, first in enumerate(range(0, self.n_rows, self.slab_rows)):
            slab = self.slabs[place] if place < len(self.slabs) else self._slab(first)
            low, high = np.searchsorted(removed, (first, first + slab.n_rows))
            slab.follow(removed[low:high] - first, self.take)
            yield slab


@dataclass(frozen=True, slots=True, eq=False)
class DevicePool:
    """A pool with a device that knows its rows."""

    inner: DensePool | StreamedPool
    memory: DeviceMemory

    @classmethod
    def of(cls, pool: DensePool | StreamedPool, device: str | None = None, **how: Any) -> Self:
        """The pool once its rows are on a device; see `DeviceMemory`."""
        return cls(pool, DeviceMemory(pool, device, **how))

    def __len__(self) -> int:
        return len(self.inner)

    def __contains__(self, item: int) -> bool:
        return item in self.inner

    @property
    def removed(self) -> Ints:
        """Items that have been labelled, increasing."""
        return self.inner.removed

    def take(self, items: Ints) -> Array:
        """(len(items), d) exact features, of labelled candidates too."""
        return self.inner.take(items)

    def without(self, item: int) -> Self:
        """The pool once this item has left it."""
        return type(self)(self.inner.without(item), self.memory)

    def name(self, item: int) -> str:
        """The user's name of an item, or its number."""
        return self.inner.name(item)

    def fold(self, reduction: Reduction[R]) -> R:
        """The reduction over all candidates."""
        found: Any = None
        asked_for: Any = reduction
        try:
            if isinstance(asked_for, LeadersFold) and isinstance(asked_for.draws, LinearDraws):
                found = self._leaders(asked_for, asked_for.draws)
            elif isinstance(asked_for, LowestFold):
                found = self._lowest(asked_for)
        except torch_module().OutOfMemoryError:
            raise SerendipError(
                "The GPU is out of memory, and nothing was chosen. Use fewer draws, let no one "
                "else use the GPU, or use --engine threads, whose proposals are the same."
            ) from None
        return self.inner.fold(reduction) if found is None else cast(R, found)

    def _leaders(self, reduction: LeadersFold, draws: LinearDraws) -> Leaders:
        theta: Floats = draws.theta
        if not np.isfinite(theta).all():
            raise SerendipError(NOT_FINITE)
        state, memory = reduction.start(), self.memory
        functions = halved(theta, memory.width, table_rows(len(theta), 128), memory.device)
        with memory.lock:
            for slab in memory.seen_without(self.removed):
                floor, pairs = reaching_pairs(
                    slab, functions, state.floor, reduction.count, memory.kernels
                )
                state = Leaders(floor, (*state.parts, pairs))
        return state

    def _lowest(self, reduction: LowestFold) -> Any:
        what = question(reduction.score)
        if what is None or len(self) == 0:
            return None
        memory, best = self.memory, np.inf
        ask = asked(what, memory.width, memory.device)
        parts = []
        with memory.lock:
            for slab in memory.seen_without(self.removed):
                items, best = survivors(slab, ask, best, memory.kernels)
                parts.append(items)
        items = np.sort(np.concatenate(parts))
        if 2 * len(items) > len(self):
            return None
        state = reduction.start()
        for start in range(0, len(items), _WALKED):
            some = items[start : start + _WALKED]
            state = reduction.step(state, Block(some, self.take(some)))
        # A device does not know which gains are zero but for rounding: who it held for the best may
        # not be, and whom it left out for that may be.
        return state if len(state[0]) and state[1][0].min() <= best else None
