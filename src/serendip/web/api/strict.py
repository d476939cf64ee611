"""Requests in which nothing is said twice: all but the last would be forgotten."""

import json
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException


class StrictRoute(APIRoute):
    """A route that refuses a name that stands twice in an object of the body or in the address."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, given the request with a stricter reader."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            _check_address(request)
            return await handler(_Strict(request.scope, request.receive))

        return strict


def _check_address(request: Request) -> None:
    """Refuses parameters and keys that are given twice."""
    given = Counter(name for name, _ in request.query_params.multi_items())
    given["Idempotency-Key"] = len(set(request.headers.getlist("idempotency-key")))
    for name, count in given.items():
        if count > 1:
            raise HTTPException(
                422, f"{name[:80]!r} is given {count} times, and only one can count; send it once."
            )


class _Strict(Request):
    async def json(self) -> Any:
        return json.loads(await self.body(), object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        name, count = Counter(name for name, _ in pairs).most_common(1)[0]
        values = ", ".join(json.dumps(value)[:40] for other, value in pairs if other == name)
        raise HTTPException(
            422,
            f"{json.dumps(name)[:80]} stands {count} times in one object of the request "
            f"({values[:120]}), and only one can count; send it once.",
        )
    return made
