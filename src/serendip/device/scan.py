"""The k largest values of each draw over a slab: `core/leaders.py` on a device.

The maximum of each block and draw is bounded from both sides. The k-th largest lower bound of a
draw is a floor of its k-th largest value; blocks whose upper bound does not reach it are done
with. In the few others every value that may reach the floor is noted, as a pair of draw and item.
"""

from typing import Any

import numpy as np

from serendip.core.arrays import Array, Floats
from serendip.core.leaders import Pairs
from serendip.core.scanning import shortened
from serendip.device.halved import Halved
from serendip.device.rows import Slab
from serendip.device.torch import Tensor, torch_module

_BOUNDS = 2**26
"""Bounds of blocks held at once."""

_LOCATED = 2**25
"""Values of blocks held at once."""

_GROUPS = 4
"""Times k: how many groups of blocks show the k-th largest value well enough."""


def reaching_pairs(
    slab: Slab, functions: Halved, floor: Floats, count: int, kernels: Any
) -> tuple[Floats, Pairs]:
    """The floor (M,) with this slab seen, and the pairs of the slab that may reach it."""
    n_draws = len(floor)
    unit = slab.scale * functions.unit
    reach = _Reach(slab, _scaled_down(floor * unit, slab.half.device), count)
    step = max(1, _BOUNDS // len(functions.theta))
    found = [
        reach.reaching(functions, slice(start, start + step), n_draws, kernels)
        for start in range(0, len(slab.residual), step)
    ]
    bar = reach.bar
    parts = [
        _located(slab, functions, block, draw, bar, kernels)
        for block, draw, upper in found
        for block, draw in _pieces(block, draw, upper >= bar[draw], slab.block_rows)
    ]
    draw, item, value, slack = (np.concatenate(column) for column in zip(*parts, strict=True))
    lower = (value - slack) / unit[draw]
    upper = (value + slack) / unit[draw]
    pairs = Pairs(draw.astype(np.int32), shortened(item), lower, upper)
    seen = bar.double().cpu().numpy() / unit
    return np.maximum(floor, seen), pairs


class _Reach:
    """The floor of each draw, in the units of a slab, as more and more blocks are seen."""

    def __init__(self, slab: Slab, bar: Tensor, count: int) -> None:
        self.slab = slab
        self.bar = bar
        self.count = count
        self.best: Tensor = None

    def reaching(
        self, functions: Halved, blocks: slice, n_draws: int, kernels: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Blocks and draws whose upper bound reaches the floor, and that bound."""
        torch = torch_module()
        slab, first = self.slab, blocks.start
        residual, norm = slab.residual[blocks], slab.norm[blocks]
        rows = slab.half[first * slab.block_rows :][: len(residual) * slab.block_rows]
        lower, upper = kernels.block_bounds(
            rows, functions.theta, residual, norm, functions.size, functions.miss, slab.block_rows
        )
        lower, upper = lower[:, :n_draws], upper[:, :n_draws]
        if slab.gone.size:
            dead = slab.dead[blocks]
            lower[dead] = -torch.inf
            upper[dead] = -torch.inf
        self._raise_floor(lower)
        block, draw = torch.nonzero(upper >= self.bar, as_tuple=True)
        return block + first, draw, upper[block, draw]

    def _raise_floor(self, lower: Tensor) -> None:
        torch = torch_module()
        if self.count == 1:
            self.bar = torch.maximum(self.bar, lower.amax(0))
            return
        together = max(1, len(lower) // (_GROUPS * self.count))
        whole = len(lower) // together * together
        tops = lower[:whole].reshape(-1, together, lower.shape[1]).amax(1)
        seen = tops if self.best is None else torch.cat([self.best, tops])
        self.best = seen.topk(min(self.count, len(seen)), dim=0).values
        if len(self.best) == self.count:
            self.bar = torch.maximum(self.bar, self.best[-1])


def _pieces(
    block: Tensor, draw: Tensor, kept: Tensor, block_rows: int
) -> list[tuple[Tensor, Tensor]]:
    """Those that still reach, as many at a time as values are held; one piece at least."""
    block, draw = block[kept], draw[kept]
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
    numbers = torch.stack([draw[pair], place]).cpu().numpy()
    sizes = torch.stack([values[pair, row], slack[pair]]).double().cpu().numpy()
    # Copies stand at the end of a slab and in place of those who have left.
    real = numbers[1] < slab.n_rows
    if slab.gone.size:
        real &= ~np.isin(numbers[1], slab.gone)
    return numbers[0][real], numbers[1][real] + slab.first, sizes[0][real], sizes[1][real]


def _scaled_down(floor: Floats, device: Any) -> Tensor:
    """In float32, rounded down."""
    torch = torch_module()
    with np.errstate(over="ignore"):
        short = np.nextafter(floor.astype(np.float32), np.float32(-np.inf))
    return torch.as_tensor(short, device=device)
