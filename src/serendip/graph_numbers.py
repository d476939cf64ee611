"""The numbers of a graph that Theorem 3 needs, between certified bounds   [ASD §4.3]

χ(G) is the clique cover number, C(G) the size of the smallest maximal independent set, and C_t(G)
the largest C over the induced subgraphs with t nodes fewer. All are hard in general; each function
returns a lower and an upper bound, both proved, which agree where the number is known.

Nodes with the same closed neighbourhood (twins) share cliques and dominators, so one of each kind
stands for all: a complete graph is a single node. Nothing of size n × n is formed.
"""

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations, islice
from math import comb

import networkx as nx
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array

from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput

Neighbours = dict[int, set[int]]
Limit = tuple[csr_array, Floats, Floats]
"""A constraint low ≤ Ax ≤ high as (A, low, high)."""

_MAX_CLIQUES = 50_000
"""More maximal cliques than this are not listed."""
_MAX_KERNEL = 5_000
"""Beyond this many nodes an independent set is left at the greedy one."""
_ENUMERATED = 3_000
"""C_t is enumerated when there are at most this many subgraphs, of at most 24 nodes."""


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
    deadline = _deadline(time_limit)
    return _clique_cover(_neighbours(_without_twins(_adjacency(graph))), deadline)


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
    deadline = _deadline(time_limit)
    return _independent_domination(_without_twins(_adjacency(graph)), deadline)


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
    deadline = _deadline(time_limit)
    adjacency = _adjacency(graph)
    n_nodes = adjacency.shape[0]
    if not 0 <= n_removed < n_nodes:
        raise InvalidInput(f"n_removed must be from 0 to {n_nodes - 1}; got {n_removed}.")
    if n_removed == 0:
        return _independent_domination(_without_twins(adjacency), deadline)
    left = n_nodes - n_removed
    if n_nodes <= 24 and comb(n_nodes, n_removed) <= _ENUMERATED:
        parts = (np.array(kept) for kept in combinations(range(n_nodes), left))
        enumerated = _largest(adjacency, parts, deadline)
        if enumerated is not None:
            return Certified(enumerated, enumerated, "enumeration", "enumeration")
    whole = _neighbours(adjacency)
    independent = _independent_set(whole)
    if len(independent) >= left:
        return Certified(left, left, "an independent subgraph", "its number of nodes")
    cover = _clique_cover(_neighbours(_without_twins(adjacency)), _share(deadline, 0.4))
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
        found = _independent_domination(_without_twins(part), _share(deadline, 0.5))
        if found.lower > lower:
            lower, lower_by = found.lower, f"the subgraph {name}: {found.lower_by}"
    return Certified(lower, upper, lower_by, upper_by)


def _robust(adjacency: csr_array, n_removed: int) -> int:
    """Size of a maximal independent set of nodes with more twins than go; n where none is found."""
    first = _first_twins(adjacency)
    kinds, sizes = np.unique(first, return_counts=True)
    lasting = kinds[sizes > n_removed]
    around = _neighbours(adjacency)
    chosen = _dominating({node: around[node] & set(lasting.tolist()) for node in lasting.tolist()})
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


# --- the clique cover ----------------------------------------------------------------------------


def _clique_cover(around: Neighbours, deadline: float) -> Certified:
    settled = len(_settled(around))
    if not around:
        by = "nodes whose neighbours are all joined, one after the other"
        return Certified(settled, settled, by, by)
    lower, lower_by = settled + len(_independent_set(around)), "a greedy independent set"
    upper, upper_by = settled + _greedy_cover(around), "a greedy cover"
    if lower == upper:
        return Certified(lower, upper, lower_by, upper_by)
    numbered = {node: row for row, node in enumerate(around)}
    cliques = _maximal_cliques(around, _share(deadline, 0.3))
    if cliques is None and len(around) > _MAX_KERNEL:
        return Certified(lower, upper, lower_by, upper_by)
    if cliques is None:
        kernel = {numbered[node]: {numbered[one] for one in around[node]} for node in around}
        edges = _edge_cliques(kernel)
        spare = np.asarray(np.diff(edges.indptr) - 1.0)
        _, left_out = _fewest(len(kernel), [(edges, spare, spare + 1.0)], deadline)
        if left_out is not None and settled + len(kernel) - len(left_out) > lower:
            lower = settled + len(kernel) - len(left_out)
            lower_by = "an independent set by integer programming"
        return Certified(lower, upper, lower_by, upper_by)
    rows = [numbered[node] for clique in cliques for node in clique]
    columns = np.repeat(np.arange(len(cliques)), [len(clique) for clique in cliques])
    member = _incidence(rows, columns, (len(around), len(cliques)))
    proved, found = _fewest(len(cliques), [_at_least_one(member)], deadline)
    if settled + proved > lower:
        lower, lower_by = settled + proved, "integer programming over maximal cliques"
    if found is not None and settled + len(found) < upper:
        upper, upper_by = settled + len(found), "integer programming over maximal cliques"
    return Certified(lower, upper, lower_by, upper_by)


def _settled(around: Neighbours) -> list[int]:
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
            waiting |= _remove(around, around[node] | {node})
    return taken


def _is_simplicial(around: Neighbours, node: int) -> bool:
    near = around[node]
    if len(near) <= 1:
        return True
    return all(
        len(around[other]) >= len(near) and len(near & around[other]) == len(near) - 1
        for other in sorted(near, key=lambda other: len(around[other]))
    )


def _remove(around: Neighbours, nodes: set[int]) -> set[int]:
    """Removes nodes; returns those that lost a neighbour."""
    touched: set[int] = set()
    for node in nodes:
        for other in around.pop(node):
            if other not in nodes:
                around[other].discard(node)
                touched.add(other)
    return touched


def _independent_set(around: Neighbours) -> set[int]:
    """A large independent set: nodes of least degree first."""
    around = {node: set(near) for node, near in around.items()}
    chosen: set[int] = set()
    queue = [(len(near), node) for node, near in around.items()]
    heapify(queue)
    while around:
        degree, node = heappop(queue)
        if node in around and len(around[node]) == degree:
            chosen.add(node)
            _requeue(queue, around, _remove(around, around[node] | {node}))
    return chosen


def _greedy_cover(around: Neighbours) -> int:
    """Cliques grown from nodes of least degree, the best-connected neighbour first."""
    around = {node: set(near) for node, near in around.items()}
    count = 0
    queue = [(len(near), node) for node, near in around.items()]
    heapify(queue)
    while around:
        degree, node = heappop(queue)
        if node in around and len(around[node]) == degree:
            _requeue(queue, around, _remove(around, _grown(around, {node}, around[node])))
            count += 1
    return count


def _requeue(queue: list[tuple[int, int]], around: Neighbours, nodes: set[int]) -> None:
    for node in nodes:
        heappush(queue, (len(around[node]), node))


def _grown(around: Neighbours, clique: set[int], candidates: set[int]) -> set[int]:
    """A clique that contains this one and can take no more of the candidates."""
    clique, candidates = set(clique), set(candidates)
    while candidates:
        some = islice(candidates, 50)
        node = max(some, key=lambda other: len(candidates & around[other]))
        clique.add(node)
        candidates &= around[node]
    return clique


def _maximal_cliques(around: Neighbours, deadline: float) -> list[list[int]] | None:
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


# --- the smallest maximal independent set --------------------------------------------------------


def _independent_domination(adjacency: csr_array, deadline: float) -> Certified:
    n_nodes = adjacency.shape[0]
    closed = csr_array(adjacency + eye_array(n_nodes, format="csr"))
    around = _neighbours(adjacency)
    upper, upper_by = len(_dominating(around)), "a greedy maximal independent set"
    lower, lower_by = _packing(closed), "a fractional packing of closed neighbourhoods"
    if lower == upper:
        return Certified(lower, upper, lower_by, upper_by)
    reached = _at_least_one(closed)
    # Without independence the programme is far easier, and its bound holds all the same.
    proved, found = _fewest(n_nodes, [reached], _share(deadline, 0.3))
    if proved > lower:
        lower, lower_by = proved, "integer programming, independence left out"
    if found is not None:
        upper = min(upper, len(_dominating(around, set(found.tolist()))))
    if lower < upper and time.monotonic() < deadline:
        edges = _edge_cliques(around)
        apart = (edges, np.zeros(edges.shape[0]), np.ones(edges.shape[0]))
        proved, found = _fewest(n_nodes, [reached, apart], deadline)
        if proved > lower:
            lower, lower_by = proved, "integer programming"
        if found is not None and len(found) < upper:
            upper, upper_by = len(found), "integer programming"
    return Certified(lower, upper, lower_by, upper_by)


def _packing(closed: csr_array) -> int:
    """⌈Σ y⌉ for y_v = 1 / max_{u ∈ N[v]} |N[u]|, which no closed neighbourhood sums beyond one."""
    sizes = np.diff(closed.indptr)
    largest = np.maximum.reduceat(sizes[closed.indices], closed.indptr[:-1])
    return int(np.ceil((1.0 / largest).sum() - 1e-6))


def _dominating(around: Neighbours, preferred: Set[int] = frozenset()) -> set[int]:
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
        _remove(around, around[node] | {node})
    return chosen


def _edge_cliques(around: Neighbours) -> csr_array:
    """(c, n) cliques that cover every edge: one row each, tighter and fewer than one per edge."""
    covered: set[tuple[int, int]] = set()
    rows: list[int] = []
    columns: list[int] = []
    count = 0
    for node, near in around.items():
        for other in near:
            if other < node or (node, other) in covered:
                continue
            clique = sorted(_grown(around, {node, other}, near & around[other]))
            covered.update(combinations(clique, 2))
            rows.extend([count] * len(clique))
            columns.extend(clique)
            count += 1
    return _incidence(rows, columns, (count, len(around)))


def _at_least_one(matrix: csr_array) -> Limit:
    low = np.ones(matrix.shape[0])
    return matrix, low, np.full_like(low, np.inf)


def _incidence(
    rows: Sequence[int] | Ints, columns: Sequence[int] | Ints, shape: tuple[int, int]
) -> csr_array:
    return csr_array((np.ones(len(rows)), (np.asarray(rows), np.asarray(columns))), shape=shape)


# --- what both share -----------------------------------------------------------------------------


def _fewest(count: int, limits: Sequence[Limit], deadline: float) -> tuple[int, Ints | None]:
    """Proved lower bound on the number of variables at one, and the best choice found if any."""
    left = deadline - time.monotonic()
    if left <= 0:
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


def _adjacency(graph: "csr_array | nx.Graph[int]") -> csr_array:
    """Symmetric 0/1 pattern without self-loops, indices sorted."""
    if isinstance(graph, nx.Graph):
        if graph.is_directed() or len(graph) == 0:
            raise InvalidInput(
                "Expected an undirected graph with nodes; use graph.to_undirected()."
            )
        graph = csr_array(nx.to_scipy_sparse_array(graph, weight=""))
    matrix: csr_array = csr_array(graph.astype(np.float64))
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InvalidInput(f"An adjacency matrix must be square; got shape {matrix.shape}.")
    matrix.setdiag(0.0)
    matrix.eliminate_zeros()
    matrix.data[:] = 1.0
    if abs(matrix - matrix.T).sum() > 0:
        raise InvalidInput("An adjacency matrix must be symmetric; add its transpose to it.")
    matrix.sort_indices()
    return matrix


def _without_twins(adjacency: csr_array) -> csr_array:
    """The subgraph of one node for each closed neighbourhood that occurs."""
    kept = np.unique(_first_twins(adjacency))
    return csr_array(adjacency[kept][:, kept])


def _first_twins(adjacency: csr_array) -> Ints:
    """(n,) for each node the first one with the same closed neighbourhood."""
    closed = csr_array(adjacency + eye_array(adjacency.shape[0], format="csr"))
    closed.sort_indices()
    first: dict[bytes, int] = {}
    ends = closed.indptr
    keys = (closed.indices[ends[i] : ends[i + 1]].tobytes() for i in range(closed.shape[0]))
    return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.int64)


def _neighbours(adjacency: csr_array) -> Neighbours:
    ends = adjacency.indptr
    return {
        node: set(adjacency.indices[ends[node] : ends[node + 1]].tolist())
        for node in range(adjacency.shape[0])
    }


def _deadline(time_limit: float) -> float:
    if not time_limit > 0:
        raise InvalidInput(f"time_limit must be a positive number of seconds; got {time_limit}.")
    return time.monotonic() + time_limit


def _share(deadline: float, share: float) -> float:
    """An earlier deadline: this share of the time that is left."""
    now = time.monotonic()
    return now + share * (deadline - now)
