"""Where a campaign stands: a fold over its log, the same whoever reads it and whenever."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from serendip.campaigns.errors import StoreDamaged
from serendip.campaigns.events import (
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


def replay(log: Sequence[Entry]) -> State:
    """The state after the log; events that were undone do not count."""
    if not log or not isinstance(log[0].event, Created):
        raise StoreDamaged(
            "The log of the campaign does not begin with its creation; restore a backup of the "
            "store."
        )
    created = log[0].event
    undone = frozenset(
        version
        for entry in log
        if isinstance(entry.event, Undone)
        for version in entry.event.versions
    )
    pool, budget, n_failures = created.pool, int(created.settings["budget"]), 0
    results: dict[str, Result] = {}
    pending: dict[str, Proposal] = {}
    asked: set[str] = set()
    failed: dict[str, None] = {}
    excluded: dict[str, None] = {}
    for entry in log[1:]:
        if entry.version in undone:
            continue
        match entry.event:
            case Asked(proposals=proposals):
                for one in proposals:
                    pending[one.item] = one
                    asked.add(one.item)
            case Told(who=who, at=at, item=item, value=value, side=side):
                results[item] = Result(item, value, at, who, item in asked, side)
                pending.pop(item, None)
            case Corrected(item=item, value=value) if item in results:
                old = results[item]
                results[item] = Result(item, value, old.at, old.who, old.proposed, old.side)
            case Failed(item=item):
                pending.pop(item, None)
                failed[item] = None
                n_failures += 1
            case Excluded(item=item):
                pending.pop(item, None)
                excluded[item] = None
            case Withdrawn(items=items):
                for item in items:
                    pending.pop(item, None)
            case Rebudgeted(budget=changed):
                budget = changed
            case Moved(pool=moved):
                pool = moved
            case _:
                pass
    return State(
        version=log[-1].version,
        created=created,
        pool=pool,
        budget=budget,
        results=results,
        pending=pending,
        failed=tuple(item for item in failed if item not in {*pending, *excluded, *results}),
        excluded=tuple(item for item in excluded if item not in results),
        n_failures=n_failures,
        undone=undone,
    )
