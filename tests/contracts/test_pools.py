"""What every pool must do; an implementation joins by adding itself to POOLS."""

import numpy as np
import pytest

from serendip.core.errors import AlreadyLabelled, InvalidInput
from serendip.core.folds import everything
from serendip.pools.bounded import BoundedPool
from serendip.pools.dense import DensePool

X = np.arange(60.0).reshape(20, 3)
POOLS = {
    "one block": DensePool(X),
    "many blocks": DensePool(X, block_rows=3),
    "float32": DensePool(X.astype(np.float32), block_rows=7),
    "integers": DensePool(X.astype(np.int64), block_rows=1),
    "bounded": BoundedPool(DensePool(X, block_rows=6), least=1, first=2),
}


@pytest.fixture(params=POOLS, name="pool")
def _pool(request):
    return POOLS[request.param]


def test_fold_sees_every_remaining_candidate_once(pool):
    smaller = pool.without(0).without(19).without(7)
    assert (len(pool), len(smaller)) == (20, 17)
    np.testing.assert_array_equal(everything(smaller).items, np.delete(np.arange(20), [0, 7, 19]))
    np.testing.assert_array_equal(everything(smaller).x, np.delete(X, [0, 7, 19], axis=0))


def test_without_leaves_the_original_as_it_was(pool):
    pool.without(3)
    assert 3 in pool
    assert len(pool) == 20


def test_a_candidate_leaves_once(pool):
    smaller = pool.without(3)
    assert 3 not in smaller
    with pytest.raises(AlreadyLabelled, match="Candidate 3 has been labelled already"):
        smaller.without(3)


def test_unknown_items_are_refused(pool):
    for item in (-1, 20):
        assert item not in pool
        with pytest.raises(InvalidInput, match="items 0 to 19"):
            pool.without(item)


def test_take_keeps_the_order_asked_for(pool):
    np.testing.assert_array_equal(pool.take(np.array([5, 1, 5])), X[[5, 1, 5]])


def test_an_emptied_pool_is_empty(pool):
    for item in range(20):
        pool = pool.without(item)
    assert len(pool) == 0
    assert len(everything(pool)) == 0


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.empty((0, 3)), "at least one row"),
        (np.arange(3.0), "shape"),
        (np.array([[1.0, np.nan]]), "row 0, column 1 holds nan"),
        (np.array([[1.0], [np.inf]]), "row 1, column 0 holds inf"),
        (np.array([["a"]]), "must be numbers"),
    ],
)
def test_bad_features_are_refused(x, words):
    with pytest.raises(InvalidInput, match=words):
        DensePool(x)


def test_bad_ids_are_refused():
    with pytest.raises(InvalidInput, match="'b' stands in rows 1 and 2"):
        DensePool(X[:3], ids=["a", "b", "b"])
    with pytest.raises(InvalidInput, match="got 2 ids for 3 rows"):
        DensePool(X[:3], ids=["a", "b"])
    with pytest.raises(InvalidInput, match="block_rows"):
        DensePool(X, block_rows=0)
    named = DensePool(X[:2], ids=["a", "b"]).without(1)
    with pytest.raises(AlreadyLabelled, match="Candidate b"):
        named.without(1)
