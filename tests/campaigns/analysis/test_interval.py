"""How far an interval reaches, and what it depends on."""

from dataclasses import replace

import numpy as np
import pytest

from campaigns.analysis.test_view import small_view, view_of
from serendip.campaigns.analysis.forecast import forecast
from serendip.campaigns.analysis.interval import AT_RANDOM, INTERVAL
from serendip.campaigns.analysis.view import LabelMap
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.environments.table import table_world


def width(found):
    return found.high - found.low


def test_one_label_has_the_gaussian_interval_of_draws_and_scatter():
    half = INTERVAL.half(1.0, np.array([0.0, 25.0]))
    assert half == pytest.approx(1.2816 * np.array([0.0, 5.0]), rel=1e-4)
    assert INTERVAL.half(4.0, np.array([0.0, 25.0])) == pytest.approx(2.0 * half)


def test_what_the_model_misses_is_shared_by_all_that_is_to_come():
    once = INTERVAL.half(1.0, np.ones(52))
    assert once[0] == once[1]
    assert (np.diff(once[1:]) > 0).all()
    assert (once[51] / once[1]) ** 2 == pytest.approx(1.0 + 50.0 * INTERVAL.shared)
    at_random = AT_RANDOM.half(1.0, np.ones(52))
    assert (at_random == at_random[0]).all()


def test_held_out_errors_widen_it_and_narrow_it():
    assert INTERVAL.inflation(np.empty(0)) == 1.0
    assert INTERVAL.inflation(np.ones(10)) == 1.0
    assert INTERVAL.inflation(np.full(10, 0.25)) == pytest.approx(4.5 / 12.0)
    assert INTERVAL.inflation(np.full(10, 4.0)) == pytest.approx(42.0 / 12.0)
    assert INTERVAL.inflation(np.array([1e6])) == pytest.approx((2.0 + INTERVAL.worst) / 3.0)


def test_what_nobody_can_know_beforehand_does_not_widen_it():
    """Many candidates are in doubt, so the best under each draw is far above what can be found."""
    world = linear_world(2000, 40, 0.3, stream(3, "doubt"))
    view = view_of(world, LinearModel(40, 1.0, 0.3), list(range(20)), 40)
    found = forecast(view, stream(0, "f"))
    draws = view.posterior.sample(400, stream(1, "f"))
    mean, _ = view.posterior.moments()(view.block(np.arange(20, 2000)))
    best = view.block(20 + np.argsort(-mean)[:20])
    known = np.var(np.asarray(draws.values(best)).sum(axis=0)) + 20 * 0.3
    shared = 1.0 + 19 * INTERVAL.shared
    assert width(found) / 2.0 < 1.3 * 1.2816 * np.sqrt(known * shared)


def test_the_next_experiments_are_as_uncertain_whatever_the_budget():
    view = small_view(policy="random", pending=())
    more = replace(view, remaining=view.remaining + 9)
    one, other = (forecast(each, stream(0, "f")).path for each in (view, more))
    steps = len(one.low)
    assert (one.high - one.low) == pytest.approx((other.high - other.low)[:steps])


@pytest.mark.parametrize("minimize", [False, True])
def test_labels_of_a_range_cannot_take_back_what_was_found(minimize):
    """From 0 to 100, however little the model knows; whichever end is the better one."""
    labels = LabelMap(100.0, -100.0) if minimize else LabelMap(0.0, 100.0)
    world = linear_world(40, 4, 0.3, stream(7, "view"))
    values = (0.9 if minimize else 0.1) + 0.05 * np.sign(world.truth[:12])
    view = view_of(
        world, LinearModel(4, 1.0, 0.3), list(range(12)), 30, labels=labels, values=values
    )
    found = forecast(replace(view, bounds=(0.0, 100.0)), stream(0, "f"))
    steps = np.arange(len(found.path.low))
    assert (found.path.low >= found.total_so_far - 1e-9).all()
    assert (found.path.high <= found.total_so_far + 100.0 * steps + 1e-9).all()
    assert forecast(view, stream(0, "f")).path.low.min() < found.total_so_far


def test_no_draw_counts_for_more_than_a_range_allows():
    """One experiment is proposed, of a label from 0 to 1 that is believed to be 0.5 ± 0.35.

    A tenth of its variance counts as scatter, at least.
    """
    x, truth = np.ones((20, 1)), np.zeros(20)
    model, labels = LinearModel(1, 0.35**2, 1e-6), LabelMap(0.5, 1.0)
    view = view_of(table_world(x, truth), model, [], 1, labels=labels, pending=(3,))
    free = forecast(view, stream(0, "f")).path
    held = forecast(replace(view, bounds=(0.0, 1.0)), stream(0, "f")).path
    inside = np.clip(0.35 * stream(0, "many").standard_normal(100_000), -0.5, 0.5).std()
    for path, spread in ((free, 0.35), (held, inside)):
        assert path.expected[1] == pytest.approx(0.5, abs=0.01)
        half = 1.2816 * spread * np.sqrt(1.1)
        assert path.high[1] - path.expected[1] == pytest.approx(half, rel=0.05)
    assert inside < 0.9 * 0.35  # the one is no accident of the other
