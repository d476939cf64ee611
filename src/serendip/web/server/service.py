"""Campaigns as the server sees them: everything goes through `serendip.campaigns`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import UploadFile

from serendip.campaigns.asking import Ask
from serendip.campaigns.campaign import Campaign
from serendip.campaigns.candidates import Candidates
from serendip.campaigns.deeds import acting, now, rebudgeted
from serendip.campaigns.errors import StaleCampaign
from serendip.campaigns.intake.results import Corrections, decide
from serendip.campaigns.log.chronicle import Chronicle, Command
from serendip.campaigns.log.events import Event
from serendip.campaigns.log.requests import Request
from serendip.campaigns.log.store import Store
from serendip.campaigns.output.exports import (
    Status,
    event_table,
    proposal_table,
    result_table,
    status_of,
)
from serendip.campaigns.spec import Settings
from serendip.campaigns.undoing import taken_back
from serendip.core.naming import known
from serendip.core.settings import Kind, described
from serendip.web.server import work
from serendip.web.server.answers import Proposed, Reading, Told, Undone
from serendip.web.server.lanes import Ended
from serendip.web.server.opened import OpenCampaigns, done, unavailable
from serendip.web.server.settings import ServeSettings
from serendip.web.server.tables import Tables
from serendip.web.server.views import Views
from serendip.web.server.waits import Waits

if TYPE_CHECKING:
    import pandas as pd

    from serendip.campaigns.analysis.forecast import Forecast

T = TypeVar("T")

_FEW = 100
"""Results that are checked along with those of others."""

_FILES = [one.word for one in described(Settings) if one.kind is Kind.file]


class Campaigns:
    """The campaigns of one store. No method blocks the event loop.

    What methods return is not to be changed, for others get the same. `who` is the one who acts; a
    `key` makes a request safe to repeat: the second time it changes nothing and gets the answer of
    the first.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self.store = Store.open(settings.store, create=True, resident=True)
        self.tables = Tables(settings, self.store.folder)
        self.waits = Waits()
        self._campaigns = OpenCampaigns(self.store, self.waits)
        self.where = self._campaigns.where
        self._views = Views(self._campaigns.where, self._campaigns.viewer, self.waits)

    def start(self) -> None:
        """Gets ready for the first request."""
        self._campaigns.start()
        asyncio.get_running_loop().run_in_executor(None, self.tables.tidy)

    def close(self) -> None:
        """Ends the processes."""
        self._campaigns.close()
        self.tables.close()

    # --- reading ---------------------------------------------------------------------------------

    async def overview(self) -> tuple[Status, ...]:
        """Every campaign of the store in figures, by name."""
        infos = await self._campaigns.run(self.store.campaigns)
        found = [await self._campaigns.get(info.name) for info in infos]

        def read() -> tuple[Status, ...]:
            return tuple(
                self._status(info.name, one.desk.chronicle(info.version))
                for info, one in zip(infos, found, strict=True)
            )

        return await self._campaigns.run(read)

    async def read(self, name: str) -> Reading:
        """A campaign as it stands now."""
        one = await self._campaigns.get(name)

        def read() -> Reading:
            seen = one.desk.chronicle()
            settings = one.desk.settings()
            return Reading(name, settings, seen.state, seen.log, self._status(name, seen))

        return await self._campaigns.run(read)

    def _status(self, name: str, seen: Chronicle) -> Status:
        return status_of(name, str(self.store), seen.log, seen.state)

    async def candidates(self, name: str) -> Candidates:
        """The pool of a campaign, with the user's columns."""
        one = await self._campaigns.get(name)
        return await self._campaigns.run(one.desk.candidates)

    async def table(self, name: str, what: str) -> "pd.DataFrame":
        """`results`, `pending` or `events` as a table, as `serendip export` writes it."""
        one = await self._campaigns.get(name)

        def made() -> "pd.DataFrame":
            seen, settings = one.desk.chronicle(), one.desk.settings()
            tables: dict[str, Callable[[], pd.DataFrame]] = {
                "results": lambda: result_table(settings, one.desk.candidates(), seen.state),
                "pending": lambda: proposal_table(
                    settings, one.desk.candidates(), tuple(seen.state.pending.values())
                ),
                "events": lambda: event_table(seen.log, seen.state),
            }
            return tables[known(what, tables, "table", "tables")]()

        return await self._campaigns.run(made)

    # --- acting ----------------------------------------------------------------------------------

    async def ask(
        self,
        name: str,
        count: int | None = None,
        *,
        retry_failed: bool = False,
        who: str | None = None,
        key: str | None = None,
    ) -> Proposed:
        """The next proposals, recorded.

        Args:
            name: Of the campaign.
            count: How many; by default the campaign's batch.
            retry_failed: Whether candidates that failed may be proposed again.
            who: Who asks.
            key: See the class.
        """
        one = await self._campaigns.get(name)
        settings = one.desk.settings()
        wanted = settings.batch if count is None else count
        request = None if key is None else Request.of(key, "ask", wanted, retry_failed)
        version, rows = await one.asking(Ask(acting(who), wanted, retry_failed, request))
        id_column = next(iter(rows[0]), "") if rows else ""
        return Proposed(version, tuple(rows), id_column, settings.label)

    async def tell(
        self,
        name: str,
        results: "Mapping[str, object] | pd.DataFrame",
        *,
        correct: Corrections = False,
        who: str | None = None,
        key: str | None = None,
    ) -> Told:
        """Records results, all or none: ids with labels, `failed` or `excluded`, or a table.

        Args:
            name: Of the campaign.
            results: What came out.
            correct: Which labels that were told before are replaced.
            who: Who tells.
            key: See the class.
        """
        one = await self._campaigns.get(name)

        def command() -> Command[Any]:
            outcomes = one.desk.opened().outcomes(results)
            request = None if key is None else Request.of(key, "tell", outcomes, correct)

            def decision(found: Chronicle) -> tuple[Sequence[Event], dict[str, Any]]:
                made = decide(found.state, outcomes, acting(who), now(), correct)
                return made.events, Told.plain(made)

            return Command(decision, request)

        if not isinstance(results, Mapping) or len(results) > _FEW:  # others need not wait for it
            ready = await self._campaigns.run(command)
            answer = await one.writing(lambda: ready)
        else:
            answer = await one.writing(command)
        return Told.of(answer.version, answer.outcome)

    async def undo(
        self,
        name: str,
        *,
        item: str | None = None,
        version: int | None = None,
        seen: int | None = None,
        who: str | None = None,
        key: str | None = None,
    ) -> Undone:
        """Takes back the last command, the last of a candidate, or one event; says what.

        Args:
            name: Of the campaign.
            item: The candidate whose last event is taken back.
            version: The event that is taken back.
            seen: How far the log had been read by whoever means its last command; where others have
                written since, nothing is taken back.
            who: Who takes it back.
            key: See the class.
        """
        one = await self._campaigns.get(name)
        request = None if key is None else Request.of(key, "undo", item, version)

        def decision(found: Chronicle) -> tuple[Sequence[Event], list[str]]:
            if seen is not None and seen != found.state.version:
                raise StaleCampaign(
                    "Nothing was taken back: the campaign has changed since this page was shown. "
                    "Look at it as it is now, and undo again if that is still what you want."
                )
            by = acting(who)
            events, words = taken_back(found.log, found.state, by, now(), item, version)
            return events, list(words)

        answer = await one.writing(lambda: Command(decision, request))
        return Undone(answer.version, tuple(answer.outcome))

    async def rebudget(
        self, name: str, budget: int, *, who: str | None = None, key: str | None = None
    ) -> int:
        """Changes how many experiments there is money for; returns the version after it."""
        one = await self._campaigns.get(name)
        request = None if key is None else Request.of(key, "budget", budget)
        command: Command[None] = Command(
            lambda found: ([rebudgeted(found.state, budget, acting(who), now())], None), request
        )
        return (await one.writing(lambda: command)).version

    async def create(self, settings: Mapping[str, Any], *, who: str | None = None) -> Status:
        """Begins a campaign; its files are paths that `kept` gave."""
        settled = {
            name: str(await self.tables.settled(Path(value))) if name in _FILES and value else value
            for name, value in settings.items()
        }
        lane = self._campaigns.viewer(str(settings.get("name")))
        future, _ = lane.submit(work.begin, self._campaigns.where, settled, who)
        return await done(future)

    # --- computing -------------------------------------------------------------------------------

    async def compute(self, name: str, function: Callable[..., T], *args: Any) -> T:
        """What a function of a module makes of a campaign, in another process.

        The function is given the campaign, with the news, and the arguments, which must be
        hashable; it writes nothing and returns something that can travel. The answer is kept until
        the campaign changes, so it costs once whoever asks.
        """
        one = await self._campaigns.get(name)
        seen = await self._campaigns.run(one.desk.chronicle)
        try:
            return await self._views.get(name, seen.tip, function, args)
        except Ended as problem:
            raise unavailable(problem) from None

    async def forecast(self, name: str) -> "Forecast":
        """What the budget will bring, and whether to stop."""
        return await self.compute(name, Campaign.forecast)

    async def predictions(self, name: str) -> "pd.DataFrame":
        """Every candidate with what is expected of it."""
        return await self.compute(name, Campaign.predict)

    async def report(self, name: str) -> str:
        """A self-contained HTML page."""
        return await self.compute(name, Campaign.report)

    async def report_known(self, name: str) -> bool:
        """Whether the report is written already."""
        one = await self._campaigns.get(name)
        seen = await self._campaigns.run(one.desk.chronicle)
        return self._views.known(name, seen.tip, Campaign.report)

    # --- tables sent in --------------------------------------------------------------------------

    async def keep(self, name: str, source: UploadFile | bytes) -> str:
        """The id of a table that was sent in, once it is known to be one."""
        return await self.tables.keep(name, source)

    def kept(self, id: str) -> Path:
        """Where a table that was sent in is kept."""
        return self.tables.path(id)
