"""Errors as RFC 9457 problem responses for programs, and as pages for people."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.responses import Response
from pydantic import BaseModel, Field

from serendip.core.errors import SerendipError

MEDIA_TYPE = "application/problem+json"


class Refused(SerendipError):
    """A request that is refused with a status of HTTP."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Refused, (self.status, str(self), self.headers)


class FieldProblem(BaseModel):
    """What is wrong with one part of a request."""

    where: str = Field(description="The part: body, query or path, and the name of the field.")
    detail: str = Field(description="What was expected.")


class Problem(BaseModel):
    """An error as RFC 9457 describes it."""

    type: str = Field(default="about:blank", description="A URI for the kind of problem.")
    title: str = Field(description="The kind of problem, in short.")
    status: int = Field(description="The status of HTTP.", ge=400, le=599)
    detail: str = Field(description="One or two sentences: what came, and what to do.")
    errors: list[FieldProblem] = Field(
        default_factory=list, description="Which parts of the request do not fit."
    )


UNEXPECTED = (
    "Something went wrong that the server was not prepared for; its log says what. What was "
    "acknowledged before is kept."
)

_STATUS = {
    "NoSuchCampaign": 404,
    "CampaignExists": 409,
    "NothingLeft": 409,
    "AlreadyLabelled": 409,
    "StaleCampaign": 409,
    "PoolChanged": 409,
    "StoreFailed": 503,
    "StoreBusy": 503,
    "StoreDamaged": 503,
    "Ended": 503,
}
"""Errors of ours by the status that fits; all others say that the request does not fit: 422."""


def status_of(problem: SerendipError) -> int:
    """The status of HTTP for an error of ours."""
    if isinstance(problem, Refused):
        return problem.status
    return _STATUS.get(type(problem).__name__, 422)


def problem_response(
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
    errors: list[FieldProblem] | None = None,
) -> Response:
    """A problem as a response."""
    made = Problem(title=title_of(status), status=status, detail=detail, errors=errors or [])
    body = json.dumps(made.model_dump())  # in ASCII: a request may hold half a character
    return Response(body, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def title_of(status: int) -> str:
    """The standard's name of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of problem responses."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": title_of(status),
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in statuses
    }
