"""Replay of a labelled table: the oracle reveals what was recorded, without noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from serendip.core.arguments import sparse, whole
from serendip.core.arrays import Array, Floats
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Pool
from serendip.pools.dense import DensePool
from serendip.simulate.environments.world import World


@dataclass(frozen=True, slots=True, eq=False)
class TableOracle:
    """Labels looked up in a table; with a graph, those of the neighbours come along."""

    x: Array
    """(n, d) features, (row, column) pairs or node ids."""
    labels: Floats
    """(n,)"""
    adjacency: csr_array | None = None
    """(n, n) whose labels choosing an item shows besides its own; None for its own only."""

    def reveal(self, item: int, rng: Generator) -> Observation:
        """The recorded label; the generator is not used."""
        if not 0 <= whole("item", item) < len(self.labels):
            raise InvalidInput(
                f"The table has items 0 to {len(self.labels) - 1}; got {item}. Choose one of them."
            )
        shown = np.array([item], dtype=np.int64)
        if self.adjacency is not None:
            start, stop = self.adjacency.indptr[item], self.adjacency.indptr[item + 1]
            others = self.adjacency.indices[start:stop]
            shown = np.r_[shown, others[others != item]].astype(np.int64)
        return Observation(int(item), self.x[shown], self.labels[shown])


@dataclass(frozen=True, slots=True, eq=False)
class PoolOracle:
    """Labels of a pool that is not in memory."""

    pool: Pool
    labels: Floats
    """(n,)"""

    def reveal(self, item: int, rng: Generator) -> Observation:
        """The recorded label; the generator is not used."""
        shown = np.array([whole("item", item, 0, len(self.labels) - 1)], dtype=np.int64)
        return Observation(int(item), self.pool.take(shown), self.labels[shown])


def table_world(
    x: Array,
    labels: Floats,
    ids: Sequence[str] | None = None,
    adjacency: csr_array | None = None,
) -> World:
    """A labelled table as a problem to play; the truth is the labels themselves.

    Args:
        x: (n, d) features; (n, 2) whole numbers for row and column; (n, 1) for a node.
        labels: (n,) recorded labels, larger is better.
        ids: (n,) the candidates' names.
        adjacency: (n, n) graph over the items, where choosing one also shows the recorded labels
            of its neighbours. Without it a choice shows its own label only.
    """
    pool = DensePool(x, ids)
    try:
        values = np.array(labels, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("Labels must be numbers; turn them into numbers first.") from None
    if values.shape != (len(pool),):
        raise InvalidInput(
            f"A replay needs one label for each of the {len(pool)} candidates; "
            f"got labels of shape {values.shape}."
        )
    unknown = np.flatnonzero(~np.isfinite(values))
    if len(unknown):
        raise InvalidInput(
            f"A replay needs every label; candidate {pool.name(int(unknown[0]))} has "
            f"{values[unknown[0]]}. Remove the {len(unknown)} such rows first."
        )
    graph = None if adjacency is None else sparse("adjacency", adjacency)
    if graph is not None and graph.shape != (len(pool), len(pool)):
        raise InvalidInput(
            f"The graph must join the table's {len(pool)} candidates; "
            f"got an adjacency matrix of shape {graph.shape}."
        )
    return World(pool, TableOracle(pool.x, values, graph), values)
