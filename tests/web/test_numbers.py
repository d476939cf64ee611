"""Numbers that people type into forms, and numbers that robots send."""

import pytest

from serendip.core.errors import InvalidInput
from serendip.web.pages.numbers import decimal, whole
from web.servers import rows


@pytest.mark.parametrize(
    ("written", "number"), [("15", 15), (" 7 ", 7), ("1 000", 1000), ("12,000", 12000)]
)
def test_whole_numbers(written, number):
    assert whole(written) == number


@pytest.mark.parametrize(
    "written", ["1,5", "1.5", "１２", "٣", "1_000", "1 0", "-3", "", "1e3", "0x10", "9" * 30]
)
def test_what_is_no_whole_number(written):
    with pytest.raises(InvalidInput, match="whole number"):
        whole(written)


@pytest.mark.parametrize(("written", "number"), [("0,5", 0.5), ("1 000", 1000.0), ("-1e3", -1e3)])
def test_ends_of_a_range(written, number):
    assert decimal(written) == number


@pytest.mark.parametrize("written", ["1,234", "1_000", "１２", "nan", "inf", "85%", "true"])
def test_what_is_no_end_of_a_range(written):
    with pytest.raises(InvalidInput):
        decimal(written)


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": "10"},
        {"budget": True},
        {"seed": True},
        {"minimize": "yes"},
        {"range": [True, 100]},
        {"range": [0, "1_00"]},
        {"rows": [{"code": 2.1, "x": 1}, {"code": "b", "x": 2}]},
        {"rows": [{"code": True, "x": 1}, {"code": "b", "x": 2}]},
        {"rows": [{"code": "a", "x": 1, "yield": True}, *({"code": k, "x": k} for k in range(5))]},
    ],
)
def test_settings_that_are_of_another_kind_are_refused(client, wrong):
    body = {"name": "kinds", "label": "yield", "id": "code", "budget": 2, "rows": rows(9, 2)}
    answer = client.post("/api/v1/campaigns", json={**body, **wrong})
    assert answer.status_code == 422, answer.text


def test_half_a_character_in_a_cell_is_named_with_its_row(client):
    data = (
        b'{"name": "half", "label": "y", "id": "code", "budget": 1, "rows": '
        b'[{"code": "a", "x": 1}, {"code": "b\\ud800", "x": 2}]}'
    )
    answer = client.post(
        "/api/v1/campaigns", content=data, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert "Column 'code', row 3, holds bytes that are no text" in answer.json()["detail"]


def test_whole_numbers_as_ids_keep_all_their_digits(client):
    ids = [9007199254740993, 9007199254740992, 7.0, "2.10"]
    body = {"name": "digits", "label": "y", "id": "code", "budget": 2, "model": "linear"}
    body["rows"] = [{"code": one, "x": k} for k, one in enumerate(ids)]
    assert client.post("/api/v1/campaigns", json=body).status_code == 201
    told = {"results": {"9007199254740993": 1, "7": 2, "2.10": 3}}
    assert client.post("/api/v1/campaigns/digits/tell", json=told).json()["measured"] == 3


@pytest.mark.parametrize("wrong", [{"count": True}, {"count": "2"}, {"retry_failed": "on"}])
def test_an_ask_of_another_kind_is_refused(client, wrong):
    assert client.post("/api/v1/campaigns/screen/ask", json=wrong).status_code == 422


def test_what_is_no_label_is_said_in_one_sentence(client):
    answer = client.post("/api/v1/campaigns/screen/tell", json={"results": {"c000": [5]}})
    assert "a label is a finite number, a text" in answer.json()["detail"]
    assert len(answer.json()["errors"]) == 1


def test_parameters_and_keys_that_stand_twice_are_refused(client):
    twice = client.get("/api/v1/campaigns?limit=1&limit=2")
    assert twice.status_code == 422
    assert "'limit' is given 2 times" in twice.json()["detail"]
    headers = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    ask = client.post("/api/v1/campaigns/screen/ask", json={"count": 1}, headers=headers)
    assert ask.status_code == 422
