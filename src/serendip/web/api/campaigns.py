"""Campaigns: list, begin, look at."""

import asyncio
import io
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Response

from serendip.campaigns.spec import Settings
from serendip.core.errors import InvalidInput
from serendip.core.text import checked_text
from serendip.web.api import models
from serendip.web.api.kinds import Cell
from serendip.web.api.parts import (
    CampaignName,
    Limit,
    Offset,
    TheCampaigns,
    page_of,
    settings_of,
    status_model,
)
from serendip.web.api.strict import StrictRoute
from serendip.web.server.service import Campaigns

router = APIRouter(tags=["campaigns"], route_class=StrictRoute)


@router.get("/campaigns")
async def campaigns(
    service: TheCampaigns, offset: Offset = 0, limit: Limit = 100
) -> models.CampaignList:
    """Every campaign of the store, by name."""
    found = await service.overview()
    shown = [status_model(one) for one in found[offset : offset + limit]]
    return models.CampaignList(total=len(found), offset=offset, campaigns=shown)


@router.post("/campaigns", status_code=201)
async def begin(
    service: TheCampaigns, body: models.NewCampaign, response: Response
) -> models.Status:
    """Begins a campaign on the rows of the request, or on a table sent in before."""
    if (body.rows is None) == (body.table is None):
        raise InvalidInput("A campaign needs its candidates: give either rows or table.")
    given = settings_of(Settings, service, body, models.RENAMED)
    table = body.table or await _kept_rows(service, body.rows or [], given)
    given["pool"] = service.kept(table)
    made = await service.create(given, who=body.who)
    response.headers["Location"] = f"/api/v1/campaigns/{quote(made.name)}"
    return status_model(made)


async def _kept_rows(
    service: Campaigns, rows: list[dict[str, Cell]], given: Mapping[str, Any]
) -> str:
    """The rows as a table that is kept, so that the campaign can be opened again."""

    def written() -> bytes:
        import pandas as pd

        names = list(dict.fromkeys(name for row in rows for name in row))
        named = {given.get("id"), *given.get("rows", ()), *given.get("columns", ())}
        columns = {name: [row.get(name) for row in rows] for name in names}
        table = pd.DataFrame(
            {name: (_names if name in named else _column)(name, columns[name]) for name in names}
        )
        file = io.BytesIO()
        table.to_parquet(file, index=False)
        return file.getvalue()

    return await service.keep("rows.parquet", await asyncio.to_thread(written))


def _names(column: str, cells: list[Cell]) -> list[str | None]:
    """Texts, exactly as they were sent; of numbers only the whole ones are certain."""
    names: list[str | None] = []
    for row, cell in enumerate(cells, start=2):
        whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53
        if isinstance(cell, bool) or (isinstance(cell, float) and not whole):
            raise InvalidInput(
                f"Column {column!r}, row {row}: a name is text or a whole number; got "
                f"{json.dumps(cell)}. Send it as text, in quotes."
            )
        name = str(int(cell)) if isinstance(cell, float) else cell
        names.append(_checked(column, row, None if name is None else str(name)))
    return names


def _checked(column: str, row: int, cell: str | None) -> str | None:
    return cell and checked_text(f"Column {column!r}, row {row},", cell)


def _column(column: str, cells: list[Cell]) -> Any:
    """Numbers where all are numbers, else text."""
    there = [cell for cell in cells if cell is not None and cell != ""]
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in there):
        return [float("nan") if cell is None or cell == "" else float(cell) for cell in cells]
    return [
        None if cell is None or cell == "" else _checked(column, row, str(cell))
        for row, cell in enumerate(cells, start=2)
    ]


@router.get("/campaigns/{name}")
async def campaign(service: TheCampaigns, name: CampaignName) -> models.CampaignDetail:
    """A campaign in figures, and what was decided when it began."""
    found = await service.read(name)
    settings = {
        key: value
        for key, value in found.settings.as_json().items()
        if key not in ("pool", "edges", "prior_data", "name")
    }
    return models.CampaignDetail(**status_model(found.status).model_dump(), settings=settings)


@router.get("/campaigns/{name}/status")
async def status(service: TheCampaigns, name: CampaignName) -> models.Status:
    """A campaign in figures."""
    return status_model((await service.read(name)).status)


@router.get("/campaigns/{name}/forecast")
async def forecast(service: TheCampaigns, name: CampaignName) -> models.ForecastAnswer:
    """What the budget will bring, and whether to stop; takes a moment."""
    found = await service.forecast(name)
    path = models.Path(
        expected=found.path.expected.tolist(),
        low=found.path.low.tolist(),
        high=found.path.high.tolist(),
    )
    names = [one for one in models.ForecastAnswer.model_fields if one != "path"]
    return models.ForecastAnswer(**{one: getattr(found, one) for one in names}, path=path)


@router.get("/campaigns/{name}/predictions")
async def predictions(
    service: TheCampaigns,
    name: CampaignName,
    offset: Offset = 0,
    limit: Limit = 100,
    order: Annotated[
        Literal["best", "uncertain", "likely", "pool"],
        Query(description="Best expected first, most uncertain, likeliest at the top, or as is."),
    ] = "best",
    state: Annotated[
        Literal["available", "proposed", "measured", "failed", "excluded"] | None,
        Query(description="Only candidates in this state."),
    ] = None,
) -> models.Page:
    """Every candidate with what is expected of it; takes a moment after new results."""
    table = await service.predictions(name)
    settings = (await service.read(name)).settings
    # Ours are the last columns: state, expected, uncertainty, chance of top, and the label.
    of_state, expected, uncertainty, chance = table.columns[-5:-1]

    def page() -> models.Page:
        rows = table if state is None else table[table[of_state] == state]
        by = {"best": expected, "uncertain": uncertainty, "likely": chance}.get(order)
        if by is not None:
            rising = order == "best" and settings.minimize
            rows = rows.sort_values(by, ascending=rising, kind="stable")
        return page_of(rows, offset, limit)

    return await asyncio.to_thread(page)


@router.get("/campaigns/{name}/pending")
async def pending(
    service: TheCampaigns, name: CampaignName, offset: Offset = 0, limit: Limit = 100
) -> models.Page:
    """Proposals that wait for a result, as the ask gave them."""
    return page_of(await service.table(name, "pending"), offset, limit)


@router.get("/campaigns/{name}/results")
async def results(
    service: TheCampaigns, name: CampaignName, offset: Offset = 0, limit: Limit = 100
) -> models.Page:
    """Every candidate that was measured, failed or excluded, in the order told."""
    return page_of(await service.table(name, "results"), offset, limit)


@router.get("/campaigns/{name}/events")
async def events(
    service: TheCampaigns,
    name: CampaignName,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="The last event seen.")] = 0,
    limit: Limit = 100,
) -> models.EventList:
    """The log, oldest first."""
    found = await service.read(name)

    def listed() -> models.EventList:
        from serendip.campaigns.output.cells import records
        from serendip.campaigns.output.exports import event_table

        rows = records(event_table(found.log[after : after + limit], found.state))
        return models.EventList(
            version=found.state.version, events=[models.Event(**row) for row in rows]
        )

    return await asyncio.to_thread(listed)
