"""The guard before everything else: who may ask, from where, how much, and what browsers may do.

It is plain ASGI, so that streams pass through it untouched.
"""

import hashlib
import hmac
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request, cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serendip.web.server.handlers import answer
from serendip.web.server.problems import UNEXPECTED, problem_response
from serendip.web.server.security import same
from serendip.web.server.settings import ServeSettings, is_loopback

TOKEN_COOKIE = "serendip_token"
CSRF_COOKIE = "serendip_csrf"
LOGIN = "/login"

_LOG = logging.getLogger("serendip.web")
_SAFE = ("GET", "HEAD", "OPTIONS")
_YEAR = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Guard:
    """Wraps the application."""

    app: ASGIApp
    settings: ServeSettings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        cookies = cookie_parser(headers.get("cookie", ""))
        state = scope.setdefault("state", {})
        nonce = secrets.token_urlsafe(16)
        known = cookies.get(CSRF_COOKIE, "")
        state["nonce"] = nonce
        state["csrf_known"] = len(known) >= 32
        state["csrf"] = known if state["csrf_known"] else secrets.token_urlsafe(32)
        guarded = _Sending(send, nonce, None if state["csrf_known"] else str(state["csrf"]))
        refusal = self._refusal(scope, headers) or await self._unknown(scope, receive, cookies)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        limit = self._limit(headers)
        if _length(headers) > limit:
            refusal = answer(Request(scope, receive), 413, _too_large(limit), _CLOSE)
            await refusal(scope, receive, guarded)
            return
        try:
            await self.app(scope, _Counting(receive, limit), guarded)
        except ClientDisconnect:
            return
        except Exception:
            _LOG.exception("%s %s failed", scope["method"], scope["path"])
            if not guarded.started:
                request = Request(scope, receive)
                await answer(request, 500, UNEXPECTED)(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """What is refused whoever asks: long headers, other names of this host, other sites."""
        if _head(scope) > self.settings.max_head:
            return problem_response(431, too_long(self.settings.max_head), _CLOSE)
        host = headers.get("host", "")
        if self.settings.local and not is_loopback(_host_name(host)):
            return problem_response(
                421, "This server answers to localhost only; open it under that name."
            )
        method, site = scope["method"], headers.get("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            navigates = headers.get("sec-fetch-mode") == "navigate" and method in _SAFE
            if not navigates or headers.get("sec-fetch-dest") in ("iframe", "frame", "embed"):
                return _cross_site()
        origin = headers.get("origin")
        if origin is not None and method not in _SAFE:
            parts = urlsplit(origin)
            if parts.netloc.lower() != host.lower() or parts.scheme not in ("http", "https"):
                return _cross_site()
        return None

    async def _unknown(
        self, scope: Scope, receive: Receive, cookies: Mapping[str, str]
    ) -> Response | None:
        """What somebody without the token gets: the same whatever the address."""
        token = self.settings.token
        if token is None:
            return None
        request, path = Request(scope, receive), scope["path"]
        if path == LOGIN and scope["method"] == "POST":
            return await self._login(request, token)
        shown = request.query_params.get("token")
        if shown is not None and scope["method"] == "GET" and not path.startswith("/api"):
            if not same(shown, token):
                return self._please(request, wrong=True)
            rest = [(k, v) for k, v in parse_qsl(request.url.query) if k != "token"]
            return self._admitted(path + (f"?{urlencode(rest)}" if rest else ""), token)
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and same(bearer.strip(), token):
            return None
        if same(cookies.get(TOKEN_COOKIE, ""), pass_of(token)):
            return None
        return self._please(request)

    async def _login(self, request: Request, token: str) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > 10_000:
                return problem_response(413, _too_large(10_000), _CLOSE)
        fields = dict(parse_qsl(body.decode("utf-8", "replace")))
        if not same(fields.get("token", ""), token):
            return self._please(request, wrong=True)
        return self._admitted(fields.get("next", "/"), token)

    def _admitted(self, path: str, token: str) -> Response:
        going = RedirectResponse(_local_path(path), status_code=303)
        going.set_cookie(TOKEN_COOKIE, pass_of(token), max_age=_YEAR, httponly=True, samesite="lax")
        return going

    def _please(self, request: Request, wrong: bool = False) -> Response:
        if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith(
            "/api"
        ):
            return problem_response(
                401,
                "This server needs its token: send it as `Authorization: Bearer TOKEN`.",
                {"WWW-Authenticate": "Bearer"},
            )
        path = request.url.path if request.method == "GET" and request.url.path != LOGIN else "/"
        page = _LOGIN_PAGE.format(
            path=escape(_local_path(path), quote=True),
            said="<p role=alert>That is not the token of this server.</p>" if wrong else "",
        )
        return HTMLResponse(page, 401, {"WWW-Authenticate": "Bearer"})

    def _limit(self, headers: Headers) -> int:
        kind = headers.get("content-type", "").lower()
        upload = kind.startswith("multipart/form-data")
        return self.settings.max_upload if upload else self.settings.max_body


def pass_of(token: str) -> str:
    """What the cookie of a browser holds: made of the token, which it does not give away."""
    return hmac.new(token.encode(), b"cookie", hashlib.sha256).hexdigest()


class _Counting:
    """Receives no more than a limit; what comes after is not read."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._limit, self._left = receive, limit, limit

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise HTTPException(413, _too_large(self._limit), _CLOSE)
        return message


class _Sending:
    """Sends with the headers that tell browsers what a page may do."""

    def __init__(self, send: Send, nonce: str, csrf: str | None) -> None:
        self._send, self._nonce, self._csrf = send, nonce, csrf
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers["Content-Security-Policy"] = _POLICY.format(nonce=self._nonce)
            if headers.get("content-type", "").startswith("text/html") and self._csrf:
                headers.append(
                    "Set-Cookie",
                    f"{CSRF_COOKIE}={self._csrf}; Max-Age={_YEAR}; Path=/; HttpOnly; SameSite=Lax",
                )
            if "content-type" in headers and not headers.get("cache-control"):
                headers["Cache-Control"] = "no-store"
        await self._send(message)


_CLOSE = {"Connection": "close"}

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers post forms from origin "null"
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)

_LOGIN_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>serendip</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 1rem/1.5 system-ui; max-width: 26rem; margin: 4rem auto; padding: 0 1rem }}
input, button {{ font: inherit; padding: .4rem; width: 100%; box-sizing: border-box }}</style>
</head><body><main><h1>serendip</h1>{said}
<form method="post" action="/login"><input type="hidden" name="next" value="{path}">
<p><label for="token">Token, as the server printed it when it was started</label>
<input id="token" name="token" type="password" autocomplete="current-password" required></p>
<p><button>Open</button></p></form></main></body></html>
"""


def _too_large(limit: int) -> str:
    return (
        f"The request is larger than {limit / 1e6:g} MB, the most that is taken here; send less "
        "at once."
    )


def too_long(limit: int) -> str:
    """What to say of headers that are too long."""
    return (
        f"The address and the headers of the request are longer than {limit // 1024} KiB, the most "
        "that is taken; send less in them."
    )


def _head(scope: Scope) -> int:
    """Bytes of the address and the headers, about."""
    headers = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return headers + len(scope.get("raw_path") or b"") + len(scope["query_string"])


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _local_path(path: str) -> str:
    """The path, once it is known to lead to this server."""
    safe = path.startswith("/") and path[1:2] not in ("/", "\\") and path.isprintable()
    return path if safe else "/"


def _length(headers: Headers) -> int:
    told = headers.get("content-length", "")
    return int(told) if told.isdigit() else 0


def _cross_site() -> Response:
    return problem_response(403, "This request came from a page of another site, so it is refused.")
