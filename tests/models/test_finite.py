"""Exact information against enumeration, and the paper's bound on it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.reductions.folds import optima
from serendip.models.draws import grouped_summary
from serendip.models.finite import FiniteModel
from serendip.pools.dense import DensePool

RNG = np.random.default_rng(0)


def tiny(seed, n_parameters, n, likelihood):
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((n_parameters, n)), 2)
    masses = rng.dirichlet(np.ones(n_parameters))
    return FiniteModel(values, likelihood, masses).posterior((), rng)


def targets(posterior, count, ordered):
    """The outcome a parameter stands for: its ordered top k, or the set of them."""
    found = []
    for row in posterior.values:
        top = tuple(np.lexsort((np.arange(len(row)), -row))[:count].tolist())
        found.append(top if ordered else tuple(sorted(top)))
    return found


def enumerated(posterior, item, count, ordered):
    """I(A; Y) = Σ_{a, y} p(a, y) log p(a, y) / p(a)p(y) for a binary label."""
    joint = {}
    for mass, row, target in zip(
        posterior.masses, posterior.values, targets(posterior, count, ordered), strict=True
    ):
        for label, chance in ((1, row[item]), (0, 1 - row[item])):
            joint[target, label] = joint.get((target, label), 0.0) + mass * chance
    total = 0.0
    for (target, label), mass in joint.items():
        p_target = sum(m for (a, _), m in joint.items() if a == target)
        p_label = sum(m for (_, y), m in joint.items() if y == label)
        if mass > 0:
            total += mass * np.log(mass / (p_target * p_label))
    return total


def gains(posterior, count, ordered):
    n = posterior.values.shape[1]
    pool = DensePool(np.arange(n)[:, None])
    best = optima(pool, posterior.atoms(), count)
    block = Block(np.arange(n), np.arange(n)[:, None])
    return posterior.information(best, ordered)(block).gain, best, block


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_parameters=st.integers(1, 8),
    n=st.integers(1, 5),
    count=st.integers(1, 6),
    ordered=st.booleans(),
)
def test_binary_information_equals_enumeration(seed, n_parameters, n, count, ordered):
    posterior = tiny(seed, n_parameters, n, Bernoulli())
    gain, _, _ = gains(posterior, count, ordered)
    expected = [enumerated(posterior, item, min(count, n), ordered) for item in range(n)]
    np.testing.assert_allclose(gain, expected, atol=1e-10)


@pytest.mark.parametrize("noise", [0.01, 0.3, 4.0])
@pytest.mark.parametrize("ordered", [True, False])
def test_gaussian_information_equals_quadrature(noise, ordered):
    posterior = tiny(7, 6, 3, Gaussian(noise))
    gain, _, _ = gains(posterior, 2, ordered)
    names = targets(posterior, 2, ordered)
    width = np.sqrt(noise)

    def entropy(masses, centres):
        def minus_plog(y):
            density = masses @ norm.pdf(y, centres, width)
            return -density * np.log(density) if density > 1e-300 else 0.0

        # Adaptive quadrature in pieces: one call would step over narrow peaks.
        edges = np.arange(centres.min() - 10 * width, centres.max() + 10 * width + width, width)
        return sum(quad(minus_plog, low, high)[0] for low, high in pairwise(edges))

    for item in range(3):
        centres = posterior.values[:, item]
        expected = entropy(posterior.masses, centres)
        for name in set(names):
            group = np.array([other == name for other in names])
            mass = posterior.masses[group].sum()
            expected -= mass * entropy(posterior.masses[group] / mass, centres[group])
        assert gain[item] == pytest.approx(expected, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_parameters=st.integers(1, 10),
    n=st.integers(1, 6),
    count=st.integers(1, 6),
)
def test_twice_the_variance_is_below_the_information(seed, n_parameters, n, count):
    """2v ≤ g for labels in [0, 1]: the paper's proposition with Pinsker's constant."""
    posterior = tiny(seed, n_parameters, n, Bernoulli())
    ordered, best, block = gains(posterior, count, ordered=True)
    as_set, _, _ = gains(posterior, count, ordered=False)
    variance = grouped_summary(posterior.atoms(), best)(block).gain
    assert np.all(2 * variance <= ordered + 1e-12)
    assert np.all(as_set <= ordered + 1e-12)


def test_wide_gaussian_noise_breaks_the_proposition():
    """V = 1, but I ≤ ½ log(1 + v/σ²) < 1 with σ² = 100 (docs/paper_notes.md)."""
    values = np.array([[1.0, 0.0], [-1.0, 0.0]])
    posterior = FiniteModel(values, Gaussian(100.0)).posterior((), RNG)
    gain, best, block = gains(posterior, 1, ordered=True)
    variance = grouped_summary(posterior.atoms(), best)(block).gain
    assert variance[0] == pytest.approx(1.0)
    assert gain[0] <= 0.5 * np.log1p(1 / 100) + 1e-9 < variance[0]


def test_bayes_rule_by_hand():
    posterior = FiniteModel(np.array([[0.8], [0.2]]), Bernoulli()).posterior((), RNG)
    updated = posterior.update(Observation(0, np.array([[0]]), np.array([1.0])), RNG)
    np.testing.assert_allclose(updated.masses, [0.8, 0.2])
    mean, _ = updated.moments()(Block(np.array([0]), np.array([[0]])))
    assert mean[0] == pytest.approx(0.68)


def test_a_label_no_parameter_allows_is_refused():
    posterior = FiniteModel(np.array([[1.0], [1.0]]), Bernoulli()).posterior((), RNG)
    with pytest.raises(InvalidInput, match="No parameter of the model allows"):
        posterior.update(Observation(0, np.array([[0]]), np.array([0.0])), RNG)


def test_lookahead_is_bayes_rule():
    posterior = tiny(3, 5, 4, Bernoulli())
    block = Block(np.arange(4), np.arange(4)[:, None])
    _, chances, after = posterior.lookahead(block)(block)
    for item in range(4):
        for label in (0, 1):
            seen = Observation(item, np.array([[item]]), np.array([float(label)]))
            updated = posterior.update(seen, RNG)
            np.testing.assert_allclose(after[item, label], updated.masses @ posterior.values)
        np.testing.assert_allclose(chances[item] @ after[item], posterior.masses @ posterior.values)


@pytest.mark.parametrize(
    ("values", "likelihood", "masses"),
    [
        (np.array([[1.5]]), Bernoulli(), None),
        (np.array([[np.nan]]), Gaussian(1.0), None),
        (np.array([[0.5]]), Bernoulli(), np.array([-1.0])),
        (np.array([0.5]), Bernoulli(), None),
    ],
)
def test_bad_tables_are_refused(values, likelihood, masses):
    with pytest.raises(InvalidInput):
        FiniteModel(values, likelihood, masses)
