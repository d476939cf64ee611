"""Results as programs send them: nothing is recorded twice, guessed at, or silently the last."""

import json

import pytest

from web.servers import Server


@pytest.fixture(scope="module", name="lab")
def _lab(tmp_path_factory):
    """A server with campaigns on ids that are numbers, some of them alike."""
    store = tmp_path_factory.mktemp("lab") / "lab.db"
    with Server(store) as server, server.client() as client:
        rows = [{"id": name, "x": k} for k, name in enumerate(["7", "8", "010", "10", "a", "b"])]
        common = {"label": "yield", "id": "id", "budget": 5, "rows": rows, "model": "linear"}
        for name, more in (
            ("plain", {}),
            ("binary", {"binary": True, "model": "logistic"}),
            ("words", {"categories": ["low", "high"]}),
        ):
            body = {"name": name, **common, **more}
            made = client.post("/api/v1/campaigns", json=body)
            assert made.status_code == 201, made.text
        yield server


def tell(lab, body, name="plain"):
    """The answer, and how many events it left in the log."""
    content = body if isinstance(body, str) else json.dumps({"results": body})
    with lab.client() as client:
        before = client.get(f"/api/v1/campaigns/{name}").json()["version"]
        answer = client.post(
            f"/api/v1/campaigns/{name}/tell",
            content=content,
            headers={"Content-Type": "application/json"},
        )
        after = client.get(f"/api/v1/campaigns/{name}").json()["version"]
        if after > before:
            client.post(f"/api/v1/campaigns/{name}/undo")
    return answer, after - before


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ({"7": 1, "07": 2, "7.0": 3}, ["'7'", "'07'"]),
        ({"7": 1, "7.0": 1}, ["'7'", "'7.0'"]),
        ({"a": 1, " a": 2}, ["'a'", "' a'"]),
        ({"7.0": 1, "7": 2}, ["'7.0'", "'7'"]),
    ],
)
def test_two_names_of_one_candidate_are_refused(lab, results, words):
    answer, n_events = tell(lab, results)
    assert (answer.status_code, n_events) == (422, 0)
    for word in words:
        assert word in answer.json()["detail"]


def test_an_id_that_the_pool_has_is_that_candidate(lab):
    answer, n_events = tell(lab, {"10": 1, "010": 2})
    assert (answer.status_code, n_events) == (200, 2)
    answer, n_events = tell(lab, {"8.0": 1})  # the same number, and nothing else it could be
    assert (answer.status_code, n_events) == (200, 1)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"results": {"7": 1, "8": 2, "7": 3}}', ['"7"', "1, 3"]),
        ('{"results": {"7": 1}, "results": {"8": 1}}', ['"results"']),
        ('{"results": {"7": 1}, "correct": false, "correct": true}', ['"correct"']),
        ('{"results": {"7": 1, "7": 1}}', ['"7"']),
    ],
)
def test_a_name_that_stands_twice_is_refused(lab, body, words):
    answer, n_events = tell(lab, body)
    assert (answer.status_code, n_events) == (422, 0)
    for word in words:
        assert word in answer.json()["detail"]


def test_other_requests_say_nothing_twice_either(lab):
    with lab.client() as client:
        for path in ("campaigns", "campaigns/plain/budget", "campaigns/plain/ask", "backtests"):
            answer = client.post(
                f"/api/v1/{path}",
                content='{"budget": 5, "budget": 6}',
                headers={"Content-Type": "application/json"},
            )
            assert answer.status_code == 422
            assert "5, 6" in answer.json()["detail"]
        assert client.get("/api/v1/campaigns/plain").json()["budget"] == 5


@pytest.mark.parametrize("label", ["1_000", "１２", "٣", True, False, "true", "inf", "nan", "0x10"])
def test_what_is_no_number_is_no_label(lab, label):
    answer, n_events = tell(lab, {"a": label})
    assert (answer.status_code, n_events) == (422, 0)
    assert "must be a number" in answer.json()["detail"]


@pytest.mark.parametrize("label", [1, 1.5, "1.5", "1,5", "-2", "1e3", " 4 ", "failed"])
def test_numbers_and_what_a_cell_may_hold_are_labels(lab, label):
    answer, n_events = tell(lab, {"a": label})
    assert (answer.status_code, n_events) == (200, 1), answer.text


@pytest.mark.parametrize(
    ("name", "label", "status"),
    [
        ("binary", True, 200),
        ("binary", False, 200),
        ("binary", 1, 200),
        ("binary", "0", 200),
        ("binary", "true", 422),
        ("binary", "１", 422),
        ("binary", 0.5, 422),
        ("words", "low", 200),
        ("words", True, 422),
    ],
)
def test_true_and_false_are_labels_where_they_are_binary(lab, name, label, status):
    answer, n_events = tell(lab, {"a": label}, name)
    assert (answer.status_code, n_events) == (status, int(status == 200)), answer.text
