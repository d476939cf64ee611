"""The pool as a table: searched, sorted, a page at a time, and one candidate in full."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from serendip.campaigns.output.exports import shown_columns
from serendip.campaigns.output.listing import SORTS, STATES, Listing, listing
from serendip.web.pages.templating import at, render
from serendip.web.server.problems import Refused
from serendip.web.server.service import Campaigns

if TYPE_CHECKING:
    import pandas as pd

router = APIRouter(include_in_schema=False, prefix="/campaigns/{name}")

_N_COLUMNS = 5


@router.get("/candidates")
async def page(
    request: Request,
    name: str,
    state: str = "",
    sort: str = "",
    q: str = "",
    page: int = Query(1, ge=1, le=10**9),
) -> HTMLResponse:
    """The page; its table is loaded once it is there."""
    reading = await request.app.state.campaigns.read(name)
    context = {"reading": reading, "chosen": _chosen(state, sort, q, page), "section": "campaigns"}
    return render(request, "candidates.html", context | {"states": STATES, "sorts": SORTS})


@router.get("/candidates/table")
async def table(
    request: Request,
    name: str,
    state: str = "",
    sort: str = "",
    q: str = "",
    page: int = Query(1, ge=1, le=10**9),
) -> HTMLResponse:
    """A page of the table."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    candidates = await campaigns.candidates(name)
    predicted = await campaigns.predictions(name)
    chosen = _chosen(state, sort, q, page)
    found: Listing = await asyncio.to_thread(
        listing, predicted, chosen.state, chosen.sort, chosen.q, chosen.page,
        reading.settings.minimize,
    )  # fmt: skip
    names, leading = shown_columns(reading.settings, candidates, _N_COLUMNS)
    context = {"reading": reading, "chosen": chosen, "found": found, "columns": names[:leading]}
    answer = render(request, "_candidates.html", context)
    here = urlencode({name: one for name, one in chosen.but(found.page).items() if one})
    answer.headers["HX-Replace-Url"] = f"{at(name, 'candidates')}?{here}"
    return answer


@router.get("/candidate")
async def candidate(request: Request, name: str, id: str) -> HTMLResponse:
    """One candidate: its columns, what is believed of it, and what became of it."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    candidates = await campaigns.candidates(name)
    if id not in candidates.places:
        raise Refused(404, f"The pool has no candidate {id!r}.")
    predicted = await campaigns.predictions(name)
    row = await asyncio.to_thread(_row, predicted, candidates.places[id])
    own = candidates.rows(np.array([candidates.places[id]])).iloc[0]
    hidden = {reading.settings.label, reading.settings.id}
    fields = [(str(column), value) for column, value in own.items() if column not in hidden]
    context = {"section": "campaigns", "reading": reading, "id": id, "fields": fields, "row": row}
    part = "HX-Request" in request.headers
    return render(request, "_candidate.html" if part else "candidate.html", context)


def _row(predicted: "pd.DataFrame", place: int) -> dict[str, Any]:
    return listing(predicted.iloc[[place]], "", "", "", 1, False).rows[0]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What people chose to see."""

    state: str
    sort: str
    q: str
    page: int

    def but(self, page: int) -> dict[str, Any]:
        """The same with another page, for a link."""
        return {"state": self.state, "sort": self.sort, "q": self.q, "page": page}


def _chosen(state: str, sort: str, q: str, page: int) -> Chosen:
    known = sort if sort in SORTS else next(iter(SORTS))
    return Chosen(state if state in STATES else "", known, q.strip()[:200], page)
