"""The k largest values of each draw over a pool, and where they are: exact, and no n × M array.

A pool is scanned in the precision it is stored in. Every value that could still be among the k
largest of its draw, given a rigorous bound on the rounding error, is noted as a pair of draw and
item; the pairs left at the end are computed again in float64. Few values get that far: of each
chunk only the maxima of 32 rows are compared with what a draw has already reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.bounds.ellipsoid import Belief, Ellipsoid
from serendip.core.bounds.screening import Sight, SupportsReach
from serendip.core.data import Block, Leading, Optima
from serendip.core.errors import SerendipError
from serendip.core.protocols import Draws, Pool
from serendip.core.reductions.scanning import (
    chunks,
    group_maxima,
    reaching,
    rounded_down,
    scan_of,
    shortened,
)
from serendip.core.threads import n_threads, one_blas_thread, spread

NOT_FINITE = (
    "A posterior draw took a value that is not finite. "
    "Rescale features or labels, whose sizes are too far apart to compute with."
)
"""Said of draws that overflow."""

_FEW = 16
"""Draws that are scanned as fast as means and widths are brought up to date."""

_DRAWS = 256
"""Draws whose pairs are ranked at once."""

_NOTED = 2**14
"""Pairs whose bounds are computed at once."""

_REFINED = 2048
"""Pairs computed again in float64 at once."""

_SOME = 256
"""Of these, so many are worth a thread of their own."""


def optima(pool: Pool, draws: Draws, count: int = 1) -> Optima:
    """The `count` largest values of each draw over the pool, and where they are.

    Exact whatever the precision of the pool; equal values go by item.
    """
    count = min(count, len(pool))
    found = pool.fold(LeadersFold(draws, count)).compact(count).pairs
    items, values = _ranked(found, _exact_values(pool, draws, found), len(draws.weights), count)
    return Optima(items, values, draws.weights)


def leading(pool: Pool, draws: Draws, count: int) -> Leading:
    """Who is among the `count` best of each draw, and the value of the last of them.

    As `optima` has it; but of the values only those are computed in float64 that may be the last,
    or may tie with it.
    """
    count, n_draws = min(count, len(pool)), len(draws.weights)
    pairs = pool.fold(LeadersFold(draws, count)).compact(count).pairs
    above = pairs.lower > _kth(pairs.draw, pairs.upper, n_draws, count)[pairs.draw]
    sure, rest = np.flatnonzero(above), np.flatnonzero(~above)
    doubtful = _picked(pairs, rest)
    exact = _exact_values(pool, draws, doubtful)
    order = np.lexsort((doubtful.item, -exact, doubtful.draw))
    wanted = count - np.bincount(pairs.draw[sure], minlength=n_draws)
    place = _places(doubtful.draw[order])
    inside = order[place < wanted[doubtful.draw[order]]]
    last = np.flatnonzero(place == wanted[doubtful.draw[order]] - 1)
    members = np.concatenate([sure, rest[inside]])
    members = members[_by_draw(pairs.draw[members], n_draws)]
    items = pairs.item[members].astype(np.int64).reshape(n_draws, count)
    return Leading(items, exact[order[last]], draws.weights)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Values that may be among the k largest of their draw; in short types, being many."""

    draw: Array
    """int32"""
    item: Array
    """int32, or int64 where it must be"""
    lower: Array
    """What the exact value cannot fall below; float32 or float64."""
    upper: Array
    """What it cannot pass."""

    def __len__(self) -> int:
        return len(self.draw)

    def without_beaten(self, count: int) -> "Pairs":
        """Those that do not come after k others of their draw, where both are known exactly."""
        exact = np.flatnonzero(self.lower == self.upper)
        if len(exact) == 0:
            return self
        order = np.lexsort((self.item[exact], -self.lower[exact], self.draw[exact]))
        ranked = exact[order]
        beaten = ranked[_places(self.draw[ranked]) >= count]
        return _joined((self,), (np.delete(np.arange(len(self)), beaten),))


@dataclass(frozen=True, slots=True)
class Leaders:
    """What the k-th largest value of each draw is known to reach, and who may reach it."""

    floor: Floats
    """(M,)"""
    parts: tuple[Pairs, ...] = ()
    n_settled: int = 0
    """Pairs of the first part, which have been compared with one another."""
    n_waiting: int = 0
    """Pairs of the other parts."""

    @property
    def pairs(self) -> Pairs:
        """All pairs as one."""
        return _joined(self.parts)

    def compact(self, count: int) -> "Leaders":
        """The floor as high as the pairs show it to be, and the pairs that can still reach it."""
        floor = self.floor
        if count > 1 and self.parts:
            draw = np.concatenate([part.draw for part in self.parts])
            lower = np.concatenate([part.lower for part in self.parts])
            floor = np.maximum(floor, _kth(draw, lower, len(floor), count))
        reached = [part.upper >= floor[part.draw] for part in self.parts]
        pairs = _joined(self.parts, reached).without_beaten(count)
        return Leaders(floor, (pairs,), len(pairs))


@dataclass(frozen=True, slots=True)
class LeadersFold:
    """The `count` largest values of each draw, as pairs that may hold them."""

    draws: Draws
    count: int
    known: Floats | None = field(default=None, kw_only=True)
    """(M,) what the k-th largest value of each draw is already known to reach, if anything."""

    def start(self) -> Leaders:
        """No pair."""
        known = np.full(len(self.draws.weights), -np.inf) if self.known is None else self.known
        return Leaders(known)

    def step(self, state: Leaders, block: Block) -> Leaders:
        """The pairs of the block that may matter, added."""
        scan = scan_of(self.draws, block)
        for rows in chunks(len(block), len(state.floor)):
            found, slack = scan(rows)
            values = np.ascontiguousarray(found)
            tops = group_maxima(values)
            peaks = tops.max(axis=0)
            if (peaks < rounded_down(state.floor - slack, values.dtype)).all():
                continue  # which not-a-number never is
            if not (peaks < np.inf).all():
                raise SerendipError(NOT_FINITE)
            chunk = Block(block.items[rows], block.x[rows])
            state = self._noted(state, chunk, slack, values, tops)
        return state

    def _noted(
        self, state: Leaders, chunk: Block, slack: Floats, values: Array, tops: Array
    ) -> Leaders:
        floor = state.floor
        if self.count == 1:
            floor = np.maximum(floor, tops.max(axis=0) - slack)
        elif len(values) > self.count and not np.isfinite(floor).all():
            place = len(values) - self.count
            floor = np.maximum(floor, np.partition(values, place, axis=0)[place] - slack)
        row, draw = reaching(values, tops, rounded_down(floor - slack, values.dtype))
        lower, upper = _around(values[row, draw], draw, slack)
        enough = len(slack) * (self.count // 4 + 64)
        if state.n_settled > 4 * enough:  # a crowd of near-ties: tell them apart at once
            lower = upper = _refined(self.draws, chunk.x, row, draw)
        pairs = Pairs(draw.astype(np.int32), shortened(chunk.items[row]), lower, upper)
        waiting = state.n_waiting + len(pairs)
        grown = Leaders(floor, (*state.parts, pairs), state.n_settled, waiting)
        return grown.compact(self.count) if waiting > enough else grown

    def merge(self, left: Leaders, right: Leaders) -> Leaders:
        """The pairs of both."""
        floor = np.maximum(left.floor, right.floor)
        return Leaders(floor, left.parts + right.parts).compact(self.count)

    @property
    def belief(self) -> Belief | None:
        """The posterior of the draws, where it is one over linear functions."""
        return self.draws.belief if isinstance(self.draws, SupportsReach) else None

    def screen(self, around: Ellipsoid) -> "LeadersScreen | None":
        """Who may be among the k largest of any draw; a few draws are scanned as fast."""
        if len(self.draws.weights) < _FEW or not isinstance(self.draws, SupportsReach):
            return None
        return LeadersScreen(self.draws.reach(around), self.count)

    def given(self, state: Leaders) -> "LeadersFold":
        """Starting from the floor of this state."""
        return LeadersFold(self.draws, self.count, known=state.compact(self.count).floor)


@dataclass(frozen=True, slots=True)
class LeadersScreen:
    """f_i(x) ≤ mean + r_i · width."""

    radii: Floats
    """(M,) r"""
    count: int

    @property
    def n_needed(self) -> int:
        """Without k values there is no floor."""
        return self.count

    def promise(self, sight: Sight) -> Floats:
        """Two standard deviations up, where most peaks are."""
        return sight.mean + 2.0 * sight.width

    def kept(self, state: Leaders, sight: Sight, promise: Array) -> Array:
        """Whether mean + r_i · width reaches the floor of any draw i.

        What the mean must reach, min_i floor_i − r_i · width, is concave in the width: its chords
        lie below.
        """
        floor = state.floor
        if not np.isfinite(floor).all():
            return np.ones(len(sight.mean), dtype=bool)
        top = float(sight.width.max())
        knots = np.geomspace(max(float(sight.width.min()), 1e-3 * top), top, 17)
        needed = np.array([np.min(floor - self.radii * knot) for knot in knots.tolist()])
        kept = sight.mean >= needed[-1]
        near = np.flatnonzero(kept)
        kept[near] = sight.mean[near] >= np.interp(sight.width[near], knots, needed)
        return kept


def _around(value: Array, draw: Array, slack: Floats) -> tuple[Array, Array]:
    """What the exact values are at least, and at most; some at a time, for there may be many."""
    lower, upper = np.empty_like(value), np.empty_like(value)
    for start in range(0, len(value), _NOTED):
        part = slice(start, start + _NOTED)
        room = slack[draw[part]]
        lower[part] = rounded_down(value[part] - room, value.dtype)
        upper[part] = -rounded_down(-value[part] - room, value.dtype)
    return lower, upper


def _joined(parts: Sequence[Pairs], kept: Sequence[Array] | None = None) -> Pairs:
    """The parts as one, or some places of each."""
    if len(parts) == 0:
        none = np.empty(0, dtype=np.int32)
        return Pairs(none, none, np.empty(0), np.empty(0))
    if len(parts) == 1 and kept is None:
        return parts[0]
    some = [slice(None)] * len(parts) if kept is None else kept
    columns = (
        np.concatenate([getattr(part, name)[at] for part, at in zip(parts, some, strict=True)])
        for name in ("draw", "item", "lower", "upper")
    )
    return Pairs(*columns)


def _picked(pairs: Pairs, places: Ints) -> Pairs:
    return _joined((pairs,), (places,))


def _places(sorted_draws: Array) -> Array:
    """(h,) int32: the place of each entry within its run of equal ones, from 0."""
    firsts = np.flatnonzero(np.r_[True, sorted_draws[1:] != sorted_draws[:-1]]).astype(np.int32)
    sizes = np.diff(np.r_[firsts, np.int32(len(sorted_draws))])
    return np.arange(len(sorted_draws), dtype=np.int32) - np.repeat(firsts, sizes)


def _by_draw(draw: Array, n_draws: int) -> Ints:
    """The order by draw, stable; short numbers are sorted by radix."""
    short = draw.astype(np.uint16) if n_draws <= 2**16 else draw
    return np.argsort(short, kind="stable")


def _kth(draw: Array, bound: Array, n_draws: int, count: int) -> Floats:
    """(M,) the k-th largest bound of each draw; −∞ where there are fewer."""
    found = np.full(n_draws, -np.inf)
    for first in range(0, n_draws, _DRAWS):  # some at a time: there are many pairs
        inside = np.flatnonzero((draw >= first) & (draw < first + _DRAWS))
        own = draw[inside] - first
        order = _by_draw(own, _DRAWS)
        own = own[order]
        places = _places(own)
        width = int(places.max(initial=-1)) + 1
        if width >= count:
            table = np.full((min(_DRAWS, n_draws - first), width), -np.inf, dtype=bound.dtype)
            table[own, places] = bound[inside[order]]
            table.partition(width - count, axis=1)
            found[first : first + _DRAWS] = table[:, width - count]
    return found


def _refined(draws: Draws, x: Array, row: Ints, draw: Array) -> Floats:
    """(h,) exact values of the draws at these rows of x."""
    found = np.empty(len(row))
    for start in range(0, len(row), _REFINED):
        part = slice(start, start + _REFINED)
        found[part] = draws.refine(x[row[part]], draw[part].astype(np.int64))
    if not np.isfinite(found).all():
        raise SerendipError(NOT_FINITE)
    return found


def _exact_values(pool: Pool, draws: Draws, pairs: Pairs) -> Floats:
    """(h,) exact values of pairs; few rows of the pool are held at once."""
    found = np.asarray(pairs.lower, dtype=np.float64).copy()
    rough = np.flatnonzero(pairs.lower != pairs.upper)
    order = rough[np.argsort(pairs.item[rough], kind="stable")]

    def exact(places: Ints) -> Floats:
        items = pairs.item[places].astype(np.int64)  # increasing
        fresh = np.r_[True, items[1:] != items[:-1]]
        row = np.cumsum(fresh) - 1
        return _refined(draws, pool.take(items[fresh]), row, pairs.draw[places])

    n_parts = max(-(-len(order) // _REFINED), min(n_threads(), len(order) // _SOME))
    parts = np.array_split(order, n_parts) if n_parts else []
    with one_blas_thread():
        for places, values in zip(parts, spread(exact, parts), strict=True):
            found[places] = values
    return found


def _ranked(pairs: Pairs, exact: Floats, n_draws: int, count: int) -> tuple[Ints, Floats]:
    """(M, k) items and values of the k largest of each draw; equal values go by item."""
    order = np.lexsort((pairs.item, -exact, pairs.draw))
    order = order[_places(pairs.draw[order]) < count]
    items = pairs.item[order].astype(np.int64)
    return items.reshape(n_draws, count), exact[order].reshape(n_draws, count)
