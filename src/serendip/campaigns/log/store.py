"""The event log on SQLAlchemy Core: SQLite by default, PostgreSQL by URL, one code path.

Every campaign has a version, the number of its events, and a tip: the hash of its last event, each
hash covering the one before. A writer says which version it has seen; if the log has grown since,
nothing is written and `StaleCampaign` is raised. Reading checks the whole chain.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from serendip.campaigns.errors import (
    CampaignExists,
    NoSuchCampaign,
    StaleCampaign,
    StoreDamaged,
    StoreFailed,
)
from serendip.campaigns.log.engine import connected, engine_of, patiently, shown, store_url
from serendip.campaigns.log.events import Entry, Event
from serendip.campaigns.log.schema import CAMPAIGNS, EVENTS, REQUESTS, ensure_schema
from serendip.campaigns.log.wire import decoded, encoded

T = TypeVar("T")

Log = tuple[tuple[Entry, ...], str]
"""Some events, and the hash of the last."""

ROOT = "0" * 64
"""What stands for the hash before the first event."""


@dataclass(frozen=True, slots=True)
class CampaignInfo:
    """One campaign of a store."""

    name: str
    version: int
    created_at: str


@dataclass(frozen=True, slots=True)
class Store:
    """Campaigns' logs in one database."""

    engine: sa.Engine

    @classmethod
    def open(
        cls, where: str | Path | None = None, create: bool = False, resident: bool = False
    ) -> "Store":
        """The store at a path or URL; else at SERENDIP_STORE, else serendip.db in this folder.

        Args:
            where: A SQLite file, or a postgresql:// URL.
            create: Whether a SQLite file that is not there may be made.
            resident: Whether the process stays, and may keep connections.
        """
        url = store_url(where if where is not None else os.environ.get("SERENDIP_STORE") or None)
        if url.get_backend_name() == "sqlite":
            file = Path(str(url.database))
            if file.is_dir():
                raise StoreFailed(f"{file} is a folder; name a file in it as the store.")
            if not create and not file.is_file():
                raise NoSuchCampaign(
                    f"There is no store {file}; go to the folder of the campaign, name its store "
                    "with --store, or begin one with `serendip init`."
                )
        store = cls(engine_of(url, resident))
        patiently(store.engine, lambda: ensure_schema(store.engine))
        return store

    @property
    def folder(self) -> Path:
        """Where files that belong to the store are kept."""
        url = self.engine.url
        return Path(str(url.database)).parent if url.get_backend_name() == "sqlite" else Path.cwd()

    def __str__(self) -> str:
        return shown(self.engine)

    def campaigns(self) -> tuple[CampaignInfo, ...]:
        """Every campaign, by name."""

        def read() -> tuple[CampaignInfo, ...]:
            query = sa.select(CAMPAIGNS).order_by(CAMPAIGNS.c.name)
            with connected(self.engine, writes=False) as connection:
                rows = connection.execute(query).all()
            return tuple(CampaignInfo(row.name, row.version, row.created_at) for row in rows)

        return patiently(self.engine, read)

    def create(self, campaign: str, event: Event) -> int:
        """Begins a campaign with its first event; returns its version, 1."""

        def write() -> int:
            with connected(self.engine, writes=True) as connection:
                new = {"name": campaign, "version": 0, "tip": ROOT, "created_at": event.at}
                try:
                    connection.execute(sa.insert(CAMPAIGNS), new)
                except IntegrityError:
                    raise self.taken(campaign) from None
                held = Held(self, connection, campaign, 0, ROOT)
                held.append([event])
                held.flush()
                return held.version

        return patiently(self.engine, write)

    def append(self, campaign: str, events: Sequence[Event], after: int) -> int:
        """Adds events, all or none, to a log that has `after` events; returns the new version."""

        def write(held: Held) -> int:
            if held.version != after:
                raise StaleCampaign(
                    f"Campaign {campaign!r} has {held.version} events by now, and {after} had been "
                    "seen; read the new ones and decide again."
                )
            held.append(events)
            return held.version

        return self.holding(campaign, write)

    def holding(self, campaign: str, action: "Callable[[Held], T]") -> T:
        """What the action returns, done while other writers of the campaign wait.

        What the action appends is recorded when it returns, and not at all where it raises.
        """

        def held() -> T:
            with connected(self.engine, writes=True) as connection:
                mine = Held(self, connection, campaign, *_tip(self, connection, campaign))
                outcome = action(mine)
                mine.flush()
                return outcome

        return patiently(self.engine, held)

    def read(self, campaign: str, after: int = 0, tip: str = ROOT) -> Log:
        """The events after a version, whose hash is `tip`, and the hash of the last.

        Every hash is checked on the way, and that nothing is missing at the end.
        """

        def read() -> Log:
            with connected(self.engine, writes=False) as connection:
                version, last = _tip(self, connection, campaign, lock=False)
                return Held(self, connection, campaign, version, last).read(after, tip)

        return patiently(self.engine, read)

    def answered(self, campaign: str, keys: Sequence[str]) -> "dict[str, Remembered]":
        """What was answered to the commands of these keys, if they were recorded before."""

        def read() -> "dict[str, Remembered]":
            with connected(self.engine, writes=False) as connection:
                return Held(self, connection, campaign, 0, ROOT).answered(keys)

        return patiently(self.engine, read) if keys else {}

    def taken(self, campaign: str) -> CampaignExists:
        """The error for a name that is in use."""
        return CampaignExists(f"{self} holds a campaign {campaign!r} already; choose another name.")

    def unknown(self, campaign: str) -> NoSuchCampaign:
        """The error for a campaign that is not there; names the nearest one that is."""
        from difflib import get_close_matches

        names = [info.name for info in self.campaigns()]
        near = get_close_matches(campaign, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it holds: {', '.join(names) or 'none'}."
        return NoSuchCampaign(f"{self} holds no campaign {campaign!r}; {hint}")


@dataclass(slots=True)
class Held:
    """A campaign within one transaction; it moves on with what is appended."""

    store: Store
    connection: sa.Connection
    campaign: str
    version: int
    tip: str
    _events: list[dict[str, Any]] = field(default_factory=list)
    _requests: dict[str, dict[str, Any]] = field(default_factory=dict)

    def read(self, after: int, tip: str) -> Log:
        """The events after a version, as `Store.read` gives them."""
        self.flush()
        rows = (
            self.connection.execute(
                sa.select(EVENTS)
                .where(EVENTS.c.campaign == self.campaign, EVENTS.c.version > after)
                .where(EVENTS.c.version <= self.version)
                .order_by(EVENTS.c.version)
            ).all()
            if (self.version, self.tip) != (after, tip)
            else ()
        )
        log = []
        for place, row in enumerate(rows, start=after + 1):
            tip = chained(tip, self.campaign, place, row.command, row.body)
            if row.version != place or row.hash != tip:
                raise StoreDamaged(
                    f"Event {place} of campaign {self.campaign!r} in {self.store} is missing or "
                    "was changed; put a backup of the store in its place."
                )
            log.append(Entry(place, row.command, decoded(row.body)))
        if self.version != after + len(rows) or self.tip != tip:
            raise StoreDamaged(
                f"Campaign {self.campaign!r} in {self.store} should have {self.version} events, "
                f"and the log ends at {after + len(rows)}; put a backup of the store in its place."
            )
        return tuple(log), tip

    def append(self, events: Sequence[Event]) -> tuple[Entry, ...]:
        """Adds the events of one command; returns them as entries of the log."""
        command, entries = self.version + 1, []
        for event in events:
            self.version += 1
            body = encoded(event)
            self.tip = chained(self.tip, self.campaign, self.version, command, body)
            row = {"campaign": self.campaign, "version": self.version, "command": command}
            self._events.append({**row, "body": body, "hash": self.tip})
            entries.append(Entry(self.version, command, decoded(body)))
        return tuple(entries)

    def answered(self, keys: Sequence[str]) -> "dict[str, Remembered]":
        """What was answered to the commands of these keys, as `Store.answered` gives it."""
        if not keys:
            return {}
        query = sa.select(REQUESTS).where(
            REQUESTS.c.campaign == self.campaign, REQUESTS.c.key.in_(keys)
        )
        return {
            row.key: Remembered(row.digest, row.version, json.loads(row.answer))
            for row in self.connection.execute(query)
        }

    def remember(self, key: str, what: "Remembered") -> None:
        """Keeps an answer, in the same transaction as the events it tells of.

        It takes the place of an earlier one, whose events were taken back.
        """
        answer = json.dumps(what.answer, allow_nan=False, separators=(",", ":"))
        row = {"campaign": self.campaign, "key": key, "digest": what.digest}
        self._requests[key] = {**row, "version": what.version, "answer": answer}

    def flush(self) -> None:
        """Writes what was appended and remembered; it is kept when the transaction ends."""
        if self._events:
            self.connection.execute(sa.insert(EVENTS), self._events)
            self.connection.execute(
                sa.update(CAMPAIGNS)
                .where(CAMPAIGNS.c.name == self.campaign)
                .values(version=self.version, tip=self.tip)
            )
        if self._requests:
            mine = REQUESTS.c.campaign == self.campaign
            old = sa.delete(REQUESTS).where(mine, REQUESTS.c.key.in_(self._requests))
            self.connection.execute(old)
            self.connection.execute(sa.insert(REQUESTS), list(self._requests.values()))
        self._events, self._requests = [], {}


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer to a command that came with a key."""

    digest: str
    """Of what was commanded: a key stands for one command only."""
    version: int
    """Of the campaign when it had been carried out."""
    answer: Any
    """Plain values, as JSON holds them."""


def _tip(
    store: Store, connection: sa.Connection, campaign: str, lock: bool = True
) -> tuple[int, str]:
    """Version and hash of a campaign; SQLite has locked already, PostgreSQL locks the row."""
    query = sa.select(CAMPAIGNS.c.version, CAMPAIGNS.c.tip).where(CAMPAIGNS.c.name == campaign)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise store.unknown(campaign)
    return int(row.version), str(row.tip)


def chained(tip: str, campaign: str, version: int, command: int, body: str) -> str:
    """The hash of an event, which covers that of the one before."""
    text = json.dumps([tip, campaign, version, command, body])
    return hashlib.sha256(text.encode()).hexdigest()
