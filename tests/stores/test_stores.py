"""Stores that earlier releases wrote open for ever, mean what they meant, and take new results."""

import json
import math
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from campaigns.conftest import _new_postgres, _postgres  # noqa: F401  # fixtures
from serendip.campaigns.campaign import Campaign
from serendip.campaigns.log import wire
from serendip.campaigns.log.engine import connected
from serendip.campaigns.log.events import Told
from serendip.campaigns.log.schema import EVENTS
from serendip.campaigns.log.store import Store
from stores import make
from stores.observed import observed
from web.servers import Server

HERE = Path(__file__).parent
KEPT = sorted(folder.name for folder in HERE.glob("v*") if folder.is_dir())
CHEAP = ("auto ids", "linear ucb", "linear oful", "decimals", "large", "workbook", "low-rank vids")
CHEAP = (*CHEAP, "logistic ids", "graph binary", "disk", "molecules", "snapshot", "moved")


@pytest.fixture(params=KEPT, name="lab")
def _lab(request, tmp_path, monkeypatch):
    """A copy of a folder of stores, which is the working folder."""
    lab = tmp_path / "elsewhere"
    shutil.copytree(HERE / request.param, lab)
    monkeypatch.chdir(lab)
    monkeypatch.delenv("SERENDIP_STORE", raising=False)
    return lab


@pytest.fixture(params=["serendip.db", "postgresql.sql"], name="kept")
def _kept(request, lab):
    """A store in that folder, by the name of its file and its address."""
    if request.param == "serendip.db":
        return request.param, str(lab / "serendip.db")
    url = request.getfixturevalue("new_postgres")()
    restore(lab / "postgresql.sql", url)
    return request.param, url


def restore(dump, url):
    engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.connection.driver_connection.execute(dump.read_text(encoding="utf-8"))
    engine.dispose()


def rows_of(store):
    with connected(store.engine, writes=False) as connection:
        query = sa.select(EVENTS).order_by(EVENTS.c.campaign, EVENTS.c.version)
        return [tuple(row) for row in connection.execute(query)]


def test_every_campaign_means_what_it_meant(kept, lab):
    name, where = kept
    expected = json.loads((lab / Path(name).with_suffix(".json")).read_text(encoding="utf-8"))
    store = Store.open(where)
    before = rows_of(store)
    found = json.loads(json.dumps(observed(store)))
    assert found.keys() == expected.keys()
    for campaign, facts in expected.items():
        mine = found[campaign]
        theirs, own = facts.pop("features"), mine.pop("features")
        assert mine == facts, campaign
        assert own["columns"] == theirs["columns"], campaign
        assert own["sums"] == pytest.approx(theirs["sums"], rel=1e-4, abs=1e-4), campaign
    assert rows_of(store) == before  # reading writes nothing


def test_every_campaign_takes_new_results(kept):
    _, where = kept
    store = Store.open(where)
    before = rows_of(store)
    for info in store.campaigns():
        campaign = Campaign.open(info.name, store, who="Eve")
        state = campaign.state
        item = next(iter(state.pending))
        label = campaign.settings.labels.decode(0.0) if campaign.settings.bounds else 0.25
        decision = campaign.tell({item: label})
        assert [type(event) for event in decision.events] == [Told], info.name
        again = Campaign.open(info.name, store).state
        assert item in again.results
        assert again.version == state.version + 1
        assert again.spent == state.spent + 1
    kept_rows = set(before)
    assert kept_rows < set(rows_of(store))  # what was there stays as it was, byte for byte


def test_the_cheap_ones_predict_and_propose(kept):
    _, where = kept
    store = Store.open(where)
    for name in {info.name for info in store.campaigns()} & set(CHEAP):
        campaign = Campaign.open(name, store, who="Eve")
        assert campaign.status().version == campaign.state.version
        table = campaign.predict()
        assert len(table) == len(campaign.candidates.ids)
        assert all(map(math.isfinite, table["expected"]))
        if campaign.state.free:
            assert len(campaign.ask(1)) == 1


def test_requests_that_were_answered_are_known(kept, lab):
    """Sent again over REST: the first answer and nothing new; what was undone is done anew."""
    name, where = kept
    sent = json.loads((lab / "requests.json").read_text(encoding="utf-8"))[name]
    undone = "tell-3"
    with Server(where) as server, server.client() as client:

        def again(one, **changes):
            headers = {"Idempotency-Key": one["key"]}
            return client.post(one["url"], json=one["body"] | changes, headers=headers)

        version = client.get("/api/v1/campaigns/robot/status").json()["version"]
        for one in sent:
            if one["key"] != undone:
                answer = again(one)
                assert answer.status_code == 200, one["key"]
                if "budget" not in one["body"]:  # which shows the campaign as it is now
                    assert answer.json() == one["answer"]
        log = client.get("/api/v1/campaigns/robot/events").json()
        assert log["version"] == version
        for one in sent:
            (field,) = {"results", "item", "count", "budget"} & one["body"].keys()
            other = {"results": {"c001": 0.5}, "item": "c003", "count": 7, "budget": 19}[field]
            answer = again(one, **{field: other})
            assert answer.status_code == 422, one["key"]
            assert "another request" in answer.json()["detail"]
        redone = next(one for one in sent if one["key"] == undone)
        answer = again(redone).json()
        assert answer == redone["answer"] | {"version": version + 1}
        assert again(redone).json() == answer
        assert client.get("/api/v1/campaigns/robot/status").json()["version"] == version + 1


def test_stores_of_every_schema_are_kept():
    """With every kind of event: what is written from now on has to open for ever, too."""
    found = set()
    for store in HERE.glob("v*/serendip.db"):
        with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as plain:
            for (body,) in plain.execute("SELECT body FROM serendip_events"):
                event = json.loads(body)
                found.add((event["kind"], event["schema"]))
    assert {(kind, form.schema) for kind, form in wire.EVENTS.items()} <= found
    assert {schema for _, schema in found} == set(range(1, wire.SCHEMA + 1))


def test_the_next_stores_can_be_made(tmp_path, monkeypatch):
    """Every campaign that `make.py` would keep still begins, by the rules of today."""
    monkeypatch.chdir(tmp_path)
    Path("pools").mkdir()
    make.write_inputs()
    store = Store.open("serendip.db", create=True)
    for settings, _ in make.CASES:
        make.begin(settings, store)
    assert len(store.campaigns()) == len(make.CASES)


def test_a_store_that_is_kept_is_never_made_again(lab):
    there = {file: os.stat(file).st_mtime_ns for file in (HERE / lab.name).rglob("*")}
    with pytest.raises(SystemExit, match="never made again"):
        make.make(HERE / KEPT[0])
    assert there == {file: os.stat(file).st_mtime_ns for file in (HERE / lab.name).rglob("*")}
