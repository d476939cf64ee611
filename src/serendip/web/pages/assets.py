"""Style, scripts and plotly.js: a fixed list of files, read once; nothing comes from elsewhere."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

from serendip.web.server.problems import Refused

router = APIRouter(include_in_schema=False)

_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
PLOTLY = "vendor/plotly.min.js"


@dataclass(frozen=True, slots=True)
class _File:
    packed: bytes
    """The contents, compressed."""
    kind: str
    mark: str
    """Changes with the contents."""


def _paths() -> dict[str, Path]:
    folder = Path(__file__).parent.parent / "static"
    found = {
        one.relative_to(folder).as_posix(): one for one in folder.rglob("*") if one.suffix in _KINDS
    }
    plotly = find_spec("plotly")
    if plotly is not None and plotly.origin is not None:
        found[PLOTLY] = Path(plotly.origin).parent / "package_data" / "plotly.min.js"
    return found


_PATHS = _paths()


@cache
def _file(name: str) -> _File:
    data = _PATHS[name].read_bytes()
    mark = hashlib.sha256(data).hexdigest()[:12]
    return _File(gzip.compress(data, 6), _KINDS[_PATHS[name].suffix], mark)


def asset(name: str) -> str:
    """The address of a file, which changes when the file does."""
    return f"/static/{name}?{_file(name).mark}"


@router.get("/static/{name:path}")
def static(request: Request, name: str) -> Response:
    """A file of the list."""
    if name not in _PATHS:
        raise Refused(404, "There is no such file here.")
    file = _file(name)
    headers = {"Cache-Control": "max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(file.packed, media_type=file.kind, headers=headers)
    return Response(gzip.decompress(file.packed), media_type=file.kind, headers=headers)
