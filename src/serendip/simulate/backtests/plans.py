"""What a backtest is about: a labelled table, or a labelled pool folder, ready to be played."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.core.arguments import whole
from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.core.labels import LARGEST
from serendip.core.protocols import Model, Names
from serendip.problems.folder_framing import frame_folder
from serendip.problems.folders.opening import PoolFolder
from serendip.problems.framing import Columns, frame_problem
from serendip.problems.label_kinds import LabelKind
from serendip.simulate.environments.table import PoolOracle, table_world
from serendip.simulate.environments.world import World
from serendip.tables import ids_of, labels_of
from serendip.tables.columns import check_complete, known_column
from serendip.tables.label_cells import numbers_in, written_label

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All that a run needs."""

    world: World
    model: Model[Any]
    labels: Floats
    """(n,) larger is better."""
    ids: Names
    budget: int
    batch: int
    notes: tuple[str, ...]


def planned(
    source: "pd.DataFrame | PoolFolder",
    label: str,
    id_column: str | None,
    spec: Columns,
    kind: LabelKind,
    budget: int | None,
    batch: int,
) -> Plan:
    """A backtest that may begin; the arguments are those of `backtest`."""
    sign = -1.0 if kind.minimize else 1.0
    if isinstance(source, PoolFolder):
        written = _folder_labels(source, label, id_column, spec, kind)
        horizon = _horizon(len(written), budget, batch)
        own = frame_folder(source, spec)
        seen, notes = _as_seen(written, own.unit_labels, kind)
        world = World(own.pool, PoolOracle(own.pool, seen), seen)
        whole = (*own.notes, *notes)
        return Plan(world, own.model, sign * written, source.names, horizon, batch, whole)
    written = _table_labels(source, label, kind)
    ids = ids_of(source, id_column)
    not_features = (label,) if id_column is None else (label, id_column)
    framed = frame_problem(source, spec, not_features, ids)
    horizon = _horizon(len(written), budget, batch)
    seen, notes = _as_seen(written, framed.unit_labels, kind)
    world = table_world(framed.x, seen, ids, framed.adjacency)
    whole = (*framed.notes, *notes)
    return Plan(world, framed.model, sign * written, ids, horizon, batch, whole)


def _table_labels(frame: "pd.DataFrame", label: str, kind: LabelKind) -> Floats:
    """(n,) as the user counts them."""
    if not kind.declared:
        return labels_of(frame, label)
    cells = frame[known_column(frame, label)]
    check_complete(cells)
    return np.array(numbers_in(cells, kind.labels))


def _folder_labels(
    folder: PoolFolder, label: str, id_column: str | None, spec: Columns, kind: LabelKind
) -> Floats:
    if id_column is not None or spec.features or spec.ignore or spec.nominal:
        raise InvalidInput(
            "Ids and features of a pool folder were decided when it was imported; leave --id, "
            "--features, --ignore and --nominal out."
        )
    if label != folder.manifest.label:
        raise InvalidInput(
            f"{folder.path} has no labels called {label!r}; import it again with --label {label}."
        )
    labels = folder.labels()
    unknown = np.flatnonzero(~np.isfinite(labels))
    if len(unknown):
        raise InvalidInput(
            f"A replay needs every label; {folder.names[int(unknown[0])]} and {len(unknown) - 1} "
            "more candidates have none."
        )
    if not kind.declared:
        return labels
    different, places = np.unique(labels, return_inverse=True)
    return np.array([written_label(one, kind.labels) for one in different.tolist()])[places]


def _horizon(n: int, budget: int | None, batch: int) -> int:
    horizon = min(200, max(1, n // 5)) if budget is None else whole("budget", budget)
    batch = whole("batch", batch)
    if not 1 <= horizon <= n:
        raise InvalidInput(f"The budget must be between 1 and the {n} rows; got {horizon}.")
    if not 1 <= batch <= horizon:
        raise InvalidInput(f"The batch must be between 1 and the budget {horizon}; got {batch}.")
    return horizon


def _as_seen(written: Floats, unit_labels: bool, kind: LabelKind) -> tuple[Floats, tuple[str, ...]]:
    """The labels as the model sees them, with what people should know of that."""
    notes: tuple[str, ...] = ()
    if kind.categories:
        numbers = {word: kind.labels.encode(word) for word in kind.categories}
        counted = ", ".join(f"{word} = {number:.3g}" for word, number in numbers.items())
        notes = (f"Labels are counted as {counted}.",)
    labels = kind.label_map().internal(written)
    low, high = float(labels.min()), float(labels.max())
    if max(-low, high) > LARGEST:
        raise InvalidInput(
            f"Labels lie between -{LARGEST:g} and {LARGEST:g}; got {max(low, high, key=abs):g}. "
            "Correct it, or give labels in a larger unit."
        )
    if not unit_labels or kind.declared or (low >= 0 and high <= 1):
        return labels, notes
    seen = (labels - low) / (high - low) if high > low else np.zeros(len(labels))
    return seen, ("The model was told the range of the labels, and nothing else of them.",)
