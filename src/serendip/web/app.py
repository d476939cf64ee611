"""The application: pages at /, the REST API under /api/v1."""

from fastapi import FastAPI

from serendip.web.guard import Guard
from serendip.web.jobs import Jobs
from serendip.web.pages.router import router as pages
from serendip.web.problems import add_handlers
from serendip.web.service import Campaigns
from serendip.web.settings import ServeSettings


def create_app(settings: ServeSettings) -> FastAPI:
    """A server of one store.

    `app.state` carries `settings`, `campaigns` (`service.Campaigns`) and `jobs` (`jobs.Jobs`).
    """
    app = FastAPI(title="serendip", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.settings = settings
    app.state.campaigns = Campaigns(settings.store)
    app.state.jobs = Jobs()
    add_handlers(app)
    app.include_router(pages)
    app.add_middleware(Guard, settings=settings)
    return app
