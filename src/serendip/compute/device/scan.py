"""The k largest values of each draw over a slab: `core/reductions/leaders.py` on a device.

The maximum of each block and draw is bounded from both sides. The k-th largest lower bound of a
draw is a floor of its k-th largest value; blocks whose upper bound does not reach it are done
with. In the few others every value that may reach the floor is noted, as a pair of draw and item.
"""

from typing import Any

import numpy as np

from serendip.compute.device.halved import Halved
from serendip.compute.device.rows import Slab
from serendip.compute.device.torch import Tensor, torch_module
from serendip.core.arrays import Array, Floats
from serendip.core.reductions.leaders import Pairs
from serendip.core.reductions.scanning import shortened

_BOUNDS = 2**28
"""Maxima of blocks held at once."""

_LOCATED = 2**25
"""Values of blocks held at once."""

_GROUPS = 4
"""Times k: how many groups of blocks show the k-th largest value well enough."""


def reaching_pairs(
    slab: Slab, functions: Halved, floor: Floats, count: int, kernels: Any
) -> tuple[Floats, Pairs]:
    """The floor (M,) with this slab seen, and the pairs of the slab that may reach it."""
    unit = slab.scale * functions.unit
    reach = _Reach(slab, functions, _scaled_down(floor * unit, functions), count)
    step = max(1, _BOUNDS // len(functions.theta))
    found = [
        reach.through(slice(start, start + step), kernels)
        for start in range(0, len(slab.residual), step)
    ]
    bar = reach.bar
    parts = [
        _located(slab, functions, block, draw, bar, kernels)
        for all_blocks, all_draws in found
        for block, draw in _pieces(all_blocks, all_draws, slab.block_rows)
    ]
    draw, item, value, slack = (np.concatenate(column) for column in zip(*parts, strict=True))
    lower = (value - slack) / unit[draw]
    upper = (value + slack) / unit[draw]
    pairs = Pairs(draw.astype(np.int32), shortened(item), lower, upper)
    seen = bar[: len(unit)].double().cpu().numpy() / unit
    return np.maximum(floor, seen), pairs


class _Reach:
    """The floor of each draw, in the units of a slab, as more and more blocks are seen."""

    def __init__(self, slab: Slab, functions: Halved, bar: Tensor, count: int) -> None:
        self.slab = slab
        self.functions = functions
        self.bar = bar
        self.count = count
        self.best: Tensor = None

    def through(self, blocks: slice, kernels: Any) -> tuple[Tensor, Tensor]:
        """Blocks and draws whose maximum may reach the floor, which these blocks may raise."""
        torch = torch_module()
        slab, functions, first = self.slab, self.functions, blocks.start
        residual, norm = slab.residual[blocks], slab.norm[blocks]
        rows = slab.half[first * slab.block_rows :][: len(residual) * slab.block_rows]
        most = kernels.block_maxima(rows, functions.theta, slab.block_rows)
        dead = slab.dead_among(blocks)
        if dead is not None:
            most[dead] = -torch.inf
        self._raise_floor(most, residual, norm)
        block, draw = kernels.reaching(
            most, residual, norm, functions.size, functions.miss, self.bar
        )
        return block + first, draw

    def _raise_floor(self, most: Tensor, residual: Tensor, norm: Tensor) -> None:
        """By the k-th largest lower bound of groups of blocks, each by its least certain block."""
        torch = torch_module()
        together = max(1, min(64, len(most) // (_GROUPS * self.count)))
        whole = len(most) // together * together
        lost, length = (part[:whole].reshape(-1, together).amax(1) for part in (residual, norm))
        tops = most[:whole].reshape(-1, together, most.shape[1]).amax(1)
        tops -= torch.outer(lost, self.functions.size)
        tops -= torch.outer(length, self.functions.miss)
        if self.count == 1:
            self.bar = torch.maximum(self.bar, tops.amax(0))
            return
        seen = tops if self.best is None else torch.cat([self.best, tops])
        self.best = seen.topk(min(self.count, len(seen)), dim=0).values
        if len(self.best) == self.count:
            self.bar = torch.maximum(self.bar, self.best[-1])


def _pieces(block: Tensor, draw: Tensor, block_rows: int) -> list[tuple[Tensor, Tensor]]:
    """As many at a time as values are held; one piece at least."""
    step = max(1, _LOCATED // block_rows)
    return [
        (block[start : start + step], draw[start : start + step])
        for start in range(0, max(1, len(block)), step)
    ]


def _located(
    slab: Slab, functions: Halved, block: Tensor, draw: Tensor, bar: Tensor, kernels: Any
) -> tuple[Array, Array, Array, Array]:
    """Draw, item, value and error of all values of some blocks that may reach the floor."""
    torch = torch_module()
    values = kernels.pair_values(slab.half, functions.theta, block, draw, slab.block_rows)
    slack = slab.residual[block] * functions.size[draw] + slab.norm[block] * functions.miss[draw]
    pair, row = torch.nonzero(values >= (bar[draw] - slack)[:, None], as_tuple=True)
    place = block[pair] * slab.block_rows + row
    columns = (draw[pair], place, values[pair, row], slack[pair])
    found = torch.stack([column.double() for column in columns]).cpu().numpy()  # one message
    # Copies stand at the end of a slab and in place of those who have left.
    real = found[1] < slab.n_rows
    if slab.gone.size:
        real &= ~np.isin(found[1], slab.gone)
    found = found[:, real]
    return found[0].astype(np.int64), found[1].astype(np.int64) + slab.first, found[2], found[3]


def _scaled_down(floor: Floats, functions: Halved) -> Tensor:
    """In float32, rounded down; functions that only fill up the table reach nothing."""
    torch = torch_module()
    short = np.full(len(functions.theta), np.inf, dtype=np.float32)
    with np.errstate(over="ignore"):
        short[: len(floor)] = np.nextafter(floor.astype(np.float32), np.float32(-np.inf))
    return torch.as_tensor(short, device=functions.theta.device)
