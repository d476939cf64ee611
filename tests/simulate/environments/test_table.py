"""Replay of labelled tables."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from serendip.core.errors import InvalidInput
from serendip.simulate.environments.table import TableOracle, table_world

RNG = np.random.default_rng(0)
LABELS = np.array([0.1, 0.9, 0.4])


def test_the_oracle_reveals_what_was_recorded() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    world = table_world(x, LABELS, ids=["a", "b", "c"])
    seen = world.oracle.reveal(1, RNG)
    assert seen.label == 0.9
    assert seen.x.tolist() == [[3.0, 4.0]]
    assert world.pool.name(2) == "c"
    np.testing.assert_array_equal(world.truth, LABELS)


def test_pairs_and_nodes_stay_whole_numbers() -> None:
    pairs = np.array([[0, 0], [0, 1], [1, 0]])
    assert table_world(pairs, LABELS).oracle.reveal(2, RNG).x.tolist() == [[1, 0]]
    nodes = table_world(np.arange(3)[:, None], LABELS)
    assert nodes.oracle.reveal(2, RNG).x.dtype.kind == "i"


def test_neighbours_come_along_only_with_a_graph() -> None:
    nodes = np.arange(3)[:, None]
    graph = csr_array(np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    assert len(table_world(nodes, LABELS).oracle.reveal(1, RNG).y) == 1
    seen = table_world(nodes, LABELS, adjacency=graph).oracle.reveal(1, RNG)
    assert seen.x[:, 0].tolist() == [1, 0, 2]
    assert seen.y.tolist() == [0.9, 0.1, 0.4]
    own = table_world(nodes, LABELS, adjacency=graph).oracle.reveal(0, RNG)
    assert own.x[:, 0].tolist() == [0, 1]  # the self-loop adds nothing


def test_the_table_may_change_afterwards() -> None:
    labels = LABELS.copy()
    world = table_world(np.eye(3), labels)
    labels[:] = 0.0
    assert world.oracle.reveal(1, RNG).label == 0.9


@pytest.mark.parametrize(
    ("labels", "graph", "words"),
    [
        (LABELS[:2], None, "one label for each of the 3"),
        (np.array([0.1, np.nan, 1.0]), None, "candidate b has nan"),
        (np.array(["x", "y", "z"]), None, "must be numbers"),
        (LABELS, csr_array((2, 2)), "shape \\(2, 2\\)"),
    ],
)
def test_what_does_not_fit_is_refused(labels: object, graph: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        table_world(np.eye(3), labels, ["a", "b", "c"], graph)  # type: ignore[arg-type]


@pytest.mark.parametrize("item", [-1, 3])
def test_items_outside_the_table_are_refused(item: int) -> None:
    with pytest.raises(InvalidInput, match="items 0 to 2"):
        TableOracle(np.eye(3), LABELS).reveal(item, RNG)
