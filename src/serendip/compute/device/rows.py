"""Rows of a pool in the memory of a device, in float16, with bounds on what that rounds away.

A slab holds consecutive rows, cut into blocks. Rows are multiplied by a power of two, so that the
largest entry of the slab fits well into float16. Of each block are known the largest norm of a
row, and the largest norm of what rounding took from one: by Cauchy–Schwarz they bound the error of
any linear function.

Candidates that have left must not be seen, and must not slow the scan down. In their place stands
a copy of another row of their block, which changes no maximum.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from serendip.compute.device.torch import Tensor, torch_module
from serendip.core.arrays import Array, Ints

_TOP = 14
"""Entries are below 2^14 once scaled; float16 ends at 2^16, and is finest far from its bottom."""

_UP = 1.0 + 1e-6
"""Rounds norms up to float32."""

Take = Callable[[Ints], Array]
"""Rows of the pool by number."""


def padded_width(n_features: int) -> int:
    """Columns on the device: a power of two that matrix units can take."""
    return max(16, 1 << (n_features - 1).bit_length())


@dataclass(slots=True)
class Slab:
    """Consecutive rows of a pool on a device."""

    first: int
    n_rows: int
    block_rows: int
    scale: float
    """A power of two."""
    half: Tensor
    """(blocks · block_rows, D) float16; the rest of the last block is copies."""
    residual: Tensor
    """(blocks,) float32: at least ‖scale · x − x̃‖ of every row."""
    norm: Tensor
    """(blocks,) float32: at least ‖x̃‖ of every row."""
    dead: Array
    """(blocks,) whether nobody of the block is left; in the memory of the host."""
    gone: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Rows that copies stand for at present, counted from the first of the slab."""

    def dead_among(self, blocks: slice) -> Tensor | None:
        """Which of some blocks nobody is left of; None for none, as is usual."""
        places = np.flatnonzero(self.dead[blocks])
        device = self.half.device
        return torch_module().as_tensor(places, device=device) if len(places) else None

    def follow(self, gone: Ints, take: Take) -> None:
        """The same slab once just these rows have left, and all others are there."""
        back = np.setdiff1d(self.gone, gone, assume_unique=True)
        for block in np.unique(back // self.block_rows).tolist():
            places = np.minimum(self._places(block), self.n_rows - 1)
            self._place(block, block + 1, take(self.first + places))
        changed = np.concatenate([back, np.setdiff1d(gone, self.gone, assume_unique=True)])
        for block in np.unique(changed // self.block_rows).tolist():
            self._hide(block, gone)
        self.gone = gone

    def _hide(self, block: int, gone: Ints) -> None:
        """Puts copies of a row that is left in place of those that are not.

        What rounding took from a block, and its norms, are bounds all the same.
        """
        places = self._places(block)
        away = (places >= self.n_rows) | np.isin(places, gone)
        self.dead[block] = away.all()
        if not self.dead[block]:
            device = self.half.device
            hidden = torch_module().as_tensor(places[away], device=device)
            self.half[hidden] = self.half[int(places[~away][0])].clone()

    def _places(self, block: int) -> Ints:
        """All rows of a block, the copies at the end of the slab too."""
        return np.arange(block * self.block_rows, (block + 1) * self.block_rows)

    def _place(self, first_block: int, last_block: int, rows: Array) -> None:
        """Rounds rows, which fill these blocks, and keeps what that took away."""
        torch = torch_module()
        exact = torch.as_tensor(np.ascontiguousarray(rows), device=self.half.device)
        exact = exact.to(torch.float64) * self.scale
        rounded = exact.to(torch.float16)
        shape = (last_block - first_block, self.block_rows)
        lost = (exact - rounded.to(torch.float64)).norm(dim=1).reshape(shape).amax(1)
        norm = rounded.to(torch.float64).norm(dim=1).reshape(shape).amax(1)
        within = slice(first_block * self.block_rows, last_block * self.block_rows)
        self.half[within, : rows.shape[1]] = rounded
        self.residual[first_block:last_block] = (lost * _UP).to(torch.float32)
        self.norm[first_block:last_block] = (norm * _UP).to(torch.float32)


def new_slab(first: int, n_rows: int, block_rows: int, take: Take, device: str) -> Slab:
    """Rows first to first + n_rows of a pool, all of them present."""
    torch = torch_module()
    n_blocks = -(-n_rows // block_rows)
    n_features = take(np.empty(0, dtype=np.int64)).shape[1]
    together = max(1, _NUMBERS // (block_rows * n_features))
    pieces = [slice(start, start + together) for start in range(0, n_blocks, together)]
    numbers = [_numbers(piece, n_rows, block_rows, n_blocks) for piece in pieces]
    rows = take(first + numbers[0])
    largest = float(np.abs(rows).max(initial=0.0))
    for some in numbers[1:]:
        largest = max(largest, float(np.abs(take(first + some)).max(initial=0.0)))
    width = padded_width(n_features)
    slab = Slab(
        first=first,
        n_rows=n_rows,
        block_rows=block_rows,
        scale=2.0 ** (_TOP - np.frexp(largest)[1]) if largest > 0 else 1.0,
        half=torch.zeros((n_blocks * block_rows, width), dtype=torch.float16, device=device),
        residual=torch.zeros(n_blocks, dtype=torch.float32, device=device),
        norm=torch.zeros(n_blocks, dtype=torch.float32, device=device),
        dead=np.zeros(n_blocks, dtype=bool),
    )
    for piece, some in zip(pieces, numbers, strict=True):
        if len(pieces) > 1:
            rows = take(first + some)
        slab._place(piece.start, min(piece.stop, n_blocks), rows)
    return slab


_NUMBERS = 2**25
"""Entries that travel at once."""


def _numbers(piece: slice, n_rows: int, block_rows: int, n_blocks: int) -> Ints:
    """The rows of some blocks; the last block is filled up with its last row."""
    stop = min(piece.stop, n_blocks) * block_rows
    return np.minimum(np.arange(piece.start * block_rows, stop), n_rows - 1)
