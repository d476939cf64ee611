"""The pages, mounted at /."""

from fastapi import APIRouter

from serendip.web.pages import (
    assets,
    backtest,
    beginning,
    campaign,
    candidates,
    downloads,
    history,
    overview,
    progress,
)

router = APIRouter(include_in_schema=False)
for one in (assets, overview, beginning, progress, candidates, history, backtest, campaign):
    router.include_router(one.router)
router.include_router(downloads.router)  # last: it takes any NAME.csv of a campaign
