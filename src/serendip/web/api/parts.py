"""What the routers share: the services, keys, pages of tables."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Header, Query, Request
from fastapi import Path as PathPart
from pydantic import BaseModel

from serendip.campaigns.output.cells import plain_value, records
from serendip.campaigns.output.exports import Status as Figures
from serendip.core.settings import Kind, Where, offered
from serendip.web.api import models
from serendip.web.server.jobs import Jobs
from serendip.web.server.service import Campaigns

if TYPE_CHECKING:
    import pandas as pd


def _campaigns(request: Request) -> Campaigns:
    found: Campaigns = request.app.state.campaigns
    return found


def _jobs(request: Request) -> Jobs:
    found: Jobs = request.app.state.jobs
    return found


def _key(
    idempotency_key: Annotated[
        str | None,
        Header(
            pattern=r"^[\x21-\x7e]{1,200}$",
            description="Makes the request safe to repeat: the second time it changes nothing and "
            "gets the answer of the first. Another one for every request.",
        ),
    ] = None,
) -> str | None:
    return None if idempotency_key is None else idempotency_key.strip('"') or None


TheCampaigns = Annotated[Campaigns, Depends(_campaigns)]
TheJobs = Annotated[Jobs, Depends(_jobs)]
Key = Annotated[str | None, Depends(_key)]
CampaignName = Annotated[
    str,
    PathPart(
        min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f/]+$", description="Of a campaign."
    ),
]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="How many to pass over.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]


def status_model(found: Figures) -> models.Status:
    """Figures without what only this computer needs to know, where the files are."""
    return models.Status(**{k: v for k, v in asdict(found).items() if k not in ("store", "pool")})


def page_of(table: "pd.DataFrame", offset: int, limit: int) -> models.Page:
    """Some rows of a table."""
    return models.Page(
        total=len(table),
        offset=offset,
        columns=[str(name) for name in table.columns],
        rows=records(table.iloc[offset : offset + limit]),
    )


def finite(value: Any) -> Any:
    """A number as JSON holds it."""
    return plain_value(value)


def settings_of(
    owner: type, service: Campaigns, body: BaseModel, names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The settings in a request by their words, with paths for the tables that were sent in.

    Args:
        owner: The class of the settings.
        service: Which keeps the tables.
        body: The request.
        names: Settings that have another name in the request.
    """
    sent, given = body.model_dump(exclude_none=True), {}
    for one in offered(owner, Where.api):
        value = sent.get((names or {}).get(one.word, one.word))
        if value is None:
            continue
        if one.kind is Kind.file:
            value = service.kept(value)
        elif one.kind is Kind.several and isinstance(value, str):
            value = [value]
        given[one.word] = value
    return given
