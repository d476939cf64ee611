"""Connections to the store: SQLite or PostgreSQL by URL, with errors people can act on."""

import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

from serendip.campaigns.errors import StoreBusy, StoreDamaged, StoreFailed
from serendip.core.errors import InvalidInput

T = TypeVar("T")

DEFAULT = "serendip.db"
"""The store where none is named: a file in the working folder."""

_BUSY_MS = 5_000
_PATIENCE_S = 120.0
_PAGES = 1000
"""Copied at a time; between two such parts the copy may be interrupted."""
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_TRY_AGAIN = ("40001", "40P01", "55P03", "53300", "57P03")
"""PostgreSQL: serialisation, deadlock, lock not available, too many connections, starting up."""


def store_url(where: str | Path | None) -> sa.URL:
    """The address of a store: a path of a SQLite file, or a postgresql:// URL."""
    text = str(where) if where is not None else DEFAULT
    if "://" not in text:
        if not text.strip() or "\0" in text:
            raise InvalidInput(f"A store is a file or a URL; got {text!r}.")
        return sa.URL.create("sqlite", database=str(Path(text).expanduser().resolve()))
    try:
        url = sa.make_url(text)
    except (SQLAlchemyError, ValueError):
        raise InvalidInput(
            "The store's URL cannot be read; it should look like "
            "postgresql://user:password@host/database."
        ) from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InvalidInput("A store in memory would be lost; name a file.")
        return sa.URL.create("sqlite", database=str(Path(url.database).resolve()))
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise InvalidInput(f"A store is a SQLite file or a postgresql:// URL; got {kind}://.")


def engine_of(url: sa.URL, resident: bool = False) -> sa.Engine:
    """An engine that keeps no connections: it may be forked, and holds no lock when idle.

    Args:
        url: The address of the store.
        resident: Whether the process stays, like a server, and may keep connections to PostgreSQL;
            a SQLite file is opened by its name each time, for it may have been put back.
    """
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args={"timeout": 5.0})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    arguments: dict[str, Any] = {"connect_timeout": 10}
    if "options" not in url.query:  # whoever waits long says so, and a client that hangs lets go
        arguments["options"] = "-c lock_timeout=5s -c idle_in_transaction_session_timeout=30min"
    try:
        if resident:
            return sa.create_engine(
                url, connect_args=arguments, pool_size=16, pool_pre_ping=True, pool_recycle=600
            )
        return sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args=arguments)
    except (ImportError, NoSuchModuleError):
        raise StoreFailed(
            "PostgreSQL needs the psycopg driver, which is not installed; "
            "run pip install 'serendip[postgres]'."
        ) from None


def _prepare_sqlite(connection: Any, record: object) -> None:
    """Transactions are ours to begin; every commit is on the disk before it is acknowledged."""
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout = {_BUSY_MS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: sa.Connection) -> None:
    """A writer locks at once: a reader that turns writer could find the store changed under it."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def connected(engine: sa.Engine, writes: bool) -> Iterator[sa.Connection]:
    """One transaction; committed at the end, rolled back on any error."""
    with engine.connect().execution_options(writes=writes) as connection, connection.begin():
        yield connection


def patiently(engine: sa.Engine, action: Callable[[], T]) -> T:
    """What the action returns; tried again, a little later each time, while the store is locked.

    The action must be one transaction, so that a failed attempt has left nothing behind.
    """
    deadline = time.monotonic() + _PATIENCE_S
    pause = 0.005
    while True:
        try:
            return action()
        except DBAPIError as problem:
            if not _is_busy(problem):
                raise explained(engine, problem) from problem
            if time.monotonic() > deadline:
                raise StoreBusy(
                    f"Others kept {shown(engine)} locked for {_PATIENCE_S:.0f} seconds; nothing "
                    "was recorded, so try again when they are done."
                ) from None
            time.sleep(pause * (0.5 + secrets.randbelow(1000) / 1000))
            pause = min(2 * pause, 0.5)
        except SQLAlchemyError as problem:
            raise explained(engine, problem) from problem


def _is_busy(problem: DBAPIError) -> bool:
    name = getattr(problem.orig, "sqlite_errorname", "") or ""
    return name.startswith(_BUSY) or getattr(problem.orig, "sqlstate", None) in _TRY_AGAIN


def copy_pages(engine: sa.Engine, file: Path) -> None:
    """All of a SQLite store as it stands at this moment, in a new file; writers go on meanwhile."""
    original = Path(shown(engine))
    try:
        with connected(engine, writes=False) as connection:
            connection.exec_driver_sql("SELECT count(*) FROM sqlite_schema").close()  # the moment
            source = connection.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)  # the caller looked
            file.touch(mode=0o600)
            with closing(sqlite3.connect(file)) as target:
                source.backup(target, pages=_PAGES)
        file.chmod(S_IMODE(original.stat().st_mode) | 0o600)  # who may read the one, may the other
    except sqlite3.Error as problem:
        raise StoreFailed(
            f"{original} could not be copied to {file} ({problem}); check that there is space, and "
            "run `serendip doctor`."
        ) from None


def shown(engine: sa.Engine) -> str:
    """The store in words; passwords are left out."""
    if engine.url.get_backend_name() == "sqlite":
        return str(engine.url.database)
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=True)


def explained(engine: sa.Engine, problem: SQLAlchemyError) -> StoreFailed:
    """The driver's complaint as a sentence that says what to do."""
    where = shown(engine)
    cause = getattr(problem, "orig", None) or problem
    name = getattr(cause, "sqlite_errorname", "") or ""
    said = (str(cause).strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StoreDamaged(
            f"{where} is damaged or is not a store ({said}); keep it as it is, and put a backup "
            "in its place."
        )
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return StoreFailed(
            f"{where} could not be written or read ({said}), so nothing was recorded; the disk is "
            "probably full: free some space and try again."
        )
    if name.startswith("SQLITE_READONLY"):
        return StoreFailed(
            f"{where} may not be written, so nothing was recorded; "
            "give yourself write permission for the file and its folder."
        )
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreFailed(
            f"{where} could not be opened ({said}); check that the folder exists and that you may "
            "write in it."
        )
    if engine.url.get_backend_name() == "sqlite":
        return StoreFailed(f"{where} refused ({said}); run `serendip doctor`.")
    return StoreFailed(
        f"The store {where} refused ({said}); check that the server runs and that the URL, user "
        "and password are right."
    )
