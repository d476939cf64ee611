"""The Gaussian process that members make: closed forms against draws, and honest conduct."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import Rows, contenders, optima
from serendip.core.rng import stream
from serendip.models.draws import distinct, grouped_summary, sampled_tradeoff
from serendip.models.ensemble.forest import ForestModel
from serendip.pools.dense import DensePool


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def problem(seed, t=25, n=30):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((t + n, 3))
    y = np.tanh(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(t + n)
    return x[:t], y[:t], Block(np.arange(n), x[t:])


@pytest.fixture(name="posterior", scope="module")
def _posterior():
    x, y, _ = problem(0)
    return ForestModel(3).posterior(observations(x, y), stream(0, "fit"))


def test_moments_are_those_of_the_members(posterior):
    _, _, block = problem(0)
    ensemble = posterior.ensemble
    mean, departures = ensemble.members(block.x)
    fit, centre, t = ensemble.calibration, posterior.y.mean(), len(posterior.y)
    found, deviation = posterior.moments()(block)
    np.testing.assert_allclose(found, centre + fit.slope * (mean - centre))
    spread = fit.spread_variance * (departures**2).sum(axis=1) / (departures.shape[1] - 1)
    bounded = block.x / (1 + np.abs(block.x) / 3)
    still_open = ensemble.scale.spread**2 * ((bounded**2).mean(axis=1) + 1) / (1 + t)
    np.testing.assert_allclose(deviation**2, spread + still_open)


def test_closed_forms_agree_with_the_draws(posterior):
    _, _, block = problem(0)
    draws = posterior.sample(4000, stream(0, "draws"))
    pool = DensePool(block.x)
    best = optima(pool, draws)
    exact, sampled = draws.summary(best)(block), grouped_summary(draws, best)(block)
    np.testing.assert_allclose(exact.mean, sampled.mean)
    np.testing.assert_allclose(exact.gain, sampled.gain, rtol=1e-8)
    doubtful = contenders(pool, optima(pool, draws, 5))
    exact, sampled = draws.tradeoff(doubtful)(block), sampled_tradeoff(draws, doubtful)(block)
    np.testing.assert_allclose(exact.gain, sampled.gain, rtol=0.1, atol=0.01)
    np.testing.assert_allclose(exact.regret, sampled.regret, rtol=0.1, atol=0.03)


def test_contenders_too_many_to_be_held_are_read(posterior):
    """As thousands of candidates under a large budget are."""
    _, _, block = problem(0)
    draws, pool = posterior.sample(50, stream(0, "draws")), DensePool(block.x)
    held = contenders(pool, optima(pool, draws, 5))
    read = replace(held, x=Rows(pool, held.items))
    assert len(held.items) > 5
    exact, found = draws.tradeoff(held)(block), draws.tradeoff(read)(block)
    np.testing.assert_array_equal(found.regret, exact.regret)
    np.testing.assert_array_equal(found.gain, exact.gain)


def test_refined_values_keep_any_company(posterior):
    _, _, block = problem(0)
    draws = posterior.sample(20, stream(0, "draws"))
    rng = np.random.default_rng(1)
    rows, which = rng.integers(30, size=5000), rng.integers(20, size=5000)
    together = draws.refine(block.x[rows], which)
    some = rng.integers(5000, size=50)
    alone = [draws.refine(block.x[rows[[j]]], which[[j]])[0] for j in some]
    np.testing.assert_array_equal(together[some], alone)
    assert np.all(np.abs(draws.values(block)[rows, which] - together) <= draws.slack(block)[which])


def test_rows_that_repeat_are_met_once():
    x = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    rows, place = distinct(x)
    np.testing.assert_array_equal(rows, x[[0, 2, 3]])
    np.testing.assert_array_equal(place, [0, 0, 1, 2])
    assert distinct(np.empty((0, 2)))[0].shape == (0, 2)


def test_posteriors_and_what_they_hand_out_travel(posterior):
    _, _, block = problem(0)
    copy = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copy.moments()(block), posterior.moments()(block))
    draws = posterior.sample(5, stream(0, "draws"))
    summary = draws.summary(optima(DensePool(block.x), draws))
    again = pickle.loads(pickle.dumps(summary))
    np.testing.assert_array_equal(again(block).gain, summary(block).gain)


def test_features_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="has 3 features; item 0 has 2"):
        ForestModel(3).posterior(observations(np.ones((1, 2)), np.ones(1)), stream(0))
    with pytest.raises(InvalidInput, match="item 0"):
        ForestModel(1).posterior(observations(np.array([[np.nan]]), np.ones(1)), stream(0))


def test_side_information_is_more_rows():
    seen = Observation(4, np.eye(3), np.array([1.0, 2.0, 3.0]))
    posterior = ForestModel(3).posterior((), stream(0)).update(seen, stream(1))
    assert posterior.n_labels == 1
    assert posterior.held_out().log_density.shape == (3,)
