"""Kernels by hand, as positive matrices, and against their features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serendip.core.errors import InvalidInput
from serendip.models.gp.kernel_terms import Levels, Linear, Radial, Tanimoto, Waves
from serendip.models.gp.kernels import (
    Group,
    Kernel,
    additive,
    default_kernels,
    linear,
    radial,
    single_columns,
    tanimoto,
    weighted,
)

GROUPS = (Group((0,)), Group((1, 2)), Group((3, 4, 5), text=True))
FAMILIES = {
    "linear": linear(GROUPS),
    "rbf": radial(GROUPS, 0.7),
    "matern 5/2": radial(GROUPS, 1.0, 2.5),
    "matern 3/2": radial(GROUPS, 1.0, 1.5),
    "additive": additive(GROUPS, 1.3),
    "additive matern": additive(GROUPS, 1.3, 2.5),
    "tanimoto": tanimoto(GROUPS),
    "sum": weighted((0.3, additive(GROUPS, 2.0)), (0.7, radial(GROUPS, 1.0, 2.5))),
}


def table(rng, n):
    levels = np.eye(3)[rng.integers(3, size=n)]
    return np.c_[rng.standard_normal((n, 3)), levels - levels.mean(axis=0)]


def test_radial_by_hand():
    x, z = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])  # five apart
    assert Radial((0, 1), 5.0).matrix(x, z)[0, 0] == pytest.approx(np.exp(-0.5))
    a = np.sqrt(3.0)
    assert Radial((0, 1), 5.0, 1.5).matrix(x, z)[0, 0] == pytest.approx((1 + a) * np.exp(-a))
    a = np.sqrt(5.0)
    value = Radial((0, 1), 5.0, 2.5).matrix(x, z)[0, 0]
    assert value == pytest.approx((1 + a + 5 / 3) * np.exp(-a))
    assert Radial((1,), 4.0).matrix(x, z)[0, 0] == pytest.approx(np.exp(-0.5))


def test_linear_by_hand():
    features = Linear((0, 2), 2.0).features(np.array([[1.0, 9.0, 3.0], [2.0, 9.0, -1.0]]))
    assert features[0] @ features[1] == pytest.approx((1 * 2 - 3 * 1) / 2)


def test_tanimoto_by_hand():
    bits = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]])
    expected = [[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(Tanimoto((0, 1, 2, 3)).matrix(bits, bits), expected)


def test_waves_by_hand():
    # Q = 1, one node in the middle: the only frequency is the median of |ω|, 0.6745 / ℓ.
    features = Waves((0, 1), 2.0, n_frequencies=1).features(np.array([[0.0, 0.0], [1.0, 3.0]]))
    omega = 0.6744897501960817 / 2
    expected = 0.5 * (np.cos(omega) + np.cos(3 * omega))
    assert features[0] @ features[1] == pytest.approx(expected, abs=1e-6)
    assert features[1] @ features[1] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("smoothness", "room"), [(1.5, 0.07), (2.5, 0.04), (np.inf, 0.01)])
def test_waves_are_close_to_the_kernel_they_stand_for(smoothness, room):
    x = np.linspace(0.0, 3.0, 60)[:, None]
    features = Waves((0,), 1.0, smoothness).features(x)
    exact = Radial((0,), 1.0, smoothness).matrix(x[:1], x)[0]
    assert np.abs(features[0] @ features.T - exact).max() < room


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 15))
def test_matrices_are_positive_and_symmetric(family, seed, n):
    kernel = FAMILIES[family]
    x = table(np.random.default_rng(seed), n)
    matrix = kernel.matrix(x, x)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9
    np.testing.assert_allclose(kernel.diagonal(x), np.diag(matrix), atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_sketches_have_the_covariance_of_the_kernel(family):
    """4096 random features: errors of standard deviation at most 1/64, bound at 5 of them."""
    kernel, rng = FAMILIES[family], np.random.default_rng(3)
    x = table(rng, 12)
    total = kernel.features(x) @ kernel.features(x).T
    for root, sketch in kernel.sketches(4096, rng):
        waves = root * sketch(x)
        total += waves @ waves.T
    np.testing.assert_allclose(total, kernel.matrix(x, x), atol=5 / 64)


def test_a_text_group_is_linear_up_to_a_constant():
    """All levels are equally far apart, so any radial kernel of them is linear and a constant."""
    levels = np.eye(3)
    kernel = additive((Group((0, 1, 2), text=True),), 1.0)
    matrix = kernel.matrix(levels, levels)
    np.testing.assert_allclose(matrix, np.eye(3))
    rbf = radial((Group((0, 1, 2), text=True),), 1.0).matrix(levels, levels)
    slope = rbf[0, 0] - rbf[0, 1]
    np.testing.assert_allclose(rbf, slope * matrix + rbf[0, 1])


def test_lengthscales_grow_with_the_number_of_groups():
    few, many = radial(single_columns(4), 0.5), radial(single_columns(16), 0.5)
    x = np.ones((1, 16))
    value = few.matrix(x[:, :4], 0 * x[:, :4])[0, 0]
    assert many.matrix(x, 0 * x)[0, 0] == pytest.approx(value) == pytest.approx(np.exp(-2))


def test_sums_are_weighted():
    x = table(np.random.default_rng(0), 5)
    parts = [FAMILIES["linear"], FAMILIES["rbf"]]
    total = weighted((0.25, parts[0]), (2.0, parts[1]))
    expected = 0.25 * parts[0].matrix(x, x) + 2.0 * parts[1].matrix(x, x)
    np.testing.assert_allclose(total.matrix(x, x), expected)
    assert total.name == "linear + radial"


def test_the_default_family_is_moderate():
    assert len(default_kernels(GROUPS)) * 5 <= 40


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Radial((0,), 0.0), "lengthscale"),
        (lambda: Waves((0,), 1.0, 2.0), "smoothness"),
        (lambda: Kernel(), "terms"),
        (lambda: weighted((-1.0, linear(GROUPS))), "positive"),
        (lambda: linear(()), "at least one group"),
        (lambda: radial((Group(()),), 1.0), "each group a column"),
    ],
)
def test_bad_settings_are_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


@pytest.mark.parametrize("texts", [0, 1, 3])
def test_only_names_may_add_up_and_no_more(texts):
    """Where effects add up among the labels a policy chose, such a one is sure of all the rest."""
    factors = (Levels((0, 1), (0.0, 1.0)), Levels((2,), (0.0, 1.0)))
    groups = tuple(Group((column,), text=column < texts) for column in range(3))
    shares = [sum(weight for weight, _ in kernel.sketched) for kernel in default_kernels(groups)]
    shares += [sum(w for w, _ in kernel.sketched) for kernel in default_kernels(groups, factors)]
    assert (min(shares) < 1.0 / 3.0) == (texts == 3)
