"""From a user's table to a pool and a model: what the columns mean, and what will be believed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import csr_array

from serendip.core.arrays import Array, Ints
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Model
from serendip.models.gp import GaussianProcessModel
from serendip.models.graph import GraphModel, adjacency_of
from serendip.models.kernels import Group
from serendip.models.linear import LinearModel
from serendip.models.logistic import LogisticModel
from serendip.models.low_rank import LowRankModel
from serendip.models.sparse_linear import SparseLinearModel
from serendip.spec import known
from serendip.tables import encode_features, read_table

if TYPE_CHECKING:
    import pandas as pd

MODELS: Mapping[str, str] = {
    "linear": "linear regression, its scales inferred",
    "logistic": "logistic regression for labels between 0 and 1",
    "sparse": "linear regression in which few features matter",
    "gp": "Gaussian processes, their kernel, noise and scale inferred",
    "low-rank": "a table of rows × columns of low rank",
    "graph": "labels of a node, with those of its neighbours",
}
"""Every model by the name that commands use."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a table are to a model."""

    model: str = "linear"
    features: tuple[str, ...] | None = None
    """Columns to use; None for all but the label, the id and those ignored."""
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    """Columns of numbers that are names, such as a batch; they become categories."""
    missing: Literal["error", "impute"] = "error"
    rows: str | None = None
    """Low rank: the column that names the row of the matrix."""
    columns: str | None = None
    """Low rank: the column that names the column of the matrix."""
    rank: int = 2
    edges: Path | None = None
    """Graph: a table with two columns of ids, one row an edge."""

    def __post_init__(self) -> None:
        known(self.model, MODELS, "model", "models")
        if (self.model == "low-rank") != (self.rows is not None and self.columns is not None):
            raise InvalidInput(
                "The low-rank model needs --rows and --columns, the two columns of the table that "
                "name the row and the column of the matrix; other models take neither."
            )
        if (self.model == "graph") != (self.edges is not None):
            raise InvalidInput(
                "The graph model needs --edges, a table of two columns of ids; "
                "other models do not take one."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Framed:
    """A pool's features and the model for them."""

    x: Array
    model: Model[Any]
    adjacency: csr_array | None
    unit_labels: bool
    """Whether the model wants labels mapped to [0, 1]."""
    notes: tuple[str, ...]


def frame_problem(
    frame: "pd.DataFrame", spec: Columns, not_features: tuple[str, ...], ids: tuple[str, ...]
) -> Framed:
    """What a model needs of a table.

    Args:
        frame: The table, one candidate a row.
        spec: What its columns are.
        not_features: Columns that must not become features: the label and the id.
        ids: (n,) names of the candidates, which the edges of a graph refer to.
    """
    if spec.model == "low-rank":
        return _matrix(frame, spec)
    if spec.model == "graph":
        return _graph(spec, ids)
    encoded = encode_features(
        frame,
        spec.features,
        (*not_features, *spec.ignore),
        categories=spec.nominal,
        missing=spec.missing,
        constant=spec.model != "gp",
    )
    d = encoded.x.shape[1]
    models: dict[str, Model[Any]] = {
        "linear": LinearModel(d, constant_column=d - 1),
        # Features of unit size: xᵀθ then has a prior standard deviation of two, chances of 12–88 %.
        "logistic": LogisticModel(d, prior_variance=4.0 / d),
        "sparse": SparseLinearModel(d),
        "gp": GaussianProcessModel(d, groups_of(encoded.names, [str(c) for c in frame.columns])),
    }
    unit_labels = spec.model not in ("linear", "gp")
    return Framed(encoded.x, models[spec.model], None, unit_labels, encoded.notes)


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


def _matrix(frame: "pd.DataFrame", spec: Columns) -> Framed:
    pairs = [_codes(frame, name) for name in (spec.rows, spec.columns) if name is not None]
    x = np.stack(pairs, axis=1)
    _, first, counts = np.unique(x, axis=0, return_index=True, return_counts=True)
    if counts.max() > 1:
        place = int(first[np.argmax(counts)])
        raise InvalidInput(
            f"A matrix has one candidate per row and column; {spec.rows} = "
            f"{frame[spec.rows].iloc[place]}, {spec.columns} = {frame[spec.columns].iloc[place]} "
            "stands there more than once. Remove the repeats."
        )
    n_rows, n_columns = (int(codes.max()) + 1 for codes in pairs)
    # Labels mapped to [0, 1] have a mean square near 1/3, which is rank · σ₀⁴.
    width = float(np.sqrt(1.0 / (3.0 * spec.rank)))
    model = LowRankModel(n_rows, n_columns, spec.rank, factor_variance=width)
    return Framed(x, model, None, True, (f"A matrix of {n_rows} × {n_columns}.",))


def _codes(frame: "pd.DataFrame", name: str) -> Ints:
    from serendip.tables.columns import known_column

    values = frame[known_column(frame, name)]
    if values.isna().any():
        raise InvalidInput(f"Column {name!r} has empty cells; every candidate needs one there.")
    _, codes = np.unique(values.astype(str).to_numpy(), return_inverse=True)
    return np.ravel(codes).astype(np.int64)


def _graph(spec: Columns, ids: tuple[str, ...]) -> Framed:
    assert spec.edges is not None  # checked in Columns
    table = read_table(spec.edges)
    if table.shape[1] < 2:
        raise InvalidInput(f"{spec.edges.name} needs two columns of ids; it has {table.shape[1]}.")
    places = {name: place for place, name in enumerate(ids)}
    ends = []
    for column in table.columns[:2]:
        names = table[column].astype(str).tolist()
        unknown = next((name for name in names if name not in places), None)
        if unknown is not None:
            raise InvalidInput(
                f"{spec.edges.name} names {unknown!r} in column {column!r}, which is no candidate; "
                "edges must use the ids of the table."
            )
        ends.append([places[name] for name in names])
    adjacency = adjacency_of(len(ids), np.array(ends, dtype=np.int64).T)
    # A uniform label in [0, 1] has mean ½ and variance 1/12; replays repeat labels exactly.
    model = GraphModel(adjacency, prior_mean=0.5, prior_variance=1 / 12, noise_variance=0.01)
    note = f"A graph of {len(ids)} nodes and {adjacency.nnz // 2} edges."
    return Framed(np.arange(len(ids))[:, None], model, adjacency, True, (note,))
