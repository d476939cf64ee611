from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator

from serendip.core.arrays import Floats
from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.rng import stream
from serendip.models.matrix.low_rank import LowRankModel
from serendip.models.matrix.model import MatrixModel, MatrixPosterior
from serendip.models.matrix.sweeps import MatrixPriors
from serendip.simulate.environments.low_rank import low_rank_world

WIDE = MatrixPriors(effect=0.8, factor=0.9, freedom=6.0, noise_shape=3.0, noise_rate=0.5)


def _label(row: int, column: int, y: float) -> Observation:
    return Observation(0, np.array([[row, column]]), np.array([y]))


def _all(n_rows: int, n_columns: int) -> Block:
    x = np.indices((n_rows, n_columns)).reshape(2, -1).T
    return Block(np.arange(len(x)), x)


def _some(truth: Floats, count: int, noise: float, rng: Generator) -> list[Observation]:
    """Labels of entries picked at random."""
    picks = rng.choice(truth.size, count, replace=False)
    rows, columns = np.divmod(picks, truth.shape[1])
    y = truth[rows, columns] + noise * rng.standard_normal(count)
    return [_label(r, c, v) for r, c, v in zip(rows.tolist(), columns.tolist(), y, strict=True)]


def _error(model: MatrixModel | LowRankModel, seen: list[Observation], truth: Floats) -> float:
    """Root mean square error of the posterior mean over the whole table."""
    posterior = model.posterior(seen, stream(0, "fit"))
    mean, _ = posterior.moments()(_all(*truth.shape))
    return float(np.sqrt(np.mean((mean - truth.ravel()) ** 2)))


def test_the_posterior_is_that_of_weighted_prior_draws() -> None:
    """Half a million tables from the prior, weighted by how well they explain four labels."""
    levels, seen = (np.array([0, 0, 1]),), [(0, 0, 1.1), (0, 1, 0.3), (1, 0, 0.9), (2, 1, -0.8)]
    model = MatrixModel(
        3, 2, levels, max_rank=1, n_chains=4000, warm_up=60, label_unit=1.0, priors=WIDE
    )
    posterior = model.posterior([_label(*one) for one in seen], stream(0, "chains"))
    mean, deviation = posterior.moments()(_all(3, 2))

    size = 500_000
    prior = replace(model, n_chains=size).posterior((), stream(0, "prior"))
    values = prior._draws(np.arange(size)).values(_all(3, 2))
    log_weights = np.zeros(size)
    for row, column, y in seen:
        misfit = (y - values[2 * row + column]) ** 2 / prior.noise_variance
        log_weights -= 0.5 * (misfit + np.log(prior.noise_variance))
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    assert 1.0 / (weights**2).sum() > 3000
    exact = values @ weights
    spread = np.sqrt((values - exact[:, None]) ** 2 @ weights)
    # 4000 chains and 3000 effective draws: five standard errors.
    np.testing.assert_array_less(np.abs(mean - exact), 5 * spread * np.sqrt(1 / 4000 + 1 / 3000))
    np.testing.assert_allclose(deviation, spread, rtol=0.1)
    noise = prior.noise_variance @ weights
    assert posterior.noise_variance.mean() == pytest.approx(noise, rel=0.1)


def test_labels_may_come_in_any_unit() -> None:
    truth = stream(1, "truth").random((6, 5))
    seen = _some(truth, 12, 0.05, stream(1, "labels"))
    model = MatrixModel(6, 5, n_chains=40, warm_up=10)

    def moments(factor: float, offset: float) -> tuple[Floats, Floats]:
        told = [Observation(one.item, one.x, factor * one.y + offset) for one in seen]
        posterior = model.posterior(told[:-1], stream(1, "fit")).update(told[-1], stream(1, "more"))
        return posterior.moments()(_all(6, 5))

    mean, deviation = moments(1.0, 0.0)
    for factor in (2.0**-20, 1024.0):  # exact in binary, so chains do the very same
        scaled = moments(factor, 0.0)
        np.testing.assert_allclose(scaled[0], factor * mean, rtol=1e-9)
        np.testing.assert_allclose(scaled[1], factor * deviation, rtol=1e-9)
    far, _ = moments(1.0, 1e5)
    assert np.sqrt(np.mean((far - 1e5 - mean) ** 2)) < truth.std()


def test_neither_rank_nor_noise_need_be_known() -> None:
    """Within 15 % of the error of a model that is told both, on average over five worlds."""
    ours, told = [], []
    for seed in range(5):
        truth = low_rank_world(15, 15, 2, 0.0, stream(seed, "world")).truth.reshape(15, 15)
        seen = _some(truth, 120, np.sqrt(0.1), stream(seed, "labels"))
        ours.append(_error(MatrixModel(15, 15, n_chains=60), seen, truth))
        told.append(_error(LowRankModel(15, 15, 2, 1.0, 0.1, n_chains=60), seen, truth))
    assert np.mean(ours) < 1.15 * np.mean(told)


def test_features_tell_of_rows_never_seen() -> None:
    rng = stream(2, "world")
    kind, size = rng.integers(3, size=40), rng.standard_normal(40)
    factor = rng.standard_normal((3, 8))
    truth = factor[kind] + 0.7 * size[:, None] * rng.standard_normal(8)
    seen = [one for one in _some(truth, 160, 0.1, rng) if one.x[0, 0] < 30]
    plain = _error(MatrixModel(40, 8, n_chains=40), seen, truth)
    kinds = _error(MatrixModel(40, 8, (kind,), n_chains=40), seen, truth)
    both = _error(MatrixModel(40, 8, (kind, size[:, None]), n_chains=40), seen, truth)
    assert kinds < 0.9 * plain
    assert both < 0.6 * kinds
    # Columns are rows of the table turned over.
    turned = [Observation(0, one.x[:, ::-1], one.y) for one in seen]
    other = MatrixModel(8, 40, (), (kind, size[:, None]), n_chains=40)
    assert _error(other, turned, truth.T) == pytest.approx(both, rel=0.3)


def test_useless_features_and_factors_fade() -> None:
    rng = stream(3, "world")
    truth = rng.standard_normal(20)[:, None] + rng.standard_normal(8)
    seen = _some(truth, 110, 0.1, rng)
    plain = _error(MatrixModel(20, 8, max_rank=0, n_chains=40), seen, truth)
    useless = (rng.integers(4, size=20), rng.standard_normal((20, 3)))
    assert _error(MatrixModel(20, 8, useless, n_chains=40), seen, truth) < 1.5 * plain


def test_held_out_densities_agree_with_refits() -> None:
    """Every label left out in turn, the rest fitted anew with many chains."""
    rng = stream(4, "world")
    truth = rng.standard_normal((5, 1)) * rng.standard_normal(4) + 0.5 * rng.standard_normal(4)
    seen = _some(truth, 13, 0.3, rng)
    model = MatrixModel(5, 4, max_rank=2, n_chains=1000, label_unit=2.0)
    found = model.posterior(seen, stream(4, "all")).held_out().log_density
    assert found.shape == (13,)
    exact = []
    for place, one in enumerate(seen):
        rest = model.posterior(seen[:place] + seen[place + 1 :], stream(4, "rest", place))
        noise = rest.noise_variance
        values = rest._draws(np.arange(1000)).values(Block(np.array([0]), one.x))[0]
        density = np.exp(-0.5 * (one.label - values) ** 2 / noise) / np.sqrt(2 * np.pi * noise)
        exact.append(np.log(density.mean()))
    np.testing.assert_allclose(found, exact, atol=0.8)
    assert found.mean() == pytest.approx(np.mean(exact), abs=0.15)


@pytest.mark.parametrize("y", [[0.0], [3.0], [0.0, 0.0], [7.0, 7.0, 7.0, 7.0], [1e-300, 0.0, 1e8]])
def test_held_out_densities_are_finite(y: list[float]) -> None:
    model = MatrixModel(3, 3, n_chains=30)
    posterior = model.posterior((), stream(0, "prior"))
    assert posterior.held_out().log_density.shape == (0,)
    for place, value in enumerate(y):
        posterior = posterior.update(_label(*divmod(place, 3), value), stream(0, place))
        assert posterior.held_out().log_density.shape == (place + 1,)
        assert np.isfinite(posterior.held_out().log_density).all()
    mean, deviation = posterior.moments()(_all(3, 3))
    assert np.isfinite(mean).all()
    assert np.isfinite(deviation).all()


def test_one_by_one_is_as_good_as_all_at_once() -> None:
    truth = stream(5, "truth").standard_normal((4, 1)) * stream(5, "other").standard_normal(3)
    seen = _some(truth, 8, 0.2, stream(5, "labels"))
    model = MatrixModel(4, 3, max_rank=2, n_chains=2000, sweeps=25, warm_up=150)
    together = model.posterior(seen, stream(5, "all"))
    apart = model.posterior((), stream(5, "prior"))
    for place, one in enumerate(seen):
        apart = apart.update(one, stream(5, "one", place))
    assert together.n_labels == apart.n_labels == 8
    (mean, deviation), (other, wide) = (p.moments()(_all(4, 3)) for p in (together, apart))
    np.testing.assert_array_less(np.abs(mean - other), 6 * deviation * np.sqrt(2 / 2000))
    np.testing.assert_allclose(deviation, wide, rtol=0.25)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (2, 70)])
@pytest.mark.parametrize("max_rank", [0, 3])
def test_tables_of_any_shape(shape: tuple[int, int], max_rank: int) -> None:
    groups = (np.zeros(shape[0], dtype=int),), (np.arange(shape[1]) % 67,)
    model = MatrixModel(*shape, *groups, max_rank=max_rank, n_chains=20)
    posterior = model.posterior([_label(0, 0, 2.0)], stream(0, "fit"))
    mean, deviation = posterior.moments()(_all(*shape))
    assert 0.5 < mean[0] < 2.5
    assert np.isfinite(deviation).all()


def test_chains_in_parts_are_chains_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _some(stream(6, "truth").random((5, 4)), 9, 0.1, stream(6, "labels"))
    model = MatrixModel(5, 4, max_rank=1, n_chains=2000, warm_up=20)
    whole = model.posterior(seen, stream(6, "fit"))
    monkeypatch.setattr("serendip.models.matrix.model._CELLS", 2000)
    parts = model.posterior(seen, stream(6, "fit"))
    assert parts.history.shape == whole.history.shape
    (mean, deviation), (other, wide) = (p.moments()(_all(5, 4)) for p in (whole, parts))
    assert not np.array_equal(mean, other)
    np.testing.assert_array_less(np.abs(mean - other), 6 * deviation * np.sqrt(2 / 2000))
    np.testing.assert_allclose(deviation, wide, rtol=0.25)


def test_values_are_entries_of_the_table() -> None:
    seen = _some(stream(7, "truth").random((5, 4)), 9, 0.1, stream(7, "labels"))
    posterior = MatrixModel(5, 4, n_chains=30).posterior(seen, stream(7, "fit"))
    rows = posterior.sides[0].total(posterior.chains.rows)
    columns = posterior.sides[1].total(posterior.chains.columns)
    table = rows[0][:, None] + columns[0] + np.einsum("kim,kjm->ijm", rows[1:], columns[1:])
    explicit = posterior.offset + posterior.unit * table.reshape(20, 30)
    values = posterior.sample(30, stream(7, "sample")).values(_all(5, 4))
    np.testing.assert_allclose(np.sort(values, axis=1), np.sort(explicit, axis=1))
    np.testing.assert_allclose(posterior.history[-1, :, :9].std(), table.std(), rtol=0.5)
    assert posterior.sample(70, stream(7, "more")).values(_all(5, 4)).shape == (20, 70)


def test_mixing_is_reported() -> None:
    seen = _some(stream(8, "truth").random((6, 6)), 18, 0.1, stream(8, "labels"))
    posterior = MatrixModel(6, 6, n_chains=20, sweeps=6).posterior(seen[:-1], stream(8, "fit"))
    posterior = posterior.update(seen[-1], stream(8, "update"))
    assert posterior.mixing().n_kept == 6 * 20
    assert len(posterior.mixing().r_hat) == 18 + 16
    longer = posterior.settle(200, stream(8, "more")).mixing()
    assert np.median(longer.r_hat) < 1.05
    assert longer.smallest_size > 100


def test_watched_entries_are_all_seen_ones_and_some_others() -> None:
    seen = [_label(0, 0, 1.0), _label(0, 0, 1.1), _label(1, 2, 0.5)]
    posterior = MatrixModel(2, 3, n_chains=5).posterior(seen, stream(0, "fit"))
    rows, columns = posterior._table(np.arange(5)).watched
    found = sorted(zip(rows.tolist(), columns.tolist(), strict=True))
    assert found == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert (rows[0], columns[0], rows[1], columns[1]) == (0, 0, 1, 2)


def test_the_old_posterior_stays_as_it_was() -> None:
    model = MatrixModel(4, 4, n_chains=10)
    before = model.posterior([_label(0, 0, 1.0)], stream(0, "fit"))
    state = [weights.copy() for weights in before.chains.rows.weights]
    after = before.update(_label(1, 1, 5.0), stream(0, "update"))
    again = before.update(_label(1, 1, 5.0), stream(0, "update"))
    for old, kept in zip(before.chains.rows.weights, state, strict=True):
        np.testing.assert_array_equal(old, kept)
    np.testing.assert_array_equal(after.history, again.history)
    assert (before.n_labels, after.n_labels) == (1, 2)


def _settle_prior() -> MatrixPosterior:
    return MatrixModel(3, 3, n_chains=5).posterior((), stream(0, "prior")).settle(3, stream(0, "x"))


def test_without_labels_settling_draws_the_prior() -> None:
    assert _settle_prior().n_labels == 0
    with pytest.raises(InvalidInput, match="Run more sweeps"):
        _settle_prior().mixing()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_rows": 0}, "n_rows must be at least 1; got 0"),
        ({"n_chains": 0}, "n_chains must be at least 1"),
        ({"max_rank": -1}, "max_rank must be at least 0; got -1"),
        ({"row_groups": (np.zeros(2, dtype=int),)}, "row features needs 3 finite values"),
        ({"column_groups": (np.full((3, 1), np.nan),)}, "column features must be finite numbers"),
        ({"row_groups": (np.zeros(3),)}, "Levels of row must be whole numbers; got float64"),
    ],
)
def test_settings_are_checked(setting: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MatrixModel(**{"n_rows": 3, "n_columns": 3} | setting)  # type: ignore[arg-type]


def test_priors_are_checked() -> None:
    with pytest.raises(InvalidInput, match="must be positive"):
        MatrixPriors(decay=0.0)


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
    posterior = MatrixModel(3, 3, n_chains=5).posterior((), stream(0, "prior"))
    with pytest.raises(InvalidInput, match=message):
        posterior.update(Observation(0, x, np.array([1.0])), stream(0, "x"))
