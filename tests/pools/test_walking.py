"""A walk says how far it is, whoever does it, and nobody waits for one that was given up."""

import time
from dataclasses import dataclass

import numpy as np
import pytest

from serendip.core.progress import listening
from serendip.pools import walking
from serendip.pools.dense import DensePool

N, ROWS = 1000, 100


@dataclass(frozen=True)
class Sum:
    """The sum of all rows; slow or broken at some."""

    seconds: float = 0.0
    broken: int = -1

    def start(self):
        return 0.0

    def step(self, state, block):
        if self.broken in block.items:
            raise KeyboardInterrupt
        time.sleep(self.seconds)
        return state + float(block.x.sum())

    def merge(self, left, right):
        return left + right


@pytest.fixture(name="pool")
def _pool():
    x = np.arange(N, dtype=np.float64)[:, None]
    return DensePool(x, block_rows=ROWS, removed=np.arange(150, 350))


@pytest.mark.parametrize("threads", ["1", "3"])
def test_every_block_is_told_and_the_answer_is_the_same(pool, threads, monkeypatch):
    monkeypatch.setenv("SERENDIP_THREADS", threads)
    alone, heard = pool.fold(Sum()), []
    with listening(lambda *told: heard.append(told)):
        assert pool.fold(Sum()) == alone
    told = [rows for _, rows, _ in heard]
    assert {(what, of) for what, _, of in heard} == {("looking through the pool", N)}
    assert told[0] == 0
    assert told[-1] == N
    assert all(0 < rows <= ROWS for rows in np.diff(told))


@pytest.mark.parametrize("n", [1, 100, 4095, 4096, 8192, 10_000, 33_000, 1_000_003])
@pytest.mark.parametrize("most", [1, 700, 8192])
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_a_pool_is_cut_alike_for_all_threads(n, most, threads):
    rows, workers = walking._cut(n, most, threads)
    blocks = -(-n // rows)
    assert 1 <= rows <= most
    assert 1 <= workers <= min(threads, blocks)
    assert blocks <= -(-n // most) + workers
    assert workers == 1 or rows * workers >= 2048 or most < 2048
    assert (blocks - 1) * rows + 1 > n * (workers - 1) / workers - rows  # no thread is left idle


def test_who_interrupts_does_not_wait_for_the_other_threads(pool, monkeypatch):
    monkeypatch.setenv("SERENDIP_THREADS", "2")
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pool.fold(Sum(seconds=1.0, broken=10))  # the other thread has five blocks before it
    assert time.monotonic() - began < 4.0
