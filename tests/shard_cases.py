"""What the tests of shards share: shards in this process, and reductions that meet misfortune."""

import os
import pickle
import signal
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from serendip.core.data import Scores
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import frontier
from serendip.core.reductions.mixture import two_point
from serendip.core.rng import priority
from serendip.pools.dense import DensePool
from serendip.pools.sharded import Shard, ShardedPool, shard_bounds
from serendip.pools.sources import ArraySource


def mixtures(pool, tradeoff, key):
    """Who is mixed, at several λ; the hull itself may hold one of two that rounding tells apart."""
    items, front = frontier(pool, tradeoff, key)
    rank = priority(key, items)
    found = [two_point(front.regret, front.gain, power, rank) for power in (1.5, 2.0, 4.0)]
    # Where a regret of zero is to be had policies mix nobody.
    return [
        (int(items[best.first]), int(items[best.second])) if np.isfinite(best.log_ratio) else None
        for best in found
    ]


def adversarial(rng, n, d, kind):
    """Rows that are hard to tell apart, or whose sizes are far apart."""
    x = rng.standard_normal((n, d))
    if kind == "duplicates":
        x = x[rng.integers(max(1, n // 4), size=n)]
    elif kind == "near ties":
        x = np.tile(x[0], (n, 1)).astype(np.float32)
        x[:, 0] += np.spacing(x[:, 0]) * rng.integers(-2, 3, size=n)
    elif kind == "huge and tiny":
        x *= 10.0 ** rng.integers(-8, 9, size=(n, 1))
    elif kind == "one giant":
        x[rng.integers(n)] *= 1e9
    elif kind == "zeros":
        x[rng.random(n) < 0.5] = 0.0
    elif kind == "negative":
        x = -np.abs(x)
    elif kind == "one line":  # Δ and g of many rows are nearly collinear
        x = np.outer(np.linspace(-1, 1, n), x[0])
    x = x.astype(np.float32) if rng.random() < 0.5 else x
    return np.asfortranarray(x) if rng.random() < 0.3 else x


class HereExecutor:
    """Shards of this process; all that travels is packed and unpacked as it would be."""

    def __init__(self, source, n_shards):
        self.source = source
        self.bounds = shard_bounds(len(source), n_shards, source.block_rows)
        self.shards = [
            Shard(pickle.loads(pickle.dumps(source.cut(start, stop))).open(), start)
            for start, stop in pairwise(self.bounds.tolist())
        ]

    def fold(self, reduction, removed):
        packed = [pickle.dumps((reduction, gone)) for gone in removed]
        answers = [
            shard.fold(*pickle.loads(one)) for shard, one in zip(self.shards, packed, strict=True)
        ]
        return [pickle.loads(pickle.dumps(answer)) for answer in answers]


def sharded(x, n_shards, block_rows=8192, removed=(), ids=None):
    """A pool cut into shards that are all here."""
    executor = HereExecutor(ArraySource(np.asarray(x), block_rows), n_shards)
    return ShardedPool(executor, ids, np.array(sorted(removed), dtype=np.int64))


@dataclass(frozen=True)
class TreePool:
    """A pool whose blocks are folded in groups and merged two by two, all in any order."""

    pool: DensePool
    seed: int

    def __len__(self):
        return len(self.pool)

    def __contains__(self, item):
        return item in self.pool

    def take(self, items):
        return self.pool.take(items)

    def without(self, item):
        return TreePool(self.pool.without(item), self.seed)

    def fold(self, reduction):
        rng = np.random.default_rng(self.seed)
        blocks = self.pool.fold(_Blocks())
        groups = [[] for _ in range(int(rng.integers(1, 6)))]
        for place in rng.permutation(len(blocks)).tolist():
            groups[int(rng.integers(len(groups)))].append(blocks[place])
        parts = []
        for group in groups:
            state = reduction.start()
            for block in group:
                state = reduction.step(state, block)
            parts.append(state)
        while len(parts) > 1:
            left = parts.pop(int(rng.integers(len(parts))))
            right = parts.pop(int(rng.integers(len(parts))))
            parts.append(reduction.merge(left, right))
        return parts[0]


@dataclass(frozen=True)
class _Blocks:
    def start(self):
        return ()

    def step(self, state, block):
        return (*state, block)

    def merge(self, left, right):
        return left + right


@dataclass(frozen=True)
class Unlucky:
    """A reduction whose worker is killed half-way, at the block that holds some item."""

    reduction: Any
    item: int
    times: int
    folder: Path

    def start(self):
        return self.reduction.start()

    def step(self, state, block):
        if self.item in block.items:
            deaths = len(list(self.folder.iterdir()))
            if deaths < self.times:
                (self.folder / str(deaths)).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return self.reduction.step(state, block)

    def merge(self, left, right):
        return self.reduction.merge(left, right)


@dataclass(frozen=True)
class Waiting:
    """A reduction that stops at the block that holds some item, once, until it is killed."""

    reduction: Any
    item: int
    reached: Path

    def start(self):
        return self.reduction.start()

    def step(self, state, block):
        if self.item in block.items and not self.reached.exists():
            self.reached.touch()
            time.sleep(600)
        return self.reduction.step(state, block)

    def merge(self, left, right):
        return self.reduction.merge(left, right)


@dataclass(frozen=True)
class Through:
    """A pool that passes every reduction through another."""

    pool: Any
    wrapper: Any
    options: tuple

    def __len__(self):
        return len(self.pool)

    def __contains__(self, item):
        return item in self.pool

    def take(self, items):
        return self.pool.take(items)

    def without(self, item):
        return Through(self.pool.without(item), self.wrapper, self.options)

    def fold(self, reduction):
        return self.pool.fold(self.wrapper(reduction, *self.options))


@dataclass(frozen=True)
class Column:
    """Scores read off a column."""

    column: np.ndarray

    def __call__(self, block):
        return Scores((self.column[block.items],))


def squared(number):
    return number**2, os.environ.get("SERENDIP_THREADS"), os.environ.get("SERENDIP_DATA")


def refused(number):
    raise InvalidInput(f"No {number} here.")


def dies_once(task):
    """The number of a task whose process is killed the first time it is run."""
    mark, number = task
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies_always(number):
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def alive(pid):
    """Whether a process still runs; one that has ended and waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(pids, seconds=20.0):
    """Whether all of these processes end within some time."""
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def lower_end(mean, deviation, width):
    """A score that other processes can import."""
    return mean - width * deviation
