"""A block in chunks that fit the cache, and the few values of a chunk that matter."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block
from serendip.core.protocols import BlockFn, Draws

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_VALUES = 2**18
"""Values computed at once: they stay in the cache."""

_MOST_ROWS = 2048

_GROUP = 32
"""Rows whose maximum is compared before they are."""


LONG = 1024
"""Rows of a block from which on the quick ways pay: of few, most are computed again anyway."""

ScanFn = Callable[[slice], tuple[Array, Floats]]
"""(b, M) values of some rows of a block, and (M,) how far each may be from `Draws.refine`."""


@runtime_checkable
class SupportsScan(Protocol):
    """Draws with values that are rougher than `values`, and found sooner."""

    def scan(self, block: Block) -> ScanFn:
        """What is needed of the block as a whole, computed once; then some rows at a time."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlainScan:
    """`values` and `slack` as they are."""

    draws: Draws
    block: Block
    slack: Floats

    def __call__(self, rows: slice) -> tuple[Array, Floats]:
        part = Block(self.block.items[rows], self.block.x[rows])
        return self.draws.values(part), self.slack


def plain_scan(draws: Draws, block: Block) -> PlainScan:
    """As any draws have it."""
    return PlainScan(draws, block, draws.slack(block))


def scan_of(draws: Draws, block: Block) -> ScanFn:
    """The quickest way to bound the values of a block."""
    if len(block) >= LONG and isinstance(draws, SupportsScan):
        return draws.scan(block)
    return plain_scan(draws, block)


class QuickFn(Protocol[T_co]):
    """The best that the candidates of a block could be, found sooner than what they are.

    Regrets and scores are no larger; gains and means no smaller.
    """

    def __call__(self, block: Block, matters: Callable[[T_co], Array]) -> T_co:
        """The bounds; `matters` says for whom, by bounds so far, closer ones would be of use."""
        ...


@runtime_checkable
class SupportsQuick(Protocol[T_co]):
    """A function of blocks, such as scores or a tradeoff, that can be bounded sooner than found."""

    def quick(self) -> "QuickFn[T_co] | None":
        """The bound, made ready for many blocks; None where there is none."""
        ...


def quick_of(function: BlockFn[T]) -> QuickFn[T] | None:
    """The best that candidates could be by a function, where that is found sooner."""
    return function.quick() if isinstance(function, SupportsQuick) else None


def chunks(n_rows: int, n_draws: int) -> Iterator[slice]:
    """The rows of a block, some at a time."""
    step = min(_MOST_ROWS, max(8 * _GROUP, _VALUES // n_draws // _GROUP * _GROUP))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


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
    group, draw = _places(tops >= floor)
    if 8 * len(group) > tops.size:
        return _places(values >= floor)
    rows = group[:, None] * _GROUP + np.arange(_GROUP)
    seen = values.ravel()[np.minimum(rows, n_rows - 1) * n_draws + draw[:, None]]
    place, inside = _places((seen >= floor[draw][:, None]) & (rows < n_rows))
    return rows[place, inside], draw[place]


def _places(mask: Array) -> tuple[Ints, Ints]:
    """As np.nonzero of two dimensions, several times faster."""
    places = np.flatnonzero(mask)
    if mask.size < 2**31:
        places = places.astype(np.int32)  # which divides faster
    rows = places // max(1, mask.shape[1])
    columns = places - rows * mask.shape[1]
    return rows.astype(np.int64), columns.astype(np.int64)
