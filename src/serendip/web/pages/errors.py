"""What people see where something was refused."""

from fastapi import Request
from fastapi.responses import HTMLResponse

from serendip.core.errors import SerendipError
from serendip.web.pages.templating import render
from serendip.web.pages.wording import said


def error_page(request: Request, status: int, title: str, detail: str) -> HTMLResponse:
    """A page with one sentence that says what to do; the sentence alone for a part of a page.

    Args:
        request: What was refused.
        status: Of the answer.
        title: What kind of error it is.
        detail: The sentence.
    """
    context = {"title": title, "detail": said(SerendipError(detail)), "status": status}
    part = "HX-Request" in request.headers
    return render(request, "_error.html" if part else "error.html", context, status)
