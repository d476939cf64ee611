"""The functions of `kernels.py` as fused kernels: a pool is read once, and little is written."""

import torch
import triton
import triton.language as tl

_DRAWS = 128
"""Draws, or columns, multiplied at once."""

_CAPACITY = 2**22
"""Pairs that are noted before all bounds are looked at in another way."""


@triton.jit
def _block_maxima(
    x, theta, most, n_tiles, n_draws,
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
    tl.store(most + block * n_draws + draws, tl.max(top, 0))


def block_maxima(half, theta, block_rows):
    """As in `kernels.py`; the number of draws must be a multiple of 128."""
    n_blocks, n_draws = len(half) // block_rows, len(theta)
    most = torch.empty((n_blocks, n_draws), dtype=torch.float32, device=half.device)
    n_tiles = n_draws // _DRAWS
    # Of 99 ways to cut the work, measured on an H200, this was the fastest (docs/scale.md).
    _block_maxima[(n_blocks * n_tiles,)](
        half, theta, most, n_tiles, n_draws,
        D=half.shape[1], ROWS=block_rows, TILE=min(64, block_rows), DRAWS=_DRAWS,
        num_warps=4, num_stages=3,
    )  # fmt: skip
    return most


@triton.jit
def _reaching(
    most, residual, norm, size, miss, bar, found, counter, n_draws, n_blocks, capacity,
    BLOCKS: tl.constexpr, DRAWS: tl.constexpr,
):  # fmt: skip
    draws = tl.program_id(0) * DRAWS + tl.arange(0, DRAWS)
    blocks = tl.program_id(1).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)
    inside = blocks < n_blocks
    values = tl.load(
        most + blocks[:, None] * n_draws + draws[None, :],
        mask=inside[:, None], other=float("-inf"),
    )  # fmt: skip
    lost = tl.load(residual + blocks, mask=inside, other=0.0)
    length = tl.load(norm + blocks, mask=inside, other=0.0)
    slack = lost[:, None] * tl.load(size + draws)[None, :]
    slack += length[:, None] * tl.load(miss + draws)[None, :]
    kept = values + slack >= tl.load(bar + draws)[None, :]
    kept = kept & inside[:, None]
    if tl.sum(kept.to(tl.int32)) > 0:
        where = tl.atomic_add(counter + tl.zeros((BLOCKS, DRAWS), tl.int32), 1, mask=kept)
        kept = kept & (where < capacity)
        pair = blocks[:, None] * n_draws + draws[None, :]
        tl.store(found + where, pair, mask=kept)


def reaching(most, residual, norm, size, miss, bar):
    """As in `kernels.py`; in any order."""
    n_blocks, n_draws = most.shape
    found = torch.empty(_CAPACITY, dtype=torch.int64, device=most.device)
    counter = torch.zeros(1, dtype=torch.int32, device=most.device)
    _reaching[(n_draws // _DRAWS, triton.cdiv(n_blocks, 64))](
        most, residual, norm, size, miss, bar, found, counter, n_draws, n_blocks, _CAPACITY,
        BLOCKS=64, DRAWS=_DRAWS, num_warps=8,
    )  # fmt: skip
    count = int(counter)
    if count > _CAPACITY:
        slack = torch.outer(residual, size) + torch.outer(norm, miss)
        return torch.nonzero(most + slack >= bar, as_tuple=True)
    pairs = found[:count]
    return pairs // n_draws, pairs % n_draws


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
            D=half.shape[1], ROWS=block_rows, TILE=min(128, block_rows), num_warps=4,
        )  # fmt: skip
    return found


@triton.jit
def _weighed(y, square, linear, columns):
    return tl.sum(y * (y * tl.load(square + columns)[None, :] + tl.load(linear + columns)), 1)


@triton.jit
def _four_forms(
    x, matrix, square, linear, rows,
    D: tl.constexpr, C: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    features = tl.arange(0, D)
    values = tl.load(x + rows[:, None] * D + features[None, :])
    first = tl.zeros((TILE,), tl.float32)
    second, third, fourth = first, first, first
    for start in range(0, C, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        y = tl.dot(values, tl.load(matrix + columns[None, :] * D + features[:, None]))
        first += _weighed(y, square, linear, columns)
        second += _weighed(y, square + C, linear + C, columns)
        third += _weighed(y, square + 2 * C, linear + 2 * C, columns)
        fourth += _weighed(y, square + 3 * C, linear + 3 * C, columns)
    return first, second, third, fourth


@triton.jit
def _forms(
    x, matrix, square, linear, found, n_rows,
    D: tl.constexpr, C: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    first, second, third, fourth = _four_forms(x, matrix, square, linear, rows, D, C, COLUMNS, TILE)
    tl.store(found + rows, first)
    tl.store(found + n_rows + rows, second)
    tl.store(found + 2 * n_rows + rows, third)
    tl.store(found + 3 * n_rows + rows, fourth)


def forms(half, matrix, square, linear):
    """As in `kernels.py`; columns by a power of two from 16 on, rows in whole blocks."""
    n_rows, tile = len(half), _tile(len(half))
    found = torch.empty((4, n_rows), dtype=torch.float32, device=half.device)
    _forms[(n_rows // tile,)](
        half, matrix, square, linear, found, n_rows,
        D=half.shape[1], C=len(matrix), COLUMNS=min(len(matrix), 64), TILE=tile, num_warps=4,
    )  # fmt: skip
    return found


def _tile(n_rows):
    """Rows at once: a power of two, at most 128, that divides them; blocks are powers of two."""
    return min(128, n_rows & -n_rows)


@triton.jit
def _tail(level, deviation, room):
    """E[(deviation · (level + Z))₊] over a standard normal Z, lower or higher by some room."""
    density = tl.exp(-0.5 * level * level) * 0.3989422804014327
    chance = 0.5 + 0.5 * tl.math.erf(level * 0.7071067811865476)
    found = tl.maximum(density + level * chance + 0.2 * room, 0.0)
    return deviation * found * (1.0 + 100.0 * room)


@triton.jit
def _squared(value, unit, wide, flushed):
    """Bounds on a quadratic form whose root may be off by `wide`."""
    low = tl.sqrt(tl.maximum(value - flushed, 0.0)) * unit
    high = tl.sqrt(tl.maximum(value, 0.0) + flushed) * unit + wide
    low = tl.maximum(low - wide, 0.0)
    return tl.maximum(low * low - flushed, 0.0), high * high + flushed


@triton.jit
def _ratio_bounds(
    x, matrix, square, linear, residual, norm, room, low, high,
    power, floor, level, level_variance, noise, unit, most_room, settled, score_room, flushed,
    D: tl.constexpr, C: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr,
    ROWS: tl.constexpr, BUDGET: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0).to(tl.int64)
    rows = place * TILE + tl.arange(0, TILE)
    mean, joint, first, second = _four_forms(x, matrix, square, linear, rows, D, C, COLUMNS, TILE)
    block = place * TILE // ROWS
    lost, length = tl.load(residual + block), tl.load(norm + block)
    off = lost * tl.load(room) + length * tl.load(room + 1) + flushed
    mean = mean * unit
    wide = lost * tl.load(room + 4) + length * tl.load(room + 5) + flushed
    less, more = _squared(first, unit, wide, flushed)
    apart = most_room * tl.abs(level)
    nearest, farthest = level - mean - off - apart, level - mean + off + apart
    if BUDGET:
        joint = joint * unit
        shift = lost * tl.load(room + 2) + length * tl.load(room + 3) + flushed
        spare = most_room * (level_variance + more)
        small = tl.maximum(level_variance - 2.0 * (joint + shift) + less - spare, 1e-24)
        large = tl.maximum(level_variance - 2.0 * (joint - shift) + more + spare, 1e-24)
        small, large = tl.sqrt(small), tl.sqrt(large)
        far = nearest / small
        least = _tail(tl.maximum(far, -3.0), small, -most_room)
        least = tl.where(far > -3.0, least, 0.0)
        most = _tail(tl.maximum(farthest / large, -3.0), large, most_room)
        wide = lost * tl.load(room + 6) + length * tl.load(room + 7) + flushed
        top_less, top_more = _squared(second, unit, wide, flushed)
        gain_less = top_less / (more + noise)
        gain_more = top_more / (less + noise)
    else:
        least, most, gain_less, gain_more = nearest, farthest, less, more
    least = tl.maximum(least - settled, 0.0)
    below = power * tl.log(least + floor) - tl.log(gain_more)
    above = power * tl.log(tl.maximum(most, 0.0) + floor) - tl.log(gain_less)
    tl.store(low + rows, below - score_room - most_room * tl.abs(below))
    above = above + score_room + most_room * tl.abs(above)
    above = tl.where(above == above, above, float("inf"))
    tl.store(high + place, tl.min(above, 0))


def ratio_bounds(half, matrix, square, linear, residual, norm, room, block_rows, told):
    """The least that λ log(Δ + η) − log g of each row is, and the most for the best of a few rows.

    The same sums as in `scores.py`, which says what they mean, in one pass over the pool.
    """
    n_rows, tile = len(half), _tile(block_rows)
    low = torch.empty(n_rows, dtype=torch.float32, device=half.device)
    high = torch.empty(n_rows // tile, dtype=torch.float32, device=half.device)
    _ratio_bounds[(n_rows // tile,)](
        half, matrix, square, linear, residual, norm, room, low, high,
        told.power, told.floor, told.level, told.level_variance, told.noise_variance,
        told.unit, told.room, told.settled, told.score_room, told.flushed,
        D=half.shape[1], C=len(matrix), COLUMNS=min(len(matrix), 64), TILE=tile,
        ROWS=block_rows, BUDGET=told.budget, num_warps=4,
    )  # fmt: skip
    return low, high
