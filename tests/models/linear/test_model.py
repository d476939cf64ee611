"""The conjugate posterior by hand, its closed forms against the fallback, and unknown scales."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, multivariate_t

from naive import naive_budget_gain, naive_gain
from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.reductions.folds import contenders, optima
from serendip.models.draws import LinearDraws, equal_weights, grouped_summary, sampled_tradeoff
from serendip.models.linear.model import LinearModel, UnknownScales
from serendip.models.lookahead import NODES
from serendip.pools.dense import DensePool

RNG = np.random.default_rng(0)


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def test_one_label_by_hand():
    # d = 1, prior 4, noise 1, x = 2, y = 3: precision 1/4 + 4 = 4.25, mean 6/4.25.
    posterior = LinearModel(1, 4.0, 1.0).posterior(
        observations(np.array([[2.0]]), np.array([3.0])), RNG
    )
    assert posterior.mean[0] == pytest.approx(6 / 4.25)
    assert posterior.covariance[0, 0] == pytest.approx(1 / 4.25)
    assert posterior.n_labels == 1


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), t=st.integers(1, 12), d=st.integers(1, 6), known=st.booleans())
def test_stepwise_equals_batch_in_any_order(seed, t, d, known):
    rng = np.random.default_rng(seed)
    seen = observations(rng.standard_normal((t, d)), rng.standard_normal(t))
    model = LinearModel(d, 1.0, 0.5) if known else LinearModel(d)
    batch = model.posterior(seen, rng)
    stepwise = model.posterior((), rng)
    for index in rng.permutation(t):
        stepwise = stepwise.update(seen[index], rng)
    np.testing.assert_allclose(stepwise.mean, batch.mean, atol=1e-9)
    np.testing.assert_allclose(stepwise.covariance, batch.covariance, atol=1e-9)
    assert stepwise.noise_variance == pytest.approx(batch.noise_variance)


def test_grid_weights_are_the_marginal_likelihood():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((7, 3)), rng.standard_normal(7)
    scales = UnknownScales()
    posterior = LinearModel(3).posterior(observations(x, y), rng)
    unit = np.sqrt(np.mean(y**2)) / 0.5
    # y ~ t with 2a degrees of freedom, scale matrix (b/a)(XDXᵀ + rI): s² integrated out.
    density = [
        multivariate_t(
            shape=scales.rate / scales.shape * (x * part.widths @ x.T + part.noise * np.eye(7)),
            df=2 * scales.shape,
        ).logpdf(y / unit)
        for part in posterior.components
    ]
    expected = np.exp(density - np.max(density))
    weights = [fit.weight for fit in posterior.fits]
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-8)


@pytest.mark.parametrize(("factor", "offset"), [(1e-3, 0.0), (100.0, 1.0), (1.0, 50.0)])
def test_zero_and_unit_of_labels_do_not_matter(factor, offset):
    rng = np.random.default_rng(8)
    x = np.c_[rng.standard_normal((12, 3)), np.ones(12)]
    y = x @ np.array([0.1, -0.2, 0.05, 0.0]) + 0.02 * rng.standard_normal(12)
    model = LinearModel(4, constant_column=3)
    plain = model.posterior(observations(x, y), rng)
    moved = model.posterior(observations(x, factor * y + offset), rng)
    np.testing.assert_allclose(moved.mean, factor * plain.mean + [0, 0, 0, offset], rtol=1e-6)
    np.testing.assert_allclose(moved.covariance, factor**2 * plain.covariance, rtol=1e-5)
    assert moved.noise_variance == pytest.approx(factor**2 * plain.noise_variance)


def test_constant_column_keeps_its_prior():
    posterior = LinearModel(3, constant_column=2).posterior((), RNG)
    assert all(part.widths[2] == 1.0 for part in posterior.components)
    assert posterior.components[0].widths[0] == pytest.approx(0.25 / 3)


@pytest.mark.parametrize("model", [LinearModel(4, 1.0, 0.3), LinearModel(4)])
def test_draws_have_the_moments_that_are_claimed(model):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((9, 4))
    posterior = model.posterior(observations(x, x @ rng.standard_normal(4)), rng)
    theta = posterior.sample(200_000, rng).theta
    deviation = np.sqrt(np.diag(posterior.covariance))
    assert np.all(np.abs(theta.mean(axis=0) - posterior.mean) < 5 * deviation / np.sqrt(200_000))
    np.testing.assert_allclose(
        np.cov(theta.T), posterior.covariance, atol=0.05 * deviation.max() ** 2
    )
    mean, width = posterior.moments()(Block(np.arange(9), x))
    np.testing.assert_allclose(mean, x @ posterior.mean)
    np.testing.assert_allclose(width**2, np.diag(x @ posterior.covariance @ x.T))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 25),
    d=st.integers(1, 6),
    n_draws=st.integers(2, 15),
    count=st.integers(1, 30),
)
def test_closed_forms_equal_the_fallback(seed, n, d, n_draws, count):
    """With the sample covariance as Σ the linear v and g are those of the generic code."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    theta = rng.standard_normal((n_draws, d))
    covariance = np.cov(theta.T, bias=True).reshape(d, d)
    draws = LinearDraws(
        theta, equal_weights(n_draws), theta.mean(axis=0), covariance, Gaussian(0.7)
    )
    pool, block = DensePool(x), Block(np.arange(n), x)
    best = optima(pool, draws)
    closed, fallback = draws.summary(best)(block), grouped_summary(draws, best)(block)
    np.testing.assert_allclose(closed.mean, fallback.mean, atol=1e-10)
    np.testing.assert_allclose(closed.gain, fallback.gain, atol=1e-10)
    np.testing.assert_allclose(closed.gain, naive_gain(x @ theta.T), atol=1e-10)
    assert np.all(closed.gain <= (x @ theta.T).var(axis=1) + 1e-10)
    doubtful = contenders(pool, optima(pool, draws, count))
    closed, fallback = draws.tradeoff(doubtful)(block), sampled_tradeoff(draws, doubtful)(block)
    np.testing.assert_allclose(closed.mean, fallback.mean, atol=1e-10)
    np.testing.assert_allclose(closed.gain, fallback.gain, atol=1e-9)
    naive = naive_budget_gain(x @ theta.T, min(count, n), x @ covariance @ x.T, 0.7)
    np.testing.assert_allclose(closed.gain, naive, atol=1e-9)


def test_oful_width():
    x, y = RNG.standard_normal((5, 2)), RNG.standard_normal(5)
    posterior = LinearModel(2, 1.0, 1.0).posterior(observations(x, y), RNG)
    shrinkage = np.linalg.slogdet(np.eye(2) + x.T @ x)[1]
    expected = np.sqrt(2 * np.log(20) + shrinkage) + np.sqrt(2)
    block = Block(np.arange(5), x)
    width = posterior.confidence(0.05)(block)[1] / posterior.moments()(block)[1]
    np.testing.assert_allclose(width, expected)


def test_lookahead_is_the_posterior_mean_after_the_label():
    x, y = RNG.standard_normal((6, 3)), RNG.standard_normal(6)
    model = LinearModel(3, 1.0, 0.5)
    posterior = model.posterior(observations(x[:4], y[:4]), RNG)
    others = Block(np.arange(6), x)
    mean, chances, after = posterior.lookahead(others)(Block(np.array([5]), x[5:]))
    assert chances.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(after[0].T @ chances[0], x @ posterior.mean)
    label = mean[0] + NODES[2] * np.sqrt(x[5] @ posterior.covariance @ x[5] + 0.5)
    updated = posterior.update(Observation(5, x[5:], np.array([label])), RNG)
    np.testing.assert_allclose(after[0, 2], x @ updated.mean)


def test_known_scales_density_by_hand():
    """The fixed posterior is the conditional of the joint Gaussian."""
    x, y = RNG.standard_normal((4, 2)), RNG.standard_normal(4)
    posterior = LinearModel(2, 2.0, 0.5).posterior(observations(x, y), RNG)
    points = RNG.standard_normal((3, 2))
    log_prior = multivariate_normal(np.zeros(2), 2 * np.eye(2)).logpdf(points)
    log_fit = [multivariate_normal(x @ p, 0.5 * np.eye(4)).logpdf(y) for p in points]
    log_post = multivariate_normal(posterior.mean, posterior.covariance).logpdf(points)
    constant = log_prior + log_fit - log_post
    np.testing.assert_allclose(constant, constant[0])


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"n_features": 0}, "at least 1"),
        ({"n_features": 2, "prior_variance": 1.0}, "or neither"),
        ({"n_features": 2, "prior_variance": -1.0, "noise_variance": 1.0}, "positive"),
    ],
)
def test_bad_settings_are_refused(settings_, words):
    with pytest.raises(InvalidInput, match=words):
        LinearModel(**settings_)


def test_wrong_number_of_features_is_refused():
    with pytest.raises(InvalidInput, match="3 features; item 0 has 2"):
        LinearModel(3).posterior(observations(np.ones((1, 2)), np.ones(1)), RNG)
