"""How exploratory a pool is: designs against slow, obvious solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from serendip import theory
from serendip.core.rng import stream


def by_cutting_planes(x, n_rounds=400):
    """C_min between bounds, by linear programmes: λ_min(M) is the least vᵀMv over unit v."""
    n, d = x.shape
    directions = list(np.eye(d))
    for _ in range(n_rounds):
        reach = (x @ np.array(directions).T) ** 2  # maximise t with Σ π(x) (vᵀx)² ≥ t for every v
        found = linprog(
            np.r_[np.zeros(n), -1.0],
            A_ub=np.c_[-reach.T, np.ones(len(directions))],
            b_ub=np.zeros(len(directions)),
            A_eq=np.r_[np.ones(n), 0.0][None],
            b_eq=[1.0],
            bounds=[(0, None)] * n + [(None, None)],
        )
        share, upper = found.x[:n], -found.fun
        values, vectors = np.linalg.eigh((x.T * share) @ x)
        if upper - values[0] <= 1e-5 * upper:
            break
        directions.extend(vectors.T[: 1 + d // 2])
    return values[0], upper


def pools():
    plain = stream(1).standard_normal((100, 3))
    yield "the document's own", stream(3).standard_normal((500, 5))
    yield "one feature", stream(4).standard_normal((350, 1))
    yield "two features", stream(5).standard_normal((401, 2))
    yield "duplicates", np.repeat(plain, 6, axis=0)
    yield "features of unlike sizes", stream(2).standard_normal((800, 3)) * [1.0, 30.0, 0.1]
    yield "bits", (stream(6).random((600, 5)) < 0.3).astype(float)
    yield "as many as features", stream(7).standard_normal((4, 4))
    yield "integers", np.arange(1000).reshape(500, 2) % 17


@pytest.mark.parametrize(("name", "x"), list(pools()))
def test_exploration_agrees_with_linear_programmes(name, x):
    found = theory.exploration(x)
    below, above = by_cutting_planes(np.asarray(x, dtype=float))
    assert found.lower <= above * (1 + 1e-6)
    assert found.upper >= below * (1 - 1e-6)
    assert found.gap <= 1e-3
    assert found.lower >= (1 - 2e-3) * below
    _check_design(x, found)


@pytest.mark.parametrize("x", [np.ones((400, 3)), np.c_[np.ones(350), np.zeros(350)]])
def test_a_pool_that_does_not_span_the_space_explores_nothing(x):
    found = theory.exploration(x)
    assert found.lower == found.upper == found.gap == 0.0
    _check_design(x, found)


def test_the_clock_has_no_part_in_exploration(monkeypatch):
    x = stream(8).standard_normal((2000, 8))
    plain = theory.exploration(x)
    clock = iter(range(0, 10**9, 10**6))  # a machine so busy that days pass between two looks
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    busy = theory.exploration(x)
    assert (busy.lower, busy.upper) == (plain.lower, plain.upper)
    assert np.array_equal(busy.chances, plain.chances)
    assert plain.gap <= 1e-3


def _check_design(x, found):
    assert found.chances.shape == (len(x),)
    assert abs(found.chances.sum() - 1.0) <= 1e-9
    assert found.chances.min() >= 0.0
    assert found.upper * (1.0 - found.gap) == pytest.approx(found.lower)
    attained = np.linalg.eigvalsh((x.T * found.chances) @ x)[0]
    assert attained == pytest.approx(found.lower, rel=1e-6, abs=1e-9)


def test_exploration_of_known_designs():
    assert theory.exploration(np.eye(4)).lower == pytest.approx(0.25)
    signs = np.array([[1.0, 1.0], [1.0, -1.0]])
    assert theory.exploration(signs).upper == pytest.approx(1.0, rel=2e-3)
    flat = theory.exploration(np.array([[1.0, 1.0], [2.0, 2.0]]))
    assert flat.lower <= flat.upper <= 1e-12
    assert theory.exploration(np.zeros((3, 2))).upper == 0.0


def test_exploration_brackets_a_grid():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((4, 2)) * np.array([1.0, 0.3])
    found = theory.exploration(x, tolerance=1e-3)
    side = np.linspace(0.0, 1.0, 41)
    grid = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)
    grid = grid[grid.sum(axis=1) <= 1.0]
    shares = np.c_[grid, 1.0 - grid.sum(axis=1)]
    moments = np.einsum("gn,nd,ne->gde", shares, x, x)
    best = np.linalg.eigvalsh(moments)[:, 0].max()
    assert best <= found.upper
    assert found.lower >= 0.98 * best
    assert found.lower <= found.upper <= found.lower * 1.002


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 600))
def test_exploration_witness_proves_its_bound(seed, dimension, n):
    x = np.random.default_rng(seed).standard_normal((n, dimension))
    found = theory.exploration(x, tolerance=1e-2)
    _check_design(x, found)
    assert found.lower <= found.upper * (1 + 1e-9) + 1e-12
    if n >= dimension:
        assert found.upper - found.lower <= 0.011 * found.upper + 1e-9


def test_exploration_of_a_larger_pool_needs_more_than_its_working_set():
    x = np.random.default_rng(0).standard_normal((3000, 4))
    found = theory.exploration(x, tolerance=0.01)
    assert found.upper <= 1.02 * found.lower
