"""Backtests: start, follow, cancel, result; and the tables they and campaigns begin with."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Response, UploadFile
from fastapi import Path as PathPart
from fastapi.responses import StreamingResponse

from serendip.core.errors import InvalidInput
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.api import models
from serendip.web.api.parts import TheCampaigns, TheJobs, settings_of
from serendip.web.api.strict import StrictRoute
from serendip.web.server.jobs import Job
from serendip.web.server.problems import Refused
from serendip.web.server.replays import Replay

router = APIRouter(tags=["backtests"], route_class=StrictRoute)

JobId = Annotated[str, PathPart(pattern=r"^[0-9a-f]{16}$", description="Of a backtest.")]

_BEAT = 15.0
"""Seconds after which a silent stream says that it is alive."""


@router.post("/tables", status_code=201, tags=["tables"])
async def send_table(
    service: TheCampaigns,
    file: Annotated[UploadFile, File(description="CSV, TSV, XLSX or Parquet.")],
) -> models.TableAnswer:
    """Sends in a table, to begin a campaign with or to replay; kept for a week if unused."""
    id = await service.keep(file.filename or "", file)
    frame = await service.tables.frame(id)
    return models.TableAnswer(
        table=id,
        name=service.kept(id).name,
        rows=len(frame),
        columns=[str(name) for name in frame.columns],
    )


@router.post("/backtests", status_code=202)
async def start(
    service: TheCampaigns, jobs: TheJobs, body: models.NewBacktest, response: Response
) -> models.BacktestAnswer:
    """Starts a backtest; follow it at the address in Location."""
    given = settings_of(BacktestSettings, service, body)
    source: Path | str
    if body.campaign is not None and body.table is None:
        source = body.campaign
        given["label"] = (await service.read(source)).settings.label
    elif body.table is not None and body.campaign is None:
        source = service.kept(body.table)
    else:
        raise InvalidInput("A backtest replays either a table or a campaign; name one of them.")
    replay = Replay(BacktestSettings.from_mapping(given), source)
    job = jobs.backtest(replay)
    response.headers["Location"] = f"/api/v1/backtests/{job.id}"
    return _answer(job)


@router.get("/backtests")
async def backtests(jobs: TheJobs) -> models.BacktestList:
    """The backtests this server remembers, newest first."""
    return models.BacktestList(backtests=[_answer(job) for job in jobs.all()])


@router.get("/backtests/{id}")
async def backtest(jobs: TheJobs, id: JobId) -> models.BacktestAnswer:
    """A backtest as it stands."""
    return _answer(jobs.get(id))


@router.delete("/backtests/{id}")
async def cancel(jobs: TheJobs, id: JobId) -> models.BacktestAnswer:
    """Ends a backtest; one that has ended stays as it is."""
    return _answer(jobs.cancel(id))


@router.get("/backtests/{id}/result")
async def result(jobs: TheJobs, id: JobId) -> models.BacktestResult:
    """What came out of a backtest that is done."""
    job = jobs.get(id)
    if job.result is None:
        why = f": {job.detail}" if job.detail else ""
        raise Refused(409, f"This backtest has no result, it is {job.state}{why}")
    return models.BacktestResult.model_validate(job.result)


@router.get(
    "/backtests/{id}/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events named `progress`, each with the backtest as JSON; the last is "
            "named `end`.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def follow(jobs: TheJobs, id: JobId) -> StreamingResponse:
    """Progress as server-sent events, until the backtest has ended."""
    jobs.get(id)  # refuses one that is not there before the stream begins
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(jobs, id), media_type="text/event-stream", headers=headers)


async def _stream(jobs: TheJobs, id: str) -> AsyncIterator[str]:
    news = aiter(jobs.watch(id))
    coming = asyncio.ensure_future(anext(news, None))
    try:
        while True:
            done, _ = await asyncio.wait([coming], timeout=_BEAT)
            if not done:
                yield ": still here\n\n"
                continue
            job = coming.result()
            if job is None:
                return
            kind = "end" if job.ended else "progress"
            yield f"event: {kind}\ndata: {json.dumps(_answer(job).model_dump())}\n\n"
            coming = asyncio.ensure_future(anext(news, None))
    finally:
        coming.cancel()


def _answer(job: Job) -> models.BacktestAnswer:
    names = models.BacktestAnswer.model_fields
    return models.BacktestAnswer(**{name: getattr(job, name) for name in names})
