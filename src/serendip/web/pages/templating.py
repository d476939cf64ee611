"""Templates: one environment, escaping always on, and the few words that all pages share."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from serendip.campaigns.analysis.view import percent, shown
from serendip.campaigns.deeds import acting
from serendip.core.settings import Kind, Section
from serendip.web.pages.assets import asset
from serendip.web.server.security import csrf_field, csrf_token

WHO_COOKIE = "serendip_who"
_LONGEST_NAME = 60
_PIECES = re.compile(r"(?<=[_*/+.-])")
_WIDEST = 12
"""Letters of a title that are not broken."""


@cache
def environment() -> Environment:
    """The templates of the package."""
    folder = Path(__file__).parent.parent / "templates"
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"asset": asset, "at": at, "csrf_field": csrf_field, "csrf_token": csrf_token}
    made.globals |= {"Kind": Kind, "Section": Section}
    made.filters |= {
        "shown": lambda value: "–" if value is None else shown(float(value)),
        "total": lambda value: "–" if value is None else total(float(value)),
        "percent": percent,
        "counted": counted,
        "moment": moment,
        "ago": ago,
        "cell": cell,
        "breakable": breakable,
    }
    return made


def render(
    request: Request,
    template: str,
    context: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HTMLResponse:
    """A page, or a part of one.

    Args:
        request: What is answered.
        template: Its file.
        context: What the template shows.
        status: Of the answer.
    """
    values: dict[str, Any] = {"request": request, "who": who_is(request), **(context or {})}
    html = environment().get_template(template).render(values)
    return HTMLResponse(html.encode("utf-8", "backslashreplace"), status)


def at(campaign: str, *parts: str) -> str:
    """The address of a campaign, or of something in it."""
    return "/".join(["/campaigns", *(quote(part, safe="") for part in (campaign, *parts))])


def who_is(request: Request) -> str:
    """Who sits before the browser: what they said, else the user of the server."""
    told = unquote(request.cookies.get(WHO_COOKIE, ""))
    return acting(named(told))


def named(written: str) -> str:
    """A name as the log keeps it: one line, not too long; empty where it is none."""
    return " ".join("".join(one if one.isprintable() else " " for one in written).split())[
        :_LONGEST_NAME
    ]


def total(value: float) -> str:
    """A sum, with one digit after the point while it is small."""
    return f"{value:,.1f}" if 0.1 <= abs(value) < 1000 else shown(value)


def counted(count: int, noun: str, many: str = "") -> str:
    """`1 candidate`, `320 candidates`."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def moment(at: str) -> str:
    """A time of the log as people read it."""
    return at[:16].replace("T", " ")


def ago(at: str) -> str:
    """How long ago, in words."""
    try:
        seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except ValueError:
        return moment(at)
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), noun)} ago"
    return "just now"


def duration(seconds: float) -> str:
    """A span of time, in the unit that suits it."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1.0, seconds):.0f} s"


def breakable(name: str) -> Markup:
    """The name of a column, as HTML, with places where a narrow title may be broken."""
    parts = [part for part in _PIECES.split(name) if part]
    pieces = [part[at : at + _WIDEST] for part in parts for at in range(0, len(part), _WIDEST)]
    return Markup("<wbr>").join(pieces)


def cell(value: object) -> str:
    """A cell of the user's table as a page shows it."""
    if value is None or value != value:  # NaN is not itself
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
