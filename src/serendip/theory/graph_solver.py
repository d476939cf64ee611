"""Certified bounds, the integer-programming solver, twins and deadlines for graph numbers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array

from serendip.core.arguments import positive, sparse
from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput

Neighbours = dict[int, set[int]]
Limit = tuple[csr_array, Floats, Floats]
"""A constraint low ≤ Ax ≤ high as (A, low, high)."""


_ENTRIES_A_SECOND = 100_000
"""How much the solver can look at in time: its first steps do not watch the clock."""


@dataclass(frozen=True, slots=True)
class Certified:
    """A whole number between two proved bounds."""

    lower: int
    upper: int
    lower_by: str
    """How the lower bound is proved."""
    upper_by: str
    """How the upper bound is proved."""

    @property
    def exact(self) -> bool:
        """Whether the bounds agree."""
        return self.lower == self.upper

    @property
    def gap(self) -> int:
        """What is left open between the bounds; it depends on the machine where time ran out."""
        return self.upper - self.lower


def fewest(count: int, limits: Sequence[Limit], deadline: float) -> tuple[int, Ints | None]:
    """Proved lower bound on the number of variables at one, and the best choice found if any."""
    left = deadline - time.monotonic()
    if sum(matrix.nnz for matrix, _, _ in limits) >= _ENTRIES_A_SECOND * left:
        return 0, None
    answer = milp(
        np.ones(count),
        integrality=np.ones(count, dtype=np.int64),
        bounds=Bounds(0.0, 1.0),
        constraints=[LinearConstraint(*limit) for limit in limits],
        options={"time_limit": 0.8 * left, "mip_rel_gap": 0.0},
    )
    bound = answer.mip_dual_bound
    proved = int(np.ceil(bound - 1e-6)) if bound is not None and np.isfinite(bound) else 0
    if answer.x is None:
        return proved, None
    # The solver works to a tolerance; the rounded choice is checked, not trusted.
    chosen = np.round(answer.x)
    sums = [np.asarray(matrix @ chosen) for matrix, _, _ in limits]
    if any(
        (total < low).any() or (total > high).any()
        for total, (_, low, high) in zip(sums, limits, strict=True)
    ):
        return proved, None
    return proved, np.flatnonzero(chosen)


def as_adjacency(graph: "csr_array | nx.Graph[int]") -> csr_array:
    """Symmetric 0/1 pattern without self-loops, indices sorted."""
    if isinstance(graph, nx.Graph):
        if graph.is_directed() or len(graph) == 0:
            raise InvalidInput(
                "Expected an undirected graph with nodes; use graph.to_undirected()."
            )
        graph = csr_array(nx.to_scipy_sparse_array(graph, weight=""))
    matrix = sparse("graph", graph).astype(np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"An adjacency matrix must be square; got shape {matrix.shape}.")
    matrix.setdiag(0.0)
    matrix.eliminate_zeros()
    matrix.data[:] = 1.0
    if abs(matrix - matrix.T).sum() > 0:
        raise InvalidInput("An adjacency matrix must be symmetric; add its transpose to it.")
    matrix.sort_indices()
    return matrix


def without_twins(adjacency: csr_array) -> csr_array:
    """The subgraph of one node for each closed neighbourhood that occurs."""
    kept = np.unique(first_twins(adjacency))
    return csr_array(adjacency[kept][:, kept])


def first_twins(adjacency: csr_array) -> Ints:
    """(n,) for each node the first one with the same closed neighbourhood."""
    closed = csr_array(adjacency + eye_array(adjacency.shape[0], format="csr"))
    closed.sort_indices()
    first: dict[bytes, int] = {}
    ends = closed.indptr
    keys = (closed.indices[ends[i] : ends[i + 1]].tobytes() for i in range(closed.shape[0]))
    return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.int64)


def neighbours_of(adjacency: csr_array) -> Neighbours:
    """The neighbours of every node, as sets."""
    ends = adjacency.indptr
    return {
        node: set(adjacency.indices[ends[node] : ends[node + 1]].tolist())
        for node in range(adjacency.shape[0])
    }


def deadline_after(time_limit: float) -> float:
    """When the time is up, on the monotonic clock."""
    positive(time_limit=time_limit)
    return time.monotonic() + time_limit


def time_share(deadline: float, share: float) -> float:
    """An earlier deadline: this share of the time that is left."""
    now = time.monotonic()
    return now + share * (deadline - now)


def at_least_one(matrix: csr_array) -> Limit:
    """Every row of the matrix must reach one."""
    low = np.ones(matrix.shape[0])
    return matrix, low, np.full_like(low, np.inf)


def incidence(
    rows: Sequence[int] | Ints, columns: Sequence[int] | Ints, shape: tuple[int, int]
) -> csr_array:
    """A 0/1 matrix with ones at these places."""
    return csr_array((np.ones(len(rows)), (np.asarray(rows), np.asarray(columns))), shape=shape)
