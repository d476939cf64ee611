"""The REST API under /api/v1, and its OpenAPI document."""

from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse

from serendip.web.api import backtests, campaigns, deeds
from serendip.web.server.problems import Problem, documented
from serendip.web.server.settings import ServeSettings

PREFIX = "/api/v1"

_PROBLEMS = documented(400, 401, 403, 404, 409, 413, 421, 422, 429, 503)

_ABOUT = """Campaigns for robots: ask what to measure, tell what came out.

Every error is a problem response as RFC 9457 describes it. A request with the header
`Idempotency-Key` may be repeated: the second time it changes nothing and gets the first answer,
even if the server was killed in between."""


def api(settings: ServeSettings) -> APIRouter:
    """All routes of the API."""
    router = APIRouter(prefix=PREFIX, responses=_PROBLEMS)
    for part in (campaigns, deeds, backtests):
        router.include_router(part.router)

    @cache
    def document() -> dict[str, Any]:
        return document_of(router, settings)

    @router.get("/openapi.json", include_in_schema=False)
    async def openapi() -> JSONResponse:
        return JSONResponse(document())

    return router


def document_of(router: APIRouter, settings: ServeSettings) -> dict[str, Any]:
    """The OpenAPI document of the routes."""
    from importlib.metadata import version

    app = FastAPI()
    app.include_router(router)
    made = get_openapi(
        title="serendip", version=version("serendip"), description=_ABOUT, routes=app.routes
    )
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = made.setdefault("components", {}).setdefault("schemas", {})
    parts.update(schema.pop("$defs", {}))
    parts["Problem"] = schema
    if settings.token is not None:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
    return made
