import numpy as np
import pytest

from serendip.core.rng import stream
from serendip.models.left_out import left_out


def test_left_out_densities_of_a_normal_mean() -> None:
    """Labels N(μ, 1), μ ~ N(0, 1): the law of each given the others is known."""
    rng = stream(0, "labels")
    y = 0.5 + rng.standard_normal(8)
    posterior = y.sum() / 9 + np.sqrt(1 / 9) * rng.standard_normal(200_000)
    found = left_out(-0.5 * (y[:, None] - posterior) ** 2 - 0.5 * np.log(2 * np.pi))
    mean, variance = (y.sum() - y) / 8, 1 + 1 / 8
    exact = -0.5 * (y - mean) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)
    np.testing.assert_allclose(found, exact, atol=0.01)


def test_one_draw_that_denies_a_label_does_not_decide() -> None:
    densities = np.zeros((1, 100))
    densities[0, 0] = -1e6
    assert left_out(densities)[0] == pytest.approx(np.log(99 / (99 + 100**0.75)))
    assert left_out(np.full((2, 5), -1e9)) == pytest.approx(-1e9)
