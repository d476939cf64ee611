"""The event log on SQLAlchemy Core: SQLite by default, PostgreSQL by URL, one code path.

Every campaign has a version, the number of its events, and a tip: the hash of its last event, each
hash covering the one before. A writer says which version it has seen; if the log has grown since,
nothing is written and `StaleCampaign` is raised. Reading checks the whole chain.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from serendip.campaigns.engine import connected, engine_of, patiently, shown, store_url
from serendip.campaigns.errors import (
    CampaignExists,
    NoSuchCampaign,
    StaleCampaign,
    StoreDamaged,
    StoreFailed,
)
from serendip.campaigns.events import Entry, Event, decoded, encoded
from serendip.campaigns.schema import CAMPAIGNS, EVENTS, ensure_schema

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
    def open(cls, where: str | Path | None = None, create: bool = False) -> "Store":
        """The store at a path or URL; else at SERENDIP_STORE, else serendip.db in this folder.

        Args:
            where: A SQLite file, or a postgresql:// URL.
            create: Whether a SQLite file that is not there may be made.
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
        store = cls(engine_of(url))
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
                return Held(self, connection, campaign, 0, ROOT).append([event])

        return patiently(self.engine, write)

    def append(self, campaign: str, events: Sequence[Event], after: int) -> int:
        """Adds events, all or none, to a log that has `after` events; returns the new version."""

        def write(held: Held) -> int:
            if held.version != after:
                raise StaleCampaign(
                    f"Campaign {campaign!r} has {held.version} events by now, and {after} had been "
                    "seen; read the new ones and decide again."
                )
            return held.append(events)

        return self.holding(campaign, write)

    def holding(self, campaign: str, action: "Callable[[Held], T]") -> T:
        """What the action returns, done while other writers of the campaign wait.

        What the action appends is recorded when it returns, and not at all where it raises.
        """

        def held() -> T:
            with connected(self.engine, writes=True) as connection:
                return action(Held(self, connection, campaign, *_tip(self, connection, campaign)))

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


@dataclass(frozen=True, slots=True)
class Held:
    """A campaign within one transaction."""

    store: Store
    connection: sa.Connection
    campaign: str
    version: int
    tip: str

    def read(self, after: int, tip: str) -> Log:
        """The events after a version, as `Store.read` gives them."""
        rows = self.connection.execute(
            sa.select(EVENTS)
            .where(EVENTS.c.campaign == self.campaign, EVENTS.c.version > after)
            .where(EVENTS.c.version <= self.version)
            .order_by(EVENTS.c.version)
        ).all()
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

    def append(self, events: Sequence[Event]) -> int:
        """Adds events; returns the version they bring the campaign to."""
        version, tip, rows = self.version, self.tip, []
        for event in events:
            version += 1
            body = encoded(event)
            tip = chained(tip, self.campaign, version, self.version + 1, body)
            row = {"campaign": self.campaign, "version": version, "command": self.version + 1}
            rows.append({**row, "body": body, "hash": tip})
        if rows:
            self.connection.execute(sa.insert(EVENTS), rows)
            self.connection.execute(
                sa.update(CAMPAIGNS)
                .where(CAMPAIGNS.c.name == self.campaign)
                .values(version=version, tip=tip)
            )
        return version


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
