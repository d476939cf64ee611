"""The best distribution over candidates for the information ratio [ASD §3, Alg. 1].

The objective (Δᵀπ)^λ / gᵀπ depends on π only through the point (Δᵀπ, gᵀπ), rises in the first and
falls in the second coordinate. So its minimiser lies on the upper-left convex hull of the points
(Δ(x), g(x)): on a vertex or on an edge, that is, on at most two candidates.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from serendip.core.arrays import Floats, Ints


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


def two_point(regret: Floats, gain: Floats, power: float) -> TwoPoint:
    """The minimiser of (Δᵀπ)^λ / gᵀπ over all distributions π, for any λ > 0.

    With λ ≤ 1 no edge has an interior minimum, so the best single point is optimal. With λ > 1, on
    an edge g = a + bδ the minimum is interior iff a < 0, at δ* = −λa / (b(λ − 1)).
    """
    regret, gain = np.clip(regret, 0.0, None), np.clip(gain, 0.0, None)
    if regret.min() <= 0 or gain.max() <= 0:
        index = int(np.lexsort((-gain, regret))[0])
        score = -np.inf if regret[index] <= 0 else np.inf
        return TwoPoint(index, index, 0.0, score)
    single = log_ratio(regret, gain, power)
    index = int(np.lexsort((-gain, single))[0])
    best = TwoPoint(index, index, 0.0, float(single[index]))
    if power <= 1:
        return best
    hull = upper_hull(regret, gain)
    low, high = hull[:-1], hull[1:]
    width = regret[high] - regret[low]
    slope = (gain[high] - gain[low]) / width
    level = gain[low] - slope * regret[low]
    inside = level < 0
    if not inside.any():
        return best
    low, high, width = low[inside], high[inside], width[inside]
    optimum = -power * level[inside] / (slope[inside] * (power - 1))
    chance = np.clip((optimum - regret[low]) / width, 0.0, 1.0)
    mixed = log_ratio(
        regret[low] + chance * width, gain[low] + chance * (gain[high] - gain[low]), power
    )
    edge = int(np.argmin(mixed))
    if mixed[edge] < best.log_ratio:
        return TwoPoint(int(low[edge]), int(high[edge]), float(chance[edge]), float(mixed[edge]))
    return best
