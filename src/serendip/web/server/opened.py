"""Campaigns that are open in the server, each with the piles of requests before it."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from zlib import crc32

from serendip.campaigns.asking import Ask
from serendip.campaigns.log.chronicle import Answer, Command
from serendip.campaigns.log.store import Store
from serendip.core.errors import SerendipError
from serendip.core.threads import n_cores
from serendip.web.server import work
from serendip.web.server.desk import Desk
from serendip.web.server.lanes import Ended, Lane
from serendip.web.server.problems import Refused
from serendip.web.server.together import Together
from serendip.web.server.waits import Kind, Waits

T = TypeVar("T")

_MOST = 256
_ASKS = 16
"""Asks that share a look at the model; each adds to what the first of them waits for."""

_Asked = tuple[int, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A campaign that is open."""

    desk: Desk
    writing: Together[Callable[[], Command[Any]], Answer[Any]]
    """Results and the like: checked and recorded in a thread, many in one transaction."""
    asking: Together[Ask, _Asked]
    """Asks: in another process, many with one look at the model."""


class OpenCampaigns:
    """Opens campaigns and keeps them open, those used last."""

    def __init__(self, store: Store, waits: Waits) -> None:
        self.store = store
        self._waits = waits
        self.where = store.engine.url.render_as_string(hide_password=False)
        self._threads = ThreadPoolExecutor(16, thread_name_prefix="campaigns")
        count = max(1, min(4, n_cores() - 1))
        self._askers = [Lane(f"ask {place}") for place in range(count)]
        self._viewers = [Lane(f"view {place}") for place in range(count)]
        self._open: OrderedDict[str, Opened] = OrderedDict()
        # While one connection is there, SQLite need not tidy its log when another one closes.
        self._anchor = store.engine.connect() if store.engine.dialect.name == "sqlite" else None
        if self._anchor is not None:
            self._anchor.exec_driver_sql("SELECT count(*) FROM sqlite_schema").close()
            self._anchor.rollback()

    def start(self) -> None:
        """Lets the processes import what they need before somebody waits for it."""
        for lane in (self._askers[0], self._viewers[0]):
            lane.submit(work.warm)

    def close(self) -> None:
        """Ends the processes."""
        for lane in (*self._askers, *self._viewers):
            lane.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._anchor is not None:
            self._anchor.close()
        self.store.engine.dispose()

    async def get(self, name: str) -> Opened:
        """The campaign of this name; what it knows may be old."""
        found = self._open.get(name)
        if found is None:
            desk = await self.run(lambda: Desk(self.store, name))
            found = self._open.get(name)  # somebody else may have been faster
            if found is None:
                found = self._open[name] = self._seated(name, desk)
                while len(self._open) > _MOST:
                    self._open.popitem(last=False)
        self._open.move_to_end(name)
        return found

    def viewer(self, name: str) -> Lane:
        """Where views of a campaign are computed."""
        return _one_of(self._viewers, name)

    async def run(self, function: Callable[[], T]) -> T:
        """What a function that blocks returns."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    def _seated(self, name: str, desk: Desk) -> Opened:
        async def write(
            makers: Sequence[Callable[[], Command[Any]]],
        ) -> Sequence[Answer[Any] | SerendipError]:
            return await self.run(lambda: _written(desk, makers))

        async def ask(asks: Sequence[Ask]) -> Sequence[_Asked | SerendipError]:
            lane = _one_of(self._askers, name)
            heard = self._waits.hear(name, Kind.ask)
            future, _ = lane.submit(work.ask, self.where, name, asks, heard=heard)
            self._waits.until(future, name, Kind.ask)
            return await done(future)

        return Opened(desk, Together(write, most=64), Together(ask, most=_ASKS))


def _written(
    desk: Desk, makers: Sequence[Callable[[], Command[Any]]]
) -> Sequence[Answer[Any] | SerendipError]:
    """What becomes of commands, those that do not even fit the pool included."""
    made = [_made(maker) for maker in makers]
    answers = iter(desk.record([one for one in made if isinstance(one, Command)]))
    return [next(answers) if isinstance(one, Command) else one for one in made]


def _made(maker: Callable[[], Command[Any]]) -> Command[Any] | SerendipError:
    try:
        return maker()
    except SerendipError as problem:
        return problem


def _one_of(lanes: Sequence[Lane], name: str) -> Lane:
    """The same lane for the same campaign, so that it is opened once."""
    return lanes[crc32(name.encode("utf-8", "replace")) % len(lanes)]


async def done(future: "Future[T]") -> T:
    """What a lane gives; a lane that ended is no answer but may be asked again."""
    try:
        return await asyncio.wrap_future(future)
    except Ended as problem:
        raise unavailable(problem) from None


def unavailable(problem: Ended) -> Refused:
    """The refusal of a request whose work was ended."""
    return Refused(
        503, f"{problem} Try again, with the same key where there was one.", {"Retry-After": "1"}
    )
