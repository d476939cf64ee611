"""Combinations that are never listed, against the list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pools.storage.test_mapped import posterior_for
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import everything, optima
from serendip.core.rng import stream
from serendip.policies.budget_ids import BudgetIDS
from serendip.pools.dense import DensePool
from serendip.pools.product import ProductRows, item_at, places
from serendip.pools.streamed import StreamedPool


def listed(tables, interactions):
    """All rows, written out in nested loops."""
    picks = [()]
    for table in tables:
        picks = [(*pick, row) for pick in picks for row in table]
    rows = []
    for pick in picks:
        cells = list(np.concatenate(pick))
        if interactions:
            for first in range(len(pick)):
                for second in range(first + 1, len(pick)):
                    cells += [a * b for a in pick[first] for b in pick[second]]
        rows.append([*cells, 1.0])
    return np.array(rows)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shapes=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3)), min_size=2, max_size=4),
    interactions=st.booleans(),
    block_rows=st.integers(1, 200),
)
def test_choices_equal_those_of_the_list(seed, shapes, interactions, block_rows):
    rng = np.random.default_rng(seed)
    tables = tuple(rng.standard_normal(shape) for shape in shapes)
    x = listed(tables, interactions)
    here = DensePool(x)
    there = StreamedPool(ProductRows(tables, interactions), None, block_rows)
    assert (len(there), there.rows.width) == x.shape
    np.testing.assert_array_equal(everything(there).x, x)
    n = len(x)
    for item in rng.permutation(n)[: n // 4].tolist():
        here, there = here.without(item), there.without(item)
    posterior = posterior_for(x, min(3, n), rng)
    draws = posterior.sample(15, rng)
    np.testing.assert_array_equal(optima(there, draws, 2).items, optima(here, draws, 2).items)
    picks = [
        BudgetIDS(n_draws=15).choose(posterior, pool, 2, stream(seed, "pick")).item
        for pool in (here, there)
    ]
    assert picks[0] == picks[1]


def test_numbers_and_places_go_there_and_back():
    sizes = (30_000, 20_000, 10_000)
    for item in (0, 1, 9_999, 10_000, 6 * 10**12 - 1):
        found = [int(place[0]) for place in places(np.array([item]), sizes)]
        assert item_at(found, sizes) == item
    assert [int(place[0]) for place in places(np.array([10_001]), sizes)] == [0, 1, 1]


def test_a_pool_of_a_trillion_is_made_at_once():
    tables = tuple(np.random.default_rng(0).standard_normal((10_000, 2)) for _ in range(3))
    pool = StreamedPool(ProductRows(tables)).without(10**12 - 1)
    assert len(pool) == 10**12 - 1
    last = np.concatenate([*(table[-1] for table in tables), [1.0]])
    np.testing.assert_array_equal(pool.take(np.array([10**12 - 1]))[0], last)


def test_tables_that_make_no_product_are_refused():
    with pytest.raises(InvalidInput, match="at least two"):
        ProductRows((np.ones((2, 2)),))
    with pytest.raises(InvalidInput, match="Table 2"):
        ProductRows((np.ones((2, 2)), np.array([[np.nan]])))
    with pytest.raises(InvalidInput, match="too large"):
        ProductRows((np.ones((2**21, 1)),) * 3)
