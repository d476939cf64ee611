"""Predictions a page at a time: searched, sorted and cut."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd

PAGE = 50

STATES = ("available", "proposed", "measured", "failed", "excluded")

SORTS: Mapping[str, str] = {
    "expected": "Best expected",
    "chance": "Chance of the top",
    "uncertainty": "Most uncertain",
    "result": "Best result",
    "table": "As in the table",
}
"""How candidates may be sorted, and what people call it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Some candidates."""

    rows: tuple[dict[str, Any], ...]
    """The user's columns by name, and under `ours` id, state, expected, uncertainty, chance, result
    """
    n: int
    """Candidates that fit the search."""
    page: int
    n_pages: int


def listing(
    predicted: "pd.DataFrame", state: str, sort: str, search: str, page: int, minimize: bool
) -> Listing:
    """A page of candidates.

    Args:
        predicted: As `predictions` gives them.
        state: Only those in this state; all where empty.
        sort: A key of `SORTS`; best first.
        search: Only those with this text in their id or in a column of text.
        page: Which, from 1; the last where there are fewer.
        minimize: Whether smaller is better.
    """
    ours = our_columns(predicted)
    keep = np.ones(len(predicted), dtype=bool)
    if state:
        keep &= (predicted[ours["state"]] == state).to_numpy()
    if search:
        keep &= _holding(predicted, search.lower(), ours)
    places = np.flatnonzero(keep)
    order = _order(predicted, places, sort, ours, minimize)
    n_pages = max(1, -(-len(places) // PAGE))
    page = min(max(1, page), n_pages)
    shown = predicted.iloc[order[(page - 1) * PAGE : page * PAGE]]
    rows = []
    for row in shown.astype(object).to_dict("records"):
        plain: dict[str, Any] = {str(name): value for name, value in row.items()}
        rows.append({**plain, "ours": {key: plain[name] for key, name in ours.items()}})
    return Listing(tuple(rows), len(places), page, n_pages)


def our_columns(predicted: "pd.DataFrame") -> dict[str, str]:
    """Which columns of the predictions are ours; the user's may have the same names."""
    names = [str(name) for name in predicted.columns]

    def ours(name: str) -> str:
        return next(one for one in reversed(names) if one.rstrip("_") == name)

    return {
        "id": names[0],
        "state": ours("state"),
        "expected": ours("expected"),
        "uncertainty": ours("uncertainty"),
        "chance": ours("chance_of_top"),
        "result": names[-1],
    }


def _holding(
    predicted: "pd.DataFrame", text: str, ours: Mapping[str, str]
) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(predicted), dtype=bool)
    for name in predicted.columns:
        column = predicted[name]
        if name == ours["id"] or (column.dtype.kind == "O" and name != ours["state"]):
            words = column.astype(str).str.lower()
            found |= words.str.contains(text, regex=False).to_numpy()
    return found


def _order(
    predicted: "pd.DataFrame",
    places: Ints,
    sort: str,
    ours: Mapping[str, str],
    minimize: bool,
) -> Ints:
    if sort not in ("expected", "uncertainty", "chance", "result"):
        return places
    values = predicted[ours[sort]].to_numpy(dtype=np.float64)[places]
    sign = 1.0 if minimize and sort in ("expected", "result") else -1.0
    keys = np.where(np.isnan(values), np.inf, sign * values)
    return places[np.argsort(keys, kind="stable")]
