from dataclasses import replace

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.rng import stream
from serendip.models.matrix.low_rank import LowRankModel, LowRankPosterior, NoisePrior, _factor
from serendip.simulate.environments.low_rank import low_rank_world


def _label(row: int, column: int, y: float) -> Observation:
    return Observation(0, np.array([[row, column]]), np.array([y]))


def _played(model: LowRankModel, n_labels: int, seed: int = 0) -> LowRankPosterior:
    world = low_rank_world(model.n_rows, model.n_columns, model.rank, 0.1, stream(seed, "world"))
    posterior = model.posterior((), stream(seed, "prior"))
    items = stream(seed, "items").choice(len(world.truth), n_labels, replace=False)
    for item in items.tolist():
        seen = world.oracle.reveal(item, stream(seed, "label", item))
        posterior = posterior.update(seen, stream(seed, "update", item))
    return posterior


def test_a_row_given_the_columns_has_the_conjugate_law() -> None:
    model = LowRankModel(1, 3, 2, 2.0, 0.25, n_chains=40_000, sweeps=1)
    right = np.array([[1.0, 0.0], [0.5, -1.0], [2.0, 1.0]])
    y = np.array([0.7, -0.2, 1.5])
    precision = np.eye(2) / 2.0 + right.T @ right / 0.25
    mean = np.linalg.solve(precision, right.T @ y / 0.25)
    others = np.tile(right, (40_000, 1, 1))
    noise = np.full(40_000, 0.25)
    drawn = _factor(others, np.arange(3), np.zeros(3, dtype=int), y, noise, model, stream(1, "u"))
    assert drawn.shape == (40_000, 1, 2)
    covariance = np.linalg.solve(precision, np.eye(2))
    error = np.sqrt(np.diag(covariance) / 40_000)
    np.testing.assert_array_less(np.abs(drawn[:, 0].mean(axis=0) - mean), 4.5 * error)
    np.testing.assert_allclose(np.cov(drawn[:, 0].T), covariance, atol=0.05 * covariance.max())


def test_one_label_by_quadrature() -> None:
    # Rank one, one label y = uv + ε: E[uv | y] = ∫ uv N(y | uv, σ²) / ∫ N(y | uv, σ²).
    model = LowRankModel(1, 1, 1, 1.0, 0.3, n_chains=20_000, sweeps=20)
    posterior = model.posterior([_label(0, 0, 1.2)], stream(0, "update"))
    grid = np.linspace(-6, 6, 601)
    u, v = np.meshgrid(grid, grid)
    density = np.exp(-0.5 * (u**2 + v**2) - 0.5 * (1.2 - u * v) ** 2 / 0.3)
    exact = (u * v * density).sum() / density.sum()
    products = (posterior.left * posterior.right).ravel()
    assert products.mean() == pytest.approx(exact, abs=5 * products.std() / np.sqrt(20_000))


def test_unknown_noise_is_found() -> None:
    model = LowRankModel(12, 12, 1, n_chains=100, sweeps=10)
    posterior = _played(model, 100).settle(50, stream(1, "more"))
    assert 0.05 < posterior.noise_variance.mean() < 0.2
    draws = posterior.sample(5, stream(0, "sample"))
    assert draws.likelihood.noise_variance == pytest.approx(posterior.noise_variance.mean())


def test_the_matrix_is_recovered() -> None:
    world = low_rank_world(15, 15, 2, 0.01, stream(4, "world"))
    model = LowRankModel(15, 15, 2, 1.0, 0.01, n_chains=50)
    seen = [
        world.oracle.reveal(item, stream(4, "label", item))
        for item in stream(4, "items").choice(225, 140, replace=False).tolist()
    ]
    posterior = model.posterior(seen, stream(4, "update"))
    mean, width = posterior.moments()(Block(np.arange(225), world.pool.x))
    assert np.mean((mean - world.truth) ** 2) < 0.05 * world.truth.var()
    assert np.all(width >= 0)


def test_prior_before_the_first_label() -> None:
    model = LowRankModel(3, 4, 2, 2.0, 0.1, n_chains=20_000)
    posterior = model.posterior((), stream(0, "prior"))
    assert posterior.n_labels == 0
    values = posterior.sample(20_000, stream(0, "s")).values(
        Block(np.array([5]), np.array([[1, 1]]))
    )
    # Var(uᵀv) = rank·σ₀⁴ = 8, and its fourth moment is finite: 10 % is generous.
    assert values.var() == pytest.approx(8.0, rel=0.1)


def test_unseen_rows_keep_their_prior_and_are_drawn_anew() -> None:
    model = LowRankModel(3, 3, 2, 1.0, 0.1, n_chains=2000)
    before = model.posterior([_label(0, 0, 3.0)], stream(0, "a"))
    after = before.update(_label(1, 1, -2.0), stream(0, "b"))
    assert not np.any(before.left == after.left)
    assert not np.any(before.right == after.right)
    assert after.left[:, 2].mean() == pytest.approx(0.0, abs=0.1)
    assert after.left[:, 2].var() == pytest.approx(1.0, abs=0.1)


def test_values_are_entries_of_the_product() -> None:
    posterior = _played(LowRankModel(5, 4, 2, 1.0, 0.1, n_chains=30), 8)
    draws = posterior.sample(30, stream(0, "sample"))
    x = np.indices((5, 4)).reshape(2, -1).T
    block = Block(np.arange(20), x)
    explicit = np.einsum("mir,mjr->mij", draws.left, draws.right).reshape(30, 20).T
    np.testing.assert_allclose(draws.values(block), explicit)
    mean, width = posterior.moments()(block)
    np.testing.assert_allclose(mean, explicit.mean(axis=1))
    np.testing.assert_allclose(width, explicit.std(axis=1))


def test_sample_takes_each_chain_as_often_as_the_others() -> None:
    posterior = _played(LowRankModel(5, 4, 2, 1.0, 0.1, n_chains=30), 3)
    once = posterior.sample(30, stream(0, "s"))
    assert len(np.unique(once.left[:, 0, 0])) == 30
    many = posterior.sample(100, stream(0, "s"))
    assert many.left.shape == (100, 5, 2)
    _, times = np.unique(many.left[:, 0, 0], return_counts=True)
    assert sorted(times) == [3] * 20 + [4] * 10
    assert many.weights.sum() == pytest.approx(1.0)


def test_same_seed_same_result() -> None:
    model = LowRankModel(5, 4, 2, n_chains=20)
    one, two, other = _played(model, 6), _played(model, 6), _played(model, 6, seed=1)
    np.testing.assert_array_equal(one.left, two.left)
    assert not np.array_equal(one.left, other.left)


def test_order_of_labels_is_kept_apart_from_what_is_believed() -> None:
    model = LowRankModel(2, 2, 1, 1.0, 0.2, n_chains=20_000, sweeps=10)
    labels = [_label(0, 0, 1.5), _label(0, 1, -0.5), _label(1, 0, 0.8)]
    one = model.posterior(labels, stream(0, "one"))
    two = model.posterior(labels[::-1], stream(0, "two"))
    assert one.n_labels == two.n_labels == 3
    block = Block(np.arange(4), np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    (mean, width), (other, _) = one.moments()(block), two.moments()(block)
    np.testing.assert_array_less(np.abs(mean - other), 5 * width * np.sqrt(2 / 20_000))


def test_update_leaves_the_old_posterior_alone() -> None:
    posterior = _played(LowRankModel(5, 4, 2, 1.0, 0.1, n_chains=20), 3)
    left, y = posterior.left.copy(), posterior.y.copy()
    posterior.update(_label(4, 3, 1.0), stream(0, "x"))
    np.testing.assert_array_equal(posterior.left, left)
    np.testing.assert_array_equal(posterior.y, y)


def test_mixing_watches_products() -> None:
    posterior = _played(LowRankModel(6, 6, 1, 1.0, 0.1, n_chains=20, sweeps=6), 10)
    short = posterior.mixing()
    assert short.n_kept == 6 * 20
    assert len(short.r_hat) >= 10
    long = posterior.settle(300, stream(0, "more")).mixing()
    assert np.median(long.r_hat) < 1.05
    assert np.all(long.effective_size > 0)
    turned = replace(posterior, left=-posterior.left, right=-posterior.right)
    np.testing.assert_array_equal(turned.mixing().r_hat, short.r_hat)


def test_mixing_needs_sweeps() -> None:
    model = LowRankModel(3, 3, 1, n_chains=5)
    with pytest.raises(InvalidInput, match="Run more sweeps"):
        model.posterior((), stream(0, "prior")).mixing()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_rows": 0}, "n_rows must be at least 1; got 0"),
        ({"rank": 0}, "rank must be at least 1; got 0"),
        ({"sweeps": 0}, "sweeps must be at least 1"),
        ({"factor_variance": -1.0}, "factor_variance must be a positive number; got -1.0"),
        ({"noise_variance": np.inf}, "noise_variance must be a finite number; got inf"),
    ],
)
def test_settings_are_checked(setting: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LowRankModel(**{"n_rows": 3, "n_columns": 3, "rank": 1} | setting)  # type: ignore[arg-type]


def test_priors_are_checked() -> None:
    with pytest.raises(InvalidInput, match="must be positive"):
        NoisePrior(shape=0.0)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.array([[3, 0]]), "3 × 3, counted from 0; item 0 lies at"),
        (np.array([[-1, 0]]), "3 × 3"),
        (np.array([[0, 0, 0]]), "whole numbers \\(row, column\\)"),
        (np.array([[0.0, 1.0]]), "whole numbers"),
    ],
)
def test_candidates_are_checked(x: np.ndarray, message: str) -> None:
    posterior = LowRankModel(3, 3, 1, n_chains=5).posterior((), stream(0, "prior"))
    with pytest.raises(InvalidInput, match=message):
        posterior.update(Observation(0, x, np.array([1.0])), stream(0, "x"))


def test_world() -> None:
    world = low_rank_world(4, 3, 2, 0.0, stream(0, "world"), factor_variance=4.0)
    assert world.pool.x.shape == (12, 2)
    assert world.pool.x.dtype == np.int64
    assert np.linalg.matrix_rank(world.truth.reshape(4, 3)) == 2
    seen = world.oracle.reveal(7, stream(0, "label"))
    np.testing.assert_array_equal(seen.x, [[2, 1]])
    assert seen.label == world.truth[7]
    with pytest.raises(InvalidInput, match="rank must be at least 1; got 0"):
        low_rank_world(4, 3, 0, 0.1, stream(0, "world"))
