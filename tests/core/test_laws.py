"""Laws of some candidates: closed forms against samples, Matheron's rule against conditioning."""

import numpy as np
import pytest

from serendip.core.data import Block
from serendip.core.laws import Law, SupportsLaws, laws_of
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.rng import stream
from worlds import PROBLEMS


def a_law(seed, n_draws=40_000, c=5, noise=0.3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((c, c))
    mean = rng.standard_normal(c)
    values = mean + rng.standard_normal((n_draws, c)) @ root.T
    shares = np.full(n_draws, 1.0 / n_draws)
    return Law(1.0, shares, values, mean, root @ root.T, Gaussian(noise))


@pytest.mark.parametrize("seed", range(3))
def test_a_label_moves_mean_covariance_and_draws_as_conditioning_does(seed):
    law = a_law(seed)
    found = law.told(2, 1.7, stream(seed, "told"))
    gain = law.covariance[:, 2] / (law.covariance[2, 2] + 0.3)
    mean = law.mean + gain * (1.7 - law.mean[2])
    covariance = law.covariance - np.outer(gain, law.covariance[2])
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)
    scale = np.sqrt(np.diag(covariance))
    error = np.abs(found.values.mean(axis=0) - mean) / scale
    assert error.max() < 5.0 / np.sqrt(len(law.values))
    sampled = np.cov(found.values.T)
    np.testing.assert_allclose(
        sampled / np.outer(scale, scale), covariance / np.outer(scale, scale), atol=0.04
    )


def test_labels_in_any_order_and_one_after_another_are_labels_at_once():
    law = a_law(7, n_draws=2)
    forth = law.told(0, 0.4, stream(0)).told(3, -1.0, stream(1))
    back = law.told(3, -1.0, stream(1)).told(0, 0.4, stream(0))
    seen = [0, 3]
    known = law.covariance[np.ix_(seen, seen)] + 0.3 * np.eye(2)
    gain = np.linalg.solve(known, law.covariance[seen]).T
    mean = law.mean + gain @ (np.array([0.4, -1.0]) - law.mean[seen])
    for found in (forth, back):
        np.testing.assert_allclose(found.mean, mean, atol=1e-10)
        np.testing.assert_allclose(
            found.covariance, law.covariance - gain @ law.covariance[seen], atol=1e-10
        )


def test_an_expected_label_moves_no_mean():
    law = a_law(1, n_draws=3)
    found = law.told(4, float(law.mean[4]), stream(0))
    assert np.array_equal(found.mean, law.mean)
    assert found.variance[4] < law.variance[4]


def test_what_is_certain_tells_nothing():
    values = np.array([[1.0, 0.2], [1.0, 0.4]])
    law = Law(1.0, np.full(2, 0.5), values, values.mean(axis=0), np.cov(values.T), Bernoulli())
    assert law.told(0, 1.0, stream(0)) is law


@pytest.mark.parametrize("name", PROBLEMS)
def test_laws_are_those_of_the_draws(name):
    case = PROBLEMS[name]
    seen, pool = case.observed(6)
    posterior = case.model.posterior(seen, stream(0, "fit"))
    items = np.flatnonzero([item in pool for item in range(len(case.world.pool))])[:6]
    block = Block(items, pool.take(items))
    draws = posterior.sample(4000, stream(0, "draws"))
    laws = laws_of(draws, block)
    assert sum(law.weight for law in laws) == pytest.approx(1.0)
    found = np.concatenate([law.values for law in laws])
    assert np.array_equal(found.T, np.asarray(draws.values(block), dtype=np.float64))
    weights = np.concatenate([law.weight * law.shares for law in laws])
    np.testing.assert_allclose(weights, draws.weights)
    if not isinstance(draws, SupportsLaws):
        return
    for law in laws:
        scale = np.sqrt(np.maximum(law.variance, 1e-12))
        error = np.abs(law.shares @ law.values - law.mean) / scale
        assert error.max() < 0.15
        spread = np.cov(law.values.T, aweights=law.shares) / np.outer(scale, scale)
        np.testing.assert_allclose(spread, law.covariance / np.outer(scale, scale), atol=0.35)
