"""Mean and width of every candidate of a pool, kept from step to step.

One product of the pool with two vectors brings them up to date after a label: m = Xμ afresh, and
w² −= c (Xp)² with p = Bx, c = 1 / (σ² + xᵀBx). All rounding goes one way, so that both stay upper
bounds; when they have become loose they are made anew, which takes a product with a d × d matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.bounds.ellipsoid import Belief, Ellipsoid
from serendip.core.bounds.screening import Sight
from serendip.core.data import Block
from serendip.core.protocols import Pool

_EPS = float(np.finfo(np.float32).eps)

_FLUSHED = np.float32(1e-17)
"""What a width in float32 may lose where squares underflow; added, it is lost on no one."""

_ROWS = 2048
"""Rows multiplied by a matrix at once."""

_GROUP = 64
"""Candidates that share the bound of a norm."""

_LOOSE = 1.5
"""How much wider than needed, squared, bounds may be before they are made anew."""

_STALE, _APART = 1.4, 1.0
"""How much wider, and how far from the mean in widths, before they are brought up to date."""

_SHRUNK = 2.0**-8
"""What may be left of the trace of B before rounding in float32 shows."""


@dataclass(frozen=True, slots=True, eq=False)
class Sights:
    """What an ellipsoid sees of each candidate; arrays are float32 and stay as they are."""

    belief: Belief
    around: Ellipsoid
    labelled: Ints
    """Items whose labels the ellipsoid counts, of those that left the pool since it was bounded."""
    absent: Ints
    """Items that had left the pool when sights were first made, increasing; places skip them."""
    norms: Array
    """(⌈n / 64⌉,) at least ‖x‖ of each of 64 candidates"""
    mean: Array
    """(n,) at least xᵀμ"""
    width: Array
    """(n,) at least √(xᵀBx)"""

    def serves(self, belief: Belief) -> bool:
        """Whether bounds of this belief would hardly be tighter: a label or two change little."""
        if self.belief.covariance is belief.covariance:
            return True
        apart = float(self.around.radii(belief.mean[None])[0])
        return apart < _APART and self.around.mismatch(belief) < _STALE

    def at(self, places: slice | Array) -> Sight:
        """Some of them."""
        return Sight(self.mean[places].astype(np.float64), self.width[places].astype(np.float64))

    def norm(self, places: slice | Ints) -> Array:
        """At least ‖x‖ of the candidates there."""
        rows = np.arange(places.start, places.stop) if isinstance(places, slice) else places
        return self.norms[rows // _GROUP]

    def __len__(self) -> int:
        return len(self.mean)

    def items(self, places: Ints) -> Ints:
        """Who is at these places."""
        skipped = self.absent - np.arange(len(self.absent))
        return np.asarray(places + np.searchsorted(skipped, places, side="right"))

    def places(self, items: Ints) -> Ints:
        """Where those of these items are that are here."""
        below = np.searchsorted(self.absent, items)
        places = items - below
        here = places < len(self)
        if len(self.absent):
            here &= self.absent[np.minimum(below, len(self.absent) - 1)] != items
        return np.asarray(places[here])

    def span(self, items: Ints) -> slice | Ints:
        """Where these items are, who are all here; they increase."""
        first, last = self.places(items[[0, -1]]).tolist()
        return slice(first, last + 1) if last - first + 1 == len(items) else self.places(items)


def fresh_sights(pool: Pool, belief: Belief, gone: Ints) -> Sights | None:
    """Made from nothing; None where sizes are too far apart to compute with."""
    around = Ellipsoid.of(belief)
    if around is None:
        return None
    found: _Pieces = pool.fold(_FreshFold(around))
    order = sorted(found, key=lambda piece: int(piece[0][0]))
    absent = _absent(order)
    columns = list(zip(*order, strict=True))[1:]
    del found, order
    # One by one, so that few are held twice.
    mean, width, norm = (np.concatenate(columns.pop(0)) for _ in range(3))
    norms = np.maximum.reduceat(norm, np.arange(0, len(norm), _GROUP))
    return _checked(Sights(belief, around, gone, absent, norms, mean, width))


def _absent(pieces: Sequence[tuple[Array, ...]]) -> Ints:
    """Items between those of the pieces, each of which tells its first and last and who is not."""
    found, expected = [], 0
    for ends, *_ in pieces:
        found += [np.arange(expected, ends[0]), ends[2:]]
        expected = int(ends[1]) + 1
    return np.concatenate(found).astype(np.int64)


def updated_sights(pool: Pool, known: Sights, belief: Belief, gone: Ints) -> Sights | None:
    """Brought up to date with the items that left since; None where they are better made anew."""
    news = np.setdiff1d(gone, known.labelled)
    if 4 * len(news) > max(16, len(belief.mean)):
        return None
    found = known.around.labelled(pool.take(news))
    if found is None:
        return None
    around, pulls, shares = found
    around = around.moved(belief.mean)
    if np.trace(around.form) < _SHRUNK * around.size or around.mismatch(belief) > _LOOSE:
        return None
    mean, width = known.mean.copy(), known.width.copy()
    pool.fold(_UpdateFold(known, around, pulls, shares, mean, width))
    return _checked(Sights(belief, around, gone, known.absent, known.norms, mean, width))


def _checked(sights: Sights) -> Sights | None:
    return sights if np.isfinite(sights.mean.sum() + sights.width.sum()) else None


_Pieces = tuple[tuple[Array, ...], ...]


@dataclass(frozen=True, slots=True)
class _FreshFold:
    """Items with mean, width and norm."""

    around: Ellipsoid

    def start(self) -> _Pieces:
        return ()

    def step(self, state: _Pieces, block: Block) -> _Pieces:
        root, centre = self.around.root, self.around.centre
        side = np.column_stack([root, centre]).astype(_working_type(block.x))
        rounding = _rounding(len(centre))
        width, mean, norm = (np.empty(len(block), dtype=np.float32) for _ in range(3))
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(block), _ROWS):
                rows = slice(start, start + _ROWS)
                x = block.x[rows].astype(side.dtype, copy=False)
                norm[rows] = np.sqrt(np.einsum("bd,bd->b", x, x))
                seen = x @ side
                width[rows] = np.sqrt(np.einsum("bd,bd->b", seen[:, :-1], seen[:, :-1]))
                mean[rows] = seen[:, -1]
            norm = norm * np.float32(1.0 + rounding) + _FLUSHED
            mean += norm * np.float32(rounding * np.linalg.norm(centre)) + _FLUSHED
            rest = np.float32(rounding * np.linalg.norm(root) + (1 + _EPS) * self.around.blur)
            width = width * np.float32(1.0 + rounding) + norm * rest + _FLUSHED
        return (*state, (_ends(block.items), mean, width, norm))

    def merge(self, left: _Pieces, right: _Pieces) -> _Pieces:
        return left + right


@dataclass(frozen=True, slots=True)
class _UpdateFold:
    """Mean and width written in place: for pools that are walked in this process."""

    known: Sights
    around: Ellipsoid
    pulls: Floats
    """(d, q) p"""
    shares: Floats
    """(q,) c"""
    mean: Array
    """(n,) written to where candidates are; threads have different ones."""
    width: Array
    """(n,) likewise"""
    side: Floats = field(init=False, repr=False)
    """(d, q + 1) p and μ"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "side", np.column_stack([self.pulls, self.around.centre]))

    def start(self) -> None:
        return None

    def step(self, state: None, block: Block) -> None:
        places = self.known.span(block.items)
        norm, before = self.known.norm(places), self.known.width[places]
        rounding = _rounding(len(self.side)) * np.linalg.norm(self.side, axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            seen = (block.x @ self.side.astype(_working_type(block.x))).T.astype(np.float32)
            left = before * before * np.float32(1.0 + (8 + len(seen)) * _EPS)
            for moved, share, room in zip(seen, self.shares, rounding.tolist()[:-1], strict=False):
                moved = np.maximum(np.abs(moved) - norm * np.float32(room), np.float32(0.0))
                left -= moved * moved * np.float32(share * (1.0 - 16 * _EPS))
            width = np.sqrt(np.maximum(left, np.float32(0.0))) * np.float32(1.0 + 4 * _EPS)
            self.width[places] = width + _FLUSHED
            self.mean[places] = seen[-1] + norm * np.float32(rounding[-1]) + _FLUSHED

    def merge(self, left: None, right: None) -> None:
        return None


def _working_type(x: Array) -> np.dtype[np.floating]:
    return np.dtype(np.float32) if x.dtype == np.float32 else np.dtype(np.float64)


def _rounding(n_features: int) -> float:
    """Over ‖x‖‖y‖: how far xᵀy in float32, and sums with it, can be from the truth."""
    return (n_features + 12) * _EPS


def _ends(items: Ints) -> Ints:
    """The first and the last of increasing items, and whoever is missing between them."""
    first, last = int(items[0]), int(items[-1])
    if last - first + 1 == len(items):
        return np.array([first, last])
    missing = np.setdiff1d(np.arange(first, last + 1), items, assume_unique=True)
    return np.concatenate([[first, last], missing])
