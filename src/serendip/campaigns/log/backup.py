"""Backups: a whole store in one SQLite file, whatever database it is kept in, and back into either.

Both may be done while others read and write: a backup is the store at one moment. Every hash of
every log is checked in the copy before it counts.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from serendip.campaigns.errors import StoreFailed
from serendip.campaigns.log.engine import connected, copy_pages, patiently
from serendip.campaigns.log.events import FileRef
from serendip.campaigns.log.schema import CAMPAIGNS, METADATA
from serendip.campaigns.log.state import replay
from serendip.campaigns.log.store import ROOT, Held, Store
from serendip.campaigns.output.cells import check_place
from serendip.core.errors import InvalidInput

_ROWS = 1000
"""Rows copied at a time."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What was found in a copy of a store."""

    n_campaigns: int
    n_events: int
    files: tuple[FileRef, ...]
    """Pools and the like, which are files of their own: no copy of a store holds them."""

    def __str__(self) -> str:
        campaigns = "1 campaign" if self.n_campaigns == 1 else f"{self.n_campaigns} campaigns"
        return f"{campaigns}, {self.n_events} events, every hash right"


def back_up(store: Store, file: Path) -> Contents:
    """The store as it stands, in one new file; it is there in whole or not at all.

    Args:
        store: Others may write to it meanwhile.
        file: Where to; what is there already is never written over.
    """
    _check_new(file)
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        if store.engine.dialect.name == "sqlite":
            patiently(store.engine, lambda: copy_pages(store.engine, part))
        else:
            patiently(store.engine, lambda: _copy_rows(store, part))
        copy = Store.open(part)
        contents = patiently(copy.engine, lambda: _verified_copy(copy, store))
        _make_single(copy)
        _check_new(file)
        os.replace(part, file)
    except OSError as problem:
        raise StoreFailed(
            f"{file} could not be written ({problem.strerror or problem}); free some space or "
            "choose another place."
        ) from None
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + ending).unlink(missing_ok=True)
    return contents


def restore(file: Path, where: str | Path | None = None) -> tuple[Store, Contents]:
    """Puts a backup into a store that is new or holds no campaign; all of it or nothing.

    Args:
        file: A backup; it is not changed.
        where: The store, as `Store.open` takes it.
    """
    with _opened(file) as backup:
        contents = patiently(backup.engine, lambda: _verified_copy(backup, backup))
        if not contents.n_campaigns:
            raise InvalidInput(f"{file} holds no campaign, so there is nothing to restore.")
        store = Store.open(where, create=True)

        def filled() -> Contents:
            with (
                connected(backup.engine, writes=False) as source,
                connected(store.engine, writes=True) as target,
            ):
                _check_empty(store, target)
                _pour(source, target)
                return _verified(target, store)

        return store, patiently(store.engine, filled)


def _check_new(file: Path) -> None:
    if file.exists() and not file.is_dir():
        raise InvalidInput(
            f"{file} is there already, and a backup writes over nothing; choose another name."
        )
    check_place(file, force=False)


def _check_empty(store: Store, connection: sa.Connection) -> None:
    names = connection.execute(sa.select(CAMPAIGNS.c.name).order_by(CAMPAIGNS.c.name)).scalars()
    held = list(names)
    if held:
        more = f" and {len(held) - 5} more" if len(held) > 5 else ""
        raise InvalidInput(
            f"{store} holds campaigns already ({', '.join(held[:5])}{more}), and nothing is mixed "
            "with them or written over; restore into a new file or an empty database, named with "
            "--store."
        )


def _copy_rows(store: Store, part: Path) -> None:
    """All rows of a PostgreSQL store, as one transaction sees them, in a new SQLite file."""
    part.unlink(missing_ok=True)  # of an attempt before
    part.touch(mode=0o600)
    copy = Store.open(part, create=True)
    moment = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with (
        store.engine.connect().execution_options(**moment) as source,
        source.begin(),
        connected(copy.engine, writes=True) as target,
    ):
        _pour(source, target)


def _pour(source: sa.Connection, target: sa.Connection) -> None:
    """Every row as it is; campaigns come before what belongs to them."""
    for table in METADATA.sorted_tables:
        query = sa.select(table).execution_options(stream_results=True)
        for rows in source.execute(query).mappings().partitions(_ROWS):
            target.execute(sa.insert(table), [dict(row) for row in rows])


def _verified_copy(copy: Store, original: Store) -> Contents:
    with connected(copy.engine, writes=False) as connection:
        return _verified(connection, original)


def _verified(connection: sa.Connection, store: Store) -> Contents:
    """What a connection finds, once every log is whole; `store` is named where one is not."""
    files: dict[FileRef, None] = {}
    n_campaigns, n_events = 0, 0
    for row in connection.execute(sa.select(CAMPAIGNS).order_by(CAMPAIGNS.c.name)).all():
        log, _ = Held(store, connection, row.name, row.version, row.tip).read(0, ROOT)
        state = replay(log)
        found = (state.pool, state.created.edges, state.created.snapshot)
        files |= dict.fromkeys(one for one in found if one is not None)
        n_campaigns, n_events = n_campaigns + 1, n_events + len(log)
    return Contents(n_campaigns, n_events, tuple(files))


def _make_single(copy: Store) -> None:
    """Folds SQLite's own log into the file, which can then be carried about alone."""
    copy.engine.dispose()
    with closing(sqlite3.connect(str(copy.engine.url.database))) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def _opened(file: Path) -> Iterator[Store]:
    """A backup as a store: a copy, which may be migrated, of a file that stays as it is."""
    if not file.is_file():
        raise InvalidInput(f"There is no backup {file}; name a file that `serendip backup` wrote.")
    with TemporaryDirectory(prefix="serendip-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder).resolve() / "backup.db"
        url = sa.URL.create("sqlite", database=str(file.resolve()))
        engine = sa.create_engine(url, creator=_reader(file), poolclass=sa.NullPool)
        try:
            patiently(engine, lambda: copy_pages(engine, copy))
            backup = Store.open(copy)
            yield backup
            backup.engine.dispose()
        except StoreFailed as problem:
            raise type(problem)(str(problem).replace(str(copy), str(file))) from None


def _reader(file: Path) -> Callable[[], sqlite3.Connection]:
    return lambda: sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
