"""A block in chunks that fit the cache, and the few values of a chunk that matter."""

from collections.abc import Iterator

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block

_VALUES = 2**18
"""Values computed at once: they stay in the cache."""

_MOST_ROWS = 2048

_GROUP = 32
"""Rows whose maximum is compared before they are."""


def chunks(block: Block, n_draws: int) -> Iterator[Block]:
    """The block, some rows at a time."""
    rows = min(_MOST_ROWS, max(8 * _GROUP, _VALUES // n_draws // _GROUP * _GROUP))
    if len(block) <= rows:
        yield block
        return
    for start in range(0, len(block), rows):
        part = slice(start, start + rows)
        yield Block(block.items[part], block.x[part])


def group_maxima(values: Array) -> Array:
    """(⌈b / 32⌉, M) the largest value of each draw in each group of 32 rows."""
    n_rows, n_draws = values.shape
    whole = n_rows // _GROUP * _GROUP
    tops = values[:whole].reshape(-1, _GROUP, n_draws).max(axis=1)
    if whole == n_rows:
        return tops
    return np.concatenate([tops, values[whole:].max(axis=0, keepdims=True)])


def rounded_down(floor: Floats, kind: np.dtype[np.floating]) -> Array:
    """The floor in the precision of values, to be compared with them."""
    if kind != np.float32:
        return floor
    return np.nextafter(floor.astype(np.float32), np.float32(-np.inf))


def shortened(items: Ints) -> Array:
    """In 32 bits where that is enough, for those who hold many."""
    return items.astype(np.int32) if items.max(initial=0) < 2**31 else items


def reaching(values: Array, tops: Array, floor: Array) -> tuple[Ints, Ints]:
    """Rows and draws of all values that reach the floor of their draw."""
    n_rows, n_draws = values.shape
    group, draw = np.divmod(np.flatnonzero(tops >= floor), n_draws)
    if 8 * len(group) > tops.size:
        row, draw = np.nonzero(values >= floor)
        return row, draw
    rows = group[:, None] * _GROUP + np.arange(_GROUP)
    seen = values.ravel()[np.minimum(rows, n_rows - 1) * n_draws + draw[:, None]]
    place, inside = np.nonzero((seen >= floor[draw][:, None]) & (rows < n_rows))
    return rows[place, inside], draw[place]
