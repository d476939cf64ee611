"""Servers for the tests: one on this computer, one that wants a token."""

import pytest

from campaigns.conftest import _folder, _new_postgres, _postgres, _where  # noqa: F401  # fixtures
from web.servers import Server, begin

TOKEN = "a-token-for-the-tests-0123456789"


@pytest.fixture(scope="session", name="local")
def _local(tmp_path_factory):
    """A server without a token, with a campaign `screen` of 40 candidates."""
    store = tmp_path_factory.mktemp("local") / "lab.db"
    with Server(store) as server, server.client() as client:
        begin(client)
        yield server


@pytest.fixture(scope="session", name="guarded")
def _guarded(tmp_path_factory):
    """A server that others can reach, with a token and a campaign of a telling name."""
    store = tmp_path_factory.mktemp("guarded") / "lab.db"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with (
        Server(store, "--token", TOKEN, host="0.0.0.0") as server,
        server.client(headers=headers) as client,
    ):
        begin(client, "secretcampaign")
        yield server


@pytest.fixture(name="client")
def _client(local):
    """Somebody who uses the local server."""
    with local.client() as client:
        yield client


@pytest.fixture(name="stranger")
def _stranger(guarded):
    """Somebody without the token."""
    with guarded.client() as client:
        yield client


@pytest.fixture(name="token")
def _token():
    return TOKEN
