"""Rows and columns of a matrix in a table of its entries, and what the table says of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from serendip.core.arrays import Array, Ints
from serendip.core.errors import InvalidInput
from serendip.tables.columns import known_column, numbers_of, refuse_unsure
from serendip.tables.encoding import encode_features, refuse_gaps

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any]


@dataclass(frozen=True, slots=True, eq=False)
class TableLines:
    """One side of a matrix, its rows or its columns."""

    names: tuple[str, ...]
    """The columns of the table that name a line together."""
    codes: Ints
    """(n,) the line of each candidate."""

    @classmethod
    def of(cls, frame: "pd.DataFrame", names: Sequence[str]) -> "TableLines":
        """Lines named by these columns; none may have an empty cell there."""
        parts = []
        for name in names:
            values = frame[known_column(frame, name)]
            refuse_unsure(values)
            if values.isna().any():
                raise InvalidInput(
                    f"Column {name!r} has empty cells; every candidate needs one there."
                )
            parts.append(_codes(values))
        _, codes = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
        return cls(tuple(names), np.ravel(codes).astype(np.int64))

    @property
    def size(self) -> int:
        """How many lines there are."""
        return int(self.codes.max()) + 1

    def decides(self, values: "Column") -> bool:
        """Whether a column says the same wherever the line is the same."""
        pairs = np.stack([self.codes, _codes(values)], axis=1)
        return len(np.unique(pairs, axis=0)) == self.size

    def groups(
        self, frame: "pd.DataFrame", others: Sequence[str], missing: Literal["error", "impute"]
    ) -> tuple[tuple[Array, ...], tuple[str, ...]]:
        """Features of the lines, and the columns they come from.

        Levels (lines,) of every text, and of each column that names the lines where several do;
        numbers (lines, p), standardised. A text that is different for every line, or that says the
        same as another, adds nothing and is left out.

        Args:
            frame: The table.
            others: Columns that the line decides.
            missing: What to do about empty cells.
        """
        first = frame.iloc[np.unique(self.codes, return_index=True)[1]]
        numeric = [name for name in others if numbers_of(frame[name]) is not None]
        named = self.names if len(self.names) > 1 else ()
        found: dict[bytes, tuple[str, Array]] = {}
        for name in (*named, *(name for name in others if name not in numeric)):
            gaps = np.flatnonzero(first[name].isna())
            if len(gaps) and missing == "error":
                refuse_gaps(first[name], gaps)
            levels = _in_order(_codes(first[name]))
            if levels.max() + 1 < self.size:
                found.setdefault(levels.tobytes(), (name, levels))
        groups = [levels for _, levels in found.values()]
        used = [name for name, _ in found.values()]
        if numeric:
            groups.append(encode_features(first, numeric, missing=missing).x)
            used += numeric
        return tuple(groups), tuple(used)


def _codes(values: "Column") -> Ints:
    """(n,) whole numbers, equal where cells are; empty cells are equal to each other."""
    texts = np.where(values.isna(), "", values.astype(str).str.strip())
    return np.ravel(np.unique(texts.astype(str), return_inverse=True)[1]).astype(np.int64)


def _in_order(codes: Ints) -> Ints:
    """The same levels, numbered as they come: equal for columns that say the same."""
    _, first, places = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[places.ravel()].astype(np.int64)
