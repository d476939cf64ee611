"""A real Chromium before a real server. Without Chromium the tests are skipped, in CI they fail."""

from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from needs import need_chromium
from web.browser.visits import Lab, Visit
from web.servers import Server

_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_PATIENCE = 180_000
"""Milliseconds; a busy machine is slow, which is not what is tested."""
_SHOTS = Path(__file__).parents[3] / "browser-artefacts"


@pytest.fixture(scope="session", name="chromium")
def _chromium():
    path = need_chromium()
    expect.set_options(timeout=_PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session", name="shots")
def _shots():
    """Where screenshots go; nobody commits them."""
    _SHOTS.mkdir(exist_ok=True)
    return _SHOTS


@pytest.fixture(name="visit")
def _visit(chromium, shots):
    """A function that opens a browser of its own; at the end nothing may have gone wrong in it."""
    opened = []

    def open_browser(url, **options):
        usual = {"viewport": {"width": 1280, "height": 860}, "locale": "en-GB"}
        context = chromium.new_context(base_url=url, **{**usual, **options})
        context.set_default_timeout(_PATIENCE)
        opened.append(Visit(context, shots))
        return opened[-1]

    yield open_browser
    troubles = [trouble for one in opened for trouble in one.troubles]
    for one in opened:
        one.context.close()
    assert not troubles


@pytest.fixture(name="empty")
def _empty(tmp_path, monkeypatch, chromium):
    """A server on a fresh store."""
    monkeypatch.setenv("SERENDIP_WHO", "ann")
    with Server(tmp_path / "lab.db") as server:
        yield server


@pytest.fixture(scope="session", name="lab")
def _lab(tmp_path_factory, chromium):
    """A server on a store with campaigns of every kind; tests change only those they begin."""
    lab = Lab.furnished(tmp_path_factory.mktemp("lab"))
    with Server(lab.store) as server:
        lab.url = server.url
        yield lab
