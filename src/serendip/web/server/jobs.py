"""Long work in a process of its own: progress, cancel, result."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from serendip.core.errors import SerendipError
from serendip.web.server import replays
from serendip.web.server.lanes import Ended, Lane, Limits, Task
from serendip.web.server.problems import Refused
from serendip.web.server.replays import Replay

_REMEMBERED = 50
_MOST_WAITING = 10
_OPEN = ("waiting", "running")


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Work that was started, as it stands at one moment."""

    id: str
    title: str
    began: str
    """When it was asked for."""
    campaign: str | None
    """Whose labels are replayed; None for a table."""
    state: str = "waiting"
    """waiting, running, done, failed or cancelled."""
    done: int = 0
    total: int = 0
    """How many runs there are; 0 while it is not known."""
    detail: str = ""
    """Why it failed, in a sentence."""
    result: Mapping[str, Any] | None = None
    """What came out: see `replays.run`."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in _OPEN


class _Entry:
    """A job and who waits for it to change."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.task: Task | None = None
        self.changed = asyncio.Event()

    def change(self, **changes: Any) -> None:
        if not self.job.ended:
            self.job = replace(self.job, **changes)
            waited, self.changed = self.changed, asyncio.Event()
            waited.set()


class Jobs:
    """The backtests of this server, one at a time. They are forgotten when it ends."""

    def __init__(self, store: str) -> None:
        self._store = store
        self._lane = Lane("backtest", Limits(nice=10))
        self._entries: dict[str, _Entry] = {}
        self._following: set[asyncio.Task[None]] = set()

    def backtest(self, replay: Replay) -> Job:
        """Starts a backtest, or puts it behind the others."""
        waiting = [one for one in self._entries.values() if not one.job.ended]
        if len(waiting) >= _MOST_WAITING:
            raise Refused(
                429,
                f"{len(waiting)} backtests are waiting already; cancel one, or try again later.",
                {"Retry-After": "60"},
            )
        began = datetime.now(UTC).isoformat(timespec="seconds")
        job = Job(secrets.token_hex(8), replay.title, began, replay.campaign)
        entry = self._entries[job.id] = _Entry(job)
        loop = asyncio.get_running_loop()

        def heard(progress: tuple[int, int]) -> None:
            done, total = progress
            loop.call_soon_threadsafe(lambda: entry.change(state="running", done=done, total=total))

        future, entry.task = self._lane.submit(replays.run, self._store, replay, heard=heard)
        following = asyncio.create_task(_follow(entry, asyncio.wrap_future(future)))
        self._following.add(following)
        following.add_done_callback(self._following.discard)
        self._forget()
        return job

    def all(self) -> tuple[Job, ...]:
        """Every job that is remembered, newest first."""
        return tuple(entry.job for entry in reversed(self._entries.values()))

    def get(self, id: str) -> Job:
        """A job as it stands."""
        return self._entry(id).job

    def cancel(self, id: str) -> Job:
        """Ends a job, if it has not ended."""
        entry = self._entry(id)
        if entry.task is not None:
            entry.task.end()
        entry.change(state="cancelled")
        return entry.job

    async def watch(self, id: str) -> AsyncIterator[Job]:
        """The job now and each time it has changed, until it has ended."""
        entry = self._entry(id)
        while True:
            job, changed = entry.job, entry.changed
            yield job
            if job.ended:
                return
            await changed.wait()

    def close(self) -> None:
        """Ends all that is under way."""
        self._lane.close()

    def _entry(self, id: str) -> _Entry:
        if id not in self._entries:
            raise Refused(404, f"There is no backtest {id[:40]!r}; it may have been forgotten.")
        return self._entries[id]

    def _forget(self) -> None:
        for id in [id for id, entry in self._entries.items() if entry.job.ended]:
            if len(self._entries) <= _REMEMBERED:
                break
            del self._entries[id]


async def _follow(entry: _Entry, future: "asyncio.Future[dict[str, Any]]") -> None:
    try:
        result = await future
    except Ended as problem:
        entry.change(state="failed", detail=str(problem))  # if it was not cancelled before
    except SerendipError as problem:
        entry.change(state="failed", detail=str(problem))
    except Exception:
        entry.change(state="failed", detail="It failed in a way nobody expected; see the log.")
    else:
        entry.change(state="done", result=result, done=entry.job.total)
