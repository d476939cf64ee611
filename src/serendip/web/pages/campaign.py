"""The page of a campaign: proposals, a table to type results in, files out and in, undo."""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from serendip.campaigns.intake.entries import Objection, candidate_named, objections
from serendip.campaigns.intake.results import result_columns
from serendip.core.errors import AlreadyLabelled, InvalidInput, SerendipError
from serendip.web.pages.numbers import whole
from serendip.web.pages.templating import at, counted, render, who_is
from serendip.web.pages.wording import said
from serendip.web.pages.workbench import workbench
from serendip.web.server.answers import Told
from serendip.web.server.security import csrf_checked
from serendip.web.server.service import Campaigns

router = APIRouter(include_in_schema=False, prefix="/campaigns/{name}")

_GUARDED = [Depends(csrf_checked)]
_AT_ONCE = 5000
"""Candidates up to which the page is made in one go."""


@router.get("")
async def page(request: Request, name: str, began: str = "", item: str = "") -> HTMLResponse:
    """The campaign; `item` is a candidate whose result somebody wants to type."""
    reading = await request.app.state.campaigns.read(name)
    if reading.status.candidates > _AT_ONCE:
        query = urlencode({"began": began, "item": item})
        context = {"section": "campaigns", "reading": reading, "query": query}
        return render(request, "campaign_later.html", context)
    return await bench(request, name, began, item)


@router.get("/bench")
async def bench(request: Request, name: str, began: str = "", item: str = "") -> HTMLResponse:
    """The part of the page that needs the pool, which takes a while to read if it is large."""
    added = {"item": item, "value": "", "problems": {}}
    return await _answer(request, name, {"began": bool(began), "added": added})


@router.get("/news")
async def news(request: Request, name: str, since: int = 0) -> Response:
    """Whether somebody else wrote to the campaign since a version."""
    reading = await request.app.state.campaigns.read(name)
    if reading.state.version <= since:
        return Response(status_code=204)
    fresh = [entry for entry in reading.log if entry.version > since]
    return render(request, "_news.html", {"name": name, "fresh": fresh})


@router.post("/ask", dependencies=_GUARDED)
async def ask(
    request: Request,
    name: str,
    count: Annotated[str, Form()] = "",
    retry_failed: Annotated[str, Form()] = "",
    key: Annotated[str, Form()] = "",
) -> HTMLResponse:
    """Proposes the next candidates."""
    campaigns: Campaigns = request.app.state.campaigns
    try:
        wanted = _whole(count)
        made = await campaigns.ask(
            name, wanted, retry_failed=bool(retry_failed), who=who_is(request), key=key or None
        )
    except SerendipError as problem:
        return await _answer(request, name, {"ask_error": said(problem)}, status=422)
    few = "" if wanted is None or len(made.proposals) >= wanted else ", all that is left"
    return await _answer(
        request, name, {"done": f"{counted(len(made.proposals), 'new proposal')}{few}."}
    )


@router.post("/tell", dependencies=_GUARDED)
async def tell(request: Request, name: str, key: Annotated[str, Form()] = "") -> HTMLResponse:
    """Records what was typed, all of it or, where an entry does not fit, none."""
    campaigns: Campaigns = request.app.state.campaigns
    form = await request.form()
    items = [str(one) for one in form.getlist("item")]
    typed = dict(zip(items, (str(one).strip() for one in form.getlist("value")), strict=False))
    entries = {item: written for item, written in typed.items() if written}
    shown = dict(zip(items, map(str, form.getlist("seen")), strict=False))
    seen = _seen({str(one): shown.get(str(one), "") for one in form.getlist("replace")})
    if not entries:
        return await _answer(
            request, name, {"tell_error": "Nothing is filled in yet."}, typed, status=422
        )
    marked = {"tell_error": "Nothing was recorded yet: see what is marked in the table."}
    if await _against(campaigns, name, entries, seen):
        against = await _against(campaigns, name, entries, {})  # with what was marked, to keep it
        return await _answer(request, name, marked, typed, against, 422)
    try:
        made = await campaigns.tell(
            name, entries, correct=seen or False, who=who_is(request), key=key or None
        )
    except SerendipError as problem:
        against = await _against(campaigns, name, entries, {})
        overtaken = isinstance(problem, AlreadyLabelled) and against
        extra = marked if overtaken else {"tell_error": said(problem)}
        return await _answer(request, name, extra, typed, against, 422)
    return await _answer(request, name, {"done": _recorded(made), "told": list(entries)}, typed)


@router.post("/add", dependencies=_GUARDED)
async def add(
    request: Request,
    name: str,
    item: Annotated[str, Form()] = "",
    value: Annotated[str, Form()] = "",
    replace: Annotated[str, Form()] = "",
    seen: Annotated[str, Form()] = "",
) -> HTMLResponse:
    """Records the result of one candidate, proposed or not, or corrects it."""
    campaigns: Campaigns = request.app.state.campaigns
    candidates = await campaigns.candidates(name)
    problems: dict[str, str] = {}
    old: dict[str, float] = {}
    try:
        named = candidate_named(item, candidates)
        if not value.strip():
            problems["value"] = "Write the result, failed or excluded."
        else:
            old = _seen({named: seen} if replace else {})
            against = await _against(campaigns, name, {named: value}, old)
            problems |= {"value": against[named].says} if named in against else {}
        if not problems:
            made = await campaigns.tell(
                name, {named: value}, correct=old or False, who=who_is(request)
            )
            return await _answer(request, name, {"done": _recorded(made), "told": [named]})
    except SerendipError as problem:
        problems["item"] = said(problem)
    filled = {"item": item, "value": value, "problems": problems}
    return await _answer(request, name, {"added": filled}, status=422)


@router.post("/upload", dependencies=_GUARDED)
async def upload(request: Request, name: str, table: Annotated[UploadFile, File()]) -> HTMLResponse:
    """Records the results in a file that was filled in."""
    campaigns: Campaigns = request.app.state.campaigns
    try:
        reading, candidates = await campaigns.read(name), await campaigns.candidates(name)
        columns = result_columns(reading.settings, candidates)
        frame = await campaigns.tables.read_once(table.filename or "", table, *columns)
        made = await campaigns.tell(name, frame, who=who_is(request))
    except SerendipError as problem:
        return await _answer(request, name, {"upload_error": said(problem)}, status=422)
    return await _answer(request, name, {"done": _recorded(made)})


@router.post("/undo", dependencies=_GUARDED)
async def undo(
    request: Request,
    name: str,
    item: Annotated[str, Form()] = "",
    version: Annotated[str, Form()] = "",
    seen: Annotated[str, Form()] = "",
    key: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "",
) -> Response:
    """Takes back the last step, if it is the one that was shown, or one event of the log."""
    campaigns: Campaigns = request.app.state.campaigns
    try:
        made = await campaigns.undo(
            name,
            item=item or None,
            version=_whole(version),
            seen=_whole(seen),
            who=who_is(request),
            key=key or None,
        )
    except SerendipError as problem:
        if back == "history":
            raise
        return await _answer(request, name, {"undo_error": said(problem)}, status=422)
    if back == "history":
        return RedirectResponse(at(name, "history"), status_code=303)
    return await _answer(request, name, {"done": f"Taken back: {' '.join(made.words)}"})


@router.post("/budget", dependencies=_GUARDED)
async def budget(request: Request, name: str, budget: Annotated[str, Form()] = "") -> HTMLResponse:
    """Changes how many experiments there is money for."""
    campaigns: Campaigns = request.app.state.campaigns
    try:
        wanted = _whole(budget)
        if wanted is None:
            raise InvalidInput("Write how many experiments there is money for, in all.")
        await campaigns.rebudget(name, wanted, who=who_is(request))
    except SerendipError as problem:
        asked = {"budget_error": said(problem), "budget_typed": budget}
        return await _answer(request, name, asked, status=422)
    return await _answer(request, name, {"done": f"The budget is {wanted} experiments now."})


async def _answer(
    request: Request,
    name: str,
    extra: Mapping[str, Any],
    typed: Mapping[str, str] | None = None,
    against: Mapping[str, Objection] | None = None,
    status: int = 200,
) -> HTMLResponse:
    """The page, or the part of it that changes, after something was done."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    candidates = await campaigns.candidates(name)
    part = "HX-Request" in request.headers
    bench = await asyncio.to_thread(workbench, reading, candidates, typed, against)
    context = {
        "section": "campaigns",
        "reading": reading,
        "bench": bench,
        "key": secrets.token_urlsafe(16),
        "done": "",
        "told": [],
        "added": {"item": "", "value": "", "problems": {}},
        "ask_error": "",
        "tell_error": "",
        "upload_error": "",
        "undo_error": "",
        "budget_error": "",
        "budget_typed": "",
        "began": False,
        **extra,
    }
    return render(request, "_workbench.html" if part else "campaign.html", context, status)


async def _against(
    campaigns: Campaigns, name: str, entries: Mapping[str, str], seen: Mapping[str, float]
) -> dict[str, Objection]:
    """What speaks against entries now; those whose old result was seen may replace that one."""
    reading = await campaigns.read(name)
    candidates = await campaigns.candidates(name)
    return objections(entries, reading.settings, candidates, reading.state, seen)


def _seen(marked: Mapping[str, str]) -> dict[str, float]:
    """The results that somebody saw and marked as to be replaced, by candidate."""
    found = {}
    for item, shown in marked.items():
        with suppress(ValueError):
            found[item] = float(shown)
    return found


def _whole(written: str) -> int | None:
    return whole(written) if written.strip() else None


def _recorded(made: Told) -> str:
    kinds = (
        (made.measured, "measured"),
        (made.failed, "failed"),
        (made.excluded, "excluded"),
        (made.corrected, "corrected"),
    )
    parts = [f"{count} {word}" for count, word in kinds if count]
    words = f"Recorded: {', '.join(parts) or 'nothing new'}."
    if made.repeats:
        words += f" Told before, unchanged: {', '.join(made.repeats[:5])}."
    if made.unproposed:
        words += f" Not proposed by the campaign: {', '.join(made.unproposed[:5])}."
    return words
