"""New campaign: a file is dropped, its columns are looked at and corrected, and off it goes."""

from importlib.resources import files
from typing import Annotated

from fastapi import APIRouter, Depends, File, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from serendip.campaigns.intake.preview import WORDS
from serendip.core.errors import SerendipError
from serendip.web.pages.beginning_form import Beginning, form_of, tables_sent
from serendip.web.pages.templating import at, render, who_is
from serendip.web.pages.wording import said
from serendip.web.server.security import csrf_checked
from serendip.web.server.service import Campaigns

router = APIRouter(include_in_schema=False)


@router.get("/new")
async def new(request: Request) -> HTMLResponse:
    """Where a file is dropped."""
    return render(request, "new.html", {"section": "campaigns", "error": ""})


@router.post("/new", dependencies=[Depends(csrf_checked)])
async def dropped(request: Request, table: Annotated[UploadFile, File()]) -> Response:
    """Keeps the file and shows what is in it."""
    campaigns: Campaigns = request.app.state.campaigns
    try:
        upload = await campaigns.keep(table.filename or "", table)
    except SerendipError as problem:
        page = {"section": "campaigns", "error": said(problem)}
        return render(request, "new.html", page, 422)
    return RedirectResponse(f"/new/{upload}", status_code=303)


@router.post("/new/example", dependencies=[Depends(csrf_checked)])
async def example(request: Request) -> Response:
    """The bundled table of reactions, as if it had been dropped."""
    campaigns: Campaigns = request.app.state.campaigns
    data = files("serendip").joinpath("simulate/environments/bundled/reactions.csv").read_bytes()
    upload = await campaigns.keep("reactions.csv", data)
    return RedirectResponse(f"/new/{upload}", status_code=303)


@router.get("/new/{upload}")
async def columns(request: Request, upload: str) -> HTMLResponse:
    """The preview, with what each column seems to be."""
    campaigns: Campaigns = request.app.state.campaigns
    form = await form_of(campaigns.tables, upload, None)
    return _page(request, "new_columns.html", upload, form)


@router.post("/new/{upload}/check", dependencies=[Depends(csrf_checked)])
async def check(request: Request, upload: str) -> HTMLResponse:
    """The preview again, once a role was changed."""
    campaigns: Campaigns = request.app.state.campaigns
    form = await form_of(campaigns.tables, upload, dict(await request.form()))
    return _page(request, "_columns_answer.html", upload, form)


@router.post("/new/{upload}", dependencies=[Depends(csrf_checked)])
async def begin(request: Request, upload: str) -> Response:
    """Begins the campaign, or says beside each field and cell what is in the way."""
    campaigns: Campaigns = request.app.state.campaigns
    path = campaigns.kept(upload)
    given = dict(await request.form())
    form = await form_of(campaigns.tables, upload, given)
    others = await tables_sent(campaigns, form, given)
    settings = form.settings(path, others)
    if not form.errors and not form.misfits:
        try:
            made = await campaigns.create(settings, who=who_is(request))
            return RedirectResponse(f"{at(made.name)}?began=1", status_code=303)
        except SerendipError as problem:
            form.refused(problem)
    return _page(request, "new_columns.html", upload, form, 422)


def _page(
    request: Request, template: str, upload: str, form: Beginning, status: int = 200
) -> HTMLResponse:
    return render(
        request,
        template,
        {
            "section": "campaigns",
            "upload": upload,
            "form": form,
            "words": WORDS,
            "checked_by": f"/new/{upload}/check",
        },
        status,
    )
