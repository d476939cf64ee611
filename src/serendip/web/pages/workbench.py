"""What the page of a campaign shows: proposals to fill in, results so far, what can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.campaigns.analysis.fit import believed
from serendip.campaigns.candidates import Candidates
from serendip.campaigns.intake.entries import Objection
from serendip.campaigns.log.events import Asked, Proposal
from serendip.campaigns.log.state import Result
from serendip.campaigns.output.exports import shown_columns
from serendip.campaigns.spec import Settings
from serendip.campaigns.undoing import taken_back
from serendip.core.errors import InvalidInput
from serendip.core.labels import Continuous, Ordered
from serendip.web.pages.templating import cell
from serendip.web.server.answers import Reading

if TYPE_CHECKING:
    import pandas as pd

_N_COLUMNS = 5
_ROOM, _WIDE_CELL, _WIDE_TITLE = 46, 16, 12
"""Letters that there is room for beside the results; longer cells and titles are broken."""
_N_RESULTS = 12


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate that waits for its result, or whose entry was refused."""

    item: str
    cells: tuple[str, ...]
    """By column, the leading ones first."""
    proposal: Proposal | None
    informed: bool
    """Whether some label was known when it was proposed."""
    typed: str
    objection: Objection | None


@dataclass(frozen=True, slots=True)
class Told:
    """A result that was told."""

    item: str
    value: str
    result: Result


@dataclass(frozen=True, slots=True)
class Workbench:
    """All that the page shows besides the campaign's figures."""

    columns: tuple[str, ...]
    """The user's columns."""
    leading: int
    """How many of them there is room for."""
    rows: tuple[Row, ...]
    span: tuple[float, float]
    """From the lowest to the highest value that proposals are expected to have."""
    last: tuple[Told, ...]
    n_results: int
    undo: str
    """What undo would take back."""
    words: tuple[str, ...]
    """What may be written as a result, where it is words."""


def workbench(
    reading: Reading,
    candidates: Candidates,
    typed: Mapping[str, str] | None = None,
    objections: Mapping[str, Objection] | None = None,
) -> Workbench:
    """The page of a campaign.

    Args:
        reading: The campaign now.
        candidates: Its pool.
        typed: What was typed and not recorded, by candidate.
        objections: Why, by candidate.
    """
    typed, objections = typed or {}, objections or {}
    state, settings = reading.state, reading.settings
    waiting: dict[str, Proposal | None] = dict(state.pending)
    known, informed = _proposals(reading), believed(reading.log)
    waiting |= {item: known.get(item) for item in objections if item in candidates.places}
    names, leading = shown_columns(settings, candidates, _N_COLUMNS)
    places = np.array([candidates.places[item] for item in waiting], dtype=np.int64)
    frame = candidates.rows(places)
    leading = _fitting([frame[name] for name in names[:leading]])
    cells = [tuple(row) for row in frame[list(names)].astype(object).to_numpy().tolist()]
    rows = tuple(
        Row(item, mine, proposal, item in informed, typed.get(item, ""), objections.get(item))
        for (item, proposal), mine in zip(waiting.items(), cells, strict=True)
    )
    labels = settings.labels
    told = [Told(one.item, _written(settings, one.value), one) for one in state.results.values()]
    return Workbench(
        columns=names,
        leading=leading,
        rows=rows,
        span=_span([row.proposal for row in rows if row.proposal is not None and row.informed]),
        last=tuple(reversed(told[-_N_RESULTS:])),
        n_results=len(told),
        undo=_undoable(reading),
        words=tuple(labels.categories) if isinstance(labels, Ordered) else (),
    )


def _fitting(columns: Sequence["pd.Series[Any]"]) -> int:
    """How many of the columns there is room for, at least one if there is any."""
    left = _ROOM
    for place, column in enumerate(columns):
        longest = max((len(cell(one)) for one in column), default=0)
        left -= max(min(longest, _WIDE_CELL), min(len(str(column.name)), _WIDE_TITLE))
        if left < 0:
            return max(1, place)
    return len(columns)


def _written(settings: Settings, value: float) -> str:
    return (
        f"{value:.6g}"
        if isinstance(settings.labels, Continuous)
        else str(settings.labels.decode(value))
    )


def _proposals(reading: Reading) -> dict[str, Proposal]:
    asked = (entry.event for entry in reading.log if isinstance(entry.event, Asked))
    return {one.item: one for event in asked for one in event.proposals}


def _span(proposals: Sequence[Proposal]) -> tuple[float, float]:
    if not proposals:
        return 0.0, 1.0
    low = min(one.expected - one.uncertainty for one in proposals)
    high = max(one.expected + one.uncertainty for one in proposals)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _undoable(reading: Reading) -> str:
    """The last that can be taken back, in words; empty where there is nothing."""
    try:
        _, told = taken_back(reading.log, reading.state, "", "")
    except InvalidInput:
        return ""
    words = list(told)
    more = f" and {len(words) - 1} more" if len(words) > 1 else ""
    return f"{words[0].rstrip('.')}{more}"
