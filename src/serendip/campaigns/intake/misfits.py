"""Cells of a table that do not fit what their column is for, each with a sentence of its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.campaigns.intake.preview import Role
from serendip.core.errors import InvalidInput
from serendip.core.labels import Labels
from serendip.tables.columns import row_number
from serendip.tables.encoding import MAX_LEVELS
from serendip.tables.numerals import is_number, reading_of
from serendip.tables.unsure import Unsure

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any]

_EACH = 20
"""Misfits that are shown of one column; people correct a few and look again."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """A cell, and what is wrong with it; without a row, the column as a whole."""

    column: str
    says: str
    place: int | None = None
    """Of the row in the table, from 0."""
    row: int | None = None
    """As a spreadsheet counts."""


def misfits(
    frame: "pd.DataFrame",
    roles: Mapping[str, Role],
    labels: Labels,
    impute: bool = False,
    replayed: bool = False,
) -> tuple[Misfit, ...]:
    """Cells and columns that cannot be what they are said to be; a few of each column.

    Args:
        frame: The table.
        roles: Of its columns.
        labels: What may be written as a result.
        impute: Whether empty cells of features are filled in.
        replayed: Whether every row needs a result, for a backtest, rather than some having none.
    """
    found: list[Misfit] = []
    matrix = Role.row in roles.values()
    for name in frame.columns:
        role, column = roles.get(str(name), Role.ignored), frame[name]
        if role is Role.ignored or (matrix and role in (Role.number, Role.category)):
            continue
        wrong = _WRONG[role](column, _Kind(labels, impute, replayed))
        found += [_misfit(column, at, says) for at, says in islice(wrong, _EACH)]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the table is for."""

    labels: Labels
    impute: bool
    replayed: bool


def _misfit(column: "Column", place: int | None, says: str) -> Misfit:
    row = None if place is None else row_number(column, place)
    return Misfit(str(column.name), says, place, row)


Wrong = Iterator[tuple[int | None, str]]


def _gaps(column: "Column", says: str) -> Wrong:
    for place in np.flatnonzero(column.isna().to_numpy()):
        yield int(place), says


def _unsure(column: "Column") -> Wrong:
    for place, value in enumerate(column.tolist()):
        if isinstance(value, Unsure):
            yield place, f"{value.says}."


def _wrong_id(column: "Column", kind: _Kind) -> Wrong:
    yield from _unsure(column)
    yield from _gaps(column, "Every candidate needs a name.")
    first: dict[str, int] = {}
    values = column.tolist()
    for place in np.flatnonzero(column.notna().to_numpy()).tolist():
        name = str(values[place]).strip()
        if name in first:
            yield place, f"{name!r} is the name of row {row_number(column, first[name])} as well."
        first.setdefault(name, place)


_EMPTY = "Empty; fill it in, or let empty cells be filled in below."


def _wrong_number(column: "Column", kind: _Kind) -> Wrong:
    present = column.notna().to_numpy()
    if not present.any():
        yield None, "The column is empty; it cannot be used."
        return
    if not kind.impute:
        yield from _gaps(column, _EMPTY)
    if column.dtype.kind in "iuf":
        for place in np.flatnonzero(np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))):
            yield int(place), "Numbers must be finite."
        return
    values = column.tolist()
    texts = {str(one) for one in column.dropna().unique() if isinstance(one, str)}
    plain = {one for one in texts if is_number(one)}
    for place in np.flatnonzero(present):
        value = values[place]
        if isinstance(value, str) and value not in plain:
            yield int(place), f"{value!r} is not a number."
        elif isinstance(value, float) and not np.isfinite(value):
            yield int(place), "Numbers must be finite."
        elif not isinstance(value, str | int | float | np.number):
            yield int(place), f"{str(value)!r} is not a number."
    if plain and reading_of(plain).style() is None:
        yield None, f"Numbers such as {min(plain)!r} can be read in two ways; use a decimal point."


def _wrong_category(column: "Column", kind: _Kind) -> Wrong:
    n_levels, n = int(column.nunique()), int(column.notna().sum())
    if n_levels > MAX_LEVELS or (n_levels == n and n > 2):
        many = "all different" if n_levels == n else f"{n_levels:,} different ones"
        yield None, f"Too many kinds ({many}) to be categories; do not use the column."
    if not kind.impute:
        yield from _gaps(column, _EMPTY)


def _wrong_smiles(column: "Column", kind: _Kind) -> Wrong:
    from serendip.problems.molecule_framing import unreadable

    try:
        places: Sequence[int] = unreadable(column.tolist(), _EACH)
    except InvalidInput as problem:
        yield None, str(problem)
        return
    for place in places:
        empty = bool(column.isna().iat[place])
        says = "Empty; every candidate needs a molecule." if empty else "Cannot be read as SMILES."
        yield place, says


_ALL_KNOWN = (
    "Every row has a result already, so there is nothing to find out; empty the cells that are to "
    "be measured, or replay the table as a backtest."
)


def _wrong_label(column: "Column", kind: _Kind) -> Wrong:
    from serendip.campaigns.intake.results import EXCLUDED, FAILED, word_of
    from serendip.tables.label_cells import written_label

    if kind.replayed:
        yield from _gaps(column, "Empty; a replay needs the result of every row.")
    elif column.notna().all():
        yield None, _ALL_KNOWN
    values = column.tolist()
    for place in np.flatnonzero(column.notna().to_numpy()).tolist():
        if not kind.replayed and word_of(values[place]) in (*FAILED, *EXCLUDED):
            continue
        try:
            written_label(values[place], kind.labels)
        except InvalidInput as problem:
            yield place, str(problem)


def _wrong_name(column: "Column", kind: _Kind) -> Wrong:
    yield from _unsure(column)
    yield from _gaps(column, "Empty; every candidate has a row and a column of the matrix.")


_WRONG = {
    Role.id: _wrong_id,
    Role.number: _wrong_number,
    Role.category: _wrong_category,
    Role.smiles: _wrong_smiles,
    Role.label: _wrong_label,
    Role.row: _wrong_name,
    Role.column: _wrong_name,
}
