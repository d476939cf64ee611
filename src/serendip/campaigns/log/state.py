"""Where a campaign stands: a fold over its log, the same whoever reads it and whenever."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from serendip.campaigns.errors import StoreDamaged
from serendip.campaigns.log.events import (
    Asked,
    Corrected,
    Created,
    Entry,
    Excluded,
    Failed,
    FileRef,
    KnownLabel,
    Moved,
    Proposal,
    Rebudgeted,
    Told,
    Undone,
    Withdrawn,
)
from serendip.campaigns.log.wire import SETTINGS


@dataclass(frozen=True, slots=True)
class Result:
    """A label that counts, with its corrections applied."""

    item: str
    value: float
    at: str
    who: str
    proposed: bool
    """Whether the campaign had proposed the candidate."""
    side: tuple[KnownLabel, ...]


@dataclass(frozen=True, slots=True)
class State:
    """What the log implies."""

    version: int
    created: Created
    pool: FileRef
    """Where the pool is now."""
    budget: int
    results: Mapping[str, Result]
    """By candidate, in the order they were told."""
    pending: Mapping[str, Proposal]
    """By candidate, in the order they were proposed."""
    failed: tuple[str, ...]
    excluded: tuple[str, ...]
    n_failures: int
    """Experiments that failed; one candidate may fail more than once."""
    undone: frozenset[int]

    @property
    def known(self) -> Mapping[str, float]:
        """Labels from before the campaign, by candidate."""
        return {one.item: one.value for one in self.created.known}

    @property
    def spent(self) -> int:
        """Experiments paid for: those that gave a label and those that failed."""
        return len(self.results) + self.n_failures

    @property
    def remaining(self) -> int:
        """Experiments left to pay for; proposals that are pending are not paid for yet."""
        return max(0, self.budget - self.spent)

    @property
    def free(self) -> int:
        """Experiments that are neither paid for nor promised to a pending proposal."""
        return max(0, self.remaining - len(self.pending))

    def condition(self, item: str) -> str:
        """`available`, `proposed`, `measured`, `failed` or `excluded`."""
        return self.conditions().get(item, "available")

    def conditions(self) -> dict[str, str]:
        """The condition of every candidate that anything happened to."""
        found = dict.fromkeys(self.failed, "failed")
        found |= dict.fromkeys(self.excluded, "excluded")
        found |= dict.fromkeys(self.pending, "proposed")
        found |= dict.fromkeys(self.known, "measured")
        found |= dict.fromkeys(self.results, "measured")
        return found


class Fold:
    """A log taken in event by event, so that news need not wait for what is known already."""

    __slots__ = (
        "asked", "budget", "created", "excluded", "failed", "n_failures", "pending", "pool",
        "results", "undone", "version",
    )  # fmt: skip

    def __init__(self, log: Sequence[Entry]) -> None:
        if not log or not isinstance(log[0].event, Created):
            raise StoreDamaged(
                "The log of the campaign does not begin with its creation; restore a backup of "
                "the store."
            )
        self.version = 1
        self.created = log[0].event
        self.pool = self.created.pool
        self.budget = int(self.created.settings[SETTINGS["budget"]])
        self.n_failures = 0
        self.results: dict[str, Result] = {}
        self.pending: dict[str, Proposal] = {}
        self.asked: set[str] = set()
        self.failed: dict[str, None] = {}
        self.excluded: dict[str, None] = {}
        self.undone = frozenset(
            version
            for entry in log
            if isinstance(entry.event, Undone)
            for version in entry.event.versions
        )
        for entry in log[1:]:
            self._take(entry)

    def after(self, log: Sequence[Entry], news: int) -> "Fold":
        """The fold of a log whose last `news` events are new; this one stays as it is."""
        fresh = log[len(log) - news :]
        if any(isinstance(entry.event, Undone) for entry in fresh):
            return Fold(log)  # what happened long ago no longer counts
        made = copy(self)
        made.results, made.pending = dict(self.results), dict(self.pending)
        made.failed, made.excluded = dict(self.failed), dict(self.excluded)
        made.asked = set(self.asked)
        for entry in fresh:
            made._take(entry)
        return made

    def _take(self, entry: Entry) -> None:
        self.version = entry.version
        if entry.version in self.undone:
            return
        match entry.event:
            case Asked(proposals=proposals):
                for one in proposals:
                    self.pending[one.item] = one
                    self.asked.add(one.item)
            case Told(who=who, at=at, item=item, value=value, side=side):
                self.results[item] = Result(item, value, at, who, item in self.asked, side)
                self.pending.pop(item, None)
            case Corrected(item=item, value=value) if item in self.results:
                old = self.results[item]
                self.results[item] = Result(item, value, old.at, old.who, old.proposed, old.side)
            case Failed(item=item):
                self.pending.pop(item, None)
                self.failed[item] = None
                self.n_failures += 1
            case Excluded(item=item):
                self.pending.pop(item, None)
                self.excluded[item] = None
            case Withdrawn(items=items):
                for item in items:
                    self.pending.pop(item, None)
            case Rebudgeted(budget=changed):
                self.budget = changed
            case Moved(pool=moved):
                self.pool = moved
            case _:
                pass

    def state(self) -> State:
        """What the log implies; the fold must take in nothing more."""
        results, pending, excluded = self.results, self.pending, self.excluded
        return State(
            version=self.version,
            created=self.created,
            pool=self.pool,
            budget=self.budget,
            results=results,
            pending=pending,
            failed=tuple(
                item
                for item in self.failed
                if item not in pending and item not in excluded and item not in results
            ),
            excluded=tuple(item for item in excluded if item not in results),
            n_failures=self.n_failures,
            undone=self.undone,
        )


def replay(log: Sequence[Entry]) -> State:
    """The state after the log; events that were undone do not count."""
    return Fold(log).state()
