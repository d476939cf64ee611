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

from serendip.core.arrays import Array, Ints
from serendip.device.torch import Tensor, torch_module

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
    dead: Tensor
    """(blocks,) whether nobody of the block is left."""
    n_dead: int = 0
    gone: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Rows that copies stand for at present, counted from the first of the slab."""

    def follow(self, gone: Ints, take: Take) -> None:
        """The same slab once just these rows have left, and all others are there."""
        changed = np.setxor1d(gone, self.gone, assume_unique=True)
        for block in np.unique(changed // self.block_rows).tolist():
            start = block * self.block_rows
            places = np.arange(start, min(start + self.block_rows, self.n_rows))
            left = np.setdiff1d(places, gone, assume_unique=True)
            self.dead[block] = len(left) == 0
            if len(left):
                shown = np.resize(left, self.block_rows)
                shown[: len(places)] = np.where(np.isin(places, gone), left[0], places)
                self._place(block, block + 1, take(self.first + shown))
            self.n_dead = int(self.dead.sum())
        self.gone = gone

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
        dead=torch.zeros(n_blocks, dtype=torch.bool, device=device),
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
