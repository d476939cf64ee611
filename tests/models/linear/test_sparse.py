from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from serendip.core.arrays import Floats
from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import contenders, optima
from serendip.core.rng import stream
from serendip.models.linear.sparse import (
    SparseLinearModel,
    SparseLinearPosterior,
    SparsePriors,
)
from serendip.models.linear.sparse_sweeps import Collapsed, SparseChains
from serendip.pools.dense import DensePool
from serendip.simulate.environments.sparse import sparse_world

_X = np.array(
    [
        [1.0, 0.9, 0.3, -0.4],
        [-0.5, -0.3, 1.2, 0.8],
        [0.7, 0.8, -0.6, 1.1],
        [1.4, 1.5, 0.2, 0.3],
        [-1.1, -0.8, 0.5, -0.9],
    ]
)
_Y = np.array([1.2, -0.1, 0.5, 1.9, -1.2])


def _seen(x: Floats, y: Floats) -> list[Observation]:
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def _exact(inclusion: float, slab: float, noise: float) -> tuple[Floats, Floats, Floats]:
    """Every γ with its posterior mass, and E[θ | γ]: 2⁴ Gaussian integrals."""
    models = np.array(list(product([0, 1], repeat=4)))
    masses, means = [], []
    for gamma in models:
        spread = slab * (_X * gamma) @ _X.T
        size = gamma.sum()
        prior = inclusion**size * (1 - inclusion) ** (4 - size)
        label_covariance = spread + noise * np.eye(5)
        masses.append(prior * multivariate_normal.pdf(_Y, np.zeros(5), label_covariance))
        means.append(slab * gamma * (_X.T @ np.linalg.solve(label_covariance, _Y)))
    return models, np.array(masses) / np.sum(masses), np.array(means)


def _collapsed(gamma: list[int], slab: float, noise: float) -> Collapsed:
    chains = SparseChains(
        np.array([gamma], dtype=float), np.array([0.3]), np.array([slab]), np.array([noise])
    )
    return Collapsed.of(_X, _Y[None], chains)


@pytest.mark.parametrize("gamma", [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1]])
def test_conditionals_are_ratios_of_marginal_likelihoods(gamma: list[int]) -> None:
    slab, noise = 1.7, 0.2
    found = _collapsed(gamma, slab, noise).log_factors(np.array([0]))[0]
    for j in range(4):
        with_j, without_j = np.array(gamma), np.array(gamma)
        with_j[j], without_j[j] = 1, 0
        logs = [
            multivariate_normal.logpdf(_Y, cov=noise * np.eye(5) + slab * (_X * g) @ _X.T)
            for g in (with_j, without_j)
        ]
        assert found[j] == pytest.approx(logs[0] - logs[1])


def test_one_feature_by_hand() -> None:
    # x = 2, y = 3, τ² = σ² = 1, nothing in: s = 4, q = 6, log factor −½ log 5 + ½·36/5.
    chains = SparseChains(np.zeros((1, 1)), np.array([0.5]), np.ones(1), np.ones(1))
    work = Collapsed.of(np.array([[2.0]]), np.array([[3.0]]), chains)
    expected = -0.5 * np.log(5.0) + 3.6
    assert work.log_factors(np.array([0]))[0, 0] == pytest.approx(expected)
    work.flip(np.array([0]), np.array([0]))
    assert work.log_factors(np.array([0]))[0, 0] == pytest.approx(expected)
    assert work.inverse[0, 0, 0] == pytest.approx(1 / 5)


def test_flips_agree_with_starting_afresh() -> None:
    work = _collapsed([0, 1, 1, 0], 0.8, 0.05)
    for column in (0, 1, 3, 1):
        work.flip(np.array([0]), np.array([column]))
    afresh = _collapsed([1, 1, 1, 1], 0.8, 0.05)
    for name in ("inverse", "pull", "room", "sign"):
        np.testing.assert_allclose(getattr(work, name), getattr(afresh, name), rtol=1e-8)


def test_gibbs_agrees_with_enumeration() -> None:
    models, masses, means = _exact(0.3, 1.0, 0.2)
    n_chains = 20_000
    model = SparseLinearModel(4, 0.3, 1.0, 0.2, n_chains=n_chains, sweeps=4)
    posterior = model.posterior(_seen(_X, _Y), stream(0, "update"))
    exact = masses @ models
    error = np.sqrt(exact * (1 - exact) / n_chains)
    np.testing.assert_array_less(np.abs(posterior.inclusion - exact), 4.5 * error)
    active = posterior.chains.theta != 0
    share = np.array([np.mean(np.all(active == gamma, axis=1)) for gamma in models])
    error = np.sqrt(masses * (1 - masses) / n_chains)
    np.testing.assert_array_less(np.abs(share - masses), 4.5 * error + 1e-4)
    theta = posterior.chains.theta
    error = theta.std(axis=0) / np.sqrt(n_chains)
    np.testing.assert_array_less(np.abs(theta.mean(axis=0) - masses @ means), 4.5 * error)


def test_order_of_labels_does_not_matter() -> None:
    model = SparseLinearModel(4, 0.3, 1.0, 0.2, n_chains=10_000, sweeps=4)
    one = model.posterior(_seen(_X, _Y), stream(1, "update"))
    two = model.posterior(_seen(_X[::-1], _Y[::-1]), stream(2, "update"))
    assert one.n_labels == two.n_labels == 5
    np.testing.assert_allclose(one.inclusion, two.inclusion, atol=4.5 * np.sqrt(0.5 / 10_000))


def test_prior_before_the_first_label() -> None:
    model = SparseLinearModel(20, 0.2, 4.0, 0.1, n_chains=5000)
    posterior = model.posterior((), stream(0, "prior"))
    assert posterior.n_labels == 0
    theta = posterior.chains.theta
    assert (theta != 0).mean() == pytest.approx(0.2, abs=0.01)
    assert theta[theta != 0].var() == pytest.approx(4.0, rel=0.05)
    assert np.all(posterior.settle(1, stream(1, "x")).chains.noise_variance == 0.1)


def test_unknown_settings_have_their_priors_before_the_first_label() -> None:
    priors = SparsePriors(10.0, slab_shape=4.0, slab_rate=6.0, noise_shape=5.0, noise_rate=2.0)
    model = SparseLinearModel(100, n_chains=20_000, priors=priors)
    chains = model.posterior((), stream(0, "prior")).chains
    assert chains.inclusion.mean() == pytest.approx(0.1, rel=0.05)
    assert chains.slab_variance.mean() == pytest.approx(2.0, rel=0.05)
    assert chains.noise_variance.mean() == pytest.approx(0.5, rel=0.05)
    assert (chains.theta != 0).sum(axis=1).mean() == pytest.approx(10.0, rel=0.05)


@pytest.fixture(scope="module")
def many_features() -> tuple[SparseLinearPosterior, Floats, Floats]:
    """A thousand features, sixty labels, nothing known."""
    rng = stream(7, "world")
    x = rng.standard_normal((160, 1000))
    theta = np.zeros(1000)
    theta[[17, 400, 999]] = 1.5, -1.0, 2.0
    y = x @ theta + 0.3 * rng.standard_normal(160)
    model = SparseLinearModel(1000, n_chains=60)
    return model.posterior(_seen(x[:60], y[:60]), stream(7, "update")), x[60:], x[60:] @ theta


def test_few_features_are_found_among_many(
    many_features: tuple[SparseLinearPosterior, Floats, Floats],
) -> None:
    posterior, x, truth = many_features
    assert np.all(posterior.inclusion[[17, 400, 999]] > 0.95)
    others = np.delete(posterior.inclusion, [17, 400, 999])
    assert others.mean() < 0.02
    mean, width = posterior.moments()(Block(np.arange(100), x))
    assert np.mean((mean - truth) ** 2) < 0.02 * truth.var()
    assert np.mean(np.abs(mean - truth) < 3 * width) > 0.9
    assert 0.03 < posterior.chains.noise_variance.mean() * posterior.unit**2 < 0.2


def test_values_are_the_matrix_product(
    many_features: tuple[SparseLinearPosterior, Floats, Floats],
) -> None:
    posterior, x, _ = many_features
    draws = posterior.sample(posterior.model.n_chains, stream(0, "sample"))
    assert len(draws.columns) < 1000
    theta = np.zeros((60, 1000))
    theta[:, draws.columns] = draws.reduced.theta
    block = Block(np.arange(100), x)
    np.testing.assert_allclose(draws.values(block), x @ theta.T, atol=1e-12)
    rows, picks = np.array([0, 5, 5]), np.array([59, 0, 1])
    np.testing.assert_allclose(draws.refine(x[rows], picks), (x @ theta.T)[rows, picks])
    narrow = Block(np.arange(100), x.astype(np.float32))
    assert draws.values(narrow).dtype == np.float32
    off = np.abs(draws.values(narrow) - x.astype(np.float32).astype(float) @ theta.T)
    np.testing.assert_array_less(off.max(axis=0), draws.slack(narrow) + 1e-300)


def test_gains_are_those_of_the_sample(
    many_features: tuple[SparseLinearPosterior, Floats, Floats],
) -> None:
    posterior, x, _ = many_features
    draws = posterior.sample(40, stream(0, "sample"))
    pool, block = DensePool(x), Block(np.arange(100), x)
    best = optima(pool, draws, 10)
    values = draws.values(block)
    summary = draws.summary(best)(block)
    np.testing.assert_allclose(summary.mean, values.mean(axis=1))
    assert np.all(summary.gain <= values.var(axis=1) + 1e-12)
    doubtful = contenders(pool, best)
    covariance = np.cov(values, bias=True)
    shared = (values - values.mean(axis=1)[:, None]) @ doubtful.thresholds / 40
    explained = (covariance[:, doubtful.items] - 0.5 * shared[:, None]) ** 2 @ doubtful.doubt
    noise = draws.likelihood.noise_variance
    expected = explained / (np.diag(covariance) + noise)
    np.testing.assert_allclose(draws.tradeoff(doubtful)(block).gain, expected, atol=1e-12)


def test_sample_takes_each_chain_as_often_as_the_others() -> None:
    posterior = SparseLinearModel(5, 0.9, 1.0, 0.1, n_chains=30).posterior((), stream(0, "p"))
    once = posterior.sample(30, stream(0, "s")).reduced.theta
    assert len(np.unique(once, axis=0)) == len(np.unique(posterior.chains.theta, axis=0))
    many = posterior.sample(100, stream(0, "s"))
    assert many.reduced.theta.shape[0] == 100
    picks = many.reduced.theta
    _, times = np.unique(picks[picks.any(axis=1)], axis=0, return_counts=True)
    assert set(times) <= {3, 4}
    assert many.weights.sum() == pytest.approx(1.0)


def test_draws_that_are_all_zero() -> None:
    model = SparseLinearModel(3, 1e-9, 1.0, 0.1, n_chains=4)
    posterior = model.posterior(_seen(np.ones((1, 3)), np.zeros(1)), stream(0, "p"))
    draws = posterior.sample(4, stream(0, "s"))
    block = Block(np.arange(2), np.ones((2, 3)))
    np.testing.assert_array_equal(draws.values(block), np.zeros((2, 4)))
    np.testing.assert_array_equal(optima(DensePool(block.x), draws).values, np.zeros((4, 1)))


def test_little_noise_stays_in_numbers() -> None:
    rng = stream(3, "x")
    x = rng.standard_normal((30, 50))
    y = 2.0 * x[:, 4] - x[:, 9]
    model = SparseLinearModel(50, 0.1, 1.0, 1e-6, n_chains=20)
    posterior = model.posterior(_seen(x, y), stream(3, "update"))
    assert np.isfinite(posterior.chains.theta).all()
    assert np.all(posterior.inclusion[[4, 9]] == 1.0)
    np.testing.assert_allclose(posterior.chains.theta[:, 4], 2.0, atol=0.01)


def test_same_seed_same_result_and_old_posterior_untouched() -> None:
    model = SparseLinearModel(4, n_chains=20)
    one = model.posterior(_seen(_X, _Y), stream(0, "update"))
    two = model.posterior(_seen(_X, _Y), stream(0, "update"))
    other = model.posterior(_seen(_X, _Y), stream(1, "update"))
    np.testing.assert_array_equal(one.chains.theta, two.chains.theta)
    assert not np.array_equal(one.chains.theta, other.chains.theta)
    one.update(Observation(9, _X[:1], np.array([4.0])), stream(0, "more"))
    np.testing.assert_array_equal(one.chains.theta, two.chains.theta)
    np.testing.assert_array_equal(one.y, _Y)


def test_labels_may_come_in_any_unit() -> None:
    world = sparse_world(60, 30, 2, 0.01, stream(4, "world"))
    x = np.c_[world.pool.x, np.ones(60)]
    model = SparseLinearModel(31, n_chains=40, sweeps=3, constant_column=30)

    def moments(factor: float, offset: float) -> tuple[Floats, Floats, float]:
        posterior = model.posterior(_seen(x[:30], factor * world.truth[:30] + offset), stream(4, 1))
        noise = posterior.sample(5, stream(4, 2)).likelihood.noise_variance
        return *posterior.moments()(Block(np.arange(60), x)), noise

    mean, deviation, noise = moments(1.0, 0.0)
    for factor in (2.0**-20, 1024.0):  # exact in binary, so chains do the very same
        scaled = moments(factor, 0.0)
        np.testing.assert_allclose(scaled[0], factor * mean, rtol=1e-9, atol=1e-9 * factor)
        np.testing.assert_allclose(scaled[1], factor * deviation, rtol=1e-9, atol=1e-9 * factor)
        assert scaled[2] == pytest.approx(factor**2 * noise)
    far, _, _ = moments(1.0, 1000.0)
    error = np.sqrt(np.mean((far - 1000.0 - world.truth) ** 2))
    assert error < 0.2 * world.truth.std()


def test_given_scales_leave_labels_as_they_are() -> None:
    for given in ({"slab_variance": 1.0}, {"noise_variance": 0.1}):
        model = SparseLinearModel(4, n_chains=5, **given)
        posterior = model.posterior(_seen(_X, 1000.0 * _Y), stream(0, "update"))
        assert (posterior.offset, posterior.unit) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_features": 0}, "n_features must be at least 1; got 0"),
        ({"n_chains": 0}, "n_chains must be at least 1; got 0"),
        ({"inclusion": 1.0}, "inclusion must be None or within 0 and 1.0; got 1.0"),
        ({"slab_variance": -1.0}, "slab_variance must be None or within 0 and inf; got -1.0"),
        ({"noise_variance": np.nan}, "noise_variance must be a finite number"),
        ({"priors": SparsePriors(slab_rate=0.0)}, "Every setting of the priors must be positive"),
    ],
)
def test_settings_are_checked(setting: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        SparseLinearModel(**{"n_features": 3} | setting)  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [np.ones((1, 3)), np.full((1, 4), np.nan)])
def test_features_are_checked(x: Floats) -> None:
    posterior = SparseLinearModel(4, n_chains=3).posterior((), stream(0, "prior"))
    with pytest.raises(InvalidInput, match=r"item 2 has 3|item 2 must be finite"):
        posterior.update(Observation(2, x, np.array([1.0])), stream(0, "x"))


def test_world() -> None:
    world = sparse_world(30, 80, 3, 0.0, stream(0, "world"))
    assert world.pool.x.shape == (30, 80)
    seen = world.oracle.reveal(4, stream(0, "label"))
    assert seen.label == world.truth[4]
    with pytest.raises(InvalidInput, match="between 1 and the number of features, 80; got 81"):
        sparse_world(30, 80, 81, 0.1, stream(0, "world"))
