"""A pool that leaves out candidates which cannot matter, with the same answers as without.

It keeps a mean and a width of every candidate (`sights.py`). Of a reduction that can be screened,
the most promising candidates are taken first; what they show excludes most others from their
bounds alone. Where too few are excluded for that to pay, all are walked as usual.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from threading import Event
from typing import Self, TypeVar

import numpy as np

from serendip.core.arrays import Array, Ints
from serendip.core.bounds.ellipsoid import Belief
from serendip.core.bounds.screening import Screen, Screenable, screenable
from serendip.core.data import Block
from serendip.core.progress import counting, unheard
from serendip.core.protocols import Pool, Reduction
from serendip.core.threads import n_threads, one_blas_thread, spread
from serendip.pools.dense import DensePool
from serendip.pools.screening.sights import Sights, fresh_sights, updated_sights
from serendip.pools.walking import LOOKING

R = TypeVar("R")

_WALKED = (DensePool,)
"""Pools whose rows are read in this process; others may be bounded where they are walked."""

_LEAST = 2**14
"""Candidates below which a plain walk is as fast."""

_SHARE = 0.5
"""The share of candidates that may be left over for it to pay."""

_PART = 2**16
"""Sights looked at at once."""

_BLOCK = 2048
"""Candidates handed over at once."""


class Memo:
    """The latest sights: what a pool remembers for speed. It changes no answer.

    Any sights give bounds that hold, so pools that follow from one another may share one memo. It
    stays behind when a pool travels to another process.
    """

    __slots__ = ("sights",)

    def __init__(self) -> None:
        self.sights: Sights | None = None

    def __reduce__(self) -> tuple[type["Memo"], tuple[()]]:
        return Memo, ()


@dataclass(frozen=True, slots=True, eq=False)
class BoundedPool:
    """A pool with means and widths beside it."""

    inner: Pool
    least: int = _LEAST
    """Pools with fewer candidates are walked as they are."""
    first: int = 2048
    """How many are looked at before anyone is left out."""
    gone: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Items that have left since, increasing."""
    memo: Memo = field(default_factory=Memo, repr=False)

    def __len__(self) -> int:
        return len(self.inner)

    def __contains__(self, item: int) -> bool:
        return item in self.inner

    def take(self, items: Ints) -> Array:
        """(len(items), d) features, of labelled candidates too."""
        return self.inner.take(items)

    def without(self, item: int) -> Self:
        """The pool once this item has left it."""
        gone = np.insert(self.gone, np.searchsorted(self.gone, item), item)
        return type(self)(self.inner.without(item), self.least, self.first, gone, self.memo)

    def fold(self, reduction: Reduction[R]) -> R:
        """The reduction over all candidates that may matter to it."""
        able = screenable(reduction) if len(self.inner) >= self.least else None
        if able is None:
            return self.inner.fold(reduction)
        with one_blas_thread():
            sights = self._sights(able.belief)
            screen = None if sights is None else able.screen(sights.around)
            if sights is None or screen is None:
                return self.inner.fold(reduction)
            first = max(self.first, 4 * screen.n_needed)
            return _screened(self.inner, able, screen, sights, sights.places(self.gone), first)

    def _sights(self, belief: Belief | None) -> Sights | None:
        """Sights of all candidates, as fresh as the belief, where there is one."""
        known = self.memo.sights
        if known is not None and not self._covered(known):
            known = None
        if belief is None or (known is not None and known.serves(belief)):
            return known
        found = None if known is None else updated_sights(self.inner, known, belief, self.gone)
        found = found or fresh_sights(self.inner, belief, self.gone)
        self.memo.sights = found
        return found

    def _covered(self, sights: Sights) -> bool:
        """Whether every candidate is there; a pool from before some left may have more."""
        return len(sights) - len(sights.places(self.gone)) == len(self.inner)


def _screened(
    pool: Pool,
    reduction: Screenable[R],
    screen: Screen[R],
    sights: Sights,
    gone: Ints,
    n_first: int,
) -> R:
    parts = [slice(start, start + _PART) for start in range(0, len(sights), _PART)]
    promise = np.empty(len(sights), dtype=np.float32)

    def promised(part: slice) -> None:
        promise[part] = screen.promise(sights.at(part))

    spread(promised, parts)
    promise[gone] = -np.inf
    first = _foremost(promise, n_first)
    state = _walked(pool, reduction, screen, sights, promise, first)
    kept = np.empty(len(sights), dtype=bool)

    def looked_at(part: slice) -> None:
        kept[part] = screen.kept(state, sights.at(part), promise[part])

    spread(looked_at, parts)
    kept[first] = False
    kept[gone] = False
    known = reduction.given(state)
    if np.count_nonzero(kept) > _SHARE * len(kept):
        del state, promise, kept  # not needed, and large
        return pool.fold(known)
    left = np.flatnonzero(kept)
    left = left[np.argsort(-promise[left], kind="stable")]
    with counting(LOOKING, len(left)) as tell:
        rest = _walked(pool, known, screen, sights, promise, left, tell)
    return reduction.merge(state, rest)


def _walked(
    pool: Pool,
    reduction: Reduction[R],
    screen: Screen[R],
    sights: Sights,
    promise: Array,
    places: Ints,
    tell: Callable[[int], None] = unheard,
) -> R:
    """The reduction over the candidates at these places, those that no longer matter left out."""
    halt = Event()

    def some(share: Ints) -> R:
        state = reduction.start()
        for start in range(0, len(share), _BLOCK):
            if halt.is_set():
                break  # nobody waits for the answer any more
            part = share[start : start + _BLOCK]
            tell(len(part))
            part = part[screen.kept(state, sights.at(part), promise[part])]
            if len(part):
                items = sights.items(np.sort(part))
                state = reduction.step(state, Block(items, pool.take(items)))
        return state

    workers = max(1, min(n_threads(), 2 * len(places) // _BLOCK))
    states = spread(some, [places[worker::workers] for worker in range(workers)], halt)
    return reduce(reduction.merge, states)


def bounded(pool: Pool) -> Pool:
    """The pool with bounds, where it is large and walked in this process; else the pool itself."""
    return BoundedPool(pool) if isinstance(pool, _WALKED) and len(pool) >= _LEAST else pool


def _foremost(promise: Array, count: int) -> Ints:
    """About `count` places of the largest promises, none of them −∞; fewer where fewer are."""
    step = max(1, len(promise) // (16 * count))
    some = promise[::step]
    place = max(0, len(some) - max(1, round(count / step)))
    bar = max(np.partition(some, place)[place], np.finfo(np.float32).min)
    return np.flatnonzero(promise >= bar)[: 2 * count]
