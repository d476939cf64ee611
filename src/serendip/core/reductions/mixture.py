"""The best distribution over candidates for the information ratio [ASD §3, Alg. 1].

The objective (Δᵀπ)^λ / gᵀπ depends on π only through the point (Δᵀπ, gᵀπ), rises in the first and
falls in the second coordinate. So its minimiser lies on the upper-left convex hull of the points
(Δ(x), g(x)): on a vertex or on an edge, that is, on at most two candidates.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.reductions.ties import TIE, first_of_lowest

_NEAR = 4.0 * TIE
"""Points this near the hull, beside their regret, are kept until it is complete."""

_ALIKE = 1e-12
"""Points that agree to this are alike."""


@dataclass(frozen=True, slots=True)
class TwoPoint:
    """Take `second` with probability `chance`, else `first`."""

    first: int
    second: int
    chance: float
    log_ratio: float
    """log of the information ratio reached; −∞ where a regret of zero is to be had."""


def log_ratio(regret: Floats, gain: Floats, power: float) -> Floats:
    """λ log Δ − log g, with 0^λ / g = 0 and Δ^λ / 0 = ∞ for Δ > 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = power * np.log(regret) - np.log(gain)
    return np.where(regret <= 0, -np.inf, np.where(gain <= 0, np.inf, ratio))


def upper_hull(regret: Floats, gain: Floats) -> Ints:
    """Indices of the vertices of the upper-left hull, by increasing regret.

    Exact: the hull of hulls is the hull, however the points were cut. Of equal points the first.
    """
    order = np.lexsort((-gain, regret))
    ranked = gain[order]
    best_before = np.maximum.accumulate(np.r_[-np.inf, ranked[:-1]])
    candidates = order[ranked > best_before]
    points = list(zip(regret[candidates].tolist(), gain[candidates].tolist(), strict=True))
    hull: list[int] = []
    for place, point in enumerate(points):
        while len(hull) >= 2 and not _above(points[hull[-1]], points[hull[-2]], point):
            hull.pop()
        hull.append(place)
    return candidates[np.array(hull, dtype=np.int64)]


_Point = tuple[float, float]


def _above(middle: _Point, left: _Point, right: _Point) -> bool:
    """Whether a point stands above the line through two others, decided without rounding."""
    here = (middle[1] - left[1]) * (right[0] - left[0])
    there = (middle[0] - left[0]) * (right[1] - left[1])
    # Thrice what rounding can do; what overflows is left to rounding.
    if not abs(here - there) <= 1e-15 * (abs(here) + abs(there)) + 1e-300:
        return here > there
    (x0, y0), (x1, y1), (x2, y2) = ((Fraction(x), Fraction(y)) for x, y in (left, middle, right))
    return (y1 - y0) * (x2 - x0) > (x1 - x0) * (y2 - y0)


def near_hull(regret: Floats, gain: Floats) -> Ints:
    """Indices of all points that stand on the hull but for rounding."""
    vertices = upper_hull(regret, gain)
    near = reaches(regret, gain, regret[vertices], gain[vertices])
    near[vertices] = True
    return np.flatnonzero(near)


def thinned_hull(regret: Floats, gain: Floats, rank: Ints) -> Ints:
    """Indices of what is to be kept of points near the hull, by increasing regret.

    Of points that agree to 1e-12 the one of lowest rank stands for all, beside the vertices
    themselves, so that copies of one candidate fill no memory; what is kept of parts holds what is
    to be kept of the whole.
    """
    ranked = np.argsort(rank)  # of equal points the lowest rank is the vertex
    kept = ranked[upper_hull(regret[ranked], gain[ranked])]
    if len(kept) < len(rank):
        tiny = np.finfo(np.float64).tiny
        parts = (np.maximum(part[ranked], tiny) for part in (regret, gain))
        cells = np.stack([np.rint(np.log(part) / _ALIKE) for part in parts], axis=1)
        kept = np.union1d(kept, ranked[np.unique(cells, axis=0, return_index=True)[1]])
    return kept[np.lexsort((rank[kept], -gain[kept], regret[kept]))]


def reaches(regret: Floats, gain: Floats, hull_regret: Floats, hull_gain: Floats) -> Array:
    """Whether points would rise above the hull with these vertices if they cost a little less.

    Where a point can have a part in the best mixture the hull rises at least as a line from zero
    does, λ being above 1: so a little less cost makes up for as little less gain.
    """
    return gain > np.interp(regret * (1.0 - _NEAR), hull_regret, hull_gain, left=-np.inf)


def two_point(regret: Floats, gain: Floats, power: float, rank: Ints | None = None) -> TwoPoint:
    """The minimiser of (Δᵀπ)^λ / gᵀπ over all distributions π, for any λ > 0.

    With λ ≤ 1 no edge has an interior minimum, so the best single point is optimal. With λ > 1, on
    an edge g = a + bδ the minimum is interior iff a < 0, at δ* = −λa / (b(λ − 1)).

    Points that tie are told apart by their rank, by default their order; and a mixture that is no
    better than a single point but for rounding gives way to it.
    """
    regret, gain = np.clip(regret, 0.0, None), np.clip(gain, 0.0, None)
    rank = np.arange(len(regret)) if rank is None else rank
    single = log_ratio(regret, gain, power)
    if regret.min() <= 0 or gain.max() <= 0:
        index = first_of_lowest((single, regret, -gain), rank)
        return TwoPoint(index, index, 0.0, float(single[index]))
    if power > 1:
        least, level, told = _best_edge(regret, gain, power)
        if least < single.min() - TIE * abs(least) - 1e-12:
            return _mixed(regret, gain, power, rank, level, told)
    index = first_of_lowest((single, -gain), rank)
    return TwoPoint(index, index, 0.0, float(single[index]))


def _best_edge(regret: Floats, gain: Floats, power: float) -> tuple[float, float, float]:
    """The lowest log ratio inside an edge of the hull, and where: (Δᵀπ, gᵀπ); ∞ where none is."""
    hull = upper_hull(regret, gain)
    low, high = hull[:-1], hull[1:]
    width = regret[high] - regret[low]
    slope = (gain[high] - gain[low]) / width
    level = gain[low] - slope * regret[low]
    inside = level < 0
    if not inside.any():
        return np.inf, np.inf, 0.0
    low, high, width = low[inside], high[inside], width[inside]
    optimum = -power * level[inside] / (slope[inside] * (power - 1))
    chance = np.clip((optimum - regret[low]) / width, 0.0, 1.0)
    mixed_regret = regret[low] + chance * width
    mixed_gain = gain[low] + chance * (gain[high] - gain[low])
    mixed = log_ratio(mixed_regret, mixed_gain, power)
    edge = int(np.argmin(mixed))
    return float(mixed[edge]), float(mixed_regret[edge]), float(mixed_gain[edge])


def _mixed(
    regret: Floats, gain: Floats, power: float, rank: Ints, level: float, told: float
) -> TwoPoint:
    """The mixture that reaches Δᵀπ = level and gᵀπ = told.

    All that may have a part in it lie on one line, λΔ / level − g / told = λ − 1, and no point
    below: the two ends of that line are mixed, whoever else rounding has put on it.
    """
    costs, tells = power * regret / level, gain / told
    line = np.flatnonzero(costs - tells - (power - 1.0) <= TIE * (costs + tells))
    along = regret[line]
    firsts = line[along <= along.min() * (1.0 + TIE)]
    seconds = line[along >= along.max() * (1.0 - TIE)]
    first, second = int(firsts[rank[firsts].argmin()]), int(seconds[rank[seconds].argmin()])
    width = regret[second] - regret[first]
    chance = float(np.clip((level - regret[first]) / width, 0.0, 1.0))
    reached = (1.0 - chance) * regret[first] + chance * regret[second]
    learnt = (1.0 - chance) * gain[first] + chance * gain[second]
    score = float(power * np.log(reached) - np.log(learnt))
    return TwoPoint(first, second, chance, score)
