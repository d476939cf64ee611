"""Molecules as features: Morgan fingerprints of SMILES, beside other columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.models.gp.kernels import Group, single_columns
from serendip.models.table_models import Features
from serendip.problems.framing import Columns, Framed, frame_problem
from serendip.problems.molecules import Fingerprinter
from serendip.tables.columns import known_column, row_number

if TYPE_CHECKING:
    import pandas as pd

N_BITS = 256
"""Length of a fingerprint; longer ones are folded, and a linear model stays quick."""


def fingerprints(frame: "pd.DataFrame", column: str) -> Floats:
    """(n, 256) counts of circular substructures, folded, their logarithm taken."""
    fingerprinter = Fingerprinter(N_BITS)
    counts = np.zeros((len(frame), N_BITS))
    for place, written in enumerate(frame[known_column(frame, column)].tolist()):
        found = fingerprinter.counts(written) if isinstance(written, str) else None
        if found is None:
            raise InvalidInput(
                f"Column {column!r} should hold SMILES; row {row_number(frame, place)} holds "
                f"{written!r}, which RDKit cannot read. Correct or remove the row."
            )
        counts[place] = found
    return np.log1p(counts)


def unreadable(written: Sequence[object], most: int) -> list[int]:
    """Where RDKit can read no molecule, at most so many places."""
    fingerprinter, found = Fingerprinter(N_BITS), list[int]()
    for place, one in enumerate(written):
        if not isinstance(one, str) or not fingerprinter.reads(one):
            found.append(place)
            if len(found) == most:
                break
    return found


def frame_molecules(
    frame: "pd.DataFrame",
    spec: Columns,
    not_features: tuple[str, ...],
    ids: tuple[str, ...],
    column: str,
) -> Framed:
    """Fingerprints beside the other columns, and the model for both.

    The bits that vary are centred and share one scale, so that their mean square is 1 and rare
    ones are not blown up.
    """
    bits = fingerprints(frame, column)
    bits = bits[:, bits.max(axis=0) > bits.min(axis=0)]
    if not bits.shape[1]:
        raise InvalidInput(f"The molecules in column {column!r} are all the same to a fingerprint.")
    bits = bits - bits.mean(axis=0)
    bits /= np.sqrt((bits**2).mean())
    note = f"Column {column!r} is molecules: {bits.shape[1]} fingerprint features."
    left_out = {column, *not_features, *spec.ignore}
    others = [name for name in spec.features or frame.columns if name not in left_out]
    if others:
        plain = frame_problem(frame, replace(spec, features=tuple(others)), not_features, ids)
    else:
        alone = frame.assign(**{column: np.arange(len(frame), dtype=float)})
        stub = frame_problem(alone, replace(spec, features=(column,), ignore=()), (), ids)
        plain = replace(stub, x=stub.x[:, 1:], notes=(), groups=(), vectors=())
    x = np.concatenate([bits, plain.x], axis=1)  # a constant stays last
    shift = bits.shape[1]
    groups = (*single_columns(shift), *(group.moved(shift) for group in plain.groups))
    vectors = (
        Group(tuple(range(shift))),
        *(vector.moved(shift) for vector in plain.vectors),
    )
    model = spec.entry.make(Features(x.shape[1], groups, vectors))
    notes = (note, *plain.notes)
    return replace(plain, x=x, model=model, notes=notes, groups=groups, vectors=vectors)
