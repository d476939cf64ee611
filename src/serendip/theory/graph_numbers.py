"""The numbers of a graph that Theorem 3 needs, between certified bounds   [ASD §4.3]

χ(G) is the clique cover number, C(G) the size of the smallest maximal independent set, and C_t(G)
the largest C over the induced subgraphs with t nodes fewer. All are hard in general; each function
returns a lower and an upper bound, both proved, which agree where the number is known.

Nodes with the same closed neighbourhood (twins) share cliques and dominators, so one of each kind
stands for all: a complete graph is a single node. Nothing of size n × n is formed.
"""

import time
from collections.abc import Iterable
from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
from scipy.sparse import csr_array, eye_array

from serendip.core.arguments import whole
from serendip.core.arrays import Ints
from serendip.core.errors import InvalidInput
from serendip.theory.graph_sets import (
    dominating,
    edge_cliques,
    greedy_cover,
    independent_set,
    maximal_cliques,
    packing,
    settled_nodes,
)
from serendip.theory.graph_solver import (
    Certified,
    Neighbours,
    as_adjacency,
    at_least_one,
    deadline_after,
    fewest,
    first_twins,
    incidence,
    neighbours_of,
    time_share,
    without_twins,
)

_MAX_KERNEL = 5_000
"""Beyond this many nodes an independent set is left at the greedy one."""
_ENUMERATED = 3_000
"""C_t is enumerated when there are at most this many subgraphs, of at most 24 nodes."""


def clique_cover_number(graph: "csr_array | nx.Graph[int]", time_limit: float = 10.0) -> Certified:
    """χ(G), the fewest cliques that cover all nodes.

    A node whose neighbours are all joined settles itself: its closed neighbourhood is one clique of
    a best cover. What is left is covered by integer programming over its maximal cliques where they
    can be listed, else greedily; there an independent set is the lower bound, as no two of its
    nodes share a clique.

    Args:
        graph: Symmetric sparse adjacency without weights, or a networkx graph.
        time_limit: Seconds; on large graphs the bounds are what was proved by then.
    """
    deadline = deadline_after(time_limit)
    return _clique_cover(neighbours_of(without_twins(as_adjacency(graph))), deadline)


def smallest_maximal_independent_set(
    graph: "csr_array | nx.Graph[int]", time_limit: float = 10.0
) -> Certified:
    """C(G), the size of the smallest maximal independent set (the independent domination number).

    An independent set is maximal iff every other node has a neighbour in it. So the integer program
    is: fewest nodes, at least one in every closed neighbourhood, at most one in every clique of a
    family that covers the edges. Any y ≥ 0 with Σ_{N[v]} y ≤ 1 for all v proves C ≥ Σ y.

    Args:
        graph: Symmetric sparse adjacency without weights, or a networkx graph.
        time_limit: Seconds; on large graphs the bounds are what was proved by then.
    """
    deadline = deadline_after(time_limit)
    return _independent_domination(without_twins(as_adjacency(graph)), deadline)


def lasting_independent_set(
    graph: "csr_array | nx.Graph[int]", n_removed: int, time_limit: float = 10.0
) -> Certified:
    """C_t(G), the largest C over the induced subgraphs with t = `n_removed` nodes fewer.

    Enumerated on tiny graphs. Otherwise bounded from above by χ(G), by N − t, and by a maximal
    independent set of nodes with more than t twins each, one of which stays whatever goes; and from
    below by two subgraphs: without the nodes of largest degree, and without nodes outside an
    independent set, which for N − t ≤ its size leaves independent nodes alone.

    Args:
        graph: Symmetric sparse adjacency without weights, or a networkx graph.
        n_removed: t, from 0 to N − 1.
        time_limit: Seconds; on large graphs the bounds are what was proved by then.
    """
    deadline = deadline_after(time_limit)
    adjacency = as_adjacency(graph)
    n_nodes = adjacency.shape[0]
    if not 0 <= whole("n_removed", n_removed) < n_nodes:
        raise InvalidInput(f"n_removed must be from 0 to {n_nodes - 1}; got {n_removed}.")
    if n_removed == 0:
        return _independent_domination(without_twins(adjacency), deadline)
    left = n_nodes - n_removed
    if n_nodes <= 24 and comb(n_nodes, n_removed) <= _ENUMERATED:
        parts = (np.array(kept) for kept in combinations(range(n_nodes), left))
        enumerated = _largest(adjacency, parts, deadline)
        if enumerated is not None:
            return Certified(enumerated, enumerated, "enumeration", "enumeration")
    around = neighbours_of(adjacency)
    independent = independent_set(around)
    if len(independent) >= left:
        return Certified(left, left, "an independent subgraph", "its number of nodes")
    cover = _clique_cover(neighbours_of(without_twins(adjacency)), time_share(deadline, 0.4))
    upper, upper_by = min(
        (cover.upper, f"clique cover: {cover.upper_by}"),
        (left, "its number of nodes"),
        (_robust(adjacency, n_removed), "a maximal independent set, each with more twins than go"),
    )
    degree = np.diff(adjacency.indptr)
    inside = np.zeros(n_nodes, dtype=bool)
    inside[list(independent)] = True
    lower, lower_by = 1, "a subgraph that is not empty"
    for order, name in (
        (np.lexsort((degree, ~inside)), "without nodes outside an independent set"),
        (np.argsort(degree, kind="stable"), "without the nodes of largest degree"),
    ):
        kept = np.sort(order[:left])
        part = csr_array(adjacency[kept][:, kept])
        found = _independent_domination(without_twins(part), time_share(deadline, 0.5))
        if found.lower > lower:
            lower, lower_by = found.lower, f"the subgraph {name}: {found.lower_by}"
    return Certified(lower, upper, lower_by, upper_by)


def _robust(adjacency: csr_array, n_removed: int) -> int:
    """Size of a maximal independent set of nodes with more twins than go; n where none is found."""
    first = first_twins(adjacency)
    kinds, sizes = np.unique(first, return_counts=True)
    lasting = kinds[sizes > n_removed]
    around = neighbours_of(adjacency)
    chosen = dominating({node: around[node] & set(lasting.tolist()) for node in lasting.tolist()})
    reached = chosen.union(*(around[node] for node in chosen))
    return len(chosen) if len(reached) == len(around) else len(around)


def _largest(adjacency: csr_array, parts: Iterable[Ints], deadline: float) -> int | None:
    """The largest C over these induced subgraphs, None where time runs out."""
    largest = 0
    for kept in parts:
        found = _independent_domination(csr_array(adjacency[kept][:, kept]), deadline)
        if not found.exact:
            return None
        largest = max(largest, found.upper)
    return largest


def _clique_cover(around: Neighbours, deadline: float) -> Certified:
    settled = len(settled_nodes(around))
    if not around:
        by = "nodes whose neighbours are all joined, one after the other"
        return Certified(settled, settled, by, by)
    lower, lower_by = settled + len(independent_set(around)), "a greedy independent set"
    upper, upper_by = settled + greedy_cover(around), "a greedy cover"
    if lower == upper:
        return Certified(lower, upper, lower_by, upper_by)
    numbered = {node: row for row, node in enumerate(around)}
    cliques = maximal_cliques(around, time_share(deadline, 0.3))
    if cliques is None and len(around) > _MAX_KERNEL:
        return Certified(lower, upper, lower_by, upper_by)
    if cliques is None:
        kernel = {numbered[node]: {numbered[one] for one in around[node]} for node in around}
        edges = edge_cliques(kernel)
        spare = np.asarray(np.diff(edges.indptr) - 1.0)
        _, left_out = fewest(len(kernel), [(edges, spare, spare + 1.0)], deadline)
        if left_out is not None and settled + len(kernel) - len(left_out) > lower:
            lower = settled + len(kernel) - len(left_out)
            lower_by = "an independent set by integer programming"
        return Certified(lower, upper, lower_by, upper_by)
    rows = [numbered[node] for clique in cliques for node in clique]
    columns = np.repeat(np.arange(len(cliques)), [len(clique) for clique in cliques])
    member = incidence(rows, columns, (len(around), len(cliques)))
    proved, found = fewest(len(cliques), [at_least_one(member)], deadline)
    if settled + proved > lower:
        lower, lower_by = settled + proved, "integer programming over maximal cliques"
    if found is not None and settled + len(found) < upper:
        upper, upper_by = settled + len(found), "integer programming over maximal cliques"
    return Certified(lower, upper, lower_by, upper_by)


def _independent_domination(adjacency: csr_array, deadline: float) -> Certified:
    n_nodes = adjacency.shape[0]
    closed = csr_array(adjacency + eye_array(n_nodes, format="csr"))
    around = neighbours_of(adjacency)
    upper, upper_by = len(dominating(around)), "a greedy maximal independent set"
    lower, lower_by = packing(closed), "a fractional packing of closed neighbourhoods"
    if lower == upper:
        return Certified(lower, upper, lower_by, upper_by)
    reached = at_least_one(closed)
    # Without independence the programme is far easier, and its bound holds all the same.
    proved, found = fewest(n_nodes, [reached], time_share(deadline, 0.3))
    if proved > lower:
        lower, lower_by = proved, "integer programming, independence left out"
    if found is not None:
        upper = min(upper, len(dominating(around, set(found.tolist()))))
    if lower < upper and time.monotonic() < deadline:
        edges = edge_cliques(around)
        apart = (edges, np.zeros(edges.shape[0]), np.ones(edges.shape[0]))
        proved, found = fewest(n_nodes, [reached, apart], deadline)
        if proved > lower:
            lower, lower_by = proved, "integer programming"
        if found is not None and len(found) < upper:
            upper, upper_by = len(found), "integer programming"
    return Certified(lower, upper, lower_by, upper_by)
