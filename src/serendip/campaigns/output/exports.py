"""A campaign as tables: proposals, results, candidates and the log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.campaigns.candidates import Candidates
from serendip.campaigns.intake.results import id_column
from serendip.campaigns.log.events import Asked, Entry, Proposal
from serendip.campaigns.log.state import State
from serendip.campaigns.log.wire import kind_of
from serendip.campaigns.output.words import what
from serendip.campaigns.spec import Settings
from serendip.core.labels import Continuous
from serendip.core.text import escaped

if TYPE_CHECKING:
    import pandas as pd


_SOME = 500
"""Rows that are looked at to find the columns worth showing."""


@dataclass(frozen=True, slots=True)
class Status:
    """A campaign in figures."""

    name: str
    label: str
    store: str
    pool: str
    version: int
    candidates: int
    budget: int
    measured: int
    failed: int
    """Experiments that failed; they are paid for."""
    pending: int
    excluded: int
    known: int
    """Labels from before the campaign."""
    remaining: int
    total: float | None
    """Sum of the labels bought, where it is a number."""
    best_item: str | None
    best: float | None
    last: str
    """The last event in words."""


def status_of(name: str, store: str, log: Sequence[Entry], state: State) -> Status:
    """What the log says without the pool."""
    settings = Settings.from_log(state.created.settings)
    results = list(state.results.values())
    better = min if settings.minimize else max
    best = better(results, key=lambda one: one.value) if results else None
    last = log[-1].event
    total = sum(one.value for one in results)
    return Status(
        name=name,
        label=settings.label,
        store=store,
        pool=escaped(state.pool.path),
        version=state.version,
        candidates=state.created.n_candidates,
        budget=state.budget,
        measured=len(results),
        failed=state.n_failures,
        pending=len(state.pending),
        excluded=len(state.excluded),
        known=len(state.known),
        remaining=state.remaining,
        total=total if results and isfinite(total) else None,
        best_item=best.item if best else None,
        best=best.value if best else None,
        last=f"{last.at[:16].replace('T', ' ')} {last.who} {what(last)}",
    )


def proposal_table(
    settings: Settings, candidates: Candidates, proposals: Sequence[Proposal]
) -> "pd.DataFrame":
    """Proposals with all columns of the user, an empty column for the label, and the reasons."""
    figures: dict[str, list[Any]] = {
        "expected": [rounded(one.expected) for one in proposals],
        "uncertainty": [rounded(one.uncertainty) for one in proposals],
        "chance_of_top": [round(one.chance_of_top, 4) for one in proposals],
        "reason": [one.reason for one in proposals],
    }
    frame = _rows(settings, candidates, [one.item for one in proposals])
    frame[settings.label] = [None] * len(frame)
    return _beside(frame, figures)


def result_table(settings: Settings, candidates: Candidates, state: State) -> "pd.DataFrame":
    """Every candidate that was measured, failed or excluded, in the order told."""
    known = dict.fromkeys([*state.known, *state.results, *state.failed, *state.excluded])
    frame = _rows(settings, candidates, known)
    written = settings.labels
    labels: list[Any] = []
    for item in known:
        found = state.results.get(item)
        value = found.value if found is not None else state.known.get(item)
        plain = isinstance(written, Continuous) or value is None
        labels.append(value if plain else written.decode(float(value or 0.0)))
    frame[settings.label] = labels
    conditions = state.conditions()
    told = [state.results.get(item) for item in known]
    return _beside(
        frame,
        {
            "state": [conditions[item] for item in known],
            "proposed": [one is not None and one.proposed for one in told],
            "who": [one.who if one else "" for one in told],
            "at": [one.at if one else "" for one in told],
        },
    )


def event_table(log: Iterable[Entry], state: State) -> "pd.DataFrame":
    """The log, one event a row."""
    import pandas as pd

    rows = [
        {
            "event": entry.version,
            "at": entry.event.at,
            "who": entry.event.who,
            "kind": kind_of(entry.event),
            "item": ", ".join(_items(entry)),
            "value": getattr(entry.event, "value", None),
            "what": what(entry.event),
            "counts": entry.version not in state.undone,
        }
        for entry in log
    ]
    return pd.DataFrame(rows)


def _items(entry: Entry) -> Sequence[str]:
    event = entry.event
    if isinstance(event, Asked):
        return [one.item for one in event.proposals]
    found = getattr(event, "items", None) or getattr(event, "item", None) or ()
    return (found,) if isinstance(found, str) else found


def _rows(settings: Settings, candidates: Candidates, items: Iterable[str]) -> "pd.DataFrame":
    """Some candidates with the user's columns, named, without the label."""
    names = list(items)
    frame = candidates.rows(np.array([candidates.places[item] for item in names], dtype=np.int64))
    if settings.label in frame.columns:
        frame = frame.drop(columns=settings.label)
    column = id_column(candidates)
    if column in frame.columns:
        frame = frame.drop(columns=column)
    frame.insert(0, column, names)
    return frame


def _beside(frame: "pd.DataFrame", figures: Mapping[str, Sequence[Any]]) -> "pd.DataFrame":
    """Columns of ours after the user's; where a name is taken, ours is marked."""
    for name, values in figures.items():
        frame[name if name not in frame.columns else f"{name} (serendip)"] = list(values)
    return frame


def rounded(value: float) -> float:
    """Six significant digits: more would only look exact."""
    return float(f"{value:.6g}")


@lru_cache(maxsize=8)
def shown_columns(
    settings: Settings, candidates: Candidates, count: int
) -> tuple[tuple[str, ...], int]:
    """The user's columns, those that tell candidates apart first, and how many of them lead.

    Words lead, then numbers, then numbers that a word already says, such as the size of a ligand.

    Args:
        settings: Of the campaign.
        candidates: Of the pool.
        count: How many there is room for.
    """
    left_out = {settings.label, settings.id}
    names = [name for name in candidates.columns if name not in left_out]
    used = [name for name in names if name not in settings.ignore]
    some = candidates.rows(np.arange(min(_SOME, len(candidates.ids))))[used]
    words = [name for name in used if some[name].dtype.kind not in "biufc"]
    said = {
        name
        for word in words
        for name, kinds in some.groupby(word).nunique().max().items()
        if kinds <= 1 and name not in words
    }
    chosen = sorted(used, key=lambda name: (name not in words, name in said))[:count]
    leading = [name for name in names if name in chosen]
    return (*leading, *(name for name in names if name not in chosen)), len(leading)
