"""Bodies of requests in which nothing is said twice: JSON would forget all but the last."""

import json
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException


class StrictRoute(APIRoute):
    """A route that refuses a body with a name that stands twice in one object."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, given the request with a stricter reader."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(_Strict(request.scope, request.receive))

        return strict


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
