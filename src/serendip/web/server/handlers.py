"""Every error becomes an answer: a problem for programs, a page for people."""

from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from serendip.core.errors import SerendipError
from serendip.web.server.problems import (
    FieldProblem,
    Refused,
    problem_response,
    status_of,
    title_of,
)


def add_handlers(app: FastAPI) -> None:
    """Every error becomes a problem under /api, and a page elsewhere.

    What nobody expected is caught by the guard, which is outermost.
    """

    async def refused(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, SerendipError)  # what it is registered for
        headers = problem.headers if isinstance(problem, Refused) else {}
        return answer(request, status_of(problem), str(problem), headers)

    async def http(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, HTTPException)  # what it is registered for
        said = problem.detail if isinstance(problem.detail, str) else ""
        title = title_of(problem.status_code)
        detail = {
            404: "There is nothing at this address.",
            405: f"{request.method} is not possible at this address.",
        }.get(problem.status_code, said or title)
        return answer(request, problem.status_code, detail, dict(problem.headers or {}))

    async def invalid(request: Request, problem: Exception) -> Response:
        assert isinstance(problem, RequestValidationError)  # what it is registered for
        errors = [
            FieldProblem(where=".".join(str(part) for part in one["loc"]), detail=str(one["msg"]))
            for one in problem.errors()
        ]
        first = errors[0] if errors else FieldProblem(where="request", detail="it does not fit")
        detail = f"The request does not fit at {first.where}: {first.detail}."
        return answer(request, 422, detail, errors=errors)

    app.add_exception_handler(SerendipError, refused)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)


def answer(
    request: Request,
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
    errors: list[FieldProblem] | None = None,
) -> Response:
    """A problem for programs, a page for people."""
    if request.url.path.startswith("/api"):
        from serendip.web.api.wording import in_words_of_the_api

        return problem_response(status, in_words_of_the_api(detail), headers, errors)
    from serendip.web.pages.errors import error_page

    page = error_page(request, status, title_of(status), detail)
    for name, value in (headers or {}).items():
        page.headers[name] = value
    return page
