"""How far an ensemble is trusted: against loops, with every label left out in earnest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

from serendip.models.ensemble.calibration import NOISES, SLOPES, SPREADS, Calibration, Scale, Unseen
from serendip.models.label_scale import label_scale


def problem(seed, t, n_members=12):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((t, 2)), 3.0 + rng.standard_normal(t)
    predictions = y[:, None] + rng.standard_normal((t, n_members))
    return x, y, predictions, rng.random((t, n_members)) < 0.4, rng


def test_only_members_that_have_not_seen_a_label_speak_of_it():
    _, _, predictions, unseen, rng = problem(0, 9)
    unseen[0] = False
    jitter = rng.standard_normal(predictions.shape)
    found = Unseen.of(predictions, unseen, jitter)
    for i in range(9):
        own = unseen[i]
        assert found.count[i] == own.sum()
        if found.count[i] >= 1:
            assert found.mean[i] == pytest.approx(predictions[i, own].mean())
        if found.count[i] >= 2:
            apart = predictions[i, own] + jitter[i, own] - predictions[i, own].mean()
            assert found.variance[i] == pytest.approx((apart**2).sum() / (own.sum() - 1))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), t=st.integers(3, 12))
def test_each_label_is_foretold_with_the_weights_of_the_others(seed, t):
    x, y, predictions, unseen, _ = problem(seed, t)
    unseen[:, :2] = True
    told, scale = Unseen.of(predictions, unseen), Scale.of(y)
    found = Calibration.of(x, y, told, scale)

    def density(i, slope, spread, noise):
        centre = np.delete(y, i).mean()
        mean = centre + slope * (told.mean[i] - centre)
        open_still = scale.spread**2 * (np.mean((x[i] / (1 + abs(x[i]) / 3)) ** 2) + 1) / (1 + t)
        variance = spread * told.variance[i] + noise * scale.spread**2 + open_still
        return norm.logpdf(y[i], mean, np.sqrt(variance))

    grid = [(a, c, r) for a in SLOPES for c in SPREADS for r in NOISES]
    prior = np.array([-2.0 * (a - 1.0) ** 2 for a, _, _ in grid])
    table = np.array([[density(i, *point) for i in range(t)] for point in grid])
    for i in range(t):
        weights = np.exp(prior + np.delete(table, i, axis=1).sum(axis=1))
        expected = np.log(weights @ np.exp(table[:, i]) / weights.sum())
        assert found.held_out.log_density[i] == pytest.approx(expected)
    weights = np.exp(prior + table.sum(axis=1))
    weights /= weights.sum()
    slope, spread, noise = np.array(grid).T
    assert found.slope == pytest.approx(weights @ slope)
    assert found.spread_variance == pytest.approx((weights @ np.sqrt(spread)) ** 2)
    assert found.noise_variance == pytest.approx((weights @ np.sqrt(noise) * scale.spread) ** 2)


@pytest.mark.parametrize(
    ("labels", "offset", "unit"),
    [
        ([], 0.0, 1.0),
        ([2.0], 2.0, 4.0),
        ([2.0, -1.0], 0.5 - 2 * 1.5, 2 * np.sqrt(5) * 1.5),
        ([0.0, 0.0], 0.0, 1.0),
        ([100.0, 101.0], 100.5 - 2 * 0.5, np.sqrt(5)),
    ],
)
def test_few_labels_are_foretold_by_the_prior(labels, offset, unit):
    y = np.array(labels)
    told = Unseen.of(np.zeros((len(y), 4)), np.ones((len(y), 4), dtype=bool))
    found = Calibration.of(np.zeros((len(y), 1)), y, told, Scale.of(y)).held_out.log_density
    np.testing.assert_allclose(found, student(3.0, offset, 0.36 * unit).logpdf(y))


def test_a_label_that_all_have_seen_is_foretold_by_the_prior():
    x, y, predictions, unseen, _ = problem(1, 6)
    unseen[:] = True
    unseen[2, 1:] = False
    found = Calibration.of(x, y, Unseen.of(predictions, unseen), Scale.of(y)).held_out.log_density
    offset, unit = label_scale(y, constant=True, unit=None)
    assert found[2] == pytest.approx(student(3.0, offset, 0.36 * unit).logpdf(y[2]))
    assert np.isfinite(found).all()


def test_labels_far_off_are_never_impossible():
    """A label a million spreads away has a density, and no warning is raised."""
    x, y, predictions, unseen, _ = problem(2, 8)
    unseen[:] = True
    y[3] = 1e6
    assert np.isfinite(
        Calibration.of(x, y, Unseen.of(predictions, unseen), Scale.of(y)).held_out.log_density
    ).all()


def test_good_members_are_trusted_and_bad_ones_are_not():
    rng = np.random.default_rng(3)
    x, y = np.zeros((200, 1)), rng.standard_normal(200)
    unseen = np.ones((200, 20), dtype=bool)

    def calibrated(predictions):
        return Calibration.of(x, y, Unseen.of(predictions, unseen), Scale.of(y))

    sure = calibrated(y[:, None] + 0.01 * rng.standard_normal((200, 20)))
    assert sure.noise_variance < 0.01
    assert sure.slope == pytest.approx(1.0, abs=0.01)
    wild = calibrated(rng.standard_normal((200, 1)) + 0.01 * rng.standard_normal((200, 20)))
    assert wild.noise_variance > 0.5
    assert wild.slope < 0.45
    assert sure.held_out.log_density.mean() > wild.held_out.log_density.mean() + 1.0
