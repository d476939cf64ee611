"""Where a command does its work: threads of one process, processes, a Ray cluster, or a GPU."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from serendip.core.arguments import instance, whole
from serendip.core.arrays import Array
from serendip.core.errors import InvalidInput
from serendip.core.naming import known

if TYPE_CHECKING:
    from serendip.compute.device.pool import DevicePool
    from serendip.pools.dense import DensePool
    from serendip.pools.sharded import Executor, ShardedPool
    from serendip.pools.sources import Source

ENGINES: Mapping[str, str] = {
    "threads": "this process, on all cores",
    "processes": "processes of this machine, each with a part of the pool",
    "ray": "actors of a Ray cluster, each with a part of the pool",
    "gpu": "an NVIDIA GPU of this machine, for linear models; others use this process",
}
"""Every engine by the name that commands use."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Who computes. It changes the speed, never the answer.

    Attributes:
        shards: Into how many parts the pool is cut; by default one a core.
        address: Ray: host:port of the cluster; by default the one of this machine, or a new one.
    """

    name: str = "threads"
    shards: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        known(self.name, ENGINES, "engine", "engines")
        if self.address is not None and self.name != "ray":
            raise InvalidInput(f"--address is of a Ray cluster; the engine is {self.name}.")
        if self.shards is not None and self.name in ("threads", "gpu"):
            raise InvalidInput("--shards needs --engine processes or --engine ray.")
        if self.shards is not None:
            whole("shards", self.shards, 1)

    @property
    def on_cluster(self) -> bool:
        """Whether other machines may do the work."""
        return self.name == "ray"


@contextmanager
def executor_on(engine: Engine, source: "Source") -> "Iterator[Executor | None]":
    """Who holds the shards of a pool, until the end of the context; None where there are none."""
    if engine.name == "processes":
        from serendip.compute.processes import ProcessExecutor

        with ProcessExecutor(source, engine.shards) as processes:
            yield processes
    elif engine.name == "ray":
        from serendip.compute.actors import RayExecutor
        from serendip.compute.cluster import connected

        with connected(engine.address), RayExecutor(source, engine.shards) as actors:
            yield actors
    else:
        yield None


def placed(pool: "DensePool", engine: Engine) -> "DensePool | DevicePool":
    """The pool with its rows on a GPU, where that is the engine."""
    if engine.name != "gpu":
        return pool
    from serendip.compute.device.pool import DevicePool

    return DevicePool.of(pool)


@contextmanager
def sharded_pool(
    rows: "Array | str | Path", engine: Engine | None = None, ids: Sequence[str] | None = None
) -> "Iterator[DensePool | DevicePool | ShardedPool]":
    """A pool where the engine computes, until the end of the context.

    Args:
        rows: (n, d) an array, or an .npy file, which is mapped and not read into memory.
        engine: Who computes; by default this process.
        ids: (n,) names of the candidates.
    """
    from serendip.pools.dense import DensePool
    from serendip.pools.sharded import ShardedPool
    from serendip.pools.sources import ArraySource, FileSource

    if engine is not None:
        instance("engine", engine, Engine, "an Engine, such as Engine('processes')")
    if isinstance(rows, str | Path):
        source: ArraySource | FileSource = FileSource.of(rows)
    else:
        source = ArraySource(DensePool(rows).x)  # which refuses what is no table
    with executor_on(engine or Engine(), source) as executor:
        if executor is None:
            pool = DensePool(source.open().x, ids, source.block_rows)
            yield pool if engine is None else placed(pool, engine)
        else:
            yield ShardedPool(executor, ids)
