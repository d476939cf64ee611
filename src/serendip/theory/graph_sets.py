"""Independent sets, cliques and dominating sets of a graph, found greedily or listed."""

import time
from collections.abc import Set
from heapq import heapify, heappop, heappush
from itertools import combinations, islice

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from serendip.theory.graph_solver import (
    Neighbours,
    incidence,
)

_MAX_CLIQUES = 50_000
"""More maximal cliques than this are not listed."""


def settled_nodes(around: Neighbours) -> list[int]:
    """Takes out, with its neighbours, each node whose neighbours are all joined; lists these nodes.

    They are independent, and their closed neighbourhoods are cliques: the number of cliques a best
    cover needs, and the size of a largest independent set, fall by one each time.
    """
    taken: list[int] = []
    waiting = set(around)
    while waiting:
        node = waiting.pop()
        if node in around and _is_simplicial(around, node):
            taken.append(node)
            waiting |= remove(around, around[node] | {node})
    return taken


def _is_simplicial(around: Neighbours, node: int) -> bool:
    near = around[node]
    if len(near) <= 1:
        return True
    return all(
        len(around[other]) >= len(near) and len(near & around[other]) == len(near) - 1
        for other in sorted(near, key=lambda other: len(around[other]))
    )


def remove(around: Neighbours, nodes: set[int]) -> set[int]:
    """Removes nodes; returns those that lost a neighbour."""
    touched: set[int] = set()
    for node in nodes:
        for other in around.pop(node):
            if other not in nodes:
                around[other].discard(node)
                touched.add(other)
    return touched


def independent_set(around: Neighbours) -> set[int]:
    """A large independent set: nodes of least degree first."""
    around = {node: set(near) for node, near in around.items()}
    chosen: set[int] = set()
    queue = [(len(near), node) for node, near in around.items()]
    heapify(queue)
    while around:
        degree, node = heappop(queue)
        if node in around and len(around[node]) == degree:
            chosen.add(node)
            _requeue(queue, around, remove(around, around[node] | {node}))
    return chosen


def greedy_cover(around: Neighbours) -> int:
    """Cliques grown from nodes of least degree, the best-connected neighbour first."""
    around = {node: set(near) for node, near in around.items()}
    count = 0
    queue = [(len(near), node) for node, near in around.items()]
    heapify(queue)
    while around:
        degree, node = heappop(queue)
        if node in around and len(around[node]) == degree:
            _requeue(queue, around, remove(around, grown(around, {node}, around[node])))
            count += 1
    return count


def _requeue(queue: list[tuple[int, int]], around: Neighbours, nodes: set[int]) -> None:
    for node in nodes:
        heappush(queue, (len(around[node]), node))


def grown(around: Neighbours, clique: set[int], candidates: set[int]) -> set[int]:
    """A clique that contains this one and can take no more of the candidates."""
    clique, candidates = set(clique), set(candidates)
    while candidates:
        some = islice(candidates, 50)
        node = max(some, key=lambda other: len(candidates & around[other]))
        clique.add(node)
        candidates &= around[node]
    return clique


def maximal_cliques(around: Neighbours, deadline: float) -> list[list[int]] | None:
    """All maximal cliques, or None where they are too many or too slow to list."""
    cliques: list[list[int]] = []
    graph: nx.Graph[int] = nx.from_dict_of_lists(
        {node: list(near) for node, near in around.items()}
    )
    for clique in nx.find_cliques(graph):
        cliques.append(clique)
        if len(cliques) > _MAX_CLIQUES or time.monotonic() > deadline:
            return None
    return cliques


def dominating(around: Neighbours, preferred: Set[int] = frozenset()) -> set[int]:
    """A small maximal independent set: preferred nodes, then those that reach most, first."""
    around = {node: set(near) for node, near in around.items()}
    n_nodes = len(around)

    def rank(node: int) -> int:
        return -len(around[node]) - n_nodes * (node in preferred)

    chosen: set[int] = set()
    queue = [(rank(node), node) for node in around]
    heapify(queue)
    while queue:
        place, node = heappop(queue)
        if node not in around:
            continue
        if rank(node) != place:
            heappush(queue, (rank(node), node))
            continue
        chosen.add(node)
        remove(around, around[node] | {node})
    return chosen


def edge_cliques(around: Neighbours) -> csr_array:
    """(c, n) cliques that cover every edge: one row each, tighter and fewer than one per edge."""
    covered: set[tuple[int, int]] = set()
    rows: list[int] = []
    columns: list[int] = []
    count = 0
    for node, near in around.items():
        for other in near:
            if other < node or (node, other) in covered:
                continue
            clique = sorted(grown(around, {node, other}, near & around[other]))
            covered.update(combinations(clique, 2))
            rows.extend([count] * len(clique))
            columns.extend(clique)
            count += 1
    return incidence(rows, columns, (count, len(around)))


def packing(closed: csr_array) -> int:
    """⌈Σ y⌉ for y_v = 1 / max_{u ∈ N[v]} |N[u]|, which no closed neighbourhood sums beyond one."""
    sizes = np.diff(closed.indptr)
    largest = np.maximum.reduceat(sizes[closed.indices], closed.indptr[:-1])
    return int(np.ceil((1.0 / largest).sum() - 1e-6))
