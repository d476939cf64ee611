"""What is done to a campaign: ask, tell, fail, exclude, undo, budget."""

from dataclasses import asdict

from fastapi import APIRouter

from serendip.core.errors import InvalidInput
from serendip.web.api import models
from serendip.web.api.parts import CampaignName, Key, TheCampaigns, status_model
from serendip.web.api.strict import StrictRoute
from serendip.web.server.answers import Told

router = APIRouter(tags=["experiments"], route_class=StrictRoute)


@router.post("/campaigns/{name}/ask")
async def ask(
    service: TheCampaigns, name: CampaignName, key: Key, body: models.AskBody | None = None
) -> models.Proposals:
    """Proposes what to measure next; fewer come where less is left."""
    wanted = body or models.AskBody(who=None)
    made = await service.ask(
        name, wanted.count, retry_failed=wanted.retry_failed, who=wanted.who, key=key
    )
    return models.Proposals(
        version=made.version,
        id_column=made.id_column,
        label=made.label,
        proposals=[dict(row) for row in made.proposals],
    )


@router.post("/campaigns/{name}/tell")
async def tell(
    service: TheCampaigns, name: CampaignName, key: Key, body: models.TellBody
) -> models.TellAnswer:
    """Records results, all of them or, where one does not fit, none."""
    if key is not None and body.key is not None and key != body.key:
        raise InvalidInput("The header Idempotency-Key and the key of the body differ; send one.")
    told = await service.tell(
        name, body.results, correct=body.correct, who=body.who, key=key or body.key
    )
    return _told(told)


@router.post("/campaigns/{name}/fail")
async def fail(
    service: TheCampaigns, name: CampaignName, key: Key, body: models.ItemBody
) -> models.TellAnswer:
    """Records that an experiment was made and gave no result; it is paid for."""
    return _told(await service.tell(name, {body.item: "failed"}, who=body.who, key=key))


@router.post("/campaigns/{name}/exclude")
async def exclude(
    service: TheCampaigns, name: CampaignName, key: Key, body: models.ItemBody
) -> models.TellAnswer:
    """Records that a candidate must never be proposed again; costs nothing."""
    return _told(await service.tell(name, {body.item: "excluded"}, who=body.who, key=key))


@router.post("/campaigns/{name}/undo")
async def undo(
    service: TheCampaigns, name: CampaignName, key: Key, body: models.UndoBody | None = None
) -> models.UndoAnswer:
    """Takes back the last command, the last of a candidate, or one event; the log keeps it."""
    wanted = body or models.UndoBody(who=None)
    if wanted.item is not None and wanted.event is not None:
        raise InvalidInput("Give item or event, not both.")
    made = await service.undo(name, item=wanted.item, version=wanted.event, who=wanted.who, key=key)
    return models.UndoAnswer(version=made.version, undone=list(made.words))


@router.post("/campaigns/{name}/budget")
async def budget(
    service: TheCampaigns, name: CampaignName, key: Key, body: models.BudgetBody
) -> models.Status:
    """Changes how many experiments there is money for."""
    await service.rebudget(name, body.budget, who=body.who, key=key)
    return status_model((await service.read(name)).status)


def _told(told: Told) -> models.TellAnswer:
    return models.TellAnswer.model_validate(asdict(told))
