"""Shards held by actors of a Ray cluster; those of a lost machine are loaded again elsewhere."""

import logging
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from serendip.compute import cluster
from serendip.compute.workers import keep_to_cores
from serendip.core.arrays import Ints
from serendip.core.errors import SerendipError
from serendip.core.progress import counting
from serendip.core.protocols import Reduction
from serendip.pools.sharded import LIVES, Shard, lost, shard_bounds
from serendip.pools.sources import Source
from serendip.pools.walking import LOOKING

R = TypeVar("R")

_log = logging.getLogger(__name__)


class RayExecutor:
    """One actor a shard, spread over the machines of a cluster by their cores.

    Rows in memory go to Ray's object store, each shard's to the machine that holds it; rows of a
    file are mapped by each actor, so that all machines must see the file under the same path.
    Actors hold nothing but rows, so a new one can take the place of any.
    """

    def __init__(self, source: Source, n_shards: int | None = None) -> None:
        """Starts the actors; `cluster.connected` must hold.

        Args:
            source: All rows.
            n_shards: Actors; by default one a core of the cluster, and never more than blocks.
        """
        cores = sum(cluster.cores_by_node().values())
        self.source = source
        self.bounds: Ints = shard_bounds(len(source), n_shards or cores, source.block_rows)
        self._threads = max(1, cores // self.n_shards)
        self._lost_nodes: set[str] = set()
        cuts = self.bounds.tolist()
        self._parts = [
            (cluster.stored(source.cut(cuts[place], cuts[place + 1])), cuts[place])
            for place in range(self.n_shards)
        ]
        self._homes: list[str] = []
        self._actors: list[cluster.Handle] = []
        for _ in range(self.n_shards):
            self._homes.append(self._home())
            # Strictly: Ray would crowd the shards on the node that is least busy just now.
            self._actors.append(self._started(self._homes[-1], strictly=True))
        try:
            self._ask(None, [None] * self.n_shards, "opening the pool")
        except BaseException:
            self.close()
            raise

    @property
    def n_shards(self) -> int:
        """How many shards there are."""
        return len(self.bounds) - 1

    @property
    def homes(self) -> tuple[str, ...]:
        """The node of each shard."""
        return tuple(self._homes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the actors."""
        actors, self._actors = self._actors, []
        for one in actors:
            cluster.end_actor(one)

    def fold(self, reduction: Reduction[R], removed: Sequence[Ints]) -> list[R]:
        """The reduction over each shard."""
        if not self._actors:
            raise SerendipError("The actors that held the pool have ended; start them again.")
        return self._ask(reduction, removed, LOOKING)

    def _ask(
        self, reduction: Reduction[R] | None, removed: Sequence[Ints | None], what: str
    ) -> list[R]:
        """The answers of all shards, worked on at once; `what` is reported."""
        with counting(what, len(self.source)) as tell:
            return self._answers(reduction, removed, tell)

    def _answers(
        self,
        reduction: Reduction[R] | None,
        removed: Sequence[Ints | None],
        tell: Callable[[int], None],
    ) -> list[R]:
        """Those of lost workers are asked for again."""
        broadcast = cluster.stored(reduction)
        losses = [0] * self.n_shards
        answers: dict[int, R] = {}

        def asked(place: int) -> cluster.Handle:
            part, start = self._parts[place]
            return self._actors[place].fold.remote(part, start, broadcast, removed[place])

        waiting = {asked(place): place for place in range(self.n_shards)}
        while waiting:
            ready = cluster.first_of(waiting)
            place = waiting.pop(ready)
            try:
                # Ray may have placed the actor elsewhere than it was asked to.
                self._homes[place], answers[place] = cluster.result(ready)
            except cluster.LostWorker:
                losses[place] += 1
                if losses[place] >= LIVES:
                    raise lost(place, self.n_shards, "its actor") from None
                time.sleep(losses[place] - 1)  # Ray needs a while to see that a node is gone
                self._replace(place)
                waiting[asked(place)] = place
            else:
                tell(int(self.bounds[place + 1] - self.bounds[place]))
        return [answers[place] for place in range(self.n_shards)]

    def _replace(self, place: int) -> None:
        _log.warning(
            "Shard %d of %d lost its worker; its rows are loaded again elsewhere.",
            place + 1,
            self.n_shards,
        )
        cluster.end_actor(self._actors[place])  # it may only have been out of reach
        self._lost_nodes.add(self._homes[place])
        self._homes[place] = ""
        self._homes[place] = self._home()
        self._actors[place] = self._started(self._homes[place], strictly=False)

    def _home(self) -> str:
        """The node that has the most cores for each of its shards, this one included."""
        nodes = cluster.cores_by_node(self._lost_nodes)
        return min(nodes, key=lambda node: (self._homes.count(node) + 1) / nodes[node])

    def _started(self, node: str, strictly: bool) -> cluster.Handle:
        return cluster.actor(_Holder, node, strictly, self._threads)


class _Holder:
    """An actor: opens its rows when first asked, and keeps them."""

    def __init__(self, threads: int) -> None:
        keep_to_cores(threads)
        self.shard: Shard | None = None

    def fold(
        self, source: Source, start: int, reduction: Reduction[R] | None, removed: Ints | None
    ) -> tuple[str, R | None]:
        """The node this is, and the answer; without a reduction the rows are only opened."""
        if self.shard is None:
            self.shard = Shard(source.open(), start)
        if reduction is None or removed is None:
            return cluster.this_node(), None
        return cluster.this_node(), self.shard.fold(reduction, removed)
