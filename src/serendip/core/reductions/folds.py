"""Every reduction over a pool: top values per draw, lowest score, hull, moments of the whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.bounds.ellipsoid import Ellipsoid
from serendip.core.bounds.screening import BoundFn, Sight, best_case
from serendip.core.data import Block, Contenders, Leading, Optima, Scores, Tradeoff, certain
from serendip.core.errors import SerendipError
from serendip.core.protocols import BlockFn, Draws, Pool
from serendip.core.reductions.leaders import leading as leading
from serendip.core.reductions.leaders import optima as optima
from serendip.core.reductions.mixture import log_ratio, near_hull, reaches, thinned_hull, upper_hull
from serendip.core.reductions.scanning import LONG, QuickFn, quick_of
from serendip.core.reductions.ties import TIE, first_of_lowest, near_lowest
from serendip.core.rng import priority

_FIRST = 16
"""Candidates of a block that are scored before the others, those that could be lowest."""

_HELD = 8192
"""Contenders whose features are held; those of more are read when they are needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Features of some items, read when they are asked for: as an array, or some rows at a time."""

    pool: Pool
    items: Ints

    def __len__(self) -> int:
        return len(self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """As of the array."""
        return len(self.items), int(self.pool.take(self.items[:1]).shape[1])

    def __getitem__(self, rows: slice | Ints) -> Array:
        return self.pool.take(self.items[rows])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.asarray(self.pool.take(self.items), dtype=dtype)

    def __reduce__(self) -> tuple[Callable[[Array], Array], tuple[Array]]:
        return np.asarray, (np.asarray(self),)  # travels as the array that it stands for


def contenders(pool: Pool, best: Leading | Optima) -> Contenders:
    """The candidates among the k best of any draw, with their share."""
    depth = best.items.shape[1]
    items, place = np.unique(best.items, return_inverse=True)
    weights = np.repeat(best.weights, depth)
    place = np.ravel(place)
    return Contenders(
        items=items,
        x=pool.take(items) if len(items) <= _HELD else Rows(pool, items),
        share=certain(np.asarray(np.bincount(place, weights), dtype=np.float64)),
        thresholds=best.thresholds,
        weights=best.weights,
    )


@runtime_checkable
class SupportsContended(Protocol):
    """Draws whose values are held, so that who contends is seen at once."""

    def contended(self, pool: Pool, count: int) -> Contenders:
        """As the function of this name."""
        ...


def contended(pool: Pool, draws: Draws, count: int) -> Contenders:
    """The candidates among the `count` best of any draw, with their share."""
    if isinstance(draws, SupportsContended):
        return draws.contended(pool, count)
    return contenders(pool, leading(pool, draws, count))


@dataclass(frozen=True, slots=True)
class Lowest:
    """The winner of `lowest`, with the first of its keys."""

    item: int
    score: float


def lowest(pool: Pool, score: BlockFn[Scores], key: int) -> Lowest:
    """The candidate with the lowest score; what still ties goes by the hash of (key, item)."""
    quick = quick_of(score) if len(pool) >= LONG else None
    items, keys = pool.fold(LowestFold(score, quick))
    winner = first_of_lowest(keys, priority(key, items))
    return Lowest(int(items[winner]), float(keys[0][winner]))


_Ranked = tuple[Ints, tuple[Floats, ...]]


@dataclass(frozen=True, slots=True)
class LowestFold:
    """Keeps every candidate that ties on the first key."""

    score: BlockFn[Scores]
    quick: QuickFn[Scores] | None = None
    """The lowest that the first key could be, found sooner than the score."""

    def start(self) -> _Ranked:
        return np.empty(0, dtype=np.int64), ()

    def step(self, state: _Ranked, block: Block) -> _Ranked:
        if self.quick is None or len(block) < LONG:
            return self._scored(state, block)
        left = np.ones(len(block), dtype=bool)

        def scored(floor: Floats, count: int) -> _Ranked:
            """With so many of those scored that are left, the likeliest: fewer may be lower."""
            places = np.flatnonzero(left)
            if len(places) > count:
                places = np.sort(places[np.argpartition(floor[places], count)[:count]])
            left[places] = False
            return self._scored(state, Block(block.items[places], block.x[places]))

        def matters(found: Scores) -> Array:
            nonlocal state
            floor = found.keys[0]
            if len(state[0]) == 0:
                state = scored(floor, _FIRST)
            return left & _unbeaten(floor, state)

        floor, count = self.quick(block, matters).keys[0], _FIRST
        while np.any(np.logical_and(left, _unbeaten(floor, state), out=left)):
            state, count = scored(floor, count), 8 * count
        return state

    def _scored(self, state: _Ranked, block: Block) -> _Ranked:
        keys = self.score(block).keys
        if any(np.isnan(key).any() for key in keys):
            raise SerendipError(
                "A score came out as not-a-number. Rescale features or labels, "
                "whose sizes are too far apart to compute with."
            )
        kept = near_lowest(keys[0])
        return self.merge(state, (block.items[kept], tuple(key[kept] for key in keys)))

    def merge(self, left: _Ranked, right: _Ranked) -> _Ranked:
        if len(left[0]) == 0 or len(right[0]) == 0:
            return left if len(right[0]) == 0 else right
        items = np.concatenate([left[0], right[0]])
        keys = tuple(np.concatenate(pair) for pair in zip(left[1], right[1], strict=True))
        kept = near_lowest(keys[0])
        return items[kept], tuple(key[kept] for key in keys)

    @property
    def belief(self) -> None:
        """Not known here."""
        return None

    def screen(self, around: Ellipsoid) -> "_LowestScreen | None":
        found = best_case(self.score, around)
        return None if found is None else _LowestScreen(found)

    def given(self, state: _Ranked) -> "LowestFold":
        return self


def _unbeaten(floor: Floats, state: _Ranked) -> Array:
    """(b,) whether a candidate whose first key is no lower than this may be lowest, or tie."""
    low = float(state[1][0].min()) if len(state[0]) else np.inf
    room = 2.0 * TIE * abs(low) + 1e-11 if np.isfinite(low) else 0.0
    return ~(floor > low + room)  # not-a-number may be


@dataclass(frozen=True, slots=True)
class _LowestScreen:
    floor: BoundFn[Scores]

    @property
    def n_needed(self) -> int:
        return 1

    def promise(self, sight: Sight) -> Floats:
        return -self.floor(sight).keys[0]

    def kept(self, state: _Ranked, sight: Sight, promise: Array) -> Array:
        low = state[1][0].min() if len(state[0]) else np.inf
        # The promise is the bound itself, but for rounding to float32.
        return -promise <= low + 1e-6 * abs(low) + 1e-12 if np.isfinite(low) else -promise <= low


def frontier(
    pool: Pool, tradeoff: BlockFn[Tradeoff], key: int = 0, floor: float = 0.0
) -> tuple[Ints, Tradeoff]:
    """The candidates on the upper-left hull of (Δ + η, g), or so near that rounding decides.

    They come by increasing regret. Each block keeps only its own; the hull of hulls is the hull of
    the pool. Of many that are alike the lowest hashes of (key, item) are kept.
    """
    return pool.fold(_FrontierFold(tradeoff, key, floor))


_Front = tuple[Ints, Tradeoff]


@dataclass(frozen=True, slots=True)
class _FrontierFold:
    tradeoff: BlockFn[Tradeoff]
    key: int
    floor: float

    def start(self) -> _Front:
        empty = np.empty(0)
        return np.empty(0, dtype=np.int64), Tradeoff(empty, empty, empty)

    def step(self, state: _Front, block: Block) -> _Front:
        return self.merge(state, (block.items, self.tradeoff(block)))

    def merge(self, left: _Front, right: _Front) -> _Front:
        items = np.concatenate([left[0], right[0]])
        regret = np.concatenate([left[1].regret, right[1].regret])
        gain = np.concatenate([left[1].gain, right[1].gain])
        mean = np.concatenate([left[1].mean, right[1].mean])
        if np.isnan(regret).any() or np.isnan(gain).any():
            raise SerendipError("An expected regret or a gain came out as not-a-number.")
        if len(items):
            near = near_hull(regret + self.floor, gain)
            rank = priority(self.key, items[near])
            kept = near[thinned_hull(regret[near] + self.floor, gain[near], rank)]
            items, regret, gain, mean = items[kept], regret[kept], gain[kept], mean[kept]
        return items, Tradeoff(regret, gain, mean)

    @property
    def belief(self) -> None:
        """Not known here."""
        return None

    def screen(self, around: Ellipsoid) -> "_FrontierScreen | None":
        found = best_case(self.tradeoff, around)
        return None if found is None else _FrontierScreen(found, self.floor)

    def given(self, state: _Front) -> "_FrontierFold":
        return self


@dataclass(frozen=True, slots=True)
class _FrontierScreen:
    best: BoundFn[Tradeoff]
    floor: float

    @property
    def n_needed(self) -> int:
        return 1

    def promise(self, sight: Sight) -> Floats:
        found = self.best(sight)
        return -log_ratio(found.regret + self.floor, found.gain, 2.0)

    def kept(self, state: _Front, sight: Sight, promise: Array) -> Array:
        """Whether a candidate may reach the hull so far, which is concave and rises."""
        if len(state[0]) == 0:
            return np.ones(len(sight.mean), dtype=bool)
        found, (_, front) = self.best(sight), state
        hull = upper_hull(front.regret, front.gain)
        return reaches(
            found.regret + self.floor, found.gain, front.regret[hull] + self.floor, front.gain[hull]
        )


def everything(pool: Pool) -> Block:
    """The whole remaining pool as one block: for small pools only."""
    return pool.fold(_EverythingFold())


@dataclass(frozen=True, slots=True)
class _EverythingFold:
    def start(self) -> Block:
        return Block(np.empty(0, dtype=np.int64), np.empty((0, 0)))

    def step(self, state: Block, block: Block) -> Block:
        return self.merge(state, block)

    def merge(self, left: Block, right: Block) -> Block:
        if len(left) == 0 or len(right) == 0:
            return left if len(right) == 0 else right
        items = np.concatenate([left.items, right.items])
        order = np.argsort(items)
        return Block(items[order], np.concatenate([left.x, right.x])[order])
