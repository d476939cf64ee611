"""The application: pages at /, the REST API under /api/v1."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from serendip.web.api.router import api
from serendip.web.pages.router import router as pages
from serendip.web.server.guard import Guard
from serendip.web.server.handlers import add_handlers
from serendip.web.server.jobs import Jobs
from serendip.web.server.service import Campaigns
from serendip.web.server.settings import ServeSettings


def create_app(settings: ServeSettings) -> FastAPI:
    """A server of one store.

    `app.state` carries `settings`, `campaigns` (`service.Campaigns`) and `jobs` (`jobs.Jobs`).
    """
    campaigns = Campaigns(settings)
    jobs = Jobs(campaigns.where)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        campaigns.start()
        try:
            yield
        finally:
            jobs.close()
            campaigns.close()

    app = FastAPI(
        title="serendip",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.settings, app.state.campaigns, app.state.jobs = settings, campaigns, jobs
    add_handlers(app)
    app.include_router(api(settings))
    app.include_router(pages)
    app.add_middleware(Guard, settings=settings)
    return app
