"""What can happen to a campaign. Events are facts: they are appended, never edited.

An event is stored as JSON with a schema version. Candidates are named by the user's own ids, so a
log can be read by people; the pool is pinned by its hash, so an id always means the same row.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from serendip.campaigns.errors import StoreDamaged

SCHEMA = 1
"""Version of the JSON below; raised when a field changes its meaning."""


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
    """`Settings.as_json`, all that was decided at the start."""
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

_KINDS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        Created, Asked, Told, Failed, Excluded, Corrected, Withdrawn, Undone, Rebudgeted, Moved,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """An event with its place in the log of its campaign, from 1."""

    version: int
    command: int
    """The version of the first event that the same command wrote."""
    event: Event


def encoded(event: Event) -> str:
    """The event as one line of JSON, the same text for the same event."""
    body = {"kind": type(event).__name__, "schema": SCHEMA, **asdict(event)}
    return json.dumps(body, allow_nan=False, sort_keys=True, separators=(",", ":"))


def decoded(text: str) -> Event:
    """The event in a line of JSON."""
    try:
        body = json.loads(text)
        kind, schema = str(body.pop("kind")), int(body.pop("schema"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StoreDamaged(
            f"The log holds an event that is not one ({text[:40]!r}); restore a backup of the "
            "store."
        ) from None
    if schema > SCHEMA or kind not in _KINDS:
        raise StoreDamaged(
            f"The log holds an event {kind!r} of schema {schema}, and this version of serendip "
            f"knows schemas up to {SCHEMA}; upgrade serendip to open this campaign."
        )
    try:
        event: Event = _revived(_KINDS[kind], body)
    except (TypeError, KeyError, AttributeError):
        raise StoreDamaged(
            f"An event {kind!r} in the log lacks a part of it; restore a backup of the store."
        ) from None
    return event


_PARTS: dict[str, Any] = {
    "pool": FileRef,
    "edges": FileRef,
    "snapshot": FileRef,
    "known": KnownLabel,
    "side": KnownLabel,
    "proposals": Proposal,
}
"""Fields that are values of ours, or tuples of them."""


def _revived(kind: Any, body: Mapping[str, Any]) -> Any:
    parts = {}
    for field in fields(kind):
        if field.name not in body:
            continue
        value, part = body[field.name], _PARTS.get(field.name)
        if isinstance(value, list):
            value = tuple(_revived(part, one) if part else one for one in value)
        elif part and value is not None:
            value = _revived(part, value)
        parts[field.name] = value
    return kind(**parts)
