"""The first page: every campaign with its progress, and who is at the keyboard."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from serendip.web.pages.templating import WHO_COOKIE, named, render
from serendip.web.server.security import csrf_checked
from serendip.web.server.service import Campaigns

router = APIRouter(include_in_schema=False)

_YEAR = 365 * 24 * 3600


@router.get("/")
async def overview(request: Request) -> HTMLResponse:
    """The campaigns of the store."""
    campaigns: Campaigns = request.app.state.campaigns
    found = await campaigns.overview()
    return render(
        request,
        "overview.html",
        {"section": "campaigns", "campaigns": found, "store": str(campaigns.store)},
    )


@router.get("/campaigns/{name}/against-random")
async def against_random(request: Request, name: str) -> HTMLResponse:
    """What as many labels of candidates picked at random would have summed to, beside the total."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    at_random = None
    if reading.state.results:
        at_random = (await campaigns.forecast(name)).random_so_far
    return render(
        request,
        "_against_random.html",
        {
            "total": reading.status.total,
            "at_random": at_random,
            "minimize": reading.settings.minimize,
        },
    )


@router.post("/who", dependencies=[Depends(csrf_checked)])
async def who(
    request: Request, who: Annotated[str, Form()] = "", back: Annotated[str, Form()] = "/"
) -> RedirectResponse:
    """Remembers who is at the keyboard."""
    safe = back.startswith("/") and back[1:2] not in ("/", "\\") and back.isprintable()
    answer = RedirectResponse(back if safe else "/", status_code=303)
    answer.set_cookie(WHO_COOKIE, quote(named(who)), max_age=_YEAR, httponly=True, samesite="lax")
    return answer
