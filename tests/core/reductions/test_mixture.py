"""The two-point optimum against brute force over all pairs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from serendip.core.reductions.mixture import log_ratio, two_point, upper_hull

finite = st.one_of(st.just(0.0), st.floats(1e-6, 1e3), st.sampled_from([0.5, 1.0, 2.0]))
points = st.lists(st.tuples(finite, finite), min_size=1, max_size=9)
powers = st.sampled_from([0.5, 0.8, 1.0, 1.3, 2.0, 3.0, 5.0])


def brute_force(regret, gain, power):
    """The lowest log ratio over a fine grid of mixtures of every pair."""
    shares = np.concatenate([np.linspace(0, 1, 2001), np.geomspace(1e-18, 1, 4000)])
    best = np.inf
    for i in range(len(regret)):
        for j in range(len(regret)):
            mixed = (1 - shares) * regret[i] + shares * regret[j]
            told = (1 - shares) * gain[i] + shares * gain[j]
            best = min(best, log_ratio(mixed, told, power).min())
    return best


@settings(max_examples=400, deadline=None)
@given(points, powers)
@example([(0.0, 0.0)], 2.0)
@example([(1.0, 0.0)], 2.0)
@example([(1.0, 0.0), (2.0, 0.0)], 0.5)
@example([(0.0, 1.0), (0.0, 2.0), (1.0, 9.0)], 3.0)
@example([(1.0, 1.0)] * 4, 2.0)
@example([(1.0, 0.0), (1.1, 1.0)], 2.0)
def test_equals_brute_force(pairs, power):
    regret, gain = np.array(pairs).T
    found = two_point(regret, gain, power)
    expected = brute_force(regret, gain, power)
    if np.isinf(expected):
        assert found.log_ratio == expected
    else:
        assert found.log_ratio <= expected + 1e-9  # never worse than any mixture on the grid
        assert found.log_ratio >= expected - 1e-3 * power  # and really attained, up to the grid
    share = found.chance
    attained = log_ratio(
        np.array([(1 - share) * regret[found.first] + share * regret[found.second]]),
        np.array([(1 - share) * gain[found.first] + share * gain[found.second]]),
        power,
    )[0]
    assert attained == pytest.approx(found.log_ratio, abs=1e-9) or attained == found.log_ratio


def test_zero_regret_takes_the_larger_gain():
    found = two_point(np.array([0.0, 0.0, 1.0]), np.array([0.1, 0.3, 5.0]), 2.0)
    assert (found.first, found.chance) == (1, 0.0)


def test_nothing_to_learn_takes_the_least_regret():
    found = two_point(np.array([3.0, 1.0, 2.0]), np.zeros(3), 2.0)
    assert (found.first, found.second) == (1, 1)


def test_a_mixture_beats_every_single_point():
    # λ = 2 between (1, 0) and (2, 1): the optimum δ* = −λa / (b(λ−1)) = 2 is the second point;
    # with the gain of the second at Δ = 4 it lies half-way.
    found = two_point(np.array([1.0, 4.0]), np.array([0.0, 3.0]), 2.0)
    assert found.chance == pytest.approx(1 / 3)
    assert found.log_ratio == pytest.approx(np.log(4.0))


@settings(max_examples=200, deadline=None)
@given(st.lists(points, min_size=1, max_size=4), powers)
def test_hull_of_hulls_loses_nothing(blocks, power):
    regret, gain = np.array([pair for block in blocks for pair in block]).T
    kept = []
    start = 0
    for block in blocks:
        own = np.arange(start, start + len(block))
        kept.extend(own[upper_hull(regret[own], gain[own])])
        start += len(block)
    whole = two_point(regret, gain, power).log_ratio
    merged = two_point(regret[kept], gain[kept], power).log_ratio
    assert merged == pytest.approx(whole, abs=1e-9) or merged == whole


def exact_vertices(regret, gain):
    """Points that no line between two others, nor any single other, reaches; without rounding."""
    points = [(Fraction(x), Fraction(y)) for x, y in zip(regret, gain, strict=True)]
    kept = []
    for place, (x, y) in enumerate(points):
        beaten = any(
            (a <= x and b >= y) and ((a, b) != (x, y) or other < place)
            for other, (a, b) in enumerate(points)
            if other != place
        )
        under = any(
            a < x < c and (y - b) * (c - a) <= (d - b) * (x - a)
            for a, b in points
            for c, d in points
        )
        if not beaten and not under:
            kept.append(place)
    return sorted(kept, key=lambda place: points[place])


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 12), st.integers(-2, 2)), min_size=1, max_size=14),
    slope=st.floats(0.1, 3.0),
    width=st.floats(1e-3, 1e3),
    cut=st.integers(0, 14),
)
def test_points_on_a_line_are_told_apart_without_rounding(steps, slope, width, cut):
    regret = np.array([width * place / 7 for place, _ in steps])
    gain = np.array([slope * x for x in regret])
    gain += np.spacing(gain) * np.array([units for _, units in steps])
    whole = upper_hull(regret, gain).tolist()
    assert whole == exact_vertices(regret, gain)
    halves = [np.arange(len(steps))[:cut], np.arange(len(steps))[cut:]]
    kept = np.sort(np.concatenate([own[upper_hull(regret[own], gain[own])] for own in halves]))
    assert kept[upper_hull(regret[kept], gain[kept])].tolist() == whole
