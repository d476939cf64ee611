"""How events and settings are written: words and schemas of their own, apart from the code.

A store outlives the code that wrote it, so every word on the disk stands in a table here, beside
the name it has in Python today; those of settings stand at their fields. Renaming a class or a
field changes the Python side of its table and nothing on the disk. What is stored is never
rewritten: an event of an older schema is lifted, one schema at a time, when it is read.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from serendip.campaigns.errors import StoreDamaged, StoreFailed
from serendip.campaigns.log.events import (
    Asked,
    Corrected,
    Created,
    Event,
    Excluded,
    Failed,
    FileRef,
    KnownLabel,
    Moved,
    Proposal,
    Rebudgeted,
    Told,
    Undone,
    Withdrawn,
)
from serendip.campaigns.spec import Settings
from serendip.core.settings import described, todays
from serendip.core.text import escaped

SCHEMA = 2
"""The newest schema; a kind of event is written with the one that last changed it."""

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """How values of a class are written."""

    of: type
    names: Mapping[str, str]
    """Of the fields: in Python, on the disk."""
    parts: Mapping[str, "Form"] = field(default_factory=dict)
    """Fields that hold a value of ours or several, by their names in Python."""
    schema: int = 1
    """Of events: the schema that last changed this kind."""

    def written(self, value: Any) -> Body:
        """Plain values by their names on the disk."""
        return {name: self._plain(own, getattr(value, own)) for own, name in self.names.items()}

    def _plain(self, own: str, value: Any) -> Any:
        part = self.parts.get(own)
        if part is None or value is None:
            return value
        many = isinstance(value, tuple)
        return [part.written(one) for one in value] if many else part.written(value)

    def read(self, body: Mapping[str, Any]) -> Any:
        """The value again; what this version of serendip does not know is refused, not dropped."""
        own = {name: python for python, name in self.names.items()}
        strange = sorted(body.keys() - own)
        if strange:
            raise _newer(f"the field {strange[0]!r}")
        return self.of(**{own[name]: self._revived(own[name], body[name]) for name in body})

    def _revived(self, own: str, value: Any) -> Any:
        part = self.parts.get(own)
        if isinstance(value, list):
            return tuple(part.read(one) if part else one for one in value)
        return value if part is None or value is None else part.read(value)


_ACTOR = {"who": "who", "at": "at"}
_ITEM = {**_ACTOR, "item": "item"}

_FILE = Form(FileRef, {"path": "path", "near": "near", "sha256": "sha256"})
_LABEL = Form(KnownLabel, {"item": "item", "value": "value"})
_PROPOSAL = Form(
    Proposal,
    {
        "item": "item",
        "expected": "expected",
        "uncertainty": "uncertainty",
        "chance_of_top": "chance_of_top",
        "kind": "kind",
        "regret_share": "regret_share",
        "information_share": "information_share",
        "reason": "reason",
    },
)
_CREATED = {
    "settings": "settings",
    "pool": "pool",
    "n_candidates": "n_candidates",
    "edges": "edges",
    "snapshot": "snapshot",
    "known": "known",
    "reading_rules": "reading_rules",
}
_FILES = {"pool": _FILE, "edges": _FILE, "snapshot": _FILE}

EVENTS: Mapping[str, Form] = {
    "Created": Form(Created, {**_ACTOR, **_CREATED}, {**_FILES, "known": _LABEL}, schema=2),
    "Asked": Form(Asked, {**_ACTOR, "proposals": "proposals"}, {"proposals": _PROPOSAL}),
    "Told": Form(Told, {**_ITEM, "value": "value", "side": "side"}, {"side": _LABEL}),
    "Failed": Form(Failed, _ITEM),
    "Excluded": Form(Excluded, _ITEM),
    "Corrected": Form(Corrected, {**_ITEM, "value": "value"}),
    "Withdrawn": Form(Withdrawn, {**_ACTOR, "items": "items"}),
    "Undone": Form(Undone, {**_ACTOR, "versions": "versions"}),
    "Rebudgeted": Form(Rebudgeted, {**_ACTOR, "budget": "budget"}),
    "Moved": Form(Moved, {**_ACTOR, "pool": "pool"}, {"pool": _FILE}),
}
"""Every event by its kind on the disk; tables and the API show the same words."""

_KINDS: Mapping[type, str] = {form.of: kind for kind, form in EVENTS.items()}

SETTINGS: Mapping[str, str] = {one.name: one.word for one in described(Settings)}
"""Every setting: in Python, and in logs, TOML files and the API. The words stand at the fields."""


def kind_of(event: Event) -> str:
    """What an event is called in logs, tables and the API."""
    return _KINDS[type(event)]


def encoded(event: Event) -> str:
    """The event as one line of JSON, the same text for the same event."""
    kind = kind_of(event)
    body = {"kind": kind, "schema": EVENTS[kind].schema, **EVENTS[kind].written(event)}
    return json.dumps(body, allow_nan=False, sort_keys=True, separators=(",", ":"))


def decoded(text: str) -> Event:
    """The event in a line of JSON, whichever schema it was written with."""
    try:
        body = json.loads(text)
        kind, schema = str(body.pop("kind")), int(body.pop("schema"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StoreDamaged(
            f"The log holds an event that is not one ({text[:40]!r}); restore a backup of the "
            "store."
        ) from None
    if schema > SCHEMA or kind not in EVENTS:
        raise _newer(f"an event {kind!r} of schema {schema}")
    try:
        for lift in _LIFTS[max(schema, 1) - 1 :]:
            body = lift(kind, body)
        if "\\ud" in text:  # maybe half a character, from before they were refused
            body = _showable(body)
        body["who"] = escaped(body["who"])
        if kind == "Created":
            body["settings"] = _settings(body["settings"])
        event: Event = EVENTS[kind].read(body)
    except (TypeError, KeyError, AttributeError):
        raise StoreDamaged(
            f"An event {kind!r} in the log lacks a part of it; restore a backup of the store."
        ) from None
    return event


_PATHS = ("path", "near", "pool", "edges", "prior_data")
"""Words for what finds a file, which stays as it is."""


def _showable(value: Any) -> Any:
    """A value of JSON with halves of characters written out, so that it can be shown."""
    if isinstance(value, str):
        return escaped(value, control=False)
    if isinstance(value, list):
        return [_showable(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: one if key in _PATHS and isinstance(one, str) else _showable(one)
        for key, one in value.items()
    }


def _settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a log; one that this version of serendip does not know is refused, not dropped."""
    found = todays(Settings, stored)
    strange = sorted(found.keys() - set(SETTINGS.values()))
    if strange:
        raise _newer(f"the setting {strange[0]!r}")
    return found


def _newer(what: str) -> StoreFailed:
    return StoreFailed(
        f"The log holds {what}, which this version of serendip does not know (it knows schemas up "
        f"to {SCHEMA}); upgrade serendip to open this campaign."
    )


def _with_reading_rules(kind: str, body: Body) -> Body:
    """From schema 1: pools were read by the first rules, and nothing said so."""
    return {"reading_rules": 1, **body} if kind == "Created" else body


_LIFTS: tuple[Callable[[str, Body], Body], ...] = (_with_reading_rules,)
"""The steps from each schema to the next: from 1 to 2, from 2 to 3, …"""
