"""Text that is none, over HTTP: refused on the way in, and shown where an old log holds it."""

import json
import subprocess
import sys

import pytest

from web.servers import Server, begin

OLD = """
import sys
from serendip.campaigns import Campaign
campaign = Campaign.open("screen", sys.argv[1])
for item, who in (("c000", "ann" + chr(0xDCFF)), ("c001", chr(27) + "[2Jbob")):
    campaign.who = who  # past the check, as when there was none
    campaign.tell({item: 1.0})
"""


@pytest.fixture(scope="module", name="old")
def _old(tmp_path_factory):
    """A server of a store that was written before names were checked."""
    store = tmp_path_factory.mktemp("old") / "lab.db"
    with Server(store) as server, server.client() as client:
        begin(client, n=12)
        subprocess.run([sys.executable, "-c", OLD, str(store)], check=True)
        yield server


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/campaigns/screen",
        "/campaigns/screen/history",
        "/campaigns/screen/news?since=1",
        "/campaigns/screen/candidates",
        "/campaigns/screen/report",
        "/api/v1/campaigns",
        "/api/v1/campaigns/screen",
        "/api/v1/campaigns/screen/events",
        "/api/v1/campaigns/screen/results",
    ],
)
def test_an_old_log_is_listed(old, path):
    with old.client() as client:
        answer = client.get(path)
    assert answer.status_code == 200, answer.text[:500]
    assert "\x1b" not in answer.text
    if path.endswith(("history", "events", "results")):
        assert r"ann\udcff" in answer.text.replace("\\\\", "\\")


@pytest.mark.parametrize("who", ["ann\udcff", "a\nb", "\x1b[2J", "\x85", "\u2028", " "])
def test_names_that_are_no_text_are_refused(client, who):
    before = client.get("/api/v1/campaigns/screen").json()["version"]
    body = json.dumps({"results": {"c003": 1.0}, "who": who})  # half characters as \\u escapes
    sent = client.post(
        "/api/v1/campaigns/screen/tell",
        content=body,
        headers={"Content-Type": "application/json"},
    )
    assert sent.status_code == 422
    assert client.get("/api/v1/campaigns/screen").json()["version"] == before


def test_a_key_of_the_page_is_checked_like_that_of_the_api(client):
    client.get("/campaigns/screen")
    from re import search

    page = client.get("/campaigns/screen").text
    token = search(r'name="csrf_token" value="([^"]+)"', page)[1]
    sent = client.post(
        "/campaigns/screen/ask", data={"csrf_token": token, "count": "1", "key": "a\x00b"}
    )
    assert sent.status_code == 422
    assert "key" in sent.text
