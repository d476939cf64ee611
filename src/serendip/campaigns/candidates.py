"""The candidates of a campaign as people know them: names and columns, of a table or a folder."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, Protocol

import numpy as np

from serendip.core.arrays import Ints
from serendip.tables import CURRENT, ids_of
from serendip.tables.matching import SameNumber
from serendip.tables.numerals import numbers_meant

if TYPE_CHECKING:
    import pandas as pd

    from serendip.core.protocols import Names
    from serendip.problems.folders.names import NameList
    from serendip.problems.folders.opening import PoolFolder


_COMPARED = 50_000
"""Names that are compared with a text, at most."""
_LONGEST = Decimal(10) ** 40
"""Whole numbers up to which a name may be written out."""


class Candidates(Protocol):
    """What campaigns need to know of a pool besides its features."""

    def __hash__(self) -> int: ...

    @property
    def ids(self) -> "Names":
        """(n,) the name of each candidate."""
        ...

    @property
    def places(self) -> Mapping[str, int]:
        """Where each name stands."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The user's columns."""
        ...

    @property
    def id_column(self) -> str | None:
        """The column of names, where the pool knows it."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of the pool."""
        ...

    def rows(self, items: Ints) -> "pd.DataFrame":
        """The user's columns of some candidates, indexed from 0."""
        ...

    def numbered(self, text: str) -> list[str]:
        """Names that are the same number as a text, however both are written."""
        ...

    def closest(self, text: str) -> str | None:
        """The name that looks most like a text, if any does."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TableCandidates:
    """The rows of a table in memory."""

    frame: "pd.DataFrame"
    """The user's columns; indexed by the rows a spreadsheet shows."""
    ids: tuple[str, ...]
    places: Mapping[str, int]
    id_column: str | None
    rules: int
    """By which reading rules the table was read."""
    notes: tuple[str, ...]
    _numbers: SameNumber

    @classmethod
    def of(
        cls,
        frame: "pd.DataFrame",
        id_column: str | None,
        notes: tuple[str, ...] = (),
        rules: int = CURRENT,
    ) -> "TableCandidates":
        """The candidates of a table."""
        ids = ids_of(frame, id_column)
        places = {name: place for place, name in enumerate(ids)}
        return cls(frame, ids, places, id_column, rules, notes, SameNumber(ids, rules))

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them, the id and the label, too."""
        return tuple(str(name) for name in self.frame.columns)

    def rows(self, items: Ints) -> "pd.DataFrame":
        """Rows of the table."""
        return self.frame.iloc[np.asarray(items, dtype=np.int64)].reset_index(drop=True)

    def numbered(self, text: str) -> list[str]:
        """By trying all, once."""
        return self._numbers.find(text)

    def closest(self, text: str) -> str | None:
        """By comparing all, where that takes less than a second."""
        if len(self.ids) > _COMPARED:
            return None
        return next(iter(get_close_matches(text, self.ids, n=1)), None)


@dataclass(frozen=True, slots=True, eq=False)
class FolderCandidates:
    """The candidates of a pool folder; nothing is held of them but what is asked for."""

    folder: "PoolFolder"

    @property
    def ids(self) -> "Names":
        """Looked up one at a time."""
        return self.folder.names

    @property
    def places(self) -> Mapping[str, int]:
        """Looked up one at a time."""
        return _Places(self.folder.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that are shown beside the names."""
        return self.folder.manifest.kept

    @property
    def id_column(self) -> str | None:
        """As it was called when the pool was imported."""
        return self.folder.manifest.id

    @property
    def notes(self) -> tuple[str, ...]:
        """None: a folder that changed is refused."""
        return ()

    def rows(self, items: Ints) -> "pd.DataFrame":
        """The columns beside the names."""
        import pandas as pd

        return pd.DataFrame(self.folder.names.beside(items), index=range(len(items)))

    def numbered(self, text: str) -> list[str]:
        """Only the plain form: a folder may hold too many to try."""
        meant = numbers_meant(text)
        plain = {_plain(one) for one in meant} if len(meant) == 1 else ()
        return [name for name in plain if name in self.places]

    def closest(self, text: str) -> str | None:
        """None: a folder may hold too many to compare."""
        return None


def _plain(number: Decimal) -> str:
    """A number as Python writes it, whole ones without a point."""
    whole = abs(number) < _LONGEST and number == number.to_integral_value()
    return str(int(number)) if whole else str(float(number))


@dataclass(frozen=True, slots=True)
class _Places(Mapping[str, int]):
    names: "NameList"

    def __getitem__(self, name: str) -> int:
        place = self.names.place(name)
        if place is None:
            raise KeyError(name)
        return place

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return (self.names[item] for item in range(len(self.names)))
