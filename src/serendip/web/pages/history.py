"""History: all that happened, in words, with who and when; what counts can be taken back."""

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from serendip.campaigns.log.wire import kind_of
from serendip.campaigns.output.words import what
from serendip.campaigns.undoing import stands
from serendip.web.pages.templating import render
from serendip.web.server.service import Campaigns

router = APIRouter(include_in_schema=False, prefix="/campaigns/{name}")

_PAGE = 100


@router.get("/history")
async def history(
    request: Request, name: str, page: int = Query(1, ge=1, le=10**9)
) -> HTMLResponse:
    """The log, newest first."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    newest = reading.log[::-1]
    n_pages = max(1, -(-len(newest) // _PAGE))
    page = min(page, n_pages)
    rows = [
        {
            "version": entry.version,
            "at": entry.event.at,
            "who": entry.event.who,
            "kind": kind_of(entry.event),
            "what": what(entry.event),
            "undone": entry.version in reading.state.undone,
            "undoable": stands(entry, reading.state),
        }
        for entry in newest[(page - 1) * _PAGE : page * _PAGE]
    ]
    context = {"reading": reading, "rows": rows, "page": page, "n_pages": n_pages}
    return render(request, "history.html", context | {"section": "campaigns"})
