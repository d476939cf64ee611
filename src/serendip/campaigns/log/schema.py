"""The tables of the store, and how an older or empty database becomes a current one."""

from itertools import chain, count
from pathlib import Path

import sqlalchemy as sa

from serendip.campaigns.errors import StoreDamaged, StoreFailed
from serendip.campaigns.log.engine import connected, copy_pages, shown

HEAD = "0002"
"""The newest migration; a store that is there needs nothing done."""

_LOCK = 7_391_204_116
"""Key of the PostgreSQL lock that is held while migrating."""

METADATA = sa.MetaData()

CAMPAIGNS = sa.Table(
    "serendip_campaigns",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("tip", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
)

EVENTS = sa.Table(
    "serendip_events",
    METADATA,
    sa.Column("campaign", sa.Text, sa.ForeignKey("serendip_campaigns.name"), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("command", sa.Integer, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)

REQUESTS = sa.Table(
    "serendip_requests",
    METADATA,
    sa.Column("campaign", sa.Text, sa.ForeignKey("serendip_campaigns.name"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
)
"""Commands that came with a key, and what was answered."""

_REVISION = sa.table("serendip_schema", sa.column("version_num", sa.Text))


def ensure_schema(engine: sa.Engine) -> None:
    """Migrates the database to `HEAD` where it is not there yet; one process at a time.

    A SQLite store that holds something is copied beside itself first.
    """
    with connected(engine, writes=False) as connection:
        if _current(connection) == HEAD:
            return
    with connected(engine, writes=True) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        _migrate(connection)


def _current(connection: sa.Connection) -> str | None:
    """The migration the database is at; None for an empty one."""
    tables = set(sa.inspect(connection).get_table_names())
    if "serendip_schema" in tables:
        found = connection.execute(sa.select(_REVISION.c.version_num)).scalar()
        return None if found is None else str(found)
    if connection.dialect.name == "sqlite" and tables:
        raise StoreDamaged(
            f"{shown(connection.engine)} is a database of something else (it holds "
            f"{min(tables)!r}); name another file as the store."
        )
    return None


def _migrate(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    found = _current(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreFailed(
            f"{shown(connection.engine)} was written by a newer serendip (schema {found}, this one "
            f"knows {HEAD}); upgrade serendip to open it."
        )
    if found is not None and connection.dialect.name == "sqlite":
        copy_pages(connection.engine, _before(Path(shown(connection.engine))))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _before(store: Path) -> Path:
    """Where a SQLite store is kept as it was before it is migrated; no earlier copy is lost."""
    name = f"{store.name}.before-{HEAD}"
    names = chain([name], (f"{name}-{again}" for again in count(2)))
    return next(file for file in map(store.with_name, names) if not file.exists())
