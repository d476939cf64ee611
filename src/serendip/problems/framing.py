"""From a user's table to a pool and a model: what the columns mean, and what will be believed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import digits
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import csr_array

from serendip.core.arrays import Array, Floats
from serendip.core.errors import InvalidInput
from serendip.core.naming import listed
from serendip.core.protocols import Model
from serendip.models.gp.kernels import Group
from serendip.models.graph.model import adjacency_of
from serendip.models.registry import (
    REGISTRY,
    Input,
    ModelEntry,
    OnDisk,
    adopt_model,
    takes,
    usual_model,
)
from serendip.models.table_models import Features
from serendip.tables import CURRENT, encode_features, read_table
from serendip.tables.columns import known_column, row_number
from serendip.tables.lines import TableLines
from serendip.tables.matching import SameNumber

if TYPE_CHECKING:
    import pandas as pd


class _Every:
    """Holds every name of a column."""

    def __contains__(self, name: object) -> bool:
        return True


_VECTOR = 8
"""Numbered columns that may be a vector; of fewer each relevance is soon learnt."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a table are to a model.

    Attributes:
        model: A name, a model, or what makes one of the number of features; by default what fits:
            see `named`.
        features: Columns to use; None for all but the label, the id and those ignored.
        nominal: Columns of numbers that are names, such as a batch; they become categories.
        rows: Low rank: the column, or the columns together, that name the row of the matrix.
        columns: Low rank: likewise for the column of the matrix.
        rank: Low rank: the most that the rank may be; what it is, is inferred.
        edges: Graph: a table with two columns of ids, one row an edge.
    """

    model: str | ModelEntry | Model[Any] | Callable[[int], Model[Any]] = ""
    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    missing: Literal["error", "impute"] = "error"
    rows: str | tuple[str, ...] = ()
    columns: str | tuple[str, ...] = ()
    rank: int | None = None
    edges: Path | None = None

    def __post_init__(self) -> None:
        for name in ("features", "ignore", "nominal"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, (getattr(self, name),))
        model = self.named().model
        if not isinstance(model, str | ModelEntry):
            model = adopt_model(getattr(model, "__name__", type(model).__name__), model)
            object.__setattr__(self, "model", model)
        kind = takes(REGISTRY.check(model)) if isinstance(model, str) else model.takes
        if (kind is Input.matrix) != (bool(self.rows) and bool(self.columns)):
            raise InvalidInput(
                "The low-rank model needs --rows and --columns, the columns of the table that "
                "name the row and the column of the matrix; other models take neither."
            )
        if (kind is Input.graph) != (self.edges is not None):
            raise InvalidInput(
                "The graph model needs --edges, a table of two columns of ids; "
                "other models do not take one."
            )

    def named(self, *, binary: bool = False, folder: OnDisk | None = None) -> "Columns":
        """The same, with the model that fits where none was named; see `usual_model`."""
        if not isinstance(self.model, str) or self.model:
            return self
        usual = usual_model(self.rows, self.columns, self.edges, binary=binary, folder=folder)
        return replace(self, model=usual)

    @property
    def entry(self) -> ModelEntry:
        """What there is to know of the model; a package that brings it is imported now."""
        model = self.named().model
        return model if isinstance(model, ModelEntry) else REGISTRY.get(str(model))

    @property
    def names(self) -> tuple[str, ...]:
        """Columns whose cells are names."""
        return (*listed(self.rows), *listed(self.columns), *self.nominal)


@dataclass(frozen=True, slots=True, eq=False)
class Framed:
    """A pool's features and the model for them."""

    x: Array
    model: Model[Any]
    adjacency: csr_array | None
    unit_labels: bool
    """Whether the model wants labels mapped to [0, 1]."""
    notes: tuple[str, ...]
    groups: tuple[Group, ...] = ()
    """Features by the column of the table they come from."""
    vectors: tuple[Group, ...] = ()
    """Features that may be the coordinates of one vector."""


def frame_problem(
    frame: "pd.DataFrame",
    spec: Columns,
    not_features: tuple[str, ...],
    ids: tuple[str, ...],
    rules: int = CURRENT,
) -> Framed:
    """What a model needs of a table.

    Args:
        frame: The table, one candidate a row.
        spec: What its columns are.
        not_features: Columns that must not become features: the label and the id.
        ids: (n,) names of the candidates, which the edges of a graph refer to.
        rules: The reading rules for a table of edges.
    """
    entry = spec.entry
    if entry.takes is Input.matrix:
        return _matrix(frame, spec, not_features)
    if entry.takes is Input.graph:
        return _graph(spec, ids, rules)
    encoded = encode_features(
        frame,
        spec.features,
        (*not_features, *spec.ignore),
        categories=spec.nominal,
        missing=spec.missing,
        constant=not entry.own_constant,
    )
    groups = groups_of(encoded.names, [str(name) for name in frame.columns])
    vectors = vectors_of(encoded.names, groups, encoded.sizes)
    model = entry.make(Features(encoded.x.shape[1], groups, vectors, encoded.x))
    return Framed(encoded.x, model, None, entry.unit_labels, encoded.notes, groups, vectors)


def groups_of(names: Sequence[str], columns: Sequence[str]) -> tuple[Group, ...]:
    """Features by the column of the table they come from: the levels of a text belong together.

    Args:
        names: Of the features, a column's own or `column=level`.
        columns: Of the table.
    """
    own_names = set(columns)
    members: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        whole = name in own_names
        texts = () if whole else (c for c in columns if name.startswith(f"{c}="))
        owner = max(texts, key=len, default=name)
        members.setdefault(owner, []).append(place)
    return tuple(Group(tuple(own), text=names[own[0]] != name) for name, own in members.items())


def vectors_of(names: Sequence[str], groups: Sequence[Group], sizes: Floats) -> tuple[Group, ...]:
    """Columns of numbers that are themselves numbered, like pc1, pc2, …, with their sizes.

    They may be the coordinates of a vector, whose sizes beside one another mean something.

    Args:
        names: Of the features.
        groups: As `groups_of` has them.
        sizes: (d,) of the features, each in the unit of its column.
    """
    members: dict[str, list[int]] = {}
    for place in sorted(group.columns[0] for group in groups if not group.text):
        stem = names[place].rstrip(digits)
        if stem != names[place]:
            members.setdefault(stem, []).append(place)
    return tuple(
        Group(tuple(own), sizes=_beside(sizes[own]))
        for own in members.values()
        if len(own) >= _VECTOR
    )


def _beside(sizes: Floats) -> tuple[float, ...]:
    """In units of their root mean square; none where all are too small for floating point."""
    if sizes.max() == 0.0:
        return ()
    shares = sizes / sizes.max()
    return tuple((shares / np.sqrt(np.mean(shares**2))).tolist())


def _matrix(frame: "pd.DataFrame", spec: Columns, not_features: tuple[str, ...]) -> Framed:
    rows, columns = (
        TableLines.of(frame, (names,) if isinstance(names, str) else names)
        for names in (spec.rows, spec.columns)
    )
    x = np.stack([rows.codes, columns.codes], axis=1)
    _, first, counts = np.unique(x, axis=0, return_index=True, return_counts=True)
    if counts.max() > 1:
        place = int(first[np.argmax(counts)])
        cell = ", ".join(f"{n} = {frame[n].iloc[place]}" for n in (*rows.names, *columns.names))
        raise InvalidInput(
            f"A matrix has one candidate per row and column; {cell} stands there more than once. "
            "Remove the repeats, or let more columns name the row (repeat --rows)."
        )
    notes = [f"A matrix of {rows.size} × {columns.size}."]
    left_out = {*not_features, *spec.ignore, *rows.names, *columns.names}
    others = [name for name in spec.features or map(str, frame.columns) if name not in left_out]
    others = [name for name in others if frame[known_column(frame, name)].nunique(dropna=False) > 1]
    groups: list[tuple[Array, ...]] = []
    for side, what in ((rows, "row"), (columns, "column")):
        own = [name for name in others if side.decides(frame[name])]
        found, used = side.groups(frame, own, spec.missing)
        groups.append(found)
        others = [name for name in others if name not in own]
        if used:
            notes.append(f"A {what} is described by {', '.join(used)}.")
    if others:
        notes.append(f"Left out, for neither row nor column decides it: {', '.join(others)}.")
    most = {} if spec.rank is None else {"max_rank": spec.rank}
    model = spec.entry.make(
        rows.size, columns.size, row_groups=groups[0], column_groups=groups[1], **most
    )
    return Framed(x, model, None, spec.entry.unit_labels, tuple(notes))


def _graph(spec: Columns, ids: tuple[str, ...], rules: int) -> Framed:
    assert spec.edges is not None  # checked in Columns
    table = read_table(spec.edges, rules, names=_Every())
    if table.shape[1] < 2:
        raise InvalidInput(f"{spec.edges.name} needs two columns of ids; it has {table.shape[1]}.")
    places = {name: place for place, name in enumerate(ids)}
    numbers = SameNumber(ids, rules)
    ends = []
    for column in table.columns[:2]:
        found = []
        for at, name in enumerate(table[column].astype(str).tolist()):
            near = [name] if name in places or rules == 1 else numbers.find(name)
            if len(near) != 1 or near[0] not in places:
                raise InvalidInput(
                    f"{spec.edges.name} names {name!r} in column {column!r}, row "
                    f"{row_number(table, at)}, which is {'more than one' if near[1:] else 'no'} "
                    "candidate; edges must use the ids of the table."
                )
            found.append(places[near[0]])
        ends.append(found)
    adjacency = adjacency_of(len(ids), np.array(ends, dtype=np.int64).T)
    note = f"A graph of {len(ids)} nodes and {adjacency.nnz // 2} edges."
    model = spec.entry.make(adjacency)
    return Framed(np.arange(len(ids))[:, None], model, adjacency, spec.entry.unit_labels, (note,))
