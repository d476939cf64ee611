"""How far the work is that somebody waits for: one entry a campaign and kind of work."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from serendip.web.server.lanes import Heard

_QUEUED = "waiting for other work to end"
"""Is what is done before anything is heard of it."""


class Kind(StrEnum):
    """What is waited for."""

    ask = "ask"
    view = "view"


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a piece of work is, as its process said last."""

    what: str
    """Is being done."""
    done: int
    total: int | None
    """None where nobody knows."""
    first: int
    """How much of it was done when it was first heard of."""
    began: float
    """When that was, in seconds of the clock of `Waits`."""
    heard: float
    """When it was last heard of."""

    def left(self, now: float) -> float | None:
        """Seconds until this is done, as fast as it has been so far; None where nothing tells."""
        if self.total is None or self.done <= self.first:
            return None
        each = (self.heard - self.began) / (self.done - self.first)
        return max(0.0, (self.total - self.done) * each - (now - self.heard))


class Waits:
    """Where all work stands that processes beside the server do for campaigns."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._standing: dict[tuple[str, Kind], Standing] = {}

    def hear(self, name: str, kind: Kind) -> Heard:
        """A function for what a process reports of the work for a campaign, once it has begun."""
        now = self.clock()
        self._standing.setdefault((name, kind), Standing(_QUEUED, 0, None, 0, now, now))

        def heard(told: tuple[str, int, int | None]) -> None:
            (what, done, total), now = told, self.clock()
            known = self._standing.get((name, kind))
            if known is None or (known.what, known.total) != (what, total) or done < known.done:
                known = Standing(what, done, total, done, now, now)
            self._standing[name, kind] = replace(known, done=done, heard=now)

        return heard

    def until(self, future: "Future[Any]", name: str, kind: Kind) -> None:
        """Forgets the work once it has ended, however it did."""
        future.add_done_callback(lambda _: self._standing.pop((name, kind), None))

    def get(self, name: str, kind: Kind) -> Standing | None:
        """How far the work is; None where none is under way."""
        return self._standing.get((name, kind))
