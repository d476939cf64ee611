"""A walk says how far it is, whoever does it, and nobody waits for one that was given up."""

import time
from dataclasses import dataclass

import numpy as np
import pytest

from serendip.core.progress import listening
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
    assert heard == [("looking through the pool", rows, N) for rows in range(0, N + 1, ROWS)]


def test_who_interrupts_does_not_wait_for_the_other_threads(pool, monkeypatch):
    monkeypatch.setenv("SERENDIP_THREADS", "2")
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pool.fold(Sum(seconds=1.0, broken=10))  # the other thread has five blocks before it
    assert time.monotonic() - began < 4.0
