"""A campaign: ask for candidates, tell what came out. The log is the truth, this object its shadow.

What counts against the budget: every experiment that gave a label, whether it had been proposed or
not, and every one that failed, for it was paid for. Labels known before the campaign and excluded
candidates cost nothing; a pending proposal is promised, not yet paid.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from serendip.campaigns.candidates import Candidates
from serendip.campaigns.deeds import acting, moved, now, rebudgeted
from serendip.campaigns.intake.results import (
    Decision,
    Outcome,
    decide,
    outcomes_of,
    read_results,
    results_table,
)
from serendip.campaigns.log.chronicle import Answers, Chronicle, Command, one_of, record
from serendip.campaigns.log.engine import DEFAULT
from serendip.campaigns.log.events import Asked, Entry, Event
from serendip.campaigns.log.state import State
from serendip.campaigns.log.store import Store
from serendip.campaigns.log.wire import SETTINGS
from serendip.campaigns.pool_file import keep_table, load, own_files, unchanged
from serendip.campaigns.spec import Settings
from serendip.core.arguments import shown, whole
from serendip.core.errors import InvalidInput, NotAvailable
from serendip.core.naming import listed
from serendip.core.rng import Purpose, stream
from serendip.core.text import checked_line
from serendip.core.threads import one_blas_thread

if TYPE_CHECKING:
    import pandas as pd

    from serendip.campaigns.analysis.forecast import Forecast
    from serendip.campaigns.analysis.view import CampaignView
    from serendip.campaigns.output.exports import Status
    from serendip.campaigns.problem import Problem
    from serendip.compute.engines import Engine

T = TypeVar("T")


class Campaign:
    """One campaign in a store. Others may write to the same campaign at any time."""

    def __init__(
        self, store: Store, name: str, who: str | None = None, allow: Collection[str] = ()
    ) -> None:
        self.store = store
        self.name = checked_line("The name of a campaign", name)
        self.who = acting(who)
        self.allow = frozenset(listed(allow, "allow"))
        self._settings: Settings | None = None
        self._candidates: Candidates | None = None
        self._problem: Problem | None = None
        self._chronicle = Chronicle.read(store, name)

    @classmethod
    def create(
        cls,
        settings: "Settings | Mapping[str, Any] | pd.DataFrame",
        store: Store | str | Path | None = None,
        who: str | None = None,
        allow: Collection[str] | None = None,
        **named: Any,
    ) -> "Campaign":
        """Begins a campaign; everything is checked before anything is recorded.

        Args:
            settings: What it is about; or the pool, a table of pandas, polars or Arrow, of which a
                copy is kept beside the store.
            store: Where it is kept: a path, a URL, or a store that is open. By default, a table
                given, in a folder that is removed with this object.
            who: Who begins it; by default the user of this computer.
            allow: Import paths of models and policies that may run; by default those that the
                settings name. Give () for settings that come from somebody else.
            named: The settings beside a table, such as `label="yield", budget=40`.
        """
        from serendip.campaigns.beginning import begin, prepared

        by = acting(who)
        with ExitStack() as folder:
            if not isinstance(settings, Settings | Mapping):
                if store is None:
                    place = TemporaryDirectory(prefix="serendip-", ignore_cleanup_errors=True)
                    store = Path(folder.enter_context(place), DEFAULT)
                store = store if isinstance(store, Store) else Store.open(store, create=True)
                settings = {"name": "campaign", **named, "pool": keep_table(settings, store.folder)}
            elif named:
                raise InvalidInput(f"Settings are given twice: in {shown(settings)}, and {named}.")
            spec = settings if isinstance(settings, Settings) else Settings.from_mapping(settings)
            allowed = (spec.model, spec.policy) if allow is None else listed(allow, "allow")
            ready = prepared(spec, allowed)
            store = store if isinstance(store, Store) else Store.open(store, create=True)
            begin(spec, ready, store, by, now())
            campaign = cls(store, spec.name, who, allowed)
            campaign._candidates, campaign._problem = ready.problem.candidates, ready.problem
            finalize(campaign, folder.pop_all().close)
        return campaign

    @classmethod
    def open(
        cls,
        name: str,
        store: Store | str | Path | None = None,
        who: str | None = None,
        allow: Collection[str] = (),
    ) -> "Campaign":
        """The campaign of this name, as its log tells it.

        Args:
            name: Of the campaign.
            store: Where it is kept: a path, a URL, or a store that is open.
            who: Who acts; by default the user of this computer.
            allow: Import paths of the model and the policy, such as `mypackage:MyPolicy`, that may
                run: a log that names one does not run it by itself.
        """
        return cls(store if isinstance(store, Store) else Store.open(store), name, who, allow)

    def refresh(self) -> None:
        """Takes in what others have written."""
        self._chronicle = self._chronicle.refreshed(self.store, self.name)

    @property
    def chronicle(self) -> Chronicle:
        """The log with all that it implies, as far as was read."""
        return self._chronicle

    @property
    def log(self) -> tuple[Entry, ...]:
        """All that happened, as far as was read."""
        return self._chronicle.log

    @property
    def state(self) -> State:
        """Where the campaign stands, as far as was read."""
        return self._chronicle.state

    @property
    def settings(self) -> Settings:
        """What was decided at the start."""
        if self._settings is None:
            self._settings = Settings.from_log(self.state.created.settings)
        return self._settings

    @property
    def candidates(self) -> Candidates:
        """The pool, once it is known to be what it was."""
        if self._candidates is None:
            created = self.state.created
            self._candidates = load(
                self.state.pool,
                created.snapshot,
                self.store.folder,
                self.settings,
                created.reading_rules,
            )
        return self._candidates

    @property
    def problem(self) -> "Problem":
        """Features and model."""
        if self._problem is None:
            from serendip.campaigns.problem import Problem

            settings, created = self.settings, self.state.created
            if created.edges is not None:
                path = unchanged(created.edges, self.store.folder, "table of edges")
                settings = Settings.from_log({**created.settings, SETTINGS["edges"]: str(path)})
            self._problem = Problem.of(settings, self.candidates, self.allow)
        return self._problem

    @property
    def own_files(self) -> tuple[Path, ...]:
        """The user's files, which are never written to."""
        return own_files(self.state, self.settings.prior_data, self.store.folder)

    def ask(
        self,
        count: int | None = None,
        retry_failed: bool = False,
        engine: "Engine | None" = None,
    ) -> "pd.DataFrame":
        """The next candidates to measure, with the user's columns and the reasons.

        They are recorded before they are returned, and stay pending until told. Fewer come where
        less is left of the budget or the pool.

        Args:
            count: How many; by default the campaign's batch.
            retry_failed: Whether candidates whose experiment failed may be proposed again.
            engine: Who computes; by default this process. The proposals are the same.
        """
        from serendip.campaigns.asking import Ask, ask_all

        wanted = self.settings.batch if count is None else count
        answer = one_of(ask_all(self, [Ask(self.who, wanted, retry_failed)], engine))
        return self.proposed(answer.version)

    def proposed(self, version: int) -> "pd.DataFrame":
        """What the ask that is this event of the log got."""
        from serendip.campaigns.output.exports import proposal_table

        event = self.log[version - 1].event
        asked = event.proposals if isinstance(event, Asked) else ()
        return proposal_table(self.settings, self.candidates, asked)

    def pending(self) -> "pd.DataFrame":
        """The proposals that wait for a result, as `ask` gave them."""
        from serendip.campaigns.output.exports import proposal_table

        self.refresh()
        waiting = tuple(self.state.pending.values())
        return proposal_table(self.settings, self.candidates, waiting)

    def tell(
        self, results: "pd.DataFrame | Mapping[str, object] | str | Path", correct: bool = False
    ) -> Decision:
        """Records results, all of them or, where one does not fit, none.

        Args:
            results: A table with ids and labels such as `ask` returns, its path, or a mapping of
                ids to labels. An empty label is pending, `failed` failed and `excluded` excluded.
            correct: Whether labels that differ from what was told before replace it.
        """
        outcomes = self.outcomes(results)

        def decision(found: Chronicle) -> tuple[Sequence[Event], Decision]:
            made = decide(found.state, outcomes, self.who, now(), correct)
            return made.events, made

        return self._record(decision)

    def outcomes(
        self, results: "pd.DataFrame | Mapping[str, object] | str | Path"
    ) -> tuple[Outcome, ...]:
        """What results say, once it is known to fit the pool and the labels."""
        if isinstance(results, str | Path):
            file = Path(results)
            frame = results_table(file, self.settings, self.candidates)
            return read_results(frame, self.settings, self.candidates, file.name)
        if isinstance(results, Mapping):
            return outcomes_of(results, self.settings, self.candidates)
        return read_results(results, self.settings, self.candidates)

    def fail(self, item: str) -> Decision:
        """Records that the experiment was made and gave no result."""
        return self.tell({item: "failed"})

    def exclude(self, item: str) -> Decision:
        """Records that the candidate must never be proposed again."""
        return self.tell({item: "excluded"})

    def undo(self, item: str | None = None, version: int | None = None) -> tuple[str, ...]:
        """Takes back the last command, the last event of a candidate, or one event.

        Nothing is erased: what is taken back stays in the log, and does not count.
        """
        from serendip.campaigns.undoing import taken_back

        return self._record(
            lambda found: taken_back(found.log, found.state, self.who, now(), item, version)
        )

    def rebudget(self, budget: int) -> None:
        """Changes how many experiments there is money for."""
        self._record(lambda found: ([rebudgeted(found.state, budget, self.who, now())], None))

    def move_pool(self, file: Path) -> None:
        """Says where the pool file is now; its contents must be the same."""
        folder = self.store.folder
        self._record(lambda found: ([moved(found.state, file, folder, self.who, now())], None))
        self._candidates = None

    def record(self, plan: Callable[[Chronicle], Sequence[Command[T]]]) -> Answers[T]:
        """Carries out commands while nobody else writes, as `chronicle.record` does."""
        self._chronicle, answers = record(self.store, self.name, self._chronicle, plan)
        return answers

    def _record(self, decide: Callable[[Chronicle], tuple[Sequence[Event], T]]) -> T:
        return one_of(self.record(lambda _: [Command(decide)])).outcome

    def view(self) -> "CampaignView":
        """The campaign at this moment, as forecasts and reports see it."""
        self.refresh()
        return self.problem.view(self.state, self.name)

    def predict(self, top: int | None = None) -> "pd.DataFrame":
        """Every candidate with what is expected of it, or the `top` best by that, best first."""
        from serendip.campaigns.analysis.predictions import predictions

        top = None if top is None else whole("top", top, 1)
        with one_blas_thread():
            table = predictions(self.view(), self._rng(Purpose.PREDICT), self.problem.whole, top)
        known = table["id"].map(dict(self.state.known))
        table[table.columns[-1]] = table[table.columns[-1]].fillna(known)
        return table

    def forecast(self, progress: Callable[[int, int], None] | None = None) -> "Forecast":
        """What the budget will bring, and whether to stop.

        Args:
            progress: Told how much of it is done, and of how much, once the model is fitted.
        """
        from serendip.campaigns.analysis.forecast import forecast

        with one_blas_thread():
            return forecast(self.view(), self._rng(Purpose.FORECAST), progress)

    def report(self) -> str:
        """A self-contained HTML page; without forecasts where the model is not installed here."""
        from serendip.campaigns.analysis.forecast import forecast
        from serendip.campaigns.output.report import html_record, html_report
        from serendip.campaigns.output.words import in_words

        self.refresh()
        words = [in_words(entry, self.state.undone) for entry in self.log]
        try:
            view = self.view()
        except NotAvailable as problem:
            tables = {
                "Results": self.export("results"),
                "Waiting for results": self.export("pending"),
            }
            return html_record(self.settings, self.state, str(problem), tables, words)
        with one_blas_thread():
            future = forecast(view, self._rng(Purpose.FORECAST))
            return html_report(view, future, words, self._rng(Purpose.REPORT))

    def status(self) -> "Status":
        """The campaign in figures; the pool is not read."""
        from serendip.campaigns.output.exports import status_of

        self.refresh()
        return status_of(self.name, str(self.store), self.log, self.state)

    def export(self, what: str = "results") -> "pd.DataFrame":
        """A table of the campaign: results, pending, predictions or events."""
        from serendip.campaigns.output.exports import event_table, result_table
        from serendip.core.naming import known

        self.refresh()
        tables: Mapping[str, Callable[[], pd.DataFrame]] = {
            "results": lambda: result_table(self.settings, self.candidates, self.state),
            "pending": self.pending,
            "predictions": self.predict,
            "events": lambda: event_table(self.log, self.state),
        }
        return tables[known(what, tables, "table", "tables")]()

    def _rng(self, purpose: Purpose) -> Any:
        return stream(self.settings.seed, purpose, self.state.version)
