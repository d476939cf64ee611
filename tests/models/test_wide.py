"""Wide tables: the algebra of labels against that of features, which is slow there but plain."""

import tracemalloc

import numpy as np
import pytest

from serendip import BudgetIDS, DensePool, LinearModel, LogisticModel, Observation, stream
from serendip.core.arrays import Floats
from serendip.core.data import Block
from serendip.core.likelihood import Gaussian
from serendip.core.reductions.folds import contenders
from serendip.core.reductions.leaders import leading, optima
from serendip.models import wide
from serendip.models.condensed import Condensed
from serendip.models.draws import LinearDraws, equal_weights
from serendip.models.ensemble.forest import ForestModel
from serendip.models.linear import logistic
from serendip.models.linear import model as linear
from serendip.models.linear.model import LinearPosterior
from serendip.models.wide import Spanned, SpannedPrecision, WideDraws


def _table(n: int, d: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    x[:, -1] = 1.0
    return x, x[:, :3].sum(axis=1) + 2.0 + 0.1 * rng.standard_normal(n)


def _posteriors(
    monkeypatch: pytest.MonkeyPatch, model: LinearModel, t: int
) -> tuple[LinearPosterior, LinearPosterior, Floats]:
    """By labels and by features, and candidates."""
    x, y = _table(t + 30, model.n_features)
    seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(t)]
    narrow = model.posterior(seen, stream(0, "model"))
    monkeypatch.setattr(linear, "WIDE", 4)
    return model.posterior(seen, stream(0, "model")), narrow, x[t:]


MODELS = {
    "unknown scales": LinearModel(20, constant_column=19),
    "known scales": LinearModel(20, prior_variance=0.5, noise_variance=0.04),
}


@pytest.mark.parametrize("t", [0, 1, 7, 19, 20, 25])
@pytest.mark.parametrize("name", MODELS)
def test_a_wide_posterior_is_the_narrow_one(
    name: str, t: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means, covariance, evidence, bands and held-out predictions agree to rounding."""
    ours, narrow, x = _posteriors(monkeypatch, MODELS[name], t)
    assert isinstance(ours.covariance, Spanned) == (t < 20)
    np.testing.assert_allclose(ours.mean, narrow.mean, atol=1e-9)
    np.testing.assert_allclose(np.eye(20) @ ours.covariance, narrow.covariance, atol=1e-10)
    assert ours.noise_variance == pytest.approx(narrow.noise_variance, rel=1e-6)
    weights = [[fit.weight for fit in one.fits] for one in (ours, narrow)]
    np.testing.assert_allclose(*weights, atol=1e-7)
    block = Block(np.arange(len(x)), x)
    for found, wanted in (
        (ours.moments()(block), narrow.moments()(block)),
        (ours.confidence(0.05)(block), narrow.confidence(0.05)(block)),
        (ours.lookahead(block)(block), narrow.lookahead(block)(block)),
    ):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        ours.held_out().log_density, narrow.held_out().log_density, atol=1e-7
    )


@pytest.mark.statistical
@pytest.mark.parametrize("name", MODELS)
def test_draws_of_a_wide_posterior_have_its_law(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean and covariance of 40,000 draws; a false alarm is one in 10⁴ (four standard errors)."""
    ours, narrow, _ = _posteriors(monkeypatch, MODELS[name], 7)
    theta = ours.sample(40_000, stream(1, "draws")).theta
    deviation = np.sqrt(np.diag(np.asarray(narrow.covariance)))
    assert np.all(np.abs(theta.mean(axis=0) - narrow.mean) < 5.0 * deviation / 200.0)
    spread = np.outer(deviation, deviation)
    assert np.all(np.abs(np.cov(theta.T) - narrow.covariance) < 0.08 * spread)


@pytest.mark.parametrize("t", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("prior_variance", [None, 0.5])
def test_a_wide_logistic_posterior_is_the_narrow_one(
    t: int, prior_variance: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modes, weights, chances, design norms and looks ahead agree to rounding."""
    x, y = _table(t + 30, 20)
    labels = (y > 2.0).astype(float)
    seen = [Observation(i, x[i : i + 1], labels[i : i + 1]) for i in range(t)]
    constant = 19 if prior_variance is None else None
    model = LogisticModel(20, prior_variance, constant)
    narrow = model.posterior(seen, stream(0, "model"))
    monkeypatch.setattr(logistic, "WIDE", 4)
    ours = model.posterior(seen, stream(0, "model"))
    assert isinstance(ours.precision, SpannedPrecision) == (t < 20)
    weights = [[fit.weight for fit in one.fits] for one in (ours, narrow)]
    np.testing.assert_allclose(*weights, atol=1e-7)
    block = Block(np.arange(30), x[t:])
    for found, wanted in (
        (ours.moments()(block), narrow.moments()(block)),
        (ours.design()(block), narrow.design()(block)),
        (ours.lookahead(block)(block), narrow.lookahead(block)(block)),
    ):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    normal = np.eye(20)
    root = ours.precision.colour(normal)
    np.testing.assert_allclose(root @ root.T, narrow.precision.inverse(), atol=1e-7)


def _pair(t: int = 7, d: int = 20, size: int = 50) -> tuple[WideDraws, LinearDraws]:
    rng = np.random.default_rng(3)
    span = rng.standard_normal((d, t)) / 4.0
    covariance = Spanned(rng.uniform(0.5, 1.0, d), span, rng.uniform(0.1, 1.0, t))
    dense = np.eye(d) @ covariance
    theta = rng.standard_normal((size, d)) @ np.linalg.cholesky(dense).T
    rest = equal_weights(size), np.full(d, 0.1)
    noise = Gaussian(0.1)
    return WideDraws(theta, *rest, covariance, noise), LinearDraws(theta, *rest, dense, noise)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_wide_draws_say_what_linear_draws_say(kind: type[np.floating]) -> None:
    """Values, slack, refined values, summary and trade-off."""
    ours, plain = _pair()
    pool = DensePool(_table(60, 20)[0].astype(kind))
    found = [contenders(pool, leading(pool, draws, 5)) for draws in (ours, plain)]
    block = Block(np.arange(60), pool.take(np.arange(60)))
    np.testing.assert_array_equal(ours.values(block), plain.values(block))
    np.testing.assert_array_equal(ours.slack(block), plain.slack(block))
    assert found[0].items.tolist() == found[1].items.tolist()
    wanted, got = plain.tradeoff(found[1])(block), ours.tradeoff(found[0])(block)
    np.testing.assert_allclose(got.regret, wanted.regret, rtol=1e-9)
    np.testing.assert_allclose(got.gain, wanted.gain, rtol=1e-9)
    np.testing.assert_allclose(got.mean, wanted.mean, rtol=1e-12)
    (law,), (other,) = ours.laws(block), plain.laws(block)
    np.testing.assert_allclose(law.covariance, other.covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.values, other.values, rtol=1e-9)
    best = optima(pool, plain)
    np.testing.assert_array_equal(ours.summary(best)(block).gain, plain.summary(best)(block).gain)


def test_of_very_many_contenders_some_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares add up to the doubt of all, and the gain stays close to that of all."""
    ours, _ = _pair(size=400)
    pool = DensePool(_table(300, 20)[0])
    everyone = contenders(pool, leading(pool, ours, 40))
    few = Condensed.of(everyone, 64)
    assert len(few.picked) <= 64 < len(everyone.items)
    assert few.doubt.sum() == pytest.approx(everyone.doubt.sum())
    own = few.own(everyone.items)
    np.testing.assert_allclose(own[few.picked] + few.doubt, everyone.doubt[few.picked])
    np.testing.assert_array_equal(few.own(np.array([10**6])), [0.0])
    block = Block(np.arange(300), pool.take(np.arange(300)))
    wanted = ours.tradeoff(everyone)(block).gain
    monkeypatch.setattr(wide, "_CONTENDERS", 64)
    got = ours.tradeoff(everyone)(block).gain
    assert np.corrcoef(got, wanted)[0, 1] > 0.8


def _pick(model: LinearModel | ForestModel) -> int:
    """The next of 40 candidates, 12 of them labelled."""
    x, y = _table(40, model.n_features)
    seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(12)]
    pool = DensePool(x, removed=np.arange(12))
    posterior = model.posterior(seen, stream(0, "model"))
    return BudgetIDS().choose(posterior, pool, 6, stream(0, "policy")).item


@pytest.mark.parametrize(
    ("model", "narrow"),
    [
        (LinearModel(3000, constant_column=2999), LinearModel(4, constant_column=3)),
        (ForestModel(3000), ForestModel(4)),
    ],
)
def test_a_wide_table_needs_no_square_of_its_width(
    model: LinearModel | ForestModel, narrow: LinearModel | ForestModel
) -> None:
    """3,000 columns, 12 labels: 72 MB a d × d matrix; a pick holds less than one in all."""
    _pick(narrow)  # what is imported on the way is not counted
    tracemalloc.start()
    assert 12 <= _pick(model) < 40
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 3000**2
