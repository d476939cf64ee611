"""The REST API against a real server: the loop of a robot, and everything that can be refused."""

import io
import itertools
import json
import subprocess
import sys
import threading
import time

import httpx
import pandas as pd
import pytest

from serendip.campaigns import Campaign
from web.servers import PATIENCE, RUN, begin, key, rows

API = "/api/v1"
NUMBERS = itertools.count()


@pytest.fixture(name="name")
def _name(client, request):
    """A campaign of its own for the test."""
    name = f"{request.function.__name__[5:60].replace('_', '-')}-{next(NUMBERS)}"
    begin(client, name)
    return f"{API}/campaigns/{name}"


def refused(answer, status, *words):
    """The answer is a problem as RFC 9457 wants it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert set(body) == {"type", "title", "status", "detail", "errors"}
    for word in words:
        assert word in body["detail"]
    return body


# --- the loop ------------------------------------------------------------------------------------


def test_a_robot_closes_the_loop(client, name):
    before = client.get(name).json()
    assert (before["candidates"], before["budget"], before["version"]) == (40, 40, 1)
    assert before["settings"]["id"] == "code"
    assert "pool" not in before["settings"]  # where files lie is nobody's business
    asked = client.post(f"{name}/ask", json={"count": 3, "who": "robot"}).json()
    items = [row[asked["id_column"]] for row in asked["proposals"]]
    assert len(set(items)) == 3
    assert {"expected", "uncertainty", "chance_of_top", "reason", "x0"} <= set(
        asked["proposals"][0]
    )
    waiting = client.get(f"{name}/pending").json()
    assert [row["code"] for row in waiting["rows"]] == items
    told = client.post(
        f"{name}/tell", json={"results": {items[0]: 1.5, items[1]: "failed"}, "who": "robot"}
    ).json()
    assert (told["measured"], told["failed"], told["version"]) == (1, 1, 4)
    status = client.get(f"{name}/status").json()
    assert (status["measured"], status["failed"], status["pending"]) == (1, 1, 1)
    assert (status["total"], status["best_item"], status["remaining"]) == (1.5, items[0], 38)
    results = client.get(f"{name}/results").json()
    assert [row["state"] for row in results["rows"]] == ["measured", "failed"]
    assert {row["who"] for row in results["rows"][:1]} == {"robot"}


def test_the_whole_budget_can_be_spent(client, name):
    found = []
    while True:
        asked = client.post(f"{name}/ask", json={"count": 16})
        if asked.status_code == 409:
            break
        made = asked.json()
        batch = {row[made["id_column"]]: row["x0"] for row in made["proposals"]}
        found += batch
        assert client.post(f"{name}/tell", json={"results": batch}).status_code == 200
    refused(asked, 409, "budget of 40")
    assert len(found) == len(set(found)) == 40


def test_by_default_a_batch_is_asked_for(client, name):
    assert len(client.post(f"{name}/ask").json()["proposals"]) == 8
    assert len(client.post(f"{name}/ask", json={}).json()["proposals"]) == 8


def test_single_candidates_fail_and_are_excluded_and_all_is_undone(client, name):
    item = client.post(f"{name}/ask", json={"count": 1}).json()["proposals"][0]["code"]
    assert client.post(f"{name}/fail", json={"item": item}).json()["failed"] == 1
    assert client.post(f"{name}/exclude", json={"item": "c007"}).json()["excluded"] == 1
    words = client.post(f"{name}/undo").json()
    assert "excluded c007" in words["undone"][0]
    words = client.post(f"{name}/undo", json={"item": item, "who": "ann"}).json()
    assert "failed" in words["undone"][0]
    status = client.get(f"{name}/status").json()
    assert (status["failed"], status["excluded"], status["pending"]) == (0, 0, 1)
    client.post(f"{name}/tell", json={"results": {"c001": 1.0}})
    version = client.get(name).json()["version"]
    assert "c001" in client.post(f"{name}/undo", json={"event": version}).json()["undone"][0]
    refused(client.post(f"{name}/undo", json={"event": 1}), 422, "cannot be taken back")
    refused(client.post(f"{name}/undo", json={"event": 2, "item": "c001"}), 422, "not both")


def test_the_budget_can_be_changed(client, name):
    assert client.post(f"{name}/budget", json={"budget": 10}).json()["budget"] == 10
    refused(client.post(f"{name}/budget", json={"budget": 1000}), 422, "between")


def test_results_that_contradict_are_refused_and_corrected_on_demand(client, name):
    client.post(f"{name}/tell", json={"results": {"c001": 1.0}})
    mixed = {"results": {"c002": 5.0, "c001": 2.0}}
    refused(client.post(f"{name}/tell", json=mixed), 409, "c001 was told as 1")
    assert client.get(f"{name}/status").json()["measured"] == 1  # all or none
    told = client.post(f"{name}/tell", json={**mixed, "correct": True}).json()
    assert (told["measured"], told["corrected"]) == (1, 1)
    again = client.post(f"{name}/tell", json={"results": {"c001": 2.0}}).json()
    assert again["repeats"] == ["c001"]
    assert again["measured"] == 0


def test_what_happened_can_be_read_in_parts(client, name):
    for place in range(5):
        client.post(f"{name}/tell", json={"results": {f"c{place:03d}": place}, "who": "robot"})
    first = client.get(f"{name}/events", params={"limit": 2}).json()
    assert first["version"] == 6
    assert [one["kind"] for one in first["events"]] == ["Created", "Told"]
    rest = client.get(f"{name}/events", params={"after": 2, "limit": 1000}).json()["events"]
    assert [(one["event"], one["item"], one["value"]) for one in rest] == [
        (place + 2, f"c{place:03d}", float(place)) for place in range(1, 5)
    ]
    assert rest[0]["who"] == "robot"
    assert client.get(f"{name}/events", params={"after": 99}).json()["events"] == []


def test_forecast_and_predictions(client, name):
    client.post(f"{name}/tell", json={"results": {f"c{k:03d}": k / 4 for k in range(8)}})
    future = client.get(f"{name}/forecast").json()
    assert future["low"] <= future["expected_total"] <= future["high"]
    assert future["total_so_far"] == sum(k / 4 for k in range(8))
    assert len(future["path"]["expected"]) == 33
    whole = client.get(f"{name}/predictions", params={"limit": 1000}).json()
    assert whole["total"] == len(whole["rows"]) == 40
    best = [row["expected"] for row in whole["rows"]]
    assert best == sorted(best, reverse=True)
    second = client.get(f"{name}/predictions", params={"limit": 7, "offset": 7}).json()
    assert second["rows"] == whole["rows"][7:14]
    measured = client.get(f"{name}/predictions", params={"state": "measured"}).json()
    assert measured["total"] == 8
    assert {row["yield"] for row in measured["rows"]} == {k / 4 for k in range(8)}
    pool = client.get(f"{name}/predictions", params={"order": "pool", "limit": 3}).json()
    assert [row["code"] if "code" in row else row["id"] for row in pool["rows"]] == [
        "c000", "c001", "c002",
    ]  # fmt: skip


def test_the_api_says_what_the_command_line_says(client, name, local):
    """One store, two doors."""
    client.post(f"{name}/tell", json={"results": {f"c{k:03d}": k / 4 for k in range(6)}})
    store, own = local.log.with_name("lab.db"), name.rsplit("/", 1)[1]
    campaign = Campaign.open(own, store)
    table = campaign.predict().sort_values("expected", ascending=False, kind="stable")
    rows_ = client.get(f"{name}/predictions", params={"limit": 40}).json()["rows"]
    assert [row["id"] for row in rows_] == table["id"].tolist()
    assert [row["expected"] for row in rows_] == pytest.approx(table["expected"].tolist())
    assert client.get(f"{name}/forecast").json()["high"] == pytest.approx(campaign.forecast().high)
    campaign.tell({"c030": 9.0})  # what others write is seen at once
    assert client.get(f"{name}/status").json()["best"] == 9.0
    assert client.get(f"{name}/forecast").json()["total_so_far"] == pytest.approx(
        sum(k / 4 for k in range(6)) + 9.0
    )
    made = subprocess.run(
        [sys.executable, "-c", RUN, "status", own, "--store", str(store), "--no-forecast"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "7 of 40 spent" in made.stdout


# --- beginning -----------------------------------------------------------------------------------


def test_campaigns_are_listed_by_name(client):
    for name in ("list-b", "list-a"):
        begin(client, name, n=5)
    found = client.get(f"{API}/campaigns", params={"limit": 1000}).json()
    names = [one["name"] for one in found["campaigns"]]
    assert names == sorted(names)
    assert {"list-a", "list-b"} <= set(names)
    assert found["total"] == len(names)
    part = client.get(f"{API}/campaigns", params={"limit": 1, "offset": names.index("list-b")})
    assert [one["name"] for one in part.json()["campaigns"]] == ["list-b"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
def test_a_campaign_begins_with_a_file(client, ending):
    table, file = pd.DataFrame(rows(12)), io.BytesIO()
    {
        "csv": lambda: table.to_csv(file, index=False),
        "tsv": lambda: table.to_csv(file, index=False, sep="\t"),
        "xlsx": lambda: table.to_excel(file, index=False),
        "parquet": lambda: table.to_parquet(file, index=False),
    }[ending]()
    sent = client.post(f"{API}/tables", files={"file": (f"my pool.{ending}", file.getvalue())})
    assert sent.status_code == 201
    assert sent.json()["rows"] == 12
    assert sent.json()["columns"] == ["code", "x0", "x1", "x2"]
    body = {
        "name": f"from {ending}",
        "label": "yield",
        "id": "code",
        "budget": 6,
        "range": [0, 1],
        "batch": 2,
        "policy": "thompson",
        "minimize": True,
        "table": sent.json()["table"],
    }
    made = client.post(f"{API}/campaigns", json=body)
    assert made.status_code == 201
    asked = client.post(made.headers["location"] + "/ask").json()
    assert len(asked["proposals"]) == 2
    settings = client.get(f"{API}/campaigns/from {ending}").json()["settings"]
    assert (settings["policy"], settings["minimize"], settings["range"]) == (
        "thompson",
        True,
        [0, 1],
    )


@pytest.mark.parametrize("name", ["Größe 2", "試験.1", "a+b-c_d", "x y  z"])
def test_names_may_be_in_any_script(client, name):
    body = {"name": name, "label": "yield", "id": "code", "budget": 3, "rows": rows(5)}
    made = client.post(f"{API}/campaigns", json=body)
    assert made.status_code == 201
    where = made.headers["location"]
    assert where.isascii()
    assert client.get(where).json()["name"] == name
    assert client.post(f"{where}/ask", json={"count": 1}).status_code == 200


def test_rows_may_hold_words_numbers_gaps_and_truth(client):
    cells = [
        {"id": "a", "solvent": "DMF", "heat": 20, "dry": True},
        {"id": "b", "solvent": "THF", "heat": 30.5, "dry": False},
        {"id": "c", "solvent": "DMF", "heat": None, "dry": True},
        {"id": "d", "solvent": "THF", "dry": True},
        {"id": "007", "solvent": "DMF", "heat": 50, "dry": False},
    ]
    body = {"name": "mixed", "label": "y", "id": "id", "budget": 3, "rows": cells}
    refused(client.post(f"{API}/campaigns", json=body), 422, "heat")
    made = client.post(f"{API}/campaigns", json={**body, "missing": "impute"})
    assert made.status_code == 201, made.text
    assert (
        client.post(f"{API}/campaigns/mixed/tell", json={"results": {"007": 1}}).status_code == 200
    )


def test_labels_that_are_there_are_known_already(client):
    table = [{**row, "y": 1.0 if place < 3 else None} for place, row in enumerate(rows(10))]
    body = {"name": "known", "label": "y", "id": "code", "budget": 5, "rows": table}
    assert client.post(f"{API}/campaigns", json=body).json()["known"] == 3


def test_matrices_graphs_and_prior_data(client):
    grid = [{"id": f"{r}{c}", "r": r, "c": c} for r in "abcd" for c in "vwxyz"]
    body = {"name": "grid", "label": "y", "id": "id", "budget": 5, "rows": grid, "range": [0, 1]}
    made = client.post(
        f"{API}/campaigns", json={**body, "rows_column": "r", "columns_column": "c", "rank": 1}
    )
    assert made.status_code == 201, made.text
    edges = "from,to\nav,aw\naw,ax\n"
    sent = client.post(f"{API}/tables", files={"file": ("edges.csv", edges)}).json()["table"]
    made = client.post(f"{API}/campaigns", json={**body, "name": "graph", "edges": sent})
    assert made.status_code == 201, made.text
    assert client.get(f"{API}/campaigns/graph").json()["settings"]["model"] == "graph"
    prior = client.post(f"{API}/tables", files={"file": ("prior.csv", "id,y\nav,0.5\n")}).json()
    numbers = [{**row, "n": place} for place, row in enumerate(grid)]
    body = {**body, "name": "prior", "rows": numbers, "prior_data": prior["table"]}
    made = client.post(f"{API}/campaigns", json=body)
    assert made.json()["known"] == 1
    asked = client.post(f"{API}/campaigns/graph/ask", json={"count": 2})
    assert asked.status_code == 200


@pytest.mark.parametrize(
    ("changes", "status", "word"),
    [
        ({"name": "screen"}, 409, "already"),
        ({"name": "bad/name"}, 422, "name"),
        ({"name": "-bad"}, 422, "name"),
        ({"name": "x" * 81}, 422, "name"),
        ({"budget": 0}, 422, "budget"),
        ({"budget": 9}, 422, "budget"),
        ({"budget": "five"}, 422, "budget"),
        ({"id": "nosuch"}, 422, "nosuch"),
        ({"policy": "nosuch"}, 422, "nosuch"),
        ({"model": "nosuch"}, 422, "nosuch"),
        ({"rows": None}, 422, "rows or table"),
        ({"rows": []}, 422, "rows"),
        ({"rows": [{"a": [1]}]}, 422, "rows"),
        ({"table": "f" * 32}, 422, "either rows or table"),
        ({"rows": None, "table": "f" * 32}, 404, "send the file in again"),
        ({"range": [1, 0]}, 422, "range"),
        ({"range": [0, 1], "binary": True}, 422, "one of the three"),
        ({"nosuchfield": 1}, 422, "nosuchfield"),
        ({"who": "two\nlines"}, 422, "who"),
    ],
)  # fmt: skip
def test_campaigns_that_cannot_begin_are_refused(client, changes, status, word):
    body = {"name": "no", "label": "y", "id": "code", "budget": 4, "rows": rows(8), **changes}
    body = {name: value for name, value in body.items() if value is not None}
    refused(client.post(f"{API}/campaigns", json=body), status, word)
    assert client.get(f"{API}/campaigns/no").status_code == 404


# --- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["header", "body"])
def test_a_repeated_tell_gets_the_first_answer_and_doubles_nothing(client, name, place):
    one = key()
    headers = {"Idempotency-Key": one} if place == "header" else {}
    body = {"results": {"c001": 1.0, "c002": "failed"}} | ({} if headers else {"key": one})
    first = client.post(f"{name}/tell", json=body, headers=headers)
    assert first.status_code == 200
    client.post(f"{name}/tell", json={"results": {"c001": 3.0}, "correct": True})
    version = client.get(name).json()["version"]
    for _ in range(3):
        again = client.post(f"{name}/tell", json=body, headers=headers)
        assert (again.status_code, again.json()) == (200, first.json())
    assert client.get(name).json()["version"] == version
    assert client.get(f"{name}/status").json()["total"] == 3.0


def test_a_key_in_the_header_is_that_of_the_body(client, name):
    one = key()
    first = client.post(f"{name}/tell", json={"results": {"c001": 1.0}, "key": one})
    again = client.post(
        f"{name}/tell", json={"results": {"c001": 1.0}}, headers={"Idempotency-Key": one}
    )
    assert again.json() == first.json()
    both = client.post(
        f"{name}/tell",
        json={"results": {"c002": 1.0}, "key": key()},
        headers={"Idempotency-Key": key()},
    )
    refused(both, 422, "differ")


def test_a_key_stands_for_one_request(client, name):
    headers = {"Idempotency-Key": key()}
    client.post(f"{name}/tell", json={"results": {"c001": 1.0}}, headers=headers)
    other = client.post(f"{name}/tell", json={"results": {"c002": 1.0}}, headers=headers)
    refused(other, 422, "new key")
    refused(client.post(f"{name}/ask", json={"count": 1}, headers=headers), 422, "new key")
    assert client.get(f"{name}/status").json()["measured"] == 1


@pytest.mark.parametrize("deed", ["ask", "undo", "fail", "exclude", "budget"])
def test_every_deed_can_be_repeated_safely(client, name, deed):
    client.post(f"{name}/tell", json={"results": {"c001": 1.0}})
    client.post(f"{name}/tell", json={"results": {"c002": 1.0}})
    body = {
        "ask": {"count": 2},
        "undo": {},
        "fail": {"item": "c005"},
        "exclude": {"item": "c006"},
        "budget": {"budget": 30},
    }[deed]
    headers = {"Idempotency-Key": key()}
    first = client.post(f"{name}/{deed}", json=body, headers=headers)
    again = client.post(f"{name}/{deed}", json=body, headers=headers)
    assert first.status_code == 200, first.text
    assert again.json() == first.json()
    fresh = client.post(f"{name}/{deed}", json=body, headers={"Idempotency-Key": key()})
    if deed in ("ask", "undo"):
        assert fresh.json() != first.json()


@pytest.mark.parametrize("deed", ["tell", "fail", "exclude", "budget", "ask"])
def test_what_was_taken_back_is_done_anew_and_remembered(client, name, deed):
    body = {
        "tell": {"results": {"c001": 1.0, "c002": "failed"}},
        "fail": {"item": "c005"},
        "exclude": {"item": "c006"},
        "budget": {"budget": 30},
        "ask": {"count": 2},
    }[deed]
    headers = {"Idempotency-Key": key()}
    before = client.get(f"{name}/status").json()
    first = client.post(f"{name}/{deed}", json=body, headers=headers)
    once = client.get(f"{name}/status").json()
    client.post(f"{name}/undo", json={}).raise_for_status()
    facts = ("budget", "measured", "failed", "excluded", "pending")
    assert [client.get(f"{name}/status").json()[fact] for fact in facts] == [
        before[fact] for fact in facts
    ]
    again = client.post(f"{name}/{deed}", json=body, headers=headers)
    assert again.status_code == 200, again.text
    assert again.json()["version"] > first.json()["version"]
    now = client.get(f"{name}/status").json()
    assert [now[fact] for fact in facts] == [once[fact] for fact in facts]
    assert client.post(f"{name}/{deed}", json=body, headers=headers).json() == again.json()
    assert client.get(f"{name}/status").json() == now


@pytest.mark.parametrize("bad", ["with blank", "x" * 201])
def test_odd_keys_are_refused(client, name, bad):
    answer = client.post(
        f"{name}/tell",
        json={"results": {"c001": 1.0}},
        headers={b"Idempotency-Key": bad.encode()},
    )
    refused(answer, 422, "idempotency-key")


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/campaigns/nosuch", None, 404),
        ("GET", "/campaigns/nosuch/forecast", None, 404),
        ("POST", "/campaigns/nosuch/ask", {}, 404),
        ("POST", "/campaigns/nosuch/tell", {"results": {"a": 1}}, 404),
        ("GET", "/nosuch", None, 404),
        ("GET", "/campaigns/", None, 404),
        ("DELETE", "/campaigns/screen", None, 405),
        ("GET", "/campaigns/screen/ask", None, 405),
        ("POST", "/campaigns/screen/ask", {"count": 0}, 422),
        ("POST", "/campaigns/screen/ask", {"count": "three"}, 422),
        ("POST", "/campaigns/screen/ask", {"count": 10**30}, 422),
        ("POST", "/campaigns/screen/ask", [], 422),
        ("POST", "/campaigns/screen/tell", {}, 422),
        ("POST", "/campaigns/screen/tell", {"results": {}}, 422),
        ("POST", "/campaigns/screen/tell", {"results": {"nosuch": 1}}, 422),
        ("POST", "/campaigns/screen/tell", {"results": {"c001": "hot"}}, 422),
        ("POST", "/campaigns/screen/tell", {"results": {"c001": None}}, 422),
        ("POST", "/campaigns/screen/tell", {"results": {"c001": [1]}}, 422),
        ("POST", "/campaigns/screen/fail", {"item": "nosuch"}, 422),
        ("GET", "/campaigns/screen/events?after=-1", None, 422),
        ("GET", "/campaigns/screen/events?limit=0", None, 422),
        ("GET", "/campaigns/screen/predictions?limit=100000", None, 422),
        ("GET", "/campaigns/screen/predictions?order=nosuch", None, 422),
        ("GET", "/backtests/0123456789abcdef", None, 404),
        ("GET", "/backtests/nosuch", None, 422),
        ("POST", "/backtests", {}, 422),
        ("POST", "/backtests", {"campaign": "nosuch"}, 404),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_problem(client, method, path, body, status):
    refused(client.request(method, API + path, json=body), status)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"nonsense", "application/json"),
        (b'{"results": {"c001": NaN}}', "application/json"),
        (b'{"results": {"c001": Infinity}}', "application/json"),
        (b'{"results": {"c001": 1e999}}', "application/json"),
        (b'{"results": {"\\ud800": 1}}', "application/json"),
        (b'{"results": {"c001": "\\ud800"}}', "application/json"),
        (b'{"results": {"c001\\u0000": 1}}', "application/json"),
        (b'{"results": {"c001": ' + b"1" * 5000 + b"}}", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"\xff\xfe\x00", "application/json"),
        (b'{"results": {"c001": 1}}', "text/plain"),
        (b'{"results": {"c001": 1}}', ""),
        (b"a=1", "application/x-www-form-urlencoded"),
        (b"--b\r\n", "multipart/form-data; boundary=b"),
        (b"--b\r\n", "multipart/form-data"),
    ],
)
@pytest.mark.parametrize("path", ["/campaigns/screen/tell", "/tables"])
def test_broken_requests_are_problems(client, content, kind, path):
    headers = {"Content-Type": kind} if kind else {}
    answer = client.post(API + path, content=content, headers=headers)
    assert answer.status_code in (400, 422)
    refused(answer, answer.status_code)


def test_unknown_candidates_get_a_hint(client):
    answer = client.post(f"{API}/campaigns/screen/tell", json={"results": {"c001x": 1.0}})
    refused(answer, 422, "Did you mean 'c001'?")


def test_a_pool_that_changed_is_noticed(client, local):
    begin(client, "moved", n=6)
    folder = local.log.parent / "serendip-pools"
    stored = Campaign.open("moved", local.log.with_name("lab.db"))
    file = folder.parent / stored.state.pool.near
    whole = file.read_bytes()
    file.write_bytes(whole + b" ")
    try:
        refused(
            client.post(f"{API}/campaigns/moved/ask", json={"count": 1}), 409, "not what it was"
        )
    finally:
        file.write_bytes(whole)
    assert client.post(f"{API}/campaigns/moved/ask", json={"count": 1}).status_code == 200


def test_long_work_does_not_block_the_server(local, client):
    """While one client waits for a large ask, others are answered at once."""
    begin(client, "large", n=250, d=4, model="gp")
    client.post(
        f"{API}/campaigns/large/tell", json={"results": {f"c{k:03d}": k % 7 for k in range(60)}}
    )
    waits, order = [], []

    def slow():
        with httpx.Client(base_url=local.url, timeout=PATIENCE) as mine:
            mine.post(f"{API}/campaigns/large/ask", json={"count": 16})
            order.append("ask")

    asking = threading.Thread(target=slow)
    asking.start()
    time.sleep(0.05)
    for place in range(100, 110):
        body = {"results": {f"c{place}": 1.0}}
        waits.append(client.post(f"{API}/campaigns/large/tell", json=body).status_code)
    order.append("tells")
    asking.join()
    assert waits == [200] * 10
    assert order == ["tells", "ask"]


def test_json_is_strict(client, name):
    """What goes out is JSON: no NaN, whatever the table holds."""
    text = client.get(f"{name}/predictions").text

    def never(constant):
        raise AssertionError(constant)

    assert json.loads(text, parse_constant=never)["rows"]
