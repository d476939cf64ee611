"""Engines: what may be combined, and pools that are the same on each."""

import numpy as np
import pytest

from serendip.compute.engines import Engine, executor_on, sharded_pool
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import everything
from serendip.pools.dense import DensePool
from serendip.pools.sources import ArraySource


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "procesess"}, "Did you mean processes"),
        ({"name": "processes", "address": "here:1"}, "--address is of a Ray cluster"),
        ({"shards": 2}, "--shards needs"),
        ({"name": "ray", "shards": 0}, "shards must be at least 1; got 0"),
    ],
)
def test_what_does_not_go_together(options, words):
    with pytest.raises(InvalidInput, match=words):
        Engine(**options)


def test_threads_need_nobody():
    with executor_on(Engine(), ArraySource(np.zeros((3, 1)))) as executor:
        assert executor is None


def test_a_pool_of_an_array_or_a_file(tmp_path):
    x = np.arange(40_000.0).reshape(20_000, 2)
    np.save(tmp_path / "pool.npy", x)
    with (
        sharded_pool(x) as here,
        sharded_pool(tmp_path / "pool.npy") as mapped,
        sharded_pool(tmp_path / "pool.npy", Engine("processes", shards=2), ids=None) as cut,
    ):
        assert isinstance(here, DensePool)
        for pool in (here, mapped, cut):
            smaller = pool.without(12_345)
            assert len(smaller) == 19_999
            np.testing.assert_array_equal(everything(smaller).x, np.delete(x, 12_345, axis=0))
