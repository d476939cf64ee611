"""Long work in processes of its own: progress, cancel, result."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Job:
    """Work that was started, as it stands at one moment."""

    id: str
    title: str
    state: str
    """waiting, running, done, failed or cancelled."""
    done: int
    total: int
    detail: str
    """Why it failed, in a sentence."""
    result: Mapping[str, Any] | None
    """What came out, as `serendip backtest --format json` prints it, with the curves."""


class Jobs:
    """The jobs of this server, newest first. They are forgotten when it ends."""

    async def backtest(self, request: Mapping[str, Any]) -> Job:
        """Starts a backtest."""
        raise NotImplementedError

    def all(self) -> tuple[Job, ...]:
        """Every job that is remembered."""
        return ()

    def get(self, id: str) -> Job:
        """A job as it stands."""
        raise NotImplementedError

    async def cancel(self, id: str) -> Job:
        """Ends a job that has not ended."""
        raise NotImplementedError

    def watch(self, id: str) -> AsyncIterator[Job]:
        """The job each time it changes, until it has ended."""
        raise NotImplementedError
