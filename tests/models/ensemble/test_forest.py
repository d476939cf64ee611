"""The forest: leaves against a loop, labels left out in earnest, and few labels."""

import os
import subprocess
import sys

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.rng import stream
from serendip.models.ensemble.calibration import Scale
from serendip.models.ensemble.forest import ForestModel
from serendip.problems.framing import Columns, frame_problem


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def problem(seed, t, d=4):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((t, d))
    return x, np.sign(x[:, 0]) + 0.3 * x[:, 1] + 0.1 * rng.standard_normal(t)


def counts_of(rng, t, n_trees):
    """How often each tree sees each label: the first that a fit draws."""
    return rng.multinomial(t, np.full(t, 1 / t), size=n_trees)


def test_leaves_hold_shrunk_means_of_the_labels_seen():
    x, y = problem(0, 15)
    trees, n_trees, _ = ForestModel(4, n_trees=20).fit(x, y, Scale.of(y), stream(0, "fit"))
    counts = counts_of(stream(0, "fit"), 15, n_trees)
    fresh = problem(1, 6)[0]
    mean, departures = trees(fresh)
    expected = np.empty((6, n_trees))
    for k, tree in enumerate(trees.trees):
        seen_at = tree.apply(x.astype(np.float32))
        for row, leaf in enumerate(tree.apply(fresh.astype(np.float32))):
            inside = np.where(seen_at == leaf, counts[k], 0)
            own = counts[k] @ y / 15
            expected[row, k] = (inside @ y + 0.1 * own) / (inside.sum() + 0.1)
    np.testing.assert_allclose(mean, expected.mean(axis=1))
    apart = departures - (expected - expected.mean(axis=1)[:, None])
    assert 0 < np.abs(apart).mean() < 1  # what leaves that hold few labels leave open


@pytest.mark.parametrize("t", [3, 12])
def test_a_label_left_out_was_never_seen(t):
    """Whatever label i says, the trees that are asked about it say the same."""
    x, y = problem(2, t)
    model, scale = ForestModel(4), Scale.of(y)
    told = model.fit(x, y, scale, stream(0, "fit"))[2]
    assert np.all(told.count > 5)
    for i in range(t):
        other = y.copy()
        other[i] += 100.0
        moved = model.fit(x, other, scale, stream(0, "fit"))[2]
        assert moved.mean[i] == told.mean[i]
        assert np.any(np.delete(moved.mean, i) != np.delete(told.mean, i))


def test_same_labels_and_stream_same_forest():
    x, y = problem(3, 10)
    block = Block(np.arange(10), problem(4, 10)[0])
    first, again, other = (
        ForestModel(4).posterior(observations(x, y), stream(seed, "fit")) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.moments()(block), again.moments()(block))
    np.testing.assert_array_equal(first.held_out().log_density, again.held_out().log_density)
    assert np.any(first.moments()(block)[0] != other.moments()(block)[0])


@pytest.mark.parametrize("t", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_few_labels_will_do_in_any_unit(t, unit):
    x, y = problem(5, t)
    posterior = ForestModel(4).posterior(observations(x, unit * y), stream(0, "fit"))
    mean, deviation = posterior.moments()(Block(np.arange(50), problem(6, 50)[0]))
    assert np.isfinite(mean).all()
    assert deviation.min() > 0.01 * (unit if t else 1.0)
    assert len(np.unique(deviation)) == 50  # candidates differ from the start
    assert posterior.held_out().log_density.shape == (t,)
    assert np.isfinite(posterior.held_out().log_density).all()


def test_units_do_not_matter():
    x, y = problem(7, 30)
    block = Block(np.arange(50), problem(8, 50)[0])
    plain, scaled = (
        ForestModel(4).posterior(observations(x, unit * y), stream(0, "fit")) for unit in (1, 1024)
    )
    expected = np.asarray(plain.moments()(block)) * 1024
    np.testing.assert_allclose(scaled.moments()(block), expected, rtol=1e-9)
    np.testing.assert_allclose(
        scaled.held_out().log_density, plain.held_out().log_density - np.log(1024), rtol=1e-9
    )


@pytest.mark.parametrize("level", [0.0, 0.7])
def test_equal_labels_leave_doubt(level):
    """Twenty equal labels: the mean is theirs, and less is sure far away than near."""
    x, _ = problem(9, 20)
    posterior = ForestModel(4).posterior(observations(x, np.full(20, level)), stream(0, "fit"))
    mean, deviation = posterior.moments()(Block(np.arange(2), np.stack([x[0], x[0] + 5.0])))
    np.testing.assert_allclose(mean, level, atol=1e-9)
    assert 0 < deviation[0] < deviation[1]


def test_equal_rows_may_have_different_labels():
    seen = observations(np.ones((6, 2)), np.arange(6.0))
    posterior = ForestModel(2).posterior(seen, stream(0, "fit"))
    mean, deviation = posterior.moments()(Block(np.arange(1), np.ones((1, 2))))
    assert abs(mean[0] - 2.5) < 1.0
    assert deviation[0] > 0.1
    assert np.isfinite(posterior.held_out().log_density).all()


def test_huge_features_do_no_harm():
    x, y = problem(10, 8)
    x[0] = 1e300
    posterior = ForestModel(4).posterior(observations(x, y), stream(0, "fit"))
    assert np.isfinite(posterior.held_out().log_density).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_features": 0}, "n_features"),
        ({"n_features": 2, "n_trees": 5}, "n_trees"),
        ({"n_features": 2, "share": 0.0}, "share"),
        ({"n_features": 2, "share": 1.5}, "share"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        ForestModel(**settings)


@pytest.mark.parametrize("name", ["forest", "neural"])
def test_a_table_becomes_a_model_without_a_constant_column(name):
    import pandas as pd

    frame = pd.DataFrame({"n": [1.0, 2, 3, 4], "base": ["u", "v", "u", "w"], "y": [1.0, 2, 3, 4]})
    framed = frame_problem(frame, Columns(name), ("y",), ("0", "1", "2", "3"))
    assert framed.x.shape == (4, 4)
    assert framed.model.n_features == 4
    assert not framed.unit_labels


def test_scikit_learn_is_not_imported_until_a_forest_grows():
    code = (
        "import sys, numpy as np; from serendip import ForestModel, backtest, stream; "
        "ForestModel(2).posterior((), stream(0)); assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
