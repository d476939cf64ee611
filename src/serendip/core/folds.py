"""Every reduction over a pool: top values per draw, lowest score, hull, moments of the whole."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Optima, Scores, Tradeoff
from serendip.core.errors import SerendipError
from serendip.core.mixture import upper_hull
from serendip.core.protocols import BlockFn, Draws, Pool
from serendip.core.rng import priority

# Two scores this close are a tie: closer than rounding lets any two block sizes agree.
_TIE = 1e-9


def optima(pool: Pool, draws: Draws, count: int = 1) -> Optima:
    """The `count` largest values of each draw over the pool, and where they are.

    Exact whatever the precision of the pool: blocks are scanned as they are stored, and every value
    that could matter, given a rigorous bound on the rounding error, is recomputed in float64.
    Nothing of size n × M is kept.
    """
    count = min(count, len(pool))
    if count == 1:
        items, values = _located(pool.fold(_PeaksFold(draws)), draws)
        return Optima(items[:, None], values[:, None], draws.weights)
    leaders = _compact(pool.fold(_LeadersFold(draws, count)), count)
    return Optima(leaders.items, leaders.values, draws.weights)


_NOT_FINITE = (
    "A posterior draw took a value that is not finite. "
    "Rescale features or labels, whose sizes are too far apart to compute with."
)

# Rows scanned at once: with a few hundred draws their values stay in the cache.
_CHUNK = 1024


def _chunks(block: Block) -> Iterator[Block]:
    if len(block) <= _CHUNK:
        yield block
        return
    for start in range(0, len(block), _CHUNK):
        rows = slice(start, start + _CHUNK)
        yield Block(block.items[rows], block.x[rows])


def _reaching(approximate: Array, peaks: Array, floor: Array) -> tuple[Ints, Ints]:
    """Rows and draws of all values that reach the floor of their draw."""
    if approximate.dtype == np.float32:  # compared in its own precision, rounded down
        floor = np.nextafter(floor.astype(np.float32), np.float32(-np.inf))
    reached = np.flatnonzero(peaks >= floor)
    if 4 * len(reached) < approximate.shape[1]:
        hits = np.flatnonzero(approximate[:, reached] >= floor[reached])
    else:
        reached = np.arange(approximate.shape[1])
        hits = np.flatnonzero(approximate >= floor)
    row, column = np.divmod(hits, max(1, len(reached)))
    return row, reached[column]


def _refined(draws: Draws, x: Array, draw: Ints) -> Floats:
    exact = draws.refine(x, draw)
    if not np.all(np.isfinite(exact)):
        raise SerendipError(_NOT_FINITE)
    return exact


@dataclass(frozen=True, slots=True)
class _Suspects:
    """Candidates that may be where a draw peaks, as scanned; few per block."""

    draw: Ints
    item: Ints
    x: Array
    upper: Floats
    """A bound the exact value cannot pass."""


@dataclass(frozen=True, slots=True)
class _Peaks:
    """What the peak of each draw is known to reach, and who may be there."""

    lower: Floats
    suspects: tuple[_Suspects, ...] = ()


@dataclass(frozen=True, slots=True)
class _PeaksFold:
    draws: Draws

    def start(self) -> _Peaks:
        return _Peaks(np.full(len(self.draws.weights), -np.inf))

    def step(self, state: _Peaks, block: Block) -> _Peaks:
        slack = self.draws.slack(block)
        lower, suspects = state.lower, list(state.suspects)
        for chunk in _chunks(block):
            approximate = self.draws.values(chunk)
            peaks = approximate.max(axis=0)
            if not np.isfinite(peaks).all():
                raise SerendipError(_NOT_FINITE)
            lower = np.maximum(lower, peaks - slack)
            row, draw = _reaching(approximate, peaks, lower - slack)
            upper = approximate[row, draw] + slack[draw]
            suspects.append(_Suspects(draw, chunk.items[row], chunk.x[row], upper))
        return _Peaks(lower, tuple(suspects))

    def merge(self, left: _Peaks, right: _Peaks) -> _Peaks:
        return _Peaks(np.maximum(left.lower, right.lower), left.suspects + right.suspects)


def _located(peaks: _Peaks, draws: Draws) -> tuple[Ints, Floats]:
    """(M,) where each draw peaks and what it reaches there; of equal values the first item."""
    found = peaks.suspects
    draw = np.concatenate([part.draw for part in found])
    near = np.concatenate([part.upper for part in found]) >= peaks.lower[draw]
    draw = draw[near]
    item = np.concatenate([part.item for part in found])[near]
    exact = _refined(draws, np.concatenate([part.x for part in found])[near], draw)
    order = np.lexsort((item, -exact, draw))
    first = order[np.r_[True, np.diff(draw[order]) > 0]]
    return item[first], exact[first]


@dataclass(frozen=True, slots=True)
class _Leaders:
    """The best so far of each draw (sorted), and hits that wait to be sorted in."""

    items: Ints
    values: Floats
    waiting: tuple[tuple[Ints, Ints, Floats], ...] = ()

    @property
    def n_waiting(self) -> int:
        return sum(len(draw) for draw, _, _ in self.waiting)


@dataclass(frozen=True, slots=True)
class _LeadersFold:
    draws: Draws
    count: int

    def start(self) -> _Leaders:
        n_draws = len(self.draws.weights)
        return _Leaders(np.empty((n_draws, 0), dtype=np.int64), np.empty((n_draws, 0)))

    def step(self, state: _Leaders, block: Block) -> _Leaders:
        slack = self.draws.slack(block)
        for chunk in _chunks(block):
            approximate = self.draws.values(chunk)
            floor = self._floor(state, approximate, slack)
            row, draw = _reaching(approximate, approximate.max(axis=0), floor)
            hits = draw, chunk.items[row], _refined(self.draws, chunk.x[row], draw)
            grown = _Leaders(state.items, state.values, (*state.waiting, hits))
            full = state.items.shape[1] == self.count
            enough = self.count * len(self.draws.weights)
            state = grown if full and grown.n_waiting < enough else _compact(grown, self.count)
        return state

    def _floor(self, state: _Leaders, approximate: Floats, slack: Floats) -> Floats:
        """What a scanned value must reach to be looked at again."""
        if state.items.shape[1] == self.count:
            return np.asarray(state.values[:, -1] - slack)
        rows = len(approximate)
        if rows <= self.count:
            return np.full(approximate.shape[1], -np.inf)
        kth = np.partition(approximate, rows - self.count, axis=0)[rows - self.count]
        return np.asarray(kth - 2.0 * slack)

    def merge(self, left: _Leaders, right: _Leaders) -> _Leaders:
        left, right = _compact(left, self.count), _compact(right, self.count)
        items = np.concatenate([left.items, right.items], axis=1)
        values = np.concatenate([left.values, right.values], axis=1)
        return _sorted(items, values, self.count)


def _compact(leaders: _Leaders, count: int) -> _Leaders:
    """The waiting hits sorted in, and the best `count` of each draw kept."""
    if leaders.n_waiting == 0:
        return _Leaders(leaders.items, leaders.values)
    draw = np.concatenate([hit[0] for hit in leaders.waiting])
    item = np.concatenate([hit[1] for hit in leaders.waiting])
    value = np.concatenate([hit[2] for hit in leaders.waiting])
    order = np.argsort(draw, kind="stable")
    draw, item, value = draw[order], item[order], value[order]
    n_draws = len(leaders.items)
    sizes = np.bincount(draw, minlength=n_draws)
    place = np.arange(len(draw)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = int(sizes.max())
    items = np.full((n_draws, width), np.iinfo(np.int64).max)
    values = np.full((n_draws, width), -np.inf)
    items[draw, place], values[draw, place] = item, value
    items = np.concatenate([leaders.items, items], axis=1)
    values = np.concatenate([leaders.values, values], axis=1)
    return _sorted(items, values, count)


def _sorted(items: Ints, values: Floats, count: int) -> _Leaders:
    """Rows sorted by decreasing value, equal values by item, cut to `count` columns."""
    order = np.argsort(-values, axis=1, kind="stable")
    sorted_values = np.take_along_axis(values, order, axis=1)
    sorted_items = np.take_along_axis(items, order, axis=1)
    tied = np.any(
        (sorted_values[:, 1:] == sorted_values[:, :-1]) & np.isfinite(sorted_values[:, 1:])
    )
    if tied:
        by_item = np.lexsort((sorted_items, -sorted_values), axis=1)
        sorted_items = np.take_along_axis(sorted_items, by_item, axis=1)
    filled = int(np.isfinite(sorted_values).sum(axis=1).max(initial=0))
    keep = min(count, filled)
    return _Leaders(sorted_items[:, :keep], sorted_values[:, :keep])


def contenders(pool: Pool, best: Optima) -> Contenders:
    """The candidates among the k best of any draw, with their share and their expected excess."""
    depth = best.items.shape[1]
    items, place = np.unique(best.items, return_inverse=True)
    weights = np.repeat(best.weights, depth)
    excess = (best.values - best.values[:, -1:]).ravel()
    place = np.ravel(place)
    return Contenders(
        items=items,
        x=pool.take(items),
        share=np.asarray(np.bincount(place, weights), dtype=np.float64),
        excess=np.asarray(np.bincount(place, weights * excess), dtype=np.float64),
        # In one piece, as it arrives at other processes: sums round by how numbers lie in memory.
        thresholds=np.ascontiguousarray(best.values[:, -1]),
        weights=best.weights,
    )


@dataclass(frozen=True, slots=True)
class Lowest:
    """The winner of `lowest`, with the first of its keys."""

    item: int
    score: float


def lowest(pool: Pool, score: BlockFn[Scores], key: int) -> Lowest:
    """The candidate with the lowest score; what still ties goes by the hash of (key, item)."""
    items, keys = pool.fold(_LowestFold(score))
    for place in range(len(keys)):
        kept = _near_lowest(keys[place])
        items, keys = items[kept], tuple(key[kept] for key in keys)
    winner = int(np.argmin(priority(key, items)))
    return Lowest(int(items[winner]), float(keys[0][winner]))


_Ranked = tuple[Ints, tuple[Floats, ...]]


@dataclass(frozen=True, slots=True)
class _LowestFold:
    """Keeps every candidate that ties on the first key."""

    score: BlockFn[Scores]

    def start(self) -> _Ranked:
        return np.empty(0, dtype=np.int64), ()

    def step(self, state: _Ranked, block: Block) -> _Ranked:
        keys = self.score(block).keys
        if any(np.isnan(key).any() for key in keys):
            raise SerendipError(
                "A score came out as not-a-number. Rescale features or labels, "
                "whose sizes are too far apart to compute with."
            )
        kept = _near_lowest(keys[0])
        return self.merge(state, (block.items[kept], tuple(key[kept] for key in keys)))

    def merge(self, left: _Ranked, right: _Ranked) -> _Ranked:
        if len(left[0]) == 0 or len(right[0]) == 0:
            return left if len(right[0]) == 0 else right
        items = np.concatenate([left[0], right[0]])
        keys = tuple(np.concatenate(pair) for pair in zip(left[1], right[1], strict=True))
        kept = _near_lowest(keys[0])
        return items[kept], tuple(key[kept] for key in keys)


def _near_lowest(key: Floats) -> Ints:
    low = key.min()
    room = _TIE * abs(low) + 1e-12 if np.isfinite(low) else 0.0
    return np.flatnonzero(key <= low + room)


def frontier(pool: Pool, tradeoff: BlockFn[Tradeoff]) -> tuple[Ints, Tradeoff]:
    """The candidates on the upper-left hull of (Δ, g), by increasing regret.

    Each block keeps only its own hull; the hull of hulls is the hull of the pool.
    """
    return pool.fold(_FrontierFold(tradeoff))


_Front = tuple[Ints, Tradeoff]


@dataclass(frozen=True, slots=True)
class _FrontierFold:
    tradeoff: BlockFn[Tradeoff]

    def start(self) -> _Front:
        empty = np.empty(0)
        return np.empty(0, dtype=np.int64), Tradeoff(empty, empty, empty)

    def step(self, state: _Front, block: Block) -> _Front:
        return self.merge(state, (block.items, self.tradeoff(block)))

    def merge(self, left: _Front, right: _Front) -> _Front:
        items = np.concatenate([left[0], right[0]])
        order = np.argsort(items, kind="stable")  # of equal points the lowest item is kept
        items = items[order]
        regret = np.concatenate([left[1].regret, right[1].regret])[order]
        gain = np.concatenate([left[1].gain, right[1].gain])[order]
        mean = np.concatenate([left[1].mean, right[1].mean])[order]
        if np.isnan(regret).any() or np.isnan(gain).any():
            raise SerendipError("An expected regret or a gain came out as not-a-number.")
        kept = upper_hull(regret, gain)
        return items[kept], Tradeoff(regret[kept], gain[kept], mean[kept])


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
