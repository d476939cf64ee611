"""Progress: what was found and will be, how good the model is, where it looks. All loaded late."""

from itertools import accumulate

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from serendip.campaigns.analysis.maps import has_map, map_methods
from serendip.models.registry import Input, takes
from serendip.web.figures.course import (
    fit_figure,
    progress_figure,
    ratio_figure,
    regret_figure,
)
from serendip.web.figures.pool import graph_figure, map_figure, matrix_figure
from serendip.web.pages.templating import duration, render
from serendip.web.server.computed import (
    course_of,
    graph_shown,
    map_of,
    matrix_shown,
    quality_of,
)
from serendip.web.server.problems import Refused
from serendip.web.server.service import Campaigns
from serendip.web.server.waits import Kind

router = APIRouter(include_in_schema=False, prefix="/campaigns/{name}/progress")


@router.get("")
async def page(request: Request, name: str) -> HTMLResponse:
    """The page, whose parts are loaded once it is there."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    model = reading.settings.model
    return render(
        request,
        "progress.html",
        {
            "section": "campaigns",
            "reading": reading,
            "has_map": has_map(model),
            "is_matrix": takes(model) is Input.matrix,
            "is_graph": takes(model) is Input.graph,
            "methods": map_methods(),
        },
    )


@router.get("/advice")
async def advice(request: Request, name: str) -> HTMLResponse:
    """The forecast in two lines, for the page of the campaign."""
    future = await request.app.state.campaigns.forecast(name)
    return render(request, "_advice.html", {"future": future})


@router.get("/forecast")
async def forecast(request: Request, name: str) -> HTMLResponse:
    """The forecast in figures and words."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    future = await campaigns.forecast(name)
    return render(request, "_forecast.html", {"reading": reading, "future": future})


@router.get("/waiting/{kind}")
async def waiting(request: Request, name: str, kind: Kind) -> Response:
    """How far the work is that the page waits for; nothing where that is not known."""
    waits = request.app.state.campaigns.waits
    found = waits.get(name, kind)
    if found is None:
        return Response(status_code=204)
    left = found.left(waits.clock())
    return JSONResponse(
        {
            "what": found.what,
            "done": found.done,
            "total": found.total,
            "left": "" if left is None else f"about {duration(left)} left",
        }
    )


@router.get("/quality")
async def quality(request: Request, name: str) -> HTMLResponse:
    """How good predictions were, and which models are trusted."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    found = await campaigns.compute(name, quality_of)
    return render(request, "_quality.html", {"reading": reading, "quality": found})


@router.get("/figures/{figure}")
async def figure(
    request: Request, name: str, figure: str, colour: str = "expected", method: str = "pca"
) -> JSONResponse:
    """A figure, for plotly to draw."""
    campaigns: Campaigns = request.app.state.campaigns
    reading = await campaigns.read(name)
    label = reading.settings.label
    match figure:
        case "progress":
            future = await campaigns.forecast(name)
            values = (one.value for one in reading.state.results.values())
            made = progress_figure(list(accumulate(values, initial=0.0)), future, label)
        case "fit":
            found = await campaigns.compute(name, quality_of)
            made = fit_figure(found.fit, found.ids, label, reading.settings.binary)
        case "regret":
            made = regret_figure(await campaigns.compute(name, course_of), label)
        case "ratio":
            made = ratio_figure(await campaigns.compute(name, course_of))
        case "map" if colour in ("expected", "uncertainty", "state") and method in map_methods():
            made = map_figure(await campaigns.compute(name, map_of, method), colour, label)
        case "matrix":
            made = matrix_figure(await campaigns.compute(name, matrix_shown), label)
        case "graph":
            made = graph_figure(await campaigns.compute(name, graph_shown), label)
        case _:
            raise Refused(404, "There is no such figure.")
    return JSONResponse(made)
