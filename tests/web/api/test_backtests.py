"""Backtests over REST: started, followed, cancelled, read; of tables and of campaigns."""

import json
import re

import httpx
import numpy as np
import pandas as pd
import pytest

from serendip.simulate.backtests.backtest import backtest
from web.servers import PATIENCE, begin, rows

API = "/api/v1/backtests"


def labelled(n=40, seed=3):
    table = pd.DataFrame(rows(n))
    noise = np.random.default_rng(seed).normal(size=n) / 10
    return table.assign(y=(table["x0"] - 0.5 * table["x1"] + noise).round(3))


@pytest.fixture(name="table")
def _table(client):
    text = labelled().to_csv(index=False)
    return client.post("/api/v1/tables", files={"file": ("t.csv", text)}).json()["table"]


def events(client, id):
    """All events of a stream, as (name, data)."""
    found = []
    with client.stream("GET", f"{API}/{id}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        kind = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                found.append((kind, json.loads(line[6:])))
    return found


def test_a_table_is_replayed_and_followed(client, table):
    body = {"table": table, "label": "y", "id": "code", "policies": ["ids", "random"], "budget": 6}
    started = client.post(API, json={**body, "repeats": 3, "seed": 5, "start": 2})
    assert started.status_code == 202
    id = started.json()["id"]
    assert started.headers["location"] == f"{API}/{id}"
    seen = events(client, id)
    assert [kind for kind, _ in seen[-1:]] == ["end"]
    assert seen[-1][1]["state"] == "done"
    progress = [one["done"] for _, one in seen]
    assert progress == sorted(progress)
    assert (seen[-1][1]["done"], seen[-1][1]["total"]) == (6, 6)
    assert client.get(f"{API}/{id}").json()["state"] == "done"
    made = client.get(f"{API}/{id}/result").json()
    direct = backtest(
        labelled(),
        "y",
        budget=6,
        policies=["ids", "random"],
        id="code",
        repeats=3,
        seed=5,
        start=2,
    ).as_json()
    for policy in ("ids", "random"):
        assert made["policies"][policy]["regret"] == pytest.approx(
            direct["policies"][policy]["regret"]
        )
        curve = made["curves"][policy]["regret"]
        assert len(curve["mean"]) == len(curve["se"]) == 6
        assert curve["mean"][-1] == pytest.approx(direct["policies"][policy]["regret"])
    assert made["curves"]["random, expected"]["regret"]["mean"][-1] == pytest.approx(
        direct["random"]["regret"]
    )
    assert id in [one["id"] for one in client.get(API).json()["backtests"]]


def test_a_campaign_is_replayed_on_its_own_labels(client):
    begin(client, "replayed", n=30)
    path = "/api/v1/campaigns/replayed"
    few = client.post(API, json={"campaign": "replayed", "repeats": 1})
    seen = events(client, few.json()["id"])
    assert seen[-1][1]["state"] == "failed"
    assert "0 labels, too few" in seen[-1][1]["detail"]
    refused = client.get(f"{API}/{few.json()['id']}/result")
    assert refused.status_code == 409
    assert "too few" in refused.json()["detail"]
    client.post(f"{path}/tell", json={"results": {f"c{k:03d}": k / 3 for k in range(20)}})
    body = {"campaign": "replayed", "repeats": 1, "budget": 3, "policies": ["greedy"]}
    id = client.post(API, json=body).json()["id"]
    assert events(client, id)[-1][1]["state"] == "done"
    made = client.get(f"{API}/{id}/result").json()
    assert (made["n"], made["label"], made["title"]) == (20, "yield", "replayed")


def in_words(score):
    return ["high" if one > 0.5 else "low" for one in score]


def done(client, id):
    """The result of a backtest that must come to an end well."""
    last = events(client, id)[-1][1]
    assert last["state"] == "done", last
    return client.get(f"{API}/{id}/result").json()


@pytest.mark.parametrize(
    ("said", "model", "labels"),
    [
        ({"binary": True}, "logistic", lambda score: (score > 0.5).astype(int)),
        ({"categories": ["low", "high"]}, "auto", in_words),
        ({"range": [-9, 9]}, "auto", lambda score: score),
    ],
)
def test_labels_of_every_kind(client, said, model, labels):
    frame = labelled()
    text = frame.assign(y=labels(frame["y"])).to_csv(index=False)
    table = client.post("/api/v1/tables", files={"file": ("t.csv", text)}).json()["table"]
    body = {"table": table, "label": "y", "id": "code", "budget": 4, "repeats": 1, **said}
    started = client.post(API, json={**body, "policies": ["greedy"]})
    assert done(client, started.json()["id"])["model"] == model
    both = client.post(API, json={**body, "binary": True, "range": [0, 1]})
    assert both.status_code == 422
    assert "give one of the three" in both.json()["detail"]
    page = client.get(f"/backtest/{table}").text
    token = re.search(r'name="csrf_token" value="([^"]+)"', page)[1]
    form = {"csrf_token": token, "better": "larger", "policy": "greedy", "model": ""}
    kinds = {"binary": "binary", "categories": "words", "range": "number"}
    form |= {"kind": kinds[next(iter(said))], "words": "low, high", "low": "-9", "high": "9"}
    form |= {"budget": "4", "repeats": "1", "batch": "1"}
    form |= {f"role-{place}": role for place, role in enumerate(["id", *3 * ["number"], "label"])}
    answer = client.post(f"/backtest/{table}", data=form)
    assert answer.status_code == 303, answer.text
    assert done(client, answer.headers["location"].rpartition("/")[2])["model"] == model
    refused = client.post(f"/backtest/{table}", data={**form, "kind": "number", "high": "-20"})
    assert refused.status_code == 422
    assert "low &lt; high" in refused.text


def test_the_page_replays_a_graph_with_its_edges(client):
    nodes = [f"n{k}" for k in range(20)]
    text = pd.DataFrame({"node": nodes, "found": [k % 2 for k in range(20)]}).to_csv(index=False)
    table = client.post("/api/v1/tables", files={"file": ("t.csv", text)}).json()["table"]
    token = re.search(r'name="csrf_token" value="([^"]+)"', client.get(f"/backtest/{table}").text)
    form = {"csrf_token": token[1], "role-0": "id", "role-1": "label", "kind": "binary"}
    form |= {"policy": "greedy", "repeats": "1", "start": "2", "budget": "4"}
    ring = pd.DataFrame({"from": nodes, "to": nodes[1:] + nodes[:1]}).to_csv(index=False)
    answer = client.post(f"/backtest/{table}", data=form, files={"edges-file": ("edges.csv", ring)})
    assert answer.status_code == 303, answer.text
    made = done(client, answer.headers["location"].rpartition("/")[2])
    assert (made["model"], made["budget"]) == ("graph", 4)
    refused = client.post(f"/backtest/{table}", data={**form, "start": "many", "repeats": "201"})
    assert refused.status_code == 422
    assert "At most 200, please." in refused.text


def test_a_campaign_in_words_is_replayed_in_words(client):
    begin(client, "worded", n=30, categories=["low", "high"])
    told = {f"c{k:03d}": "high" if k % 3 else "low" for k in range(20)}
    client.post("/api/v1/campaigns/worded/tell", json={"results": told})
    body = {"campaign": "worded", "repeats": 1, "budget": 3, "policies": ["greedy"]}
    made = done(client, client.post(API, json=body).json()["id"])
    assert "Labels are counted as low = 0, high = 1." in made["notes"]
    refused = client.post(API, json={**body, "binary": True})
    assert refused.status_code == 422
    assert "leave range, categories and binary out" in refused.json()["detail"]


def test_a_backtest_can_be_cancelled(client, table):
    body = {"table": table, "label": "y", "id": "code", "repeats": 100, "model": "gp"}
    first, second = (client.post(API, json=body).json()["id"] for _ in range(2))
    for id in (second, first):  # the one that waits, and the one under way
        assert client.delete(f"{API}/{id}").json()["state"] == "cancelled"
    assert events(client, first)[-1] == ("end", client.get(f"{API}/{first}").json())
    assert client.get(f"{API}/{first}/result").status_code == 409
    assert client.delete(f"{API}/{first}").json()["state"] == "cancelled"
    quick = {**body, "repeats": 1, "policies": ["random"], "budget": 2, "model": "linear"}
    id = client.post(API, json=quick).json()["id"]  # the lane goes on
    assert events(client, id)[-1][1]["state"] == "done"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"label": "nosuch"}, "nosuch"),
        ({"policies": ["nosuch"]}, "nosuch"),
        ({"model": "nosuch"}, "nosuch"),
        ({"budget": 1000}, "budget"),
        ({"id": "x0", "ignore": ["nosuch"]}, "nosuch"),
    ],
)
def test_what_cannot_be_replayed_says_why(client, table, changes, word):
    body = {"table": table, "label": "y", "id": "code", "repeats": 1, **changes}
    id = client.post(API, json=body).json()["id"]
    kind, last = events(client, id)[-1]
    assert (kind, last["state"]) == ("end", "failed")
    assert word in last["detail"]


def test_too_many_at_once_are_refused(client, table):
    body = {"table": table, "label": "y", "id": "code", "repeats": 100, "model": "gp"}
    ids = []
    while (answer := client.post(API, json=body)).status_code == 202:
        ids.append(answer.json()["id"])
        assert len(ids) <= 10
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"]
    for id in ids:
        client.delete(f"{API}/{id}")


def test_a_stream_that_nobody_reads_is_no_burden(local, table, client):
    body = {"table": table, "label": "y", "id": "code", "repeats": 100, "model": "gp"}
    id = client.post(API, json=body).json()["id"]
    with (
        httpx.Client(base_url=local.url, timeout=PATIENCE) as mine,
        mine.stream("GET", f"{API}/{id}/events") as stream,
    ):
        next(stream.iter_lines())
    assert client.get(f"{API}/{id}").status_code == 200
    client.delete(f"{API}/{id}")
