"""Campaigns that are not a cloud of points: a matrix as a table, a graph around its proposals."""

from dataclasses import dataclass

import networkx as nx
import numpy as np

from serendip.campaigns.problem import Problem
from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.models.graph.model import GraphModel
from serendip.pools.dense import DensePool

_LINES = 120
"""Rows, and columns, of a matrix that are shown."""
_NODES = 150


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Candidates by row and column; cells without a candidate are −1."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    items: Ints
    """(rows, columns)"""
    whole: tuple[int, int]
    """Shape of the matrix before the least promising lines were left out."""


def matrix_of(problem: Problem, merit: Floats) -> Matrix:
    """The matrix of a low-rank campaign, or the part of it with the most promising lines.

    Args:
        problem: Of the campaign.
        merit: (n,) of each candidate, larger is better; what was measured should be there too.
    """
    settings, whole = problem.settings, problem.whole
    if not settings.rows or not settings.columns or not isinstance(whole, DensePool):
        raise InvalidInput("Only a campaign with the low-rank model is a matrix.")
    codes, names = whole.x, []
    for side, columns in enumerate((settings.rows, settings.columns)):
        _, first = np.unique(codes[:, side], return_index=True)
        shown = problem.candidates.rows(first)[list(columns)].astype(str)
        names.append(shown.agg(", ".join, axis=1).to_numpy())
    table = np.full((len(names[0]), len(names[1])), -1, dtype=np.int64)
    table[codes[:, 0], codes[:, 1]] = np.arange(len(codes))
    there = table >= 0
    worth = np.where(there, merit[np.where(there, table, 0)], -np.inf)
    kept = [
        np.sort(np.argsort(-worth.max(axis=1 - axis), kind="stable")[:_LINES]) for axis in (0, 1)
    ]
    return Matrix(
        tuple(str(one) for one in names[0][kept[0]]),
        tuple(str(one) for one in names[1][kept[1]]),
        table[np.ix_(*kept)],
        (len(names[0]), len(names[1])),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """Some nodes of a graph, in the plane, with the edges among them."""

    items: Ints
    """(m,) which."""
    places: Floats
    """(m, 2) where."""
    edges: Ints
    """(e, 2) of places in `items`."""
    left_out: int
    """Neighbours that there was no room for."""


def neighbourhood(problem: Problem, centres: Ints, seed: int) -> Neighbourhood:
    """The nodes around some candidates of a graph campaign.

    Args:
        problem: Of the campaign.
        centres: The candidates; their neighbours are added, as far as there is room.
        seed: Of the layout.
    """
    model = problem.model
    if not isinstance(model, GraphModel):
        raise InvalidInput("Only a campaign with the graph model has neighbours.")
    adjacency = model.adjacency
    centres = np.unique(centres)[:_NODES]
    around = np.unique(adjacency[centres].indices) if len(centres) else centres
    others = np.setdiff1d(around, centres)
    linked = np.asarray(adjacency[others][:, centres].sum(axis=1)).ravel()
    room = max(0, _NODES - len(centres))
    kept = np.sort(others[np.argsort(-linked, kind="stable")[:room]])
    items = np.sort(np.concatenate([centres, kept])).astype(np.int64)
    within = adjacency[items][:, items].tocoo()
    pairs = np.stack([within.row, within.col], axis=1)
    edges = pairs[pairs[:, 0] < pairs[:, 1]].astype(np.int64)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(items)))
    graph.add_edges_from(edges.tolist())
    layout = nx.spring_layout(graph, seed=seed, iterations=80) if len(items) else {}
    places = np.array([layout[node] for node in range(len(items))]).reshape(len(items), 2)
    return Neighbourhood(items, places, edges, len(others) - len(kept))
