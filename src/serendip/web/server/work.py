"""What the processes beside the server do: ask, compute views, read tables, begin campaigns."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from serendip.campaigns.asking import Ask, ask_all
from serendip.campaigns.campaign import Campaign
from serendip.campaigns.errors import StoreDamaged
from serendip.campaigns.log.store import Store
from serendip.campaigns.output.cells import records
from serendip.campaigns.output.exports import Status
from serendip.core.errors import SerendipError
from serendip.core.progress import Listener, listening
from serendip.web.server.lanes import report

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

Row = Mapping[str, Any]

_OFTEN = 0.2
"""Seconds between two reports of the same."""


@lru_cache(maxsize=8)
def _opened(store: str, name: str) -> Campaign:
    """A campaign, kept open: reading its pool takes longer than reading its news."""
    return Campaign.open(name, Store.open(store, resident=True))


def current(store: str, name: str) -> Campaign:
    """A campaign with the news; where its store was put back, it is opened again."""
    campaign = _opened(store, name)
    try:
        campaign.refresh()
    except StoreDamaged:
        _opened.cache_clear()
        campaign = _opened(store, name)
    return campaign


def ask(
    store: str, name: str, asks: Sequence[Ask]
) -> list[tuple[int, list[dict[str, Any]]] | SerendipError]:
    """Version and rows of each ask, recorded."""
    with listening(_reporter()):
        campaign = current(store, name)
        return [
            answer
            if isinstance(answer, SerendipError)
            else (answer.version, records(campaign.proposed(answer.version)))
            for answer in ask_all(campaign, asks)
        ]


def view(store: str, name: str, function: Callable[..., T], args: tuple[Any, ...]) -> tuple[str, T]:
    """What a function makes of a campaign, and the hash of the log's end that it took in."""
    campaign = current(store, name)
    tip = campaign.chronicle.tip  # what comes in meanwhile may have been overlooked
    with listening(_reporter()):
        return tip, function(campaign, *args)


def _reporter() -> Listener:
    """Tells the server how far the work is, but not of every step where they come quickly."""
    last: tuple[str, int | None] = ("", None)
    at = 0.0

    def tell(what: str, done: int, total: int | None) -> None:
        nonlocal last, at
        now = time.monotonic()
        if (what, total) != last or now - at >= _OFTEN:
            last, at = (what, total), now
            report((what, done, total))

    return tell


def begin(store: str, settings: Mapping[str, Any], who: str | None) -> Status:
    """A campaign that begins."""
    return Campaign.create(settings, Store.open(store, create=True), who, allow=()).status()


def table(file: Path, most: int, names: tuple[str, ...], labels: tuple[str, ...]) -> "pd.DataFrame":
    """The table in a file that somebody sent in, if it unpacks to no more than `most` bytes."""
    from serendip.tables import read_table
    from serendip.web.server.uploads import check_unpacked

    check_unpacked(file, most)

    return read_table(file, names=names, labels=labels)


def warm() -> None:
    """Imports what the first real work would wait for."""
    import serendip.campaigns.analysis.forecast
    import serendip.campaigns.problem
    import serendip.tables  # noqa: F401
