"""Moments of a chance under a Gaussian logit, against a sum over a fine grid."""

import numpy as np
import pytest
from scipy.special import expit

from serendip.models.sigmoid import sigmoid_moments


def by_brute_force(level: float, spread: float) -> tuple[float, float]:
    grid = np.arange(-9.0, 9.0, 0.002)
    masses = np.exp(-0.5 * grid**2)
    masses /= masses.sum()
    chances = expit(level + spread * grid)
    mean = float(chances @ masses)
    return mean, float(np.sqrt((chances - mean) ** 2 @ masses))


@pytest.mark.parametrize(
    "spread", [0.0, 1e-4, 0.1, 1.0, 1.24, 1.26, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0]
)
def test_moments_are_those_of_a_fine_grid(spread: float) -> None:
    levels = np.array([-60.0, -12.0, -3.0, -0.5, 0.0, 0.2, 1.0, 4.0, 9.0, 30.0])
    mean, deviation = sigmoid_moments(levels, np.full(len(levels), spread))
    slow = np.array([by_brute_force(level, spread) for level in levels])
    np.testing.assert_allclose(mean, slow[:, 0], atol=1e-6)
    np.testing.assert_allclose(deviation, slow[:, 1], atol=2e-5)


def test_a_known_logit_has_no_deviation() -> None:
    mean, deviation = sigmoid_moments(np.array([-2.0, 0.0, 3.0]), np.zeros(3))
    np.testing.assert_allclose(mean, expit([-2.0, 0.0, 3.0]), rtol=1e-14)
    np.testing.assert_allclose(deviation, 0.0, atol=1e-15)


def test_where_the_two_rules_meet_they_agree() -> None:
    levels = np.linspace(-8.0, 8.0, 33)
    below = sigmoid_moments(levels, np.full(33, 1.25))
    above = sigmoid_moments(levels, np.full(33, 1.25 + 1e-12))
    np.testing.assert_allclose(above, below, atol=2e-5)
