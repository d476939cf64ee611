"""The functions of `kernels.py` as fused kernels: a pool is read once, and little is written."""

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]

_TILE = 128
"""Rows multiplied at once."""

_DRAWS = 128
"""Draws, or columns, multiplied at once."""


@triton.jit
def _block_bounds(
    x, theta, residual, norm, size, miss, lower, upper, n_tiles, n_draws,
    D: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr, DRAWS: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0)
    block = (place // n_tiles).to(tl.int64)
    draws = (place % n_tiles) * DRAWS + tl.arange(0, DRAWS)
    columns = tl.arange(0, D)
    side = tl.load(theta + draws[None, :] * D + columns[:, None])
    rows = block * ROWS + tl.arange(0, TILE)
    source = x + rows[:, None] * D + columns[None, :]
    top = tl.full((TILE, DRAWS), float("-inf"), tl.float32)
    for _ in range(0, ROWS, TILE):
        top = tl.maximum(top, tl.dot(tl.load(source), side))
        source += TILE * D
    best = tl.max(top, 0)
    slack = tl.load(residual + block) * tl.load(size + draws)
    slack += tl.load(norm + block) * tl.load(miss + draws)
    where = block * n_draws + draws
    tl.store(lower + where, best - slack)
    tl.store(upper + where, best + slack)


def block_bounds(half, theta, residual, norm, size, miss, block_rows):
    """As in `kernels.py`; the number of draws must be a multiple of 128."""
    shape = (len(residual), len(theta))
    lower = torch.empty(shape, dtype=torch.float32, device=half.device)
    upper = torch.empty_like(lower)
    tile = min(_TILE, block_rows)
    n_tiles = shape[1] // _DRAWS
    _block_bounds[(shape[0] * n_tiles,)](
        half, theta, residual, norm, size, miss, lower, upper, n_tiles, shape[1],
        D=half.shape[1], ROWS=block_rows, TILE=tile, DRAWS=_DRAWS, num_warps=8, num_stages=3,
    )  # fmt: skip
    return lower, upper


@triton.jit
def _pair_values(
    x, theta, block, draw, found,
    D: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, D)
    side = tl.load(theta + tl.load(draw + pair) * D + columns).to(tl.float32)
    first = tl.load(block + pair) * ROWS
    for start in range(0, ROWS, TILE):
        rows = start + tl.arange(0, TILE)
        values = tl.load(x + (first + rows)[:, None] * D + columns[None, :]).to(tl.float32)
        tl.store(found + pair * ROWS + rows, tl.sum(values * side[None, :], 1))


def pair_values(half, theta, block, draw, block_rows):
    """As in `kernels.py`."""
    found = torch.empty((len(block), block_rows), dtype=torch.float32, device=half.device)
    if len(block):
        _pair_values[(len(block),)](
            half, theta, block, draw, found,
            D=half.shape[1], ROWS=block_rows, TILE=min(_TILE, block_rows), num_warps=4,
        )  # fmt: skip
    return found


@triton.jit
def _weighed(y, square, linear, columns):
    return tl.sum(y * (y * tl.load(square + columns)[None, :] + tl.load(linear + columns)), 1)


@triton.jit
def _forms(
    x, matrix, square, linear, found, n_rows,
    D: tl.constexpr, C: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    inside = rows < n_rows
    features = tl.arange(0, D)
    values = tl.load(x + rows[:, None] * D + features[None, :], mask=inside[:, None], other=0.0)
    first = tl.zeros((TILE,), tl.float32)
    second, third, fourth = first, first, first
    for start in range(0, C, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        y = tl.dot(values, tl.load(matrix + columns[None, :] * D + features[:, None]))
        first += _weighed(y, square, linear, columns)
        second += _weighed(y, square + C, linear + C, columns)
        third += _weighed(y, square + 2 * C, linear + 2 * C, columns)
        fourth += _weighed(y, square + 3 * C, linear + 3 * C, columns)
    tl.store(found + rows, first, mask=inside)
    tl.store(found + n_rows + rows, second, mask=inside)
    tl.store(found + 2 * n_rows + rows, third, mask=inside)
    tl.store(found + 3 * n_rows + rows, fourth, mask=inside)


def forms(half, matrix, square, linear):
    """As in `kernels.py`; there are four forms, and columns by a power of two from 16 on."""
    n_rows = len(half)
    found = torch.empty((4, n_rows), dtype=torch.float32, device=half.device)
    _forms[(triton.cdiv(n_rows, _TILE),)](
        half, matrix, square, linear, found, n_rows,
        D=half.shape[1], C=len(matrix), COLUMNS=min(len(matrix), 128), TILE=_TILE, num_warps=8,
    )  # fmt: skip
    return found
