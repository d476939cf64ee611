"""What people see where something was refused."""

from html import escape

from fastapi import Request
from fastapi.responses import HTMLResponse


def error_page(request: Request, status: int, title: str, detail: str) -> HTMLResponse:
    """A page with one sentence that says what to do.

    Args:
        request: What was refused.
        status: Of the answer.
        title: What kind of error it is.
        detail: The sentence.
    """
    text = f"<!doctype html><html lang=en><title>{escape(title)}</title><p>{escape(detail)}</p>"
    return HTMLResponse(text, status_code=status)
