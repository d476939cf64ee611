"""Molecules as features: Morgan fingerprints of SMILES. The only file that needs RDKit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.framing import Columns, Framed, frame_problem
from serendip.tables.columns import known_column, row_number

if TYPE_CHECKING:
    import pandas as pd

N_BITS = 256
"""Length of a fingerprint; longer ones are folded, and a linear model stays quick."""
RADIUS = 2


def fingerprints(frame: "pd.DataFrame", column: str) -> Floats:
    """(n, 256) counts of circular substructures, folded, their logarithm taken."""
    lookup = _chem()
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=N_BITS)
    counts = np.zeros((len(frame), N_BITS))
    for place, written in enumerate(frame[known_column(frame, column)].tolist()):
        text = written.strip() if isinstance(written, str) else ""
        molecule = lookup.MolFromSmiles(text) if text else None
        if molecule is None:
            raise InvalidInput(
                f"Column {column!r} should hold SMILES; row {row_number(frame, place)} holds "
                f"{written!r}, which RDKit cannot read. Correct or remove the row."
            )
        counts[place] = generator.GetCountFingerprintAsNumPy(molecule)
    return np.log1p(counts)


def unreadable(written: Sequence[object], most: int) -> list[int]:
    """Where RDKit can read no molecule, at most so many places."""
    lookup, found = _chem(), list[int]()
    for place, one in enumerate(written):
        text = one.strip() if isinstance(one, str) else ""
        if not text or lookup.MolFromSmiles(text) is None:
            found.append(place)
            if len(found) == most:
                break
    return found


def _chem() -> Any:
    """RDKit, quiet."""
    try:
        from rdkit import Chem, RDLogger
    except ImportError:
        raise InvalidInput(
            "Molecules need RDKit, which is not installed; run pip install 'serendip[chem]'."
        ) from None
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined, no-untyped-call, unused-ignore]
    return Chem


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
        plain = replace(stub, x=stub.x[:, 1:], notes=())
    x = np.concatenate([bits, plain.x], axis=1)  # the constant stays last
    model: Any = plain.model
    changes: dict[str, Any] = {"n_features": x.shape[1]}
    if spec.model == "linear":
        changes["constant_column"] = x.shape[1] - 1
    return replace(plain, x=x, model=replace(model, **changes), notes=(note, *plain.notes))
