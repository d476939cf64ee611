"""Reductions over a pool against the obvious version on one big array."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import naive_top
from serendip.core.data import Block, Scores
from serendip.core.errors import SerendipError
from serendip.core.likelihood import Gaussian
from serendip.core.reductions.folds import contenders, everything, leading, lowest, optima
from serendip.core.reductions.leaders import LeadersFold
from serendip.models.draws import LinearDraws, TableDraws, equal_weights
from serendip.pools.dense import DensePool


def linear_draws(theta):
    d = theta.shape[1]
    return LinearDraws(theta, equal_weights(len(theta)), np.zeros(d), np.eye(d), Gaussian(1.0))


def exact_values(x, draws):
    """(n, M) by the same row-by-row sums that `refine` promises."""
    x = np.asarray(x, dtype=np.float64)
    columns = [
        draws.refine(x, np.full(len(x), draw, dtype=np.int64)) for draw in range(len(draws.weights))
    ]
    return np.stack(columns, axis=1)


def assert_leading(pool, draws, count, items, values):
    """The same candidates as these (M, k), best first, in any order; the same last value."""
    found = leading(pool, draws, count)
    np.testing.assert_array_equal(np.sort(found.items, axis=1), np.sort(items, axis=1))
    np.testing.assert_array_equal(found.thresholds, values[:, -1])


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 90),
    d=st.integers(1, 6),
    n_draws=st.integers(1, 12),
    count=st.integers(1, 100),
    block_rows=st.integers(1, 100),
    single=st.booleans(),
    scale=st.sampled_from([1e-18, 1e-4, 1.0, 1e6, 1e15]),
    duplicates=st.booleans(),
)
def test_optima_equal_naive(seed, n, d, n_draws, count, block_rows, single, scale, duplicates):
    rng = np.random.default_rng(seed)
    x = scale * rng.standard_normal((n, d))
    if duplicates:
        x = x[rng.integers(max(1, n // 3), size=n)]
    x = x.astype(np.float32) if single else x
    draws = linear_draws(rng.standard_normal((n_draws, d)))
    pool = DensePool(x, block_rows=block_rows)
    gone = rng.permutation(n)[: n // 4]
    for item in gone:
        pool = pool.without(int(item))
    found = optima(pool, draws, count)
    left = np.setdiff1d(np.arange(n), gone)
    rows, values = naive_top(exact_values(x[left], draws), min(count, len(left)))
    np.testing.assert_array_equal(found.items, left[rows])
    np.testing.assert_array_equal(found.values, values)
    assert_leading(pool, draws, count, left[rows], values)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1000, 9000),
    d=st.integers(1, 12),
    n_draws=st.sampled_from([1, 3, 40, 70]),
    count=st.sampled_from([1, 2, 30, 500, 990]),
    block_rows=st.sampled_from([33, 1000, 4096]),
    kind=st.sampled_from(["plain", "rounded", "outliers"]),
)
def test_optima_of_many_chunks_equal_naive(seed, n, d, n_draws, count, block_rows, kind):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)).astype(np.float32)
    if kind == "rounded":
        x = np.round(x)  # many rows are alike
    elif kind == "outliers":
        x *= (10.0 ** rng.uniform(-9, 9, size=(n, 1))).astype(np.float32)
    draws = linear_draws(rng.standard_normal((n_draws, d)))
    found = optima(DensePool(x, block_rows=block_rows), draws, count)
    rows, values = naive_top(exact_values(x, draws), count)
    np.testing.assert_array_equal(found.items, rows)
    np.testing.assert_array_equal(found.values, values)
    assert_leading(DensePool(x, block_rows=block_rows), draws, count, rows, values)


@pytest.mark.parametrize("count", [1, 7])
def test_a_crowd_of_equal_rows_is_told_apart_by_item(count):
    """Every row ties for every draw: pairs that cannot win leave before they fill the memory."""
    x = np.tile(np.float32([0.1, -0.7, 0.3]), (40_000, 1))
    draws = linear_draws(np.random.default_rng(0).standard_normal((20, 3)))
    pool = DensePool(x, block_rows=5000).without(0)
    found = optima(pool, draws, count)
    np.testing.assert_array_equal(found.items, np.tile(np.arange(1, count + 1), (20, 1)))
    assert_leading(pool, draws, count, found.items, found.values)
    state = LeadersFold(draws, count).start()
    for start in range(0, 40_000, 4000):
        items = np.arange(start, start + 4000)
        state = LeadersFold(draws, count).step(state, Block(items, x[items]))
        assert state.n_settled + state.n_waiting < 20 * 2048 + 5 * 20 * (count // 2 + 64)


def test_merging_leaders_is_associative_and_commutative():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((900, 3)).astype(np.float32)
    draws = linear_draws(rng.standard_normal((10, 3)))
    fold = LeadersFold(draws, 4)
    a, b, c = (
        fold.step(fold.start(), Block(np.arange(s, s + 300), x[s : s + 300])) for s in (0, 300, 600)
    )
    sets = []
    for state in (
        fold.merge(fold.merge(a, b), c),
        fold.merge(a, fold.merge(b, c)),
        fold.merge(fold.merge(c, a), b),
        fold.merge(fold.merge(a, fold.start()), fold.merge(c, b)),
    ):
        pairs = state.compact(4).pairs
        sets.append(sorted(zip(pairs.draw.tolist(), pairs.item.tolist(), strict=True)))
    assert sets[0] == sets[1] == sets[2] == sets[3]
    again = pickle.loads(pickle.dumps(fold))
    there = again.merge(pickle.loads(pickle.dumps(a)), b)
    np.testing.assert_array_equal(there.floor, fold.merge(a, b).floor)


def test_near_ties_in_float32_are_settled_in_float64():
    rng = np.random.default_rng(3)
    base = rng.standard_normal(50).astype(np.float32)
    x = np.tile(base, (400, 1))
    x[:, 0] += np.spacing(x[:, 0]) * rng.integers(-2, 3, size=400)
    draws = linear_draws(rng.standard_normal((30, 50)))
    found = optima(DensePool(x, block_rows=64), draws, 5)
    rows, values = naive_top(exact_values(x, draws), 5)
    np.testing.assert_array_equal(found.items, rows)
    np.testing.assert_array_equal(found.values, values)


def test_threads_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((5000, 4)).astype(np.float32)
    draws = linear_draws(rng.standard_normal((20, 4)))
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("SERENDIP_THREADS", threads)
        results.append(optima(DensePool(x, block_rows=100), draws, 30))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].items, other.items)
        np.testing.assert_array_equal(results[0].values, other.values)


def test_contenders_by_hand():
    table = np.array([[3.0, 2.0, 1.0, 0.0], [0.0, 3.0, 1.0, 2.0]])
    draws = TableDraws(table, np.array([0.25, 0.75]), Gaussian(1.0))
    pool = DensePool(np.arange(4)[:, None])
    found = contenders(pool, optima(pool, draws, 2))
    np.testing.assert_array_equal(found.items, [0, 1, 3])
    np.testing.assert_allclose(found.share, [0.25, 1.0, 0.75])
    np.testing.assert_allclose(found.excess(table[:, found.items].T), [0.25, 0.75, 0.0])
    np.testing.assert_array_equal(found.thresholds, [2.0, 2.0])
    np.testing.assert_allclose(found.doubt, [0.1875, 0.0, 0.1875])


def test_who_is_always_among_the_best_has_a_share_of_exactly_one():
    for n_draws in range(2, 400):
        table = np.tile([2.0, 1.0, 0.0], (n_draws, 1))
        table[0, 1:] = 0.0, 1.0
        draws = TableDraws(table, equal_weights(n_draws), Gaussian(1.0))
        pool = DensePool(np.arange(3)[:, None])
        found = contenders(pool, optima(pool, draws, 2))
        assert found.share[0] == 1.0
        assert found.doubt[0] == 0.0
        assert found.doubt[1] > 0


@pytest.mark.parametrize("single", [True, False])
def test_only_values_that_may_be_the_last_are_computed_in_float64(single):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((3000, 5))
    x = x.astype(np.float32) if single else x
    weights = rng.dirichlet(np.ones(40))
    pool, n_refined = DensePool(x, block_rows=257), []

    class Counted(LinearDraws):
        __slots__ = ()

        def refine(self, x, draws):
            n_refined.append(len(draws))
            return super().refine(x, draws)

    theta = rng.standard_normal((40, 5))
    draws = Counted(theta, weights, np.zeros(5), np.eye(5), Gaussian(1.0))
    best = optima(pool, draws, 50)
    n_all = sum(n_refined)
    n_refined.clear()
    found = leading(pool, draws, 50)
    assert sum(n_refined) <= 4 * 40 < n_all
    ours, theirs = contenders(pool, found), contenders(pool, best)
    for name in ("items", "share", "thresholds"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


class ByColumns:
    def __init__(self, *columns):
        self.columns = columns

    def __call__(self, block: Block) -> Scores:
        return Scores(tuple(column[block.items] for column in self.columns))


@settings(max_examples=100, deadline=None)
@given(
    scores=st.lists(st.integers(-3, 3), min_size=1, max_size=60),
    block_rows=st.integers(1, 60),
    key=st.integers(0, 2**62),
)
def test_lowest_does_not_depend_on_the_blocks(scores, block_rows, key):
    first = np.array(scores, dtype=float)
    second = first[::-1].copy()
    pool = DensePool(np.arange(len(first))[:, None])
    whole = lowest(pool, ByColumns(first, second), key)
    cut = lowest(pool.with_block_rows(block_rows), ByColumns(first, second), key)
    assert whole == cut
    tied = np.flatnonzero(first == first.min())
    assert whole.item in tied[second[tied] == second[tied].min()]


def test_later_keys_decide_among_those_the_earlier_ones_leave():
    pool = DensePool(np.arange(6)[:, None])
    first = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    second = np.array([0.0, 5.0, 2.0, 2.0, 2.0, 9.0])
    third = np.array([-9.0, -8.0, 3.0, 1.0, 2.0, -7.0])
    for key in range(20):
        assert lowest(pool, ByColumns(first, second, third), key).item == 3


def test_ties_are_broken_evenly():
    pool = DensePool(np.arange(5)[:, None])
    same = ByColumns(np.zeros(5))
    counts = np.bincount([lowest(pool, same, key).item for key in range(2000)], minlength=5)
    assert counts.min() > 320  # 400 expected, four standard deviations are 72


def test_infinite_scores_are_ordered():
    pool = DensePool(np.arange(3)[:, None])
    assert lowest(pool, ByColumns(np.array([np.inf, -np.inf, 0.0])), 0).item == 1
    all_infinite = ByColumns(np.full(3, np.inf), np.array([2.0, 1.0, 3.0]))
    assert lowest(pool, all_infinite, 0).item == 1


def test_nan_never_reaches_a_choice():
    pool = DensePool(np.arange(3)[:, None])
    with pytest.raises(SerendipError, match="not-a-number"):
        lowest(pool, ByColumns(np.array([0.0, np.nan, 1.0])), 0)
    broken = TableDraws(np.array([[1.0, np.inf, 0.0]]), np.ones(1), Gaussian(1.0))
    with pytest.raises(SerendipError, match="not finite"):
        optima(pool, broken)


def test_everything_is_the_pool_in_order():
    pool = DensePool(np.arange(20.0).reshape(10, 2), block_rows=3).without(4)
    whole = everything(pool)
    np.testing.assert_array_equal(whole.items, [0, 1, 2, 3, 5, 6, 7, 8, 9])
    np.testing.assert_array_equal(whole.x, pool.take(whole.items))
