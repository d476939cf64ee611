"""Backtest: a replay of labels that are there already, with a live bar, cancel, and the figure."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Request, UploadFile
from fastapi.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)

from serendip.campaigns.intake.preview import WORDS, Role
from serendip.core.errors import SerendipError
from serendip.models.registry import REGISTRY as MODELS
from serendip.models.registry import Input, takes
from serendip.policies.registry import POLICIES
from serendip.policies.registry import REGISTRY as PLAYERS
from serendip.web.figures.backtest import backtest_figure
from serendip.web.pages.backtest_form import campaign_fields, replay_of_campaign, replay_of_table
from serendip.web.pages.beginning_form import Beginning, form_of, tables_sent
from serendip.web.pages.setting_form import first_values, sent_values
from serendip.web.pages.templating import render
from serendip.web.pages.wording import said
from serendip.web.server.jobs import Job, Jobs
from serendip.web.server.problems import Refused
from serendip.web.server.security import csrf_checked
from serendip.web.server.service import Campaigns

router = APIRouter(include_in_schema=False)

_GUARDED = [Depends(csrf_checked)]
_WORDS = {role: word for role, word in WORDS.items() if role is not Role.smiles}


@router.get("/backtest")
async def start(request: Request) -> HTMLResponse:
    """Where a labelled table is dropped, and the backtests there were."""
    jobs: Jobs = request.app.state.jobs
    return render(
        request, "backtest.html", {"section": "backtest", "jobs": jobs.all(), "error": ""}
    )


@router.post("/backtest", dependencies=_GUARDED)
async def dropped(request: Request, table: Annotated[UploadFile, File()]) -> Response:
    """Keeps the table and shows what is in it."""
    campaigns: Campaigns = request.app.state.campaigns
    try:
        upload = await campaigns.keep(table.filename or "", table)
    except SerendipError as problem:
        jobs = request.app.state.jobs.all()
        context = {"section": "backtest", "jobs": jobs, "error": said(problem)}
        return render(request, "backtest.html", context, 422)
    return RedirectResponse(f"/backtest/{upload}", status_code=303)


@router.get("/backtest/{upload}")
async def columns(request: Request, upload: str) -> HTMLResponse:
    """The table, and what to replay of it."""
    return await _columns(request, upload, None, "backtest_columns.html")


@router.post("/backtest/{upload}/check", dependencies=_GUARDED)
async def check(request: Request, upload: str) -> HTMLResponse:
    """The preview again, once a role was changed."""
    return await _columns(request, upload, dict(await request.form()), "_columns.html")


@router.post("/backtest/{upload}", dependencies=_GUARDED)
async def run(request: Request, upload: str) -> Response:
    """Starts the backtest of a table."""
    campaigns: Campaigns = request.app.state.campaigns
    sent = await request.form()
    path, form = campaigns.kept(upload), await form_of(campaigns.tables, upload, dict(sent), True)
    policies = [str(one) for one in sent.getlist("policy")]
    try:
        others = await tables_sent(campaigns, form, dict(sent))
        replay = replay_of_table(form, path, others, policies)
        if replay is not None:
            job = request.app.state.jobs.backtest(replay)
            return RedirectResponse(f"/backtests/{job.id}", status_code=303)
    except SerendipError as problem:
        form.refused(problem)
    return _form(request, upload, form, "backtest_columns.html", policies, 422)


@router.get("/campaigns/{name}/backtest")
async def of_campaign(request: Request, name: str) -> HTMLResponse:
    """What to replay of a campaign's own labels."""
    return await _campaign_page(request, name, {}, {}, [])


@router.post("/campaigns/{name}/backtest", dependencies=_GUARDED)
async def run_campaign(request: Request, name: str) -> Response:
    """Starts the backtest of a campaign's own labels."""
    sent = await request.form()
    policies = [str(one) for one in sent.getlist("policy")]
    values = sent_values(campaign_fields(), sent)
    reading = await request.app.state.campaigns.read(name)
    errors: dict[str, str] = {}
    try:
        replay = replay_of_campaign(reading, values, policies, errors)
        if replay is not None:
            job = request.app.state.jobs.backtest(replay)
            return RedirectResponse(f"/backtests/{job.id}", status_code=303)
    except SerendipError as problem:
        errors[""] = said(problem)
    return await _campaign_page(request, name, values, errors, policies, 422)


@router.get("/backtests/{id}")
async def job(request: Request, id: str) -> HTMLResponse:
    """A backtest: how far it is, or what came out."""
    found: Job = request.app.state.jobs.get(id)
    part = "HX-Request" in request.headers
    context = {"section": "backtest", "job": found}
    return render(request, "_job.html" if part else "job.html", context)


@router.get("/backtests/{id}/events")
async def events(request: Request, id: str) -> StreamingResponse:
    """How far a backtest is, as it goes on."""
    jobs: Jobs = request.app.state.jobs
    jobs.get(id)

    async def lines() -> AsyncIterator[str]:
        async for one in jobs.watch(id):
            plain = {"state": one.state, "done": one.done, "total": one.total}
            yield f"data: {json.dumps(plain)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


@router.post("/backtests/{id}/cancel", dependencies=_GUARDED)
async def cancel(request: Request, id: str) -> Response:
    """Ends a backtest."""
    request.app.state.jobs.cancel(id)
    return RedirectResponse(f"/backtests/{id}", status_code=303)


@router.get("/backtests/{id}/figure")
async def figure(request: Request, id: str, what: str = "total") -> JSONResponse:
    """The curves, for plotly to draw."""
    found: Job = request.app.state.jobs.get(id)
    if found.result is None or what not in ("regret", "total"):
        raise Refused(404, "There is no such figure, or not yet.")
    return JSONResponse(backtest_figure(found.result["curves"], what))


async def _columns(
    request: Request, upload: str, given: Mapping[str, Any] | None, template: str
) -> HTMLResponse:
    campaigns: Campaigns = request.app.state.campaigns
    form = await form_of(campaigns.tables, upload, given, True)
    return _form(request, upload, form, template, [])


def _form(
    request: Request,
    upload: str,
    form: Beginning,
    template: str,
    policies: list[str],
    status: int = 200,
) -> HTMLResponse:
    context = {
        "section": "backtest",
        "upload": upload,
        "form": form,
        "words": _WORDS,
        "checked_by": f"/backtest/{upload}/check",
        "fields": form.fields,
        "without": [],
        "policies": PLAYERS.titles(),
        "wanted": policies or [name for name, entry in POLICIES.items() if entry.first],
    }
    return render(request, template, context, status)


async def _campaign_page(
    request: Request,
    name: str,
    values: Mapping[str, str],
    errors: Mapping[str, str],
    policies: list[str],
    status: int = 200,
) -> HTMLResponse:
    reading = await request.app.state.campaigns.read(name)
    n_labels = len(reading.state.results) + len(reading.state.known)
    fields = campaign_fields()
    context = {
        "section": "campaigns",
        "reading": reading,
        "n_labels": n_labels,
        "fields": fields,
        "values": {**first_values(fields), **values},
        "errors": errors,
        "policies": PLAYERS.titles(),
        "wanted": policies or [name for name, entry in POLICIES.items() if entry.first],
        "without": [one for one in MODELS.titles() if takes(one) is not Input.features],
        "jobs": [one for one in request.app.state.jobs.all() if one.campaign == name],
    }
    return render(request, "campaign_backtest.html", context, status)
