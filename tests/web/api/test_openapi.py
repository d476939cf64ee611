"""Whatever is sent, the API does what its OpenAPI document says: schemathesis tries a lot of it.

By default a few examples of each operation; with SERENDIP_FULL=1 a few hundred.
"""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from serendip.web.api.router import api, document_of
from serendip.web.server.problems import Problem
from serendip.web.server.settings import ServeSettings
from web.servers import PATIENCE, Server, begin, get

FULL = bool(os.environ.get("SERENDIP_FULL"))
CONFORMANCE = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(document_of(api(ServeSettings()), ServeSettings()))
OPERATIONS = {one.label: one for one in (found.ok() for found in SCHEMA.get_all_operations())}
OF_A_CAMPAIGN = [label for label in OPERATIONS if "{name}" in label]

some = settings(
    max_examples=300 if FULL else 6,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module", name="tried")
def _tried(tmp_path_factory):
    """A server to be tried out, with a campaign that has results, proposals and failures."""
    store = tmp_path_factory.mktemp("tried") / "lab.db"
    with Server(store) as server, server.client() as client:
        begin(client, "fuzz", n=60, policy="greedy")
        path = "/api/v1/campaigns/fuzz"
        client.post(f"{path}/tell", json={"results": {f"c{k:03d}": k / 9 for k in range(9)}})
        client.post(f"{path}/ask", json={"count": 3})
        client.post(f"{path}/fail", json={"item": "c020"})
        yield server
        assert "Traceback" not in server.log.read_text()


def tried_out(server, strategy, *more):
    """Sends what the strategy makes up; every error must be a problem response, as documented."""

    @some
    @given(case=strategy)
    def check(case):
        answer = case.call(base_url=server.url, timeout=PATIENCE)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == ["application/problem+json"], answer.text
            problem = Problem.model_validate(answer.json())
            assert problem.status == answer.status_code
            assert problem.detail
            assert "Traceback" not in answer.text
        case.validate_response(answer, checks=[*CONFORMANCE, *more])

    check()


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("label", OPERATIONS)
def test_anything_at_all(tried, label, mode):
    if mode is GenerationMode.NEGATIVE and label == "GET /api/v1/backtests":
        return  # it takes nothing, so nothing can be wrong
    tried_out(tried, OPERATIONS[label].as_strategy(mode), negative_data_rejection)


@pytest.mark.parametrize("label", OF_A_CAMPAIGN)
def test_anything_to_a_campaign_that_is_there(tried, label):
    tried_out(tried, OPERATIONS[label].as_strategy(path_parameters={"name": "fuzz"}))


def test_the_document_is_whole(tried):
    document = get(f"{tried.api}/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    paths = set(document["paths"])
    for path in ("ask", "tell", "status", "forecast", "predictions", "events", "undo", "fail"):
        assert f"/api/v1/campaigns/{{name}}/{path}" in paths
    assert {"/api/v1/campaigns", "/api/v1/tables", "/api/v1/backtests"} <= paths
    for path, operations_ in document["paths"].items():
        assert path.startswith("/api/v1/")
        for method, operation in operations_.items():
            assert operation["description"], (method, path)
            for status in ("400", "401", "403", "404", "409", "413", "421", "422", "429", "503"):
                (kind,) = operation["responses"][status]["content"]
                assert kind == "application/problem+json"
    told = document["paths"]["/api/v1/campaigns/{name}/tell"]["post"]
    assert "idempotency-key" in [one["name"] for one in told["parameters"]]
