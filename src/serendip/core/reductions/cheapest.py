"""The least regrets of some candidates: few need to be computed where all can be bounded."""

import numpy as np

from serendip.core.arrays import Floats, Ints
from serendip.core.data import Block, Tradeoff
from serendip.core.protocols import BlockFn
from serendip.core.reductions.scanning import quick_of

_LONG = 512
"""Candidates from which on bounds pay."""
_ROUNDING = 1e-9
"""What bounds and regrets may be off by beside one another: far more than rounding takes."""


def least_regrets(tradeoff: BlockFn[Tradeoff], block: Block, count: int) -> Floats:
    """(count,) the least regrets of a block, increasing; of fewer candidates, all."""
    quick = quick_of(tradeoff) if len(block) >= max(_LONG, 4 * count) else None
    if quick is None:
        return np.sort(tradeoff(block).regret)[:count]
    floor = quick(block, lambda found: np.zeros(len(block), dtype=bool)).regret
    order = np.argsort(floor, kind="stable")
    found = tradeoff(_some(block, order[: 2 * count])).regret
    last = float(np.partition(found, count - 1)[count - 1])
    rest = order[2 * count :]
    rest = rest[~(floor[rest] > last + _ROUNDING * abs(last))]
    if len(rest):
        found = np.concatenate([found, tradeoff(_some(block, rest)).regret])
    return np.sort(found)[:count]


def _some(block: Block, places: Ints) -> Block:
    inside = np.sort(places)
    return Block(block.items[inside], block.x[inside])
