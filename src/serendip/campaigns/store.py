"""The event log on SQLAlchemy Core: SQLite by default, PostgreSQL by URL, one code path.

Every campaign has a version, the number of its events, and a tip: the hash of its last event, each
hash covering the one before. A writer says which version it has seen; if the log has grown since,
nothing is written and `StaleCampaign` is raised. Reading checks the whole chain.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

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

_ROOT = "0" * 64
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
                new = {"name": campaign, "version": 0, "tip": _ROOT, "created_at": event.at}
                try:
                    connection.execute(sa.insert(CAMPAIGNS), new)
                except IntegrityError:
                    raise CampaignExists(
                        f"{self} holds a campaign {campaign!r} already; choose another name."
                    ) from None
                return self._write(connection, campaign, [event], 0, _ROOT)

        return patiently(self.engine, write)

    def append(self, campaign: str, events: Sequence[Event], after: int) -> int:
        """Adds events, all or none, to a log that has `after` events; returns the new version."""

        def write() -> int:
            with self._held(campaign) as (connection, version, tip):
                if version != after:
                    raise StaleCampaign(
                        f"Campaign {campaign!r} has {version} events by now, and {after} had been "
                        "seen; read the new ones and decide again."
                    )
                return self._write(connection, campaign, events, version, tip)

        return patiently(self.engine, write)

    @contextmanager
    def hold(self, campaign: str) -> Iterator["Held"]:
        """Keeps other writers of the campaign waiting, so that what is decided is not stale."""
        with connected(self.engine, writes=True) as connection:
            version, tip = self._locked(connection, campaign)
            yield Held(self, connection, campaign, version, tip)

    @contextmanager
    def _held(self, campaign: str) -> Iterator[tuple[sa.Connection, int, str]]:
        with connected(self.engine, writes=True) as connection:
            yield (connection, *self._locked(connection, campaign))

    def _locked(self, connection: sa.Connection, campaign: str) -> tuple[int, str]:
        query = sa.select(CAMPAIGNS.c.version, CAMPAIGNS.c.tip).where(CAMPAIGNS.c.name == campaign)
        row = connection.execute(query.with_for_update()).first()
        if row is None:
            raise self.unknown(campaign)
        return int(row.version), str(row.tip)

    def _write(
        self,
        connection: sa.Connection,
        campaign: str,
        events: Sequence[Event],
        version: int,
        tip: str,
    ) -> int:
        if not events:
            return version
        rows = []
        command = version + 1
        for event in events:
            version += 1
            body = encoded(event)
            tip = chained(tip, campaign, version, command, body)
            rows.append(
                {
                    "campaign": campaign,
                    "version": version,
                    "command": command,
                    "body": body,
                    "hash": tip,
                }
            )
        connection.execute(sa.insert(EVENTS), rows)
        connection.execute(
            sa.update(CAMPAIGNS)
            .where(CAMPAIGNS.c.name == campaign)
            .values(version=version, tip=tip)
        )
        return version

    def read(
        self, campaign: str, after: int = 0, tip: str = _ROOT
    ) -> tuple[tuple[Entry, ...], str]:
        """The events after a version, whose hash is `tip`, and the hash of the last.

        Every hash is checked on the way, and that nothing is missing at the end.
        """

        def read() -> tuple[tuple[Entry, ...], str]:
            with connected(self.engine, writes=False) as connection:
                return self.read_by(connection, campaign, after, tip)

        return patiently(self.engine, read)

    def read_by(
        self, connection: sa.Connection, campaign: str, after: int, tip: str
    ) -> tuple[tuple[Entry, ...], str]:
        """`read` over a connection that is open."""
        known = connection.execute(
            sa.select(CAMPAIGNS.c.version, CAMPAIGNS.c.tip).where(CAMPAIGNS.c.name == campaign)
        ).first()
        if known is None:
            raise self.unknown(campaign)
        rows = connection.execute(
            sa.select(EVENTS)
            .where(EVENTS.c.campaign == campaign, EVENTS.c.version > after)
            .where(EVENTS.c.version <= known.version)
            .order_by(EVENTS.c.version)
        ).all()
        log = []
        for place, row in enumerate(rows, start=after + 1):
            tip = chained(tip, campaign, place, row.command, row.body)
            if row.version != place or row.hash != tip:
                raise StoreDamaged(
                    f"Event {place} of campaign {campaign!r} in {self} is missing or was changed; "
                    "put a backup of the store in its place."
                )
            log.append(Entry(place, row.command, decoded(row.body)))
        if known.version != after + len(rows) or known.tip != tip:
            raise StoreDamaged(
                f"Campaign {campaign!r} in {self} should have {known.version} events, and the log "
                f"ends at {after + len(rows)}; put a backup of the store in its place."
            )
        return tuple(log), tip

    def unknown(self, campaign: str) -> NoSuchCampaign:
        """The error for a campaign that is not there; names the nearest one that is."""
        from difflib import get_close_matches

        names = [info.name for info in self.campaigns()]
        near = get_close_matches(campaign, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it holds: {', '.join(names) or 'none'}."
        return NoSuchCampaign(f"{self} holds no campaign {campaign!r}; {hint}")


@dataclass(frozen=True, slots=True)
class Held:
    """A campaign that nobody else can write to for now."""

    store: Store
    connection: sa.Connection
    campaign: str
    version: int
    tip: str

    def read(self, after: int, tip: str) -> tuple[tuple[Entry, ...], str]:
        """The events after a version, as `Store.read` gives them."""
        return self.store.read_by(self.connection, self.campaign, after, tip)

    def append(self, events: Sequence[Event]) -> int:
        """Adds events; they are recorded when the hold ends without an error."""
        write = self.store._write
        return write(self.connection, self.campaign, events, self.version, self.tip)


def chained(tip: str, campaign: str, version: int, command: int, body: str) -> str:
    """The hash of an event, which covers that of the one before."""
    text = json.dumps([tip, campaign, version, command, body], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


__all__ = ["CampaignInfo", "DBAPIError", "Held", "Store", "chained"]
