"""The pages, mounted at /."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/")
async def index(request: Request) -> HTMLResponse:
    """The campaigns of the store."""
    return HTMLResponse("<!doctype html><html lang=en><title>serendip</title><h1>serendip</h1>")
