"""What forms and templates need of the guard: the token of the browser, and the nonce of scripts.

Every form holds `csrf_field(request)`; a request that changes something must bring the same value
back, in the form or as the header X-CSRF-Token, and `csrf_checked` refuses those that do not.
"""

import hmac
from html import escape

from fastapi import Request
from markupsafe import Markup

from serendip.web.server.problems import Refused

CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"


def same(given: str, expected: str) -> bool:
    """Whether two secrets are one; takes as long whether they are or not."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def csrf_token(request: Request) -> str:
    """The value that forms of this browser must bring back."""
    return str(request.state.csrf)


def csrf_field(request: Request) -> Markup:
    """A hidden field for a form, as HTML."""
    value = escape(csrf_token(request), quote=True)
    return Markup(f'<input type="hidden" name="{CSRF_FIELD}" value="{value}">')


def csp_nonce(request: Request) -> str:
    """What a script element must carry as its nonce, if it cannot be a file."""
    return str(request.state.nonce)


async def csrf_checked(request: Request) -> None:
    """A dependency of every form's target: refuses what this browser was not given a form for."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        form = await request.form()
        field = form.get(CSRF_FIELD)
        given = field if isinstance(field, str) else ""
    if not request.state.csrf_known or not same(given, csrf_token(request)):
        raise Refused(
            403,
            "This form is not from a page that was shown to this browser, or its cookies are off; "
            "reload the page and send it again.",
        )
