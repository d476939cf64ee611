"""From a pool folder to a pool and a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from serendip.core.arrays import Array, Ints
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Model
from serendip.models.registry import MODELS, Input, ModelEntry, model_note
from serendip.models.table_models import Features
from serendip.pools.streamed import Rows, StreamedPool
from serendip.problems.folders.manifest import DENSE, FINGERPRINTS
from serendip.problems.folders.opening import PoolFolder
from serendip.problems.framing import Columns, groups_of, vectors_of


@dataclass(frozen=True, slots=True, eq=False)
class FramedFolder:
    """A pool on disk and the model for it."""

    pool: StreamedPool
    model: Model[Any]
    unit_labels: bool
    """Whether the model wants labels mapped to [0, 1]."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class WithoutConstant:
    """Rows but for their last column, the constant."""

    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """One less."""
        return self.rows.width - 1

    def read(self, start: int, stop: int) -> Array:
        """(stop − start, d) consecutive rows."""
        return self.rows.read(start, stop)[:, :-1]

    def take(self, items: Ints) -> Array:
        """(len(items), d) rows in this order."""
        return self.rows.take(items)[:, :-1]


def frame_folder(folder: PoolFolder, spec: Columns) -> FramedFolder:
    """What a model needs of a pool folder."""
    manifest = folder.manifest
    entry = spec.named(folder=manifest.on_disk).entry

    def fits(one: ModelEntry) -> bool:
        return one.linear or (one.takes is Input.features and manifest.kind != FINGERPRINTS)

    if not fits(entry):
        fitting = sorted(filter(fits, MODELS.values()), key=lambda one: not one.linear)
        raise InvalidInput(
            "A pool folder of this kind takes the models "
            f"{', '.join(one.name for one in fitting)}; got {entry.name!r}."
        )
    rows, names = folder.pool.rows, manifest.features
    if entry.own_constant:
        rows, names = WithoutConstant(rows), names[:-1]
    columns = [str(one["name"]) for one in manifest.encodings] if manifest.kind == DENSE else names
    groups = groups_of(names, columns)
    units = {str(one.get("name")): float(one.get("std", 1.0)) for one in manifest.encodings}
    sizes = np.array([units.get(name, 1.0) for name in names])
    model = entry.make(Features(rows.width, groups, vectors_of(names, groups, sizes)))
    notes = (model_note(entry.name, manifest.on_disk), *manifest.notes)
    return FramedFolder(StreamedPool(rows, folder.names), model, entry.unit_labels, notes)
