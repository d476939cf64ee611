"""Files out: proposals to fill in, results, predictions, the log, and the report."""

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from serendip.campaigns.output.cells import write_table
from serendip.web.pages.templating import at, render
from serendip.web.server.problems import Refused
from serendip.web.server.service import Campaigns

if TYPE_CHECKING:
    import pandas as pd

router = APIRouter(include_in_schema=False, prefix="/campaigns/{name}")

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_TABLES = {
    "proposals": "pending",
    "results": "results",
    "predictions": "predictions",
    "events": "events",
}


@router.get("/report")
async def report(request: Request, name: str, download: str = "") -> HTMLResponse:
    """The report, to look at or to keep; who opens it in a browser sees how far it is meanwhile."""
    campaigns: Campaigns = request.app.state.campaigns
    looks = request.headers.get("sec-fetch-mode") == "navigate" and not download
    if looks and not await campaigns.report_known(name):
        reading = await campaigns.read(name)
        return render(request, "report_later.html", {"section": "campaigns", "reading": reading})
    text = await campaigns.report(name)
    headers = {"Content-Disposition": _attachment(f"{name}.html")} if download else {}
    return HTMLResponse(text, headers=headers)


@router.get("/report/ready")
async def report_ready(request: Request, name: str) -> Response:
    """Sends the page that waits for the report to it, once it is written."""
    await request.app.state.campaigns.report(name)
    return Response(status_code=204, headers={"HX-Redirect": at(name, "report")})


@router.get("/{table}.{kind}")
async def table(request: Request, name: str, table: str, kind: str) -> Response:
    """A table of the campaign; text that a spreadsheet would run is made plain."""
    if table not in _TABLES or kind not in _KINDS:
        raise Refused(404, "There is no such file; the page of the campaign has those there are.")
    campaigns: Campaigns = request.app.state.campaigns
    what = _TABLES[table]
    frame = await (
        campaigns.predictions(name) if what == "predictions" else campaigns.table(name, what)
    )
    data = await asyncio.to_thread(_written, frame, kind)
    headers = {"Content-Disposition": _attachment(f"{name} {table}.{kind}")}
    return Response(data, media_type=_KINDS[kind], headers=headers)


def _written(frame: "pd.DataFrame", kind: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="serendip-") as folder:
        file = Path(folder) / f"table.{kind}"
        write_table(frame, file)
        return file.read_bytes()


def _attachment(file: str) -> str:
    plain = file.encode("ascii", "replace").decode().replace('"', "'").replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file, safe='')}"
