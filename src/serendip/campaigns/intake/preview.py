"""A table before it becomes a pool: what each of its columns seems to be."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.campaigns.analysis.view import shown
from serendip.core.errors import InvalidInput
from serendip.tables.encoding import MAX_LEVELS
from serendip.tables.numerals import is_code, is_number

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any]


class Role(StrEnum):
    """What a column of a pool is for."""

    id = "id"
    number = "number"
    category = "category"
    smiles = "smiles"
    label = "label"
    ignored = "ignored"
    row = "row"
    column = "column"


SINGLE = (Role.id, Role.smiles, Role.label, Role.row, Role.column)
"""Roles that at most one column has."""

_ID_NAMES = re.compile(
    r"(?:.*[\s_-])?(?:ids?|names?|code|sample|entry|identifier|no|nr|number|compound|well|row|index|"
    r"node|#)",
    re.IGNORECASE,
)
_LABEL_NAMES = re.compile(
    r"(?:label|labels|yield|yields|result|results|outcome|response|target|activity|score|y|"
    r"conversion|selectivity|measured|reward)(?:[\s_-]*[(\[%].*)?",
    re.IGNORECASE,
)
_SOME = 2000
"""Rows that tell whether a column of text is numbers."""
_SMILES = re.compile(r"(?:\[[^\[\]]+\]|Cl|Br|[BCNOPSFIHbcnops0-9@+\-()=#$:/\\.%*~])+")
"""Atoms in brackets, those that need none, bonds and rings; the name of a molecule, such as
1-iodo-4-(trifluoromethyl)benzene, has other letters."""
_SMILES_MARKS = re.compile(r"[=#()\[\]]|[cnosCNO][0-9][cnosCNO(]")


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """A column, what it seems to be, and what is in it."""

    name: str
    role: Role
    about: str
    """In a few words: `60 to 120`, `10 kinds`."""
    n_missing: int


def guessed_roles(frame: "pd.DataFrame") -> tuple[ColumnGuess, ...]:
    """What each column seems to be; one is the id, at most one the label and one the molecules."""
    contents = [_contents(frame[name]) for name in frame.columns]
    roles = [one.role for one in contents]
    names = [str(name) for name in frame.columns]
    label = _first(names, roles, _LABEL_NAMES, (Role.number, Role.ignored))
    if label is not None and _may_be_label(contents[label]):
        roles[label] = Role.label
    molecules = [at for at, one in enumerate(contents) if one.molecules and roles[at] != Role.label]
    smiles = [at for at in molecules if "smiles" in names[at].lower()]
    for at in molecules:
        roles[at] = Role.ignored
    if molecules:
        roles[max(smiles or molecules, key=lambda at: contents[at].n_levels)] = Role.smiles
    unique = [at for at, one in enumerate(contents) if one.unique and at not in molecules]
    named = [at for at, name in enumerate(names) if _ID_NAMES.fullmatch(name.strip())]
    called = [at for at in named if at in unique] or [
        at for at in named if contents[at].nearly_unique and at not in molecules
    ]
    texts = [at for at in unique if not contents[at].numeric and roles[at] != Role.label]
    if called or texts:
        roles[(called or texts)[0]] = Role.id
    return tuple(
        ColumnGuess(name, role, one.about, one.n_missing)
        for name, role, one in zip(names, roles, contents, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Contents:
    role: Role
    about: str
    n_missing: int
    numeric: bool = False
    unique: bool = False
    molecules: bool = False
    n_levels: int = 0
    nearly_unique: bool = False
    """All but a few different, which for names is a mistake rather than a meaning."""


def _contents(column: "Column") -> _Contents:
    """What is in a column, whatever it is called."""
    from pandas.api import types

    n_missing = int(column.isna().sum())
    present = column.dropna()
    if len(present) == 0:
        return _Contents(Role.ignored, "empty", n_missing)
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        unique = n_missing == 0 and bool(present.is_unique)
        low, high = float(present.min()), float(present.max())
        if low == high:
            return _Contents(Role.ignored, f"always {_plain(low)}", n_missing, True, unique)
        return _Contents(
            Role.number, f"{_plain(low)} to {_plain(high)}", n_missing, numeric=True, unique=unique
        )
    texts = [str(one).strip() for one in present.tolist()]
    levels = list(dict.fromkeys(texts))
    unique = n_missing == 0 and len(levels) == len(texts)
    if len(levels) == 1:
        return _Contents(Role.ignored, f"always {_short(levels[0])}", n_missing)
    if 2 * _count_numbers(texts[:_SOME]) > len(texts[:_SOME]):
        about = f"numbers, but text in {len(texts) - _count_numbers(texts)} of {len(texts)} rows"
        return _Contents(Role.number, about, n_missing, True, unique)
    if _are_molecules(str(column.name), levels):
        return _Contents(Role.ignored, "molecules", n_missing, False, unique, True, len(levels))
    if unique and len(levels) > 2:
        return _Contents(Role.ignored, "all different", n_missing, unique=True)
    nearly = len(levels) > 2 and 10 * len(levels) > 9 * len(column)
    if len(levels) > MAX_LEVELS:
        about = f"{len(levels):,} kinds, too many"
        return _Contents(Role.ignored, about, n_missing, nearly_unique=nearly)
    about = f"{len(levels)} kinds"
    return _Contents(Role.category, about, n_missing, unique=unique, nearly_unique=nearly)


def _count_numbers(texts: Sequence[str]) -> int:
    return sum(1 for one in texts if is_number(one) and not is_code(one))


def _are_molecules(name: str, levels: Sequence[str]) -> bool:
    some = levels[:200]
    if not all(_SMILES.fullmatch(one) for one in some):
        return False
    marked = sum(1 for one in some if _SMILES_MARKS.search(one))
    return "smiles" in name.lower() or 10 * marked > 9 * len(some)


def _may_be_label(one: _Contents) -> bool:
    return one.numeric or one.about == "empty"


def _first(
    names: Sequence[str], roles: Sequence[Role], pattern: re.Pattern[str], among: Sequence[Role]
) -> int | None:
    fitting = [at for at, name in enumerate(names) if pattern.fullmatch(name.strip())]
    return next((at for at in fitting if roles[at] in among), None)


def _plain(value: float) -> str:
    return shown(value) if np.isfinite(value) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:23]}…"


def settings_of(roles: Mapping[str, Role], frame: "pd.DataFrame") -> dict[str, Any]:
    """The part of a campaign's settings that roles decide, `serendip.campaigns.Settings` names.

    Args:
        roles: Of every column of the table.
        frame: The table.
    """
    for role in SINGLE:
        names = [name for name, mine in roles.items() if mine is role]
        if len(names) > 1:
            raise InvalidInput(
                f"Only one column can be the {WORDS[role].lower()}; now {' and '.join(names)} are. "
                "Choose another role for all but one."
            )
    by_role = {role: name for name, role in roles.items()}
    matrix = Role.row in by_role or Role.column in by_role
    if matrix and not (Role.row in by_role and Role.column in by_role):
        raise InvalidInput(
            "A matrix needs a column that names its rows and one that names its columns; "
            "choose both, or neither."
        )
    numbers = [name for name in frame.columns if _contents(frame[name]).numeric]
    return {
        "id": by_role.get(Role.id),
        "label": by_role.get(Role.label),
        "smiles": by_role.get(Role.smiles),
        "rows": (by_role[Role.row],) if matrix else (),
        "columns": (by_role[Role.column],) if matrix else (),
        "ignore": () if matrix else tuple(n for n, role in roles.items() if role is Role.ignored),
        "nominal": tuple(n for n in numbers if roles.get(n) is Role.category),
    }


WORDS: Mapping[Role, str] = {
    Role.id: "Name",
    Role.number: "Number",
    Role.category: "Category",
    Role.smiles: "Molecule",
    Role.label: "Result",
    Role.ignored: "Not used",
    Role.row: "Matrix row",
    Role.column: "Matrix column",
}
"""How people call the roles."""
