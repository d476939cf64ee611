"""Pools in files: the same choices as in memory, and no pick from a file that is not right."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pools.storage.files import arrow_file, npy_file
from serendip.core.data import Observation
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.core.reductions.folds import everything, optima
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.greedy import Greedy
from serendip.policies.sample_vids import SampleVIDS
from serendip.pools.dense import DensePool
from serendip.pools.storage.mapped import mapped_pool


def posterior_for(x, n_labels, rng):
    """What is believed after some labels of a linear truth."""
    theta = rng.standard_normal(x.shape[1])
    seen = [
        Observation(item, x[item : item + 1], np.array([float(x[item] @ theta)]))
        for item in range(n_labels)
    ]
    return LinearModel(x.shape[1], 1.0, 0.1).posterior(seen, rng)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 120),
    d=st.integers(1, 6),
    dtype=st.sampled_from(["float16", "float32", "float64"]),
    block_rows=st.integers(1, 130),
    form=st.sampled_from(["rows", "columns", "arrow"]),
    duplicates=st.booleans(),
)
def test_choices_equal_those_in_memory(tmp_path, seed, n, d, dtype, block_rows, form, duplicates):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)).astype(dtype)
    if duplicates:
        x = x[rng.integers(max(1, n // 3), size=n)]
    if form == "arrow":
        path = arrow_file(tmp_path, x, int(rng.integers(1, n + 1)))
    else:
        path = npy_file(tmp_path, np.asfortranarray(x) if form == "columns" else x, dtype)
    here, there = DensePool(x), mapped_pool(path, block_rows=block_rows)
    for item in rng.permutation(n)[: n // 4].tolist():
        here, there = here.without(item), there.without(item)
    posterior = posterior_for(np.asarray(here.x), min(3, n), rng)
    draws = posterior.sample(20, rng)
    for count in (1, 4):
        found, wanted = optima(there, draws, count), optima(here, draws, count)
        np.testing.assert_array_equal(found.items, wanted.items)
        np.testing.assert_array_equal(found.values, wanted.values)
    for policy in (BudgetIDS(n_draws=20), SampleVIDS(n_draws=20), Greedy()):
        picks = [policy.choose(posterior, pool, 2, stream(seed, "pick")) for pool in (here, there)]
        assert picks[0].item == picks[1].item


def test_threads_do_not_change_the_answer(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((5000, 4)).astype(np.float32)
    pool = mapped_pool(npy_file(tmp_path, x, "float32"), block_rows=100)
    draws = posterior_for(x, 4, rng).sample(20, rng)
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("SERENDIP_THREADS", threads)
        results.append(optima(pool, draws, 30))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].items, other.items)
        np.testing.assert_array_equal(results[0].values, other.values)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", ["rows", "columns", "arrow"])
def test_a_value_that_is_not_finite_is_named(tmp_path, value, form):
    x = np.ones((50, 3))
    x[37, 1] = value
    if form == "arrow":
        path = arrow_file(tmp_path, x, 9)
    else:
        path = npy_file(tmp_path, np.asfortranarray(x) if form == "columns" else x)
    pool = mapped_pool(path, block_rows=8)
    with pytest.raises(DamagedPool, match=f"row 37, column 1 of .* holds {value}"):
        everything(pool)
    with pytest.raises(DamagedPool, match="row 37, column 1"):
        pool.take(np.array([3, 37]))
    pool.take(np.array([3, 36]))


def test_large_finite_values_pass(tmp_path):
    x = np.full((50, 3), 3e38, dtype=np.float32)  # their sum is infinite
    np.testing.assert_array_equal(everything(mapped_pool(npy_file(tmp_path, x, "float32"))).x, x)


def test_a_file_cut_short_is_found_on_opening(tmp_path):
    for path in (npy_file(tmp_path, np.ones((50, 3))), arrow_file(tmp_path, np.ones((50, 3)), 7)):
        whole = path.read_bytes()
        for size in (0, 5, 100, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            with pytest.raises(DamagedPool, match=r"is not a whole|bytes where its header"):
                mapped_pool(path)
    path = npy_file(tmp_path, np.ones((50, 3)))
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(DamagedPool, match="header promises"):
        mapped_pool(path)


def test_a_file_that_changes_while_it_is_used_is_found(tmp_path):
    path = npy_file(tmp_path, np.ones((50, 3)))
    pool = mapped_pool(path, block_rows=8)
    os.truncate(path, 700)
    with pytest.raises(DamagedPool, match="changed while it was in use"):
        everything(pool)
    npy_file(tmp_path, 2.0 * np.ones((50, 3)))  # the same size, other values
    with pytest.raises(DamagedPool, match="changed while it was in use"):
        pool.take(np.array([1]))
    path.unlink()
    with pytest.raises(DamagedPool, match="could not be read"):
        everything(pool)


@pytest.mark.parametrize("dtype", ["int64", "complex128", "U3", "bool", "datetime64[s]"])
def test_other_types_are_refused(tmp_path, dtype):
    np.save(tmp_path / "x.npy", np.ones((4, 2)).astype(dtype))
    with pytest.raises(InvalidInput, match="float16, float32 or float64"):
        mapped_pool(tmp_path / "x.npy")


def test_objects_are_not_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(DamagedPool, match="not a whole"):
        mapped_pool(tmp_path / "x.npy")


def test_shapes_and_names_that_are_no_pool(tmp_path):
    for array in (np.ones(4), np.ones((2, 2, 2))):
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(InvalidInput, match="rows and columns"):
            mapped_pool(tmp_path / "x.npy")
    with pytest.raises(InvalidInput, match=r"\.npy, \.arrow or \.feather"):
        mapped_pool(tmp_path / "x.csv")
    with pytest.raises(DamagedPool, match="could not be read"):
        mapped_pool(tmp_path / "nowhere.npy")
    with pytest.raises(InvalidInput, match="2 ids for 4 rows"):
        mapped_pool(npy_file(tmp_path, np.ones((4, 2))), ids=["a", "b"])
    with pytest.raises(InvalidInput, match="block_rows"):
        mapped_pool(npy_file(tmp_path, np.ones((4, 2))), block_rows=-1)


def test_arrow_files_that_cannot_be_read_in_place(tmp_path):
    x = np.ones((2000, 3))
    with pytest.raises(InvalidInput, match="compressed"):
        mapped_pool(arrow_file(tmp_path, x, 2000, compression="zstd"))
    import pyarrow as pa

    for table, words in (
        (pa.table({"a": [1.0, 2.0], "b": ["x", "y"]}), "one type"),
        (pa.table({"a": ["x", "y"]}), "float16, float32 or float64"),
        (pa.table({"a": [1.0, None, 3.0]}), "row 1 of t.arrow has no value"),
        (pa.table({"a": pa.array([[1.0, 2.0], [3.0, None]], pa.list_(pa.float64(), 2))}), "row 1"),
    ):
        path = tmp_path / "t.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(InvalidInput, match=words):
            mapped_pool(path)
