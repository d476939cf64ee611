"""Networks with randomised priors. Needs PyTorch: pip install torch, then these tests run too."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from needs import need_package
from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.rng import stream
from serendip.models.ensemble.calibration import Scale
from serendip.models.ensemble.neural import Network, NeuralModel

SMALL = NeuralModel(3, n_members=12, n_hidden=8, n_steps=60)


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def problem(seed, t):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((t, 3))
    return x, x[:, 0] * x[:, 1] + 0.1 * rng.standard_normal(t)


def test_networks_by_hand():
    """One network of two units: 3·max(0, x₁ − 1) − max(0, x₂ + 2) + ½."""
    network = Network(
        (np.eye(2)[None], np.array([[[3.0], [-1.0]]])),
        (np.array([[[-1.0, 2.0]]]), np.array([[[0.5]]])),
    )
    x = np.array([[2.0, 0.0], [0.0, -3.0], [5.0, 1.0]])
    np.testing.assert_allclose(network(x), [[3.0 - 2.0 + 0.5, 0.5, 12.0 - 3.0 + 0.5]])


def test_drawn_networks_have_values_of_unit_size():
    rng = np.random.default_rng(0)
    network = Network.drawn((20, 64, 64, 1), 300, rng)
    values = network(rng.standard_normal((50, 20)))
    assert values.shape == (300, 50)
    assert 1.0 < np.mean(values**2) < 3.0


def test_mirrored_networks_cancel():
    rng = np.random.default_rng(1)
    network = Network.drawn((3, 5, 1), 7, rng)
    x = rng.standard_normal((4, 3))
    values, plain = network.mirrored()(x), network(x)
    np.testing.assert_array_equal(values[[0, 1, 2, 6]], plain[[0, 1, 2, 6]])
    np.testing.assert_allclose(values[3:6], -plain[:3])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_features": 0}, "n_features"),
        ({"n_features": 2, "n_members": 4}, "n_members"),
        ({"n_features": 2, "n_hidden": 1}, "n_hidden"),
        ({"n_features": 2, "n_steps": 0}, "n_steps"),
        ({"n_features": 2, "decay": 0.0}, "decay"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        NeuralModel(**settings)


def test_without_torch_the_extra_is_named():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np\n"
        "from serendip import NeuralModel, Observation, SerendipError, stream\n"
        "seen = [Observation(i, np.eye(2)[[i]], np.ones(1)) for i in range(2)]\n"
        "prior = NeuralModel(2).posterior((), stream(0))\n"
        "try: NeuralModel(2).posterior(seen, stream(0))\n"
        "except SerendipError as error: assert \"pip install 'serendip[neural]'\" in str(error)\n"
        "else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestWithTorch:
    """What needs PyTorch itself."""

    @pytest.fixture(autouse=True)
    def _torch(self):
        need_package("torch")

    def test_training_reaches_the_minimum_of_what_it_says(self):
        """With one label the loss is quadratic in the last bias alone: solved by hand.

        A network whose features are all shut off has y − p = b, drawn to zero: b = r / (1 + λn).
        """
        from serendip.models.ensemble.neural import _trained

        shut = Network(
            (np.zeros((1, 1, 4)), np.zeros((1, 4, 1))),
            (np.full((1, 1, 4), -1.0), np.zeros((1, 1, 1))),
        )
        found = _trained(shut, np.ones((1, 1)), np.array([[2.0]]), np.ones((1, 1)), 0.1, 600)
        assert found.biases[1][0, 0, 0] == pytest.approx(2.0 / (1 + 0.1 * 4), rel=1e-3)

    def test_labels_that_are_not_seen_do_not_pull(self):
        x, y = problem(0, 12)
        told = SMALL.fit(x, y, Scale.of(y), stream(0, "fit"))[2]
        assert np.all(told.count == 3)
        for i in (0, 5):
            other = y.copy()
            other[i] += 10.0
            scale = Scale(other.mean(), Scale.of(y).spread)
            moved = SMALL.fit(x, other, scale, stream(0, "fit"))[2]
            assert moved.mean[i] == pytest.approx(told.mean[i], abs=1e-5)
            assert moved.variance[i] == pytest.approx(told.variance[i], abs=1e-4)
            assert np.any(np.abs(np.delete(moved.mean - told.mean, i)) > 0.1)

    def test_every_member_sees_a_label(self):
        for seed in range(10):
            told = SMALL.fit(*problem(seed, 2), Scale(0.0, 1.0), stream(seed, "fit"))[2]
            assert np.all(told.count >= 1)
            assert told.count.sum() <= 12

    def test_same_labels_and_stream_same_networks_and_torch_is_left_as_it_was(self):
        import torch

        x, y = problem(1, 10)
        block = Block(np.arange(10), problem(2, 10)[0])
        state, threads = torch.get_rng_state(), torch.get_num_threads()
        first = SMALL.posterior(observations(x, y), stream(0, "fit"))
        torch.manual_seed(5)
        again = SMALL.posterior(observations(x, y), stream(0, "fit"))
        other = SMALL.posterior(observations(x, y), stream(1, "fit"))
        torch.set_rng_state(state)
        assert torch.get_num_threads() == threads
        np.testing.assert_array_equal(first.moments()(block), again.moments()(block))
        np.testing.assert_array_equal(first.held_out().log_density, again.held_out().log_density)
        assert np.any(first.moments()(block)[0] != other.moments()(block)[0])

    @pytest.mark.parametrize("t", [0, 1, 2, 3])
    @pytest.mark.parametrize("unit", [1e-6, 1e6])
    def test_few_labels_will_do_in_any_unit(self, t, unit):
        x, y = problem(3, t)
        posterior = SMALL.posterior(observations(x, unit * y), stream(0, "fit"))
        mean, deviation = posterior.moments()(Block(np.arange(50), problem(4, 50)[0]))
        assert np.isfinite(mean).all()
        assert deviation.min() > 0.01 * (unit if t else 1.0)
        assert np.isfinite(posterior.held_out().log_density).all()

    def test_more_is_known_near_labels_than_far_away(self):
        rng = np.random.default_rng(5)
        x = rng.standard_normal((60, 3))
        posterior = NeuralModel(3).posterior(observations(x, np.sin(x[:, 0])), stream(0, "fit"))
        near = posterior.moments()(Block(np.arange(60), x))[1]
        far = posterior.moments()(Block(np.arange(60), 6.0 * x))[1]
        assert np.median(far) > 3 * np.median(near)

    def test_rows_keep_any_company(self):
        x, y = problem(6, 15)
        draws = SMALL.posterior(observations(x, y), stream(0, "fit")).sample(20, stream(0, "d"))
        fresh, rng = problem(7, 40)[0], np.random.default_rng(8)
        rows, which = rng.integers(40, size=600), rng.integers(20, size=600)
        together = draws.refine(fresh[rows], which)
        alone = [draws.refine(fresh[rows[[j]]], which[[j]])[0] for j in range(50)]
        np.testing.assert_array_equal(together[:50], alone)
        block = Block(np.arange(40), fresh)
        apart = np.abs(draws.values(block)[rows, which] - together)
        assert np.all(apart <= draws.slack(block)[which])

    def test_posteriors_travel_without_torch(self):
        x, y = problem(9, 8)
        posterior = SMALL.posterior(observations(x, y), stream(0, "fit"))
        block = Block(np.arange(8), x)
        written = pickle.dumps(posterior)
        assert b"torch" not in written
        np.testing.assert_array_equal(
            pickle.loads(written).moments()(block), posterior.moments()(block)
        )
