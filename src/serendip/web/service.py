"""Campaigns as the server sees them: everything goes through `serendip.campaigns`."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from serendip.campaigns.campaign import Campaign
from serendip.campaigns.events import Entry
from serendip.campaigns.exports import Status
from serendip.campaigns.pool_file import Candidates
from serendip.campaigns.spec import Settings
from serendip.campaigns.state import State
from serendip.campaigns.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from serendip.campaigns.forecast import Forecast

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A campaign as its log stood at one moment; nothing in it changes afterwards."""

    name: str
    settings: Settings
    state: State
    log: tuple[Entry, ...]
    status: Status


@dataclass(frozen=True, slots=True)
class Told:
    """What a tell recorded."""

    version: int
    measured: int
    failed: int
    excluded: int
    corrected: int
    repeats: tuple[str, ...]
    """Candidates whose result was told before, with the same value."""
    unproposed: tuple[str, ...]
    """Candidates that the campaign had not proposed."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What an ask proposed."""

    version: int
    proposals: tuple[Mapping[str, Any], ...]
    """As rows of the table that `serendip ask` writes: the user's columns and the reasons."""


class Campaigns:
    """The campaigns of one store. No method blocks the event loop."""

    def __init__(self, store: str | None) -> None:
        self.store = Store.open(store, create=True)
        self._lock = Lock()

    async def overview(self) -> tuple[Status, ...]:
        """Every campaign of the store in figures."""

        def read() -> tuple[Status, ...]:
            return tuple(
                Campaign(self.store, info.name).status() for info in self.store.campaigns()
            )

        return await asyncio.to_thread(read)

    async def read(self, name: str) -> Reading:
        """A campaign as it stands now."""
        return await asyncio.to_thread(self._reading, name)

    def _reading(self, name: str) -> Reading:
        campaign = Campaign(self.store, name)
        return Reading(name, campaign.settings, campaign.state, campaign.log, campaign.status())

    async def candidates(self, name: str) -> Candidates:
        """The pool of a campaign, with the user's columns."""
        return await asyncio.to_thread(lambda: Campaign(self.store, name).candidates)

    async def table(self, name: str, what: str) -> "pd.DataFrame":
        """`results`, `pending` or `events` as a table, as `serendip export` writes it."""
        return await asyncio.to_thread(lambda: Campaign(self.store, name).export(what))

    async def ask(
        self,
        name: str,
        count: int | None = None,
        *,
        retry_failed: bool = False,
        who: str | None = None,
        key: str | None = None,
    ) -> Proposed:
        """The next proposals.

        Args:
            name: Of the campaign.
            count: How many; by default the campaign's batch.
            retry_failed: Whether candidates that failed may be proposed again.
            who: Who asks.
            key: A key that makes the request safe to repeat: the second time it changes nothing,
                and gets the first answer.
        """

        def ask() -> Proposed:
            with self._lock:
                campaign = Campaign(self.store, name, who)
                rows = campaign.ask(count, retry_failed).to_dict("records")
                return Proposed(
                    campaign.state.version,
                    tuple({str(k): v for k, v in row.items()} for row in rows),
                )

        return await asyncio.to_thread(ask)

    async def tell(
        self,
        name: str,
        results: "Mapping[str, object] | pd.DataFrame",
        *,
        correct: bool = False,
        who: str | None = None,
        key: str | None = None,
    ) -> Told:
        """Records results, all or none: ids with labels, `failed` or `excluded`, or a table.

        Args:
            name: Of the campaign.
            results: What came out.
            correct: Whether labels that were told before are replaced.
            who: Who tells.
            key: As in `ask`.
        """

        def tell() -> Told:
            with self._lock:
                campaign = Campaign(self.store, name, who)
                made = campaign.tell(results, correct)
            kinds = [type(event).__name__ for event in made.events]
            return Told(
                campaign.state.version,
                kinds.count("Told"),
                kinds.count("Failed"),
                kinds.count("Excluded"),
                kinds.count("Corrected"),
                made.repeats,
                made.unproposed,
            )

        return await asyncio.to_thread(tell)

    async def undo(
        self,
        name: str,
        *,
        item: str | None = None,
        version: int | None = None,
        who: str | None = None,
        key: str | None = None,
    ) -> tuple[str, ...]:
        """Takes back the last command, the last of a candidate, or one event; says what."""
        return await asyncio.to_thread(lambda: Campaign(self.store, name, who).undo(item, version))

    async def rebudget(self, name: str, budget: int, *, who: str | None = None) -> None:
        """Changes how many experiments there is money for."""
        await asyncio.to_thread(lambda: Campaign(self.store, name, who).rebudget(budget))

    async def create(self, settings: Mapping[str, Any], *, who: str | None = None) -> Status:
        """Begins a campaign; `settings["pool"]` is a path that `keep` returned."""
        return await asyncio.to_thread(lambda: Campaign.create(settings, self.store, who).status())

    async def keep(self, name: str, data: bytes) -> Path:
        """A file that was sent in, checked and kept beside the store; its path."""
        raise NotImplementedError

    async def compute(
        self,
        name: str,
        function: Callable[Concatenate[Campaign, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """What a function of a module makes of a campaign, in another process.

        The function must do its own `campaign.refresh()`-less reading: it is given a campaign that
        is current, must not write to it, and returns something that can travel. The answer is kept
        until the campaign changes, so the same function with the same arguments costs once.
        """
        return await asyncio.to_thread(
            lambda: function(Campaign(self.store, name), *args, **kwargs)
        )

    async def forecast(self, name: str) -> "Forecast":
        """What the budget will bring, and whether to stop."""
        return await self.compute(name, Campaign.forecast)

    async def predictions(self, name: str) -> "pd.DataFrame":
        """Every candidate with what is expected of it."""
        return await self.compute(name, Campaign.predict)

    async def report(self, name: str) -> str:
        """A self-contained HTML page."""
        return await self.compute(name, Campaign.report)
