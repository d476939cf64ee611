"""What can happen to a campaign. Events are facts: they are appended, never edited.

How they are written is told in `wire`. Candidates are named by the user's own ids, so a log can be
read by people; the pool is pinned by its hash, so an id always means the same row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file the campaign depends on, and what was in it."""

    path: str
    """Absolute, as it was when the campaign began."""
    near: str
    """Relative to the folder of the store, so that a folder may be moved as a whole."""
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownLabel:
    """A label that was there before the campaign, or that was seen beside another."""

    item: str
    value: float
    """In the user's own units."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One candidate of a batch, with what was believed of it when it was chosen."""

    item: str
    expected: float
    uncertainty: float
    chance_of_top: float
    kind: str
    """exploit, explore or both."""
    regret_share: float
    information_share: float
    reason: str


@dataclass(frozen=True, slots=True)
class Created:
    """A campaign began."""

    who: str
    at: str
    settings: Mapping[str, Any]
    """`Settings.as_json`, all that was decided at the start, in the words of `wire.SETTINGS`."""
    pool: FileRef
    n_candidates: int
    edges: FileRef | None = None
    snapshot: FileRef | None = None
    """A Parquet copy of the pool."""
    known: tuple[KnownLabel, ...] = ()
    """Labels known from the start; they teach the model and cost nothing."""
    reading_rules: int = 1
    """By which rules the pool is read; logs that do not say follow the first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Candidates were proposed; recorded before anybody sees them."""

    who: str
    at: str
    proposals: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A candidate was measured."""

    who: str
    at: str
    item: str
    value: float
    """In the user's own units; the rank of an ordered category in [0, 1]."""
    side: tuple[KnownLabel, ...] = ()
    """Labels of neighbours that the same measurement showed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An experiment was made and gave no result. It is paid for; the candidate may return."""

    who: str
    at: str
    item: str


@dataclass(frozen=True, slots=True)
class Excluded:
    """A candidate will never be proposed again. Costs nothing."""

    who: str
    at: str
    item: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """A label that was told wrongly has another value."""

    who: str
    at: str
    item: str
    value: float


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Proposals that nobody will carry out; the candidates are available again."""

    who: str
    at: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """Earlier events no longer count. They stay in the log."""

    who: str
    at: str
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rebudgeted:
    """There is money for more experiments, or for fewer."""

    who: str
    at: str
    budget: int


@dataclass(frozen=True, slots=True)
class Moved:
    """The pool file lies elsewhere; its contents are the same."""

    who: str
    at: str
    pool: FileRef


Event = (
    Created | Asked | Told | Failed | Excluded | Corrected | Withdrawn | Undone | Rebudgeted | Moved
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event with its place in the log of its campaign, from 1."""

    version: int
    command: int
    """The version of the first event that the same command wrote."""
    event: Event
