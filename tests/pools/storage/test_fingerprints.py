"""Fingerprints: sparse products equal dense ones, choices equal those of the unpacked pool."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pools.storage.files import bit_files, bit_matrix
from pools.storage.test_mapped import posterior_for
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.core.reductions.folds import everything, optima
from serendip.core.rng import stream
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.greedy import Greedy
from serendip.pools.dense import DensePool
from serendip.pools.storage.fingerprints import fingerprint_rows
from serendip.pools.streamed import StreamedPool


def bit_pool(folder, bits, scale=0.5, block_rows=0):
    rows = fingerprint_rows(*bit_files(folder, bits), bits.shape[1], scale)
    return StreamedPool(rows, None, block_rows)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 80),
    n_bits=st.integers(1, 40),
    block_rows=st.integers(1, 90),
)
def test_choices_equal_those_of_the_dense_pool(tmp_path, seed, n, n_bits, block_rows):
    rng = np.random.default_rng(seed)
    bits = rng.random((n, n_bits)) < rng.choice([0.0, 0.05, 0.3])
    bits[0, 0] = True
    x = bit_matrix(bits, 0.7).astype(np.float32)
    here, there = DensePool(x), bit_pool(tmp_path, bits, 0.7, block_rows)
    for item in rng.permutation(n)[: n // 4].tolist():
        here, there = here.without(item), there.without(item)
    posterior = posterior_for(x, 2, rng)
    draws = posterior.sample(20, rng)
    found, wanted = optima(there, draws, 3), optima(here, draws, 3)
    np.testing.assert_array_equal(found.items, wanted.items)
    np.testing.assert_array_equal(found.values, wanted.values)
    for policy in (BudgetIDS(n_draws=20), Greedy()):
        picks = [policy.choose(posterior, pool, 2, stream(seed, "pick")) for pool in (here, there)]
        assert picks[0].item == picks[1].item


def test_a_block_behaves_like_an_array(tmp_path):
    rng = np.random.default_rng(0)
    bits = rng.random((2100, 60)) < 0.1
    x = bit_matrix(bits, 2.0)
    block = bit_pool(tmp_path, bits, 2.0).rows.read(1000, 2100)
    dense = np.asarray(block)
    assert dense.dtype == block.dtype == np.float32
    np.testing.assert_array_equal(dense, x[1000:])
    np.testing.assert_array_equal(np.asarray(block, dtype=np.float64), x[1000:])
    np.testing.assert_array_equal(block.T, x[1000:].T)
    np.testing.assert_array_equal(np.asarray(np.abs(block)), x[1000:])
    assert np.abs(block).max(initial=0.0) == 2.0
    np.testing.assert_array_equal(np.negative(block), -x[1000:])
    np.testing.assert_array_equal(np.ones((3, 1100)) @ block, np.ones((3, 1100)) @ dense)
    np.testing.assert_array_equal(np.asarray(block[5:9]), x[1005:1009])
    np.testing.assert_array_equal(np.asarray(block[np.array([3, 0])]), x[[1003, 1000]])
    np.testing.assert_array_equal(np.concatenate([block[:2], block[2:4]]), x[1000:1004])
    np.testing.assert_array_equal(block[:, -1], 1.0)
    np.testing.assert_array_equal(block[3], x[1003])
    theta = rng.standard_normal((61, 7)).astype(np.float32)
    np.testing.assert_allclose(block @ theta, dense @ theta, rtol=1e-5, atol=1e-5)
    assert (block @ theta).dtype == np.float32


def test_rows_with_no_bits_are_the_constant(tmp_path):
    bits = np.zeros((10, 4), dtype=bool)
    bits[3, 2] = True
    whole = everything(bit_pool(tmp_path, bits, block_rows=3)).x
    np.testing.assert_array_equal(whole, bit_matrix(bits, 0.5))


def test_files_that_do_not_fit_are_refused(tmp_path):
    bits = np.random.default_rng(0).random((3000, 20)) < 0.3
    files = bit_files(tmp_path, bits)
    with pytest.raises(InvalidInput, match="1 to 65536 bits"):
        fingerprint_rows(*files, 70000, 1.0)
    pool = StreamedPool(fingerprint_rows(*files, 10, 1.0))
    with pytest.raises(DamagedPool, match="holds bit 19 in one of rows"):
        everything(pool)
    np.save(files[2], np.array([0, 5, 7]))
    with pytest.raises(DamagedPool, match="does not belong"):
        fingerprint_rows(*files, 20, 1.0)
    bit_files(tmp_path, bits)
    np.save(files[1], np.ones(3000, dtype=np.int64))
    with pytest.raises(InvalidInput, match="should be a row of uint16"):
        fingerprint_rows(*files, 20, 1.0)
    bit_files(tmp_path, bits)
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[:-10])
    with pytest.raises(DamagedPool, match="is not a whole"):
        fingerprint_rows(*files, 20, 1.0)
