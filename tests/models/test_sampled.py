"""A model that has only values, against one that has closed forms for the same posterior."""

import pickle
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.reductions.folds import everything
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.models.sampled import SampledPosterior, ValueDraws
from worlds import PROBLEMS

NOISE = 0.3


def planes(x, theta):
    return x @ theta


@dataclass(frozen=True)
class Planes:
    """θ ~ N(0, I) and noise of a known size, as `LinearModel` has them, by draws alone."""

    n_features: int
    noise: float = 0.1

    def posterior(self, seen, rng):
        return SampledPosterior.of(self, seen, scales_known=True)

    def draws(self, x, y, size, rng):
        prior = rng.standard_normal((self.n_features, size))
        missed = y[:, None] - x @ prior - self.noise * rng.standard_normal((len(y), size))
        spread = x @ x.T + self.noise**2 * np.eye(len(y))
        theta = prior + x.T @ np.linalg.solve(spread, missed)
        return ValueDraws.equal(partial(planes, theta=theta), Gaussian(self.noise**2), size)


@pytest.fixture(name="both", params=[0, 1, 12])
def _both(request):
    """The same posterior, by its draws alone and exactly; the items left."""
    seen, pool = PROBLEMS["linear"].observed(request.param)
    own = Planes(4, NOISE**0.5).posterior(seen, stream(0, "fit"))
    return own, LinearModel(4, 1.0, NOISE).posterior(seen, stream(0, "fit")), everything(pool)


def test_moments_are_those_of_the_posterior(both):
    own, exact, block = both
    mean, deviation = own.moments()(block)
    right, width = exact.moments()(block)
    assert np.all(np.abs(mean - right) < 5 * width / np.sqrt(1000))
    np.testing.assert_allclose(deviation, width, rtol=0.15)
    assert own.noise_variance == pytest.approx(NOISE)
    assert own.scales_known


def test_a_label_moves_the_others_as_it_should(both):
    own, exact, block = both
    some = Block(block.items[:3], block.x[:3])
    (mean, chances, after), (right, _, moved) = (one.lookahead(block)(some) for one in (own, exact))
    width = float(exact.moments()(block)[1].max())
    np.testing.assert_allclose(mean, right, atol=5 * width / np.sqrt(1000))
    np.testing.assert_allclose(after, moved, atol=0.25 * width)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_labels_left_out_are_predicted(both):
    own, exact, _ = both
    found, right = own.held_out(), exact.held_out()
    assert len(found.mean) == own.n_labels
    np.testing.assert_allclose(found.mean, right.mean, atol=0.2)
    np.testing.assert_allclose(found.deviation, right.deviation, rtol=0.15)
    np.testing.assert_allclose(found.log_density, right.log_density, atol=0.3)


def test_labels_come_one_by_one_or_at_once(both):
    own, *_ = both
    seen, _ = PROBLEMS["linear"].observed(own.n_labels)
    grown = Planes(4, NOISE**0.5).posterior((), stream(0, "fit"))
    for one in seen:
        grown = grown.update(one, stream(0, "update"))
    np.testing.assert_array_equal(grown.labels, own.labels)
    np.testing.assert_array_equal(grown.x, own.x)
    assert grown.n_labels == own.n_labels


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_the_company_of_a_row_never_shows(size):
    """A product of one row and of many may differ in their last bits; what is told never does."""
    rng = stream(0, "company")
    theta, x = size * rng.standard_normal((50, 40)), rng.standard_normal((500, 50))
    draws = ValueDraws.equal(lambda x: x @ theta, Gaussian(size**2), 40)
    values = draws.values(Block(np.arange(500), x))
    np.testing.assert_allclose(values, x @ theta, rtol=1e-8, atol=1e-8 * size)
    rows, columns = np.repeat(np.arange(500), 2), rng.integers(40, size=1000)
    np.testing.assert_array_equal(draws.refine(x[rows], columns), values[rows, columns])
    alone = np.concatenate([draws.values(Block(np.arange(1), x[j : j + 1])) for j in range(500)])
    np.testing.assert_array_equal(alone, values)
    assert not draws.slack(Block(np.arange(500), x)).any()


def test_small_differences_are_kept():
    draws = ValueDraws.equal(lambda x: x, Gaussian(1e-8), 1)
    x = np.array([[1.0], [1.0 + 1e-8], [1e-9], [2e-9], [0.0]])
    np.testing.assert_allclose(draws.values(Block(np.arange(5), x)), x, rtol=1e-8, atol=1e-13)
    chance = ValueDraws.equal(lambda x: x, Bernoulli(), 1)
    np.testing.assert_allclose(chance.values(Block(np.arange(5), x)), x, atol=1e-9)


@pytest.mark.parametrize("wrong", [lambda x: x, lambda x: x[:, 0], lambda x: [["a"] * 3] * len(x)])
def test_functions_of_another_shape_are_refused(wrong):
    draws = ValueDraws.equal(wrong, Gaussian(1.0), 3)
    with pytest.raises(InvalidInput, match="must give 5 × 3 numbers, a row a candidate and a"):
        draws.values(Block(np.arange(5), np.zeros((5, 2))))


def test_other_features_are_refused():
    own = Planes(4).posterior((), stream(0, "fit"))
    with pytest.raises(InvalidInput, match="4 features; item 2 has 3"):
        own.update(Observation(2, np.zeros((1, 3)), np.zeros(1)), stream(0, "update"))
    with pytest.raises(InvalidInput, match="4 features; the pool has 3"):
        own.check(np.zeros((1, 3)))


def test_it_travels(both):
    own, _, block = both
    again = pickle.loads(pickle.dumps(own.sample(7, stream(1, "draws"))))
    np.testing.assert_array_equal(
        again.values(block), own.sample(7, stream(1, "draws")).values(block)
    )
