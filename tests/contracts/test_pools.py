"""What every pool must do; an implementation joins by adding itself to POOLS."""

import pickle

import numpy as np
import pytest

from pools.storage.files import arrow_file, bit_files, bit_matrix, npy_file
from serendip.core.errors import AlreadyLabelled, InvalidInput
from serendip.core.reductions.folds import everything
from serendip.pools.dense import DensePool
from serendip.pools.product import ProductRows
from serendip.pools.screening.bounded import BoundedPool
from serendip.pools.storage.fingerprints import fingerprint_rows
from serendip.pools.storage.mapped import mapped_pool
from serendip.pools.streamed import StreamedPool
from shard_cases import sharded

X = np.arange(60.0).reshape(20, 3)
BITS = np.random.default_rng(0).random((20, 9)) < 0.3


def _product(interactions, block_rows):
    acids, amines = np.arange(8.0).reshape(4, 2), np.arange(5.0)[:, None] - 7.0
    rows = []
    for acid in acids:
        for amine in amines:
            crossed = np.outer(acid, amine).ravel() if interactions else []
            rows.append(np.concatenate([acid, amine, crossed, [1.0]]))
    return StreamedPool(ProductRows((acids, amines), interactions), None, block_rows), rows


def _bits(folder, block_rows):
    files = bit_files(folder, BITS)
    return StreamedPool(fingerprint_rows(*files, 9, 0.5), None, block_rows), bit_matrix(BITS, 0.5)


POOLS = {
    "one block": lambda folder: (DensePool(X), X),
    "many blocks": lambda folder: (DensePool(X, block_rows=3), X),
    "float32": lambda folder: (DensePool(X.astype(np.float32), block_rows=7), X),
    "integers": lambda folder: (DensePool(X.astype(np.int64), block_rows=1), X),
    "npy": lambda folder: (mapped_pool(npy_file(folder, X, "float64"), block_rows=3), X),
    "npy float32": lambda folder: (mapped_pool(npy_file(folder, X, "float32")), X),
    "npy float16": lambda folder: (mapped_pool(npy_file(folder, X, "float16"), None, 1), X),
    "npy big-endian": lambda folder: (mapped_pool(npy_file(folder, X, ">f4"), None, 9), X),
    "npy by columns": lambda folder: (
        mapped_pool(npy_file(folder, np.asfortranarray(X), "float32"), None, 7),
        X,
    ),
    "arrow": lambda folder: (mapped_pool(arrow_file(folder, X, 6), None, 4), X),
    "arrow lists": lambda folder: (mapped_pool(arrow_file(folder, X, 7, True), None, 5), X),
    "fingerprints": lambda folder: _bits(folder, 3),
    "fingerprints, one block": lambda folder: _bits(folder, 0),
    "product": lambda folder: _product(False, 3),
    "product with interactions": lambda folder: _product(True, 0),
    "one shard": lambda folder: (sharded(X, 1, block_rows=3), X),
    "shards": lambda folder: (sharded(X, 3, block_rows=4), X),
    "a shard a row": lambda folder: (sharded(X.astype(np.float32), 20, block_rows=1), X),
    "bounded": lambda folder: (BoundedPool(DensePool(X, block_rows=6), least=1, first=2), X),
}


@pytest.fixture(params=POOLS, name="made")
def _made(request, tmp_path):
    return POOLS[request.param](tmp_path)


@pytest.fixture(name="pool")
def _pool(made):
    return made[0]


@pytest.fixture(name="x")
def _x(made):
    return np.asarray(made[1])


def test_fold_sees_every_remaining_candidate_once(pool, x):
    smaller = pool.without(0).without(19).without(7)
    assert (len(pool), len(smaller)) == (20, 17)
    np.testing.assert_array_equal(everything(smaller).items, np.delete(np.arange(20), [0, 7, 19]))
    np.testing.assert_array_equal(everything(smaller).x, np.delete(x, [0, 7, 19], axis=0))


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


def test_take_keeps_the_order_asked_for(pool, x):
    np.testing.assert_array_equal(pool.take(np.array([5, 1, 5])), x[[5, 1, 5]])
    assert pool.take(np.empty(0, dtype=np.int64)).shape == (0, x.shape[1])


def test_a_pool_travels(pool, x):
    there = pickle.loads(pickle.dumps(pool.without(2)))
    assert 2 not in there
    np.testing.assert_array_equal(everything(there).x, np.delete(x, 2, axis=0))


CUT_AT_WILL = [name for name in POOLS if "shard" not in name and name != "bounded"]


@pytest.mark.parametrize("made", CUT_AT_WILL, indirect=True)
def test_how_it_is_cut_changes_nothing(pool, x):
    for rows in (1, 2, 7, 19, 20, 1000):
        np.testing.assert_array_equal(everything(pool.with_block_rows(rows)).x, x)


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
