import time
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from serendip.core.errors import InvalidInput
from serendip.models.graph.model import adjacency_of
from serendip.simulate.environments.graph import complete_edges, random_edges, star_edges
from serendip.theory.graph_numbers import (
    Certified,
    clique_cover_number,
    lasting_independent_set,
    smallest_maximal_independent_set,
)


@st.composite
def small_graphs(draw, largest=8):
    n = draw(st.integers(1, largest))
    pairs = list(combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return adjacency_of(n, np.array(edges, dtype=np.int64).reshape(-1, 2))


def brute_smallest(adjacency):
    """C(G) by trying every set of nodes."""
    dense = adjacency.toarray() > 0
    n = len(dense)
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            part = list(chosen)
            reached = dense[part].any(axis=0)
            reached[part] = True
            if reached.all() and not dense[np.ix_(part, part)].any():
                return size
    raise AssertionError


def brute_cover(adjacency):
    """χ(G): the best partition, by placing node after node in a clique that can take it."""
    dense = adjacency.toarray() > 0

    def best(node, cliques):
        if node == len(dense):
            return len(cliques)
        options = [best(node + 1, [*cliques, [node]])]
        for place, clique in enumerate(cliques):
            if dense[node, clique].all():
                grown = [*cliques[:place], [*clique, node], *cliques[place + 1 :]]
                options.append(best(node + 1, grown))
        return min(options)

    return best(0, [])


def brute_lasting(adjacency, n_removed):
    n = adjacency.shape[0]
    parts = combinations(range(n), n - n_removed)
    return max(brute_smallest(adjacency[list(kept)][:, list(kept)]) for kept in parts)


def paper_star():
    """Seven centre nodes, all joined, and eight outside nodes joined to every centre node."""
    return nx.Graph([(i, j) for i in range(7) for j in range(i + 1, 15)])


def test_four_complete_subgraphs_of_the_paper():
    graph = nx.disjoint_union_all([nx.complete_graph(7)] * 4)
    assert len(graph) == 28
    cover = clique_cover_number(graph)
    assert cover.exact
    assert cover.upper == 4
    assert smallest_maximal_independent_set(graph).upper == 4


def test_star_graph_of_the_paper():
    graph = paper_star()
    assert len(graph) == 15
    cover, smallest = clique_cover_number(graph), smallest_maximal_independent_set(graph)
    assert (cover.lower, cover.upper) == (8, 8)
    assert (smallest.lower, smallest.upper) == (1, 1)


def test_lasting_number_jumps_once_the_centre_can_be_removed():
    graph = paper_star()
    assert [lasting_independent_set(graph, t).upper for t in (0, 6, 7)] == [1, 1, 8]
    assert lasting_independent_set(graph, 6).exact
    assert lasting_independent_set(graph, 7).exact


def test_lasting_number_can_fall_with_the_number_removed():
    """Theorem 3 uses C_T for every step before T as well; on an empty graph C_t = N − t."""
    empty = csr_array((30, 30))
    found = [lasting_independent_set(empty, t) for t in (0, 10, 29)]
    assert [one.lower for one in found] == [one.upper for one in found] == [30, 20, 1]


@settings(max_examples=60, deadline=None)
@given(small_graphs())
def test_numbers_equal_brute_force(adjacency):
    cover, smallest = clique_cover_number(adjacency), smallest_maximal_independent_set(adjacency)
    assert cover.exact
    assert smallest.exact
    assert cover.upper == brute_cover(adjacency)
    assert smallest.upper == brute_smallest(adjacency)
    assert smallest.upper <= cover.upper


@settings(max_examples=25, deadline=None)
@given(small_graphs(largest=6), st.data())
def test_lasting_number_equals_brute_force(adjacency, data):
    n_removed = data.draw(st.integers(0, adjacency.shape[0] - 1))
    found = lasting_independent_set(adjacency, n_removed)
    assert found.lower == found.upper == brute_lasting(adjacency, n_removed)


@settings(max_examples=20, deadline=None)
@given(small_graphs(), st.data())
def test_lasting_bounds_hold_where_nothing_is_enumerated(adjacency, data):
    n_removed = data.draw(st.integers(0, adjacency.shape[0] - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("serendip.theory.graph_numbers._ENUMERATED", 0)
        found = lasting_independent_set(adjacency, n_removed)
    assert found.lower <= brute_lasting(adjacency, n_removed) <= found.upper


@settings(max_examples=20, deadline=None)
@given(small_graphs())
def test_cover_bounds_hold_where_cliques_are_not_listed(adjacency):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("serendip.theory.graph_sets._MAX_CLIQUES", 0)
        found = clique_cover_number(adjacency)
    assert found.lower <= brute_cover(adjacency) <= found.upper


def test_five_cycle_needs_the_integer_programme():
    """No node has all its neighbours joined; the largest independent set has 2, a cover 3."""
    found = clique_cover_number(nx.cycle_graph(5))
    assert (found.lower, found.upper) == (3, 3)
    assert "integer programming" in found.lower_by


def test_isomorphic_formats_agree():
    graph = nx.gnp_random_graph(20, 0.3, seed=3)
    matrix = csr_array(nx.to_scipy_sparse_array(graph))
    assert clique_cover_number(graph) == clique_cover_number(matrix)
    nx.set_edge_attributes(graph, 0.25, "weight")
    assert clique_cover_number(graph) == clique_cover_number(matrix)


@pytest.mark.parametrize("kind", ["complete", "star", "random"])
def test_the_papers_graphs_of_900_nodes(kind):
    rng = np.random.default_rng(0)
    edges = {
        "complete": lambda: complete_edges(900),
        "star": lambda: star_edges(900, 0.01, rng),
        "random": lambda: random_edges(900, 0.01, rng),
    }[kind]()
    adjacency = adjacency_of(900, edges)
    cover = clique_cover_number(adjacency, time_limit=60.0)
    smallest = smallest_maximal_independent_set(adjacency, time_limit=1.0)
    assert smallest.lower <= smallest.upper <= cover.upper
    assert cover.lower <= cover.upper <= 1.1 * cover.lower
    if kind == "complete":
        assert (cover.upper, smallest.upper) == (1, 1)
    if kind == "star":
        lasting = lasting_independent_set(adjacency, 50, time_limit=60.0)
        assert (smallest.upper, lasting.upper) == (1, 1)


def test_large_sparse_graph_stays_within_its_time():
    rng = np.random.default_rng(1)
    adjacency = adjacency_of(20_000, rng.integers(20_000, size=(60_000, 2)))
    for number in (clique_cover_number, smallest_maximal_independent_set):
        start = time.monotonic()
        found = number(adjacency, time_limit=1.0)
        assert time.monotonic() - start < 30.0  # a limit that is ignored takes minutes
        assert 1 <= found.lower <= found.upper <= 20_000


def test_certified_says_whether_it_is_exact():
    assert Certified(2, 2, "a", "b").exact
    assert not Certified(2, 3, "a", "b").exact


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])), "symmetric"),
        (csr_array((2, 3)), "square"),
        (nx.DiGraph([(0, 1)]), "undirected"),
    ],
)
def test_odd_graphs_are_refused(graph, message):
    with pytest.raises(InvalidInput, match=message):
        clique_cover_number(graph)


def test_odd_settings_are_refused():
    with pytest.raises(InvalidInput, match="n_removed"):
        lasting_independent_set(nx.path_graph(3), 3)
    with pytest.raises(InvalidInput, match="time_limit"):
        clique_cover_number(nx.path_graph(3), time_limit=0)
