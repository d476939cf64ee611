import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import naive_gain
from serendip.core.groups import Groups


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20), n_draws=st.integers(1, 30))
def test_spread_equals_the_loop(seed, n, n_draws):
    values = np.random.default_rng(seed).standard_normal((n, n_draws))
    groups = Groups.of(values.argmax(axis=0), np.full(n_draws, 1 / n_draws))
    mean, spread = groups.spread(values.T)
    np.testing.assert_allclose(mean, values.mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(spread, naive_gain(values), atol=1e-12)
    assert np.all(spread <= values.var(axis=1) + 1e-12)


def test_rows_of_outcomes_are_compared_whole():
    outcomes = np.array([[1, 2], [2, 1], [1, 2], [1, 3]])
    groups = Groups.of(outcomes, np.array([0.1, 0.2, 0.3, 0.4]))
    np.testing.assert_allclose(np.sort(groups.masses), [0.2, 0.4, 0.4])


def test_a_single_group_has_all_the_mass_and_tells_nothing():
    rng = np.random.default_rng(0)
    for n_draws in range(1, 60):
        weights = rng.dirichlet(np.ones(n_draws))
        groups = Groups.of(np.zeros(n_draws, dtype=np.int64), weights)
        values = rng.standard_normal((n_draws, 3))
        mean, spread = groups.spread(values)
        assert groups.masses.tolist() == [1.0]
        assert spread.tolist() == [0.0, 0.0, 0.0]
        np.testing.assert_allclose(mean, weights @ values)


def test_a_group_without_weight_does_no_harm():
    groups = Groups.of(np.array([0, 1]), np.array([1.0, 0.0]))
    assert np.isfinite(groups.means(np.array([[1.0], [2.0]]))).all()
