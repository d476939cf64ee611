"""Estimators by bootstrap: against refits by hand, labels left out in earnest, odd bootstraps."""

import pickle

import numpy as np
import pytest
from scipy.special import logit
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.rng import stream
from serendip.models.ensemble.calibration import Scale
from serendip.models.ensemble.chances import ChancePosterior
from serendip.models.ensemble.estimator import Constant, EstimatorModel


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def problem(seed, t, d=3):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((t, d))
    return x, x[:, 0] - x[:, 1] + 0.1 * rng.standard_normal(t)


def bootstraps(stream_, t, n_refits):
    """How often each refit sees each label: the first that a fit draws."""
    return stream_.multinomial(t, np.full(t, 1 / t), size=n_refits)


def test_members_are_refits_to_bootstraps():
    x, y = problem(0, 12)
    model = EstimatorModel(Ridge(0.5), 3, n_refits=10)
    members, _, told = model.fit(x, y, Scale.of(y), stream(0, "fit"))
    counts = bootstraps(stream(0, "fit"), 12, 10)
    fresh = problem(1, 7)[0]
    rows = [np.repeat(np.arange(12), count) for count in counts]
    refits = [Ridge(0.5).fit(x[own], y[own]) for own in rows]
    expected = np.stack([one.predict(fresh) for one in refits], axis=1)
    mean, departures = members(fresh)
    np.testing.assert_allclose(mean, expected.mean(axis=1), atol=1e-8)
    np.testing.assert_allclose(departures, expected - expected.mean(axis=1)[:, None], atol=1e-8)
    for i in range(12):
        left = [refits[k].predict(x[[i]])[0] for k in range(10) if counts[k, i] == 0]
        assert told.count[i] == len(left)
        if left:
            assert told.mean[i] == pytest.approx(np.mean(left))


@pytest.mark.parametrize("estimator", [Ridge(), LogisticRegression()])
def test_a_label_left_out_was_never_seen(estimator):
    x, y = problem(2, 10)
    y = (y > 0).astype(float)
    model, scale = EstimatorModel(estimator, 3, n_refits=15), Scale.of(y)
    told = model.fit(x, y, scale, stream(0, "fit"))[2]
    for i in range(10):
        other = y.copy()
        other[i] = 1.0 - other[i]
        moved = model.fit(x, other, scale, stream(0, "fit"))[2]
        assert moved.mean[i] == pytest.approx(told.mean[i], rel=1e-9)
        assert np.any(np.delete(moved.mean, i) != np.delete(told.mean, i))


def test_estimators_that_need_more_labels_wait_for_them():
    """With fewer labels than neighbours the members are constants near the mean, and differ."""
    x, y = problem(3, 4)
    model = EstimatorModel(KNeighborsRegressor(5), 3)
    members, _, _ = model.fit(x, y, Scale.of(y), stream(0, "fit"))
    assert all(isinstance(one, Constant) for one in members.fits)
    posterior = model.posterior(observations(x, y), stream(0, "fit"))
    mean, deviation = posterior.moments()(Block(np.arange(5), problem(4, 5)[0]))
    np.testing.assert_allclose(mean, mean[0])
    assert deviation.min() > 0.1
    assert np.isfinite(posterior.held_out().log_density).all()


def test_an_estimator_that_never_fits_says_why():
    x, y = problem(5, 20)
    with pytest.raises(SerendipError, match=r"KNeighborsRegressor could not .* 20 labels.*n_neigh"):
        EstimatorModel(KNeighborsRegressor(25), 3).posterior(observations(x, y), stream(0, "fit"))


@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeClassifier()])
@pytest.mark.parametrize("labels", [[], [1], [0, 0], [0, 0, 0, 0], [1, 0, 0, 0, 0]])
def test_one_class_is_no_obstacle(estimator, labels):
    x, y = problem(6, len(labels))[0], np.array(labels, dtype=float)
    posterior = EstimatorModel(estimator, 3).posterior(observations(x, y), stream(0, "fit"))
    assert isinstance(posterior, ChancePosterior)
    block = Block(np.arange(20), problem(7, 20)[0])
    mean, deviation = posterior.moments()(block)
    assert np.all((mean > 0) & (mean < 1) & (deviation > 0.01))
    values = posterior.sample(50, stream(0, "draws")).values(block)
    assert np.all((values >= 0) & (values <= 1))
    assert np.isfinite(posterior.held_out().log_density).all()
    if len(labels) == 4:
        assert mean.max() < 0.5


def test_certain_classifiers_are_drawn_to_one_half():
    """A tree says 0 or 1; of t labels that is taken as (0 or t, and ½) / (t + 1)."""
    x, y = problem(8, 30)
    y = (y > 0).astype(float)
    model = EstimatorModel(DecisionTreeClassifier(), 3)
    members, _, _ = model.fit(x, y, Scale.of(y), stream(0, "fit"))
    found = np.unique(np.round(members.predictions(x), 6))
    np.testing.assert_allclose(found, logit(np.array([0.5, 30.5]) / 31), atol=1e-6)


def test_chances_are_calibrated():
    """Of candidates given a chance near p a share near p are hits: within 0.1, over 30 worlds.

    The bins hold over 500 candidates of at least 20 worlds each; a calibrated model would fail
    for fewer than 1 in 1,000 seeds.
    """
    chances, hits = [], []
    model = EstimatorModel(LogisticRegression(), 3, n_refits=20)
    for run in range(30):
        rng = stream(run, "chances")
        x = rng.standard_normal((240, 3))
        truth = 1 / (1 + np.exp(-2.0 * x @ rng.standard_normal(3)))
        y = (rng.random(240) < truth).astype(float)
        posterior = model.posterior(observations(x[:40], y[:40]), rng)
        chances.append(posterior.moments()(Block(np.arange(200), x[40:]))[0])
        hits.append(y[40:])
    chances, hits = np.concatenate(chances), np.concatenate(hits)
    place = np.digitize(chances, [0.2, 0.4, 0.6, 0.8])
    for bin_ in range(5):
        inside = place == bin_
        assert inside.sum() > 500
        assert abs(hits[inside].mean() - chances[inside].mean()) < 0.1


def test_labels_other_than_zero_and_one_are_refused_by_classifiers():
    seen = observations(np.ones((1, 3)), np.array([0.5]))
    with pytest.raises(InvalidInput, match=r"labels 0 and 1; got 0\.5"):
        EstimatorModel(LogisticRegression(), 3).posterior(seen, stream(0))


def test_inner_random_states_come_from_the_stream():
    x, y = problem(9, 15)
    chain = make_pipeline(StandardScaler(), DecisionTreeRegressor(splitter="random"))
    block = Block(np.arange(9), problem(10, 9)[0])
    first, again, other = (
        EstimatorModel(chain, 3, n_refits=10).posterior(observations(x, y), stream(seed))
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.moments()(block), again.moments()(block))
    np.testing.assert_array_equal(first.held_out().log_density, again.held_out().log_density)
    assert np.any(first.moments()(block)[0] != other.moments()(block)[0])


def test_posteriors_travel_and_leave_the_estimator_alone():
    x, y = problem(11, 12)
    estimator = RandomForestClassifier(3)
    model = EstimatorModel(estimator, 3, n_refits=10)
    posterior = model.posterior(observations(x, (y > 0).astype(float)), stream(0))
    assert not hasattr(estimator, "estimators_")
    block = Block(np.arange(5), problem(12, 5)[0])
    copy = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copy.moments()(block), posterior.moments()(block))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EstimatorModel(Ridge(), 0), "n_features"),
        (lambda: EstimatorModel(Ridge(), 2, n_refits=3), "n_refits"),
        (lambda: EstimatorModel(Ridge, 2), "with its settings"),
        (lambda: EstimatorModel("ridge", 2), "'ridge'"),
        (lambda: EstimatorModel(KMeans(), 2), "KMeans"),
        (lambda: EstimatorModel(LinearSVC(), 2), "no chances"),
    ],
)
def test_what_cannot_be_used_is_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


def test_an_exact_estimator_is_trusted():
    """A straight line without noise: after 15 labels its candidates are known."""
    rng = np.random.default_rng(13)
    x = rng.standard_normal((40, 3))
    y = x @ np.array([1.0, -2.0, 0.5]) + 4.0
    posterior = EstimatorModel(LinearRegression(), 3).posterior(
        observations(x[:15], y[:15]), stream(0)
    )
    mean, _ = posterior.moments()(Block(np.arange(25), x[15:]))
    assert np.abs(mean - y[15:]).max() < 0.1
