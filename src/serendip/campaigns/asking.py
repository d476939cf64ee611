"""Many asks at once: one look at the model serves them all, and each gets candidates of its own.

What to propose is computed while others may write, for that takes long. Before it is recorded it
is checked that all of it is still free; where somebody else was faster it is computed again, in the
end while they wait.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from serendip.campaigns.deeds import now
from serendip.campaigns.errors import NothingLeft, StaleCampaign
from serendip.campaigns.log.chronicle import Answers, Chronicle, Command
from serendip.campaigns.log.events import Asked, Event, Proposal
from serendip.campaigns.log.requests import Request
from serendip.campaigns.log.store import Store
from serendip.campaigns.proposing import nothing_left, proposals
from serendip.compute.engines import Engine
from serendip.core.arguments import whole
from serendip.core.errors import InvalidInput

if TYPE_CHECKING:
    from serendip.campaigns.problem import Problem

_ATTEMPTS = 2
"""How often the computation may be overtaken before others have to wait for it."""

Items = list[str]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """What somebody asks for."""

    who: str
    count: int
    retry_failed: bool = False
    """Whether candidates whose experiment failed may be proposed again."""
    request: Request | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", whole("count", self.count))
        if self.count < 1:
            raise InvalidInput(f"Ask for at least one candidate; got {self.count}.")


class Askable(Protocol):
    """What asking needs of a campaign."""

    @property
    def name(self) -> str:
        """As its store knows it."""
        ...

    @property
    def store(self) -> Store:
        """Where its log is kept."""
        ...

    @property
    def chronicle(self) -> Chronicle:
        """The log with all that it implies, as far as was read."""
        ...

    @property
    def problem(self) -> "Problem":
        """Features and model."""
        ...

    def refresh(self) -> None:
        """Takes in what others have written."""
        ...

    def record(self, plan: Callable[[Chronicle], Sequence[Command[T]]]) -> Answers[T]:
        """Carries out commands while nobody else writes."""
        ...


class Overtaken(Exception):
    """Somebody else took a candidate first; nothing was recorded."""


def ask_all(campaign: Askable, asks: Sequence[Ask], engine: Engine | None = None) -> Answers[Items]:
    """The candidates that each ask gets, recorded; an answer's version is that of its event.

    Fewer come where less is left, and nothing to those who asked last.

    Args:
        campaign: Who is asked.
        asks: What for.
        engine: Who computes; by default this process. The proposals are the same.
    """
    if len({one.retry_failed for one in asks}) > 1:  # those with the wider choice come last
        careful = [one for one in asks if not one.retry_failed]
        first = iter(ask_all(campaign, careful, engine))
        rest = iter(ask_all(campaign, [one for one in asks if one.retry_failed], engine))
        return [next(rest if one.retry_failed else first) for one in asks]
    campaign.refresh()
    with campaign.problem.on(engine or Engine()) as problem:
        return _asked(campaign, problem, asks)


def _asked(campaign: Askable, problem: "Problem", asks: Sequence[Ask]) -> Answers[Items]:
    for _ in range(_ATTEMPTS):
        campaign.refresh()
        fresh = _fresh(campaign, asks)
        commands = _commands(problem, campaign.chronicle, asks, fresh, campaign.name)
        try:
            return campaign.record(_Ready(commands))
        except Overtaken:
            continue
    campaign.refresh()
    fresh = _fresh(campaign, asks)
    try:
        return campaign.record(lambda found: _commands(problem, found, asks, fresh, campaign.name))
    except Overtaken:
        raise StaleCampaign(
            "Others asked the same campaign at the same moment, more than once; ask again."
        ) from None


def _fresh(campaign: Askable, asks: Sequence[Ask]) -> list[bool]:
    """Which asks are no repetition of another, earlier or among these."""
    requests = [one.request for one in asks]
    keys = [request.key for request in requests if request is not None]
    known = campaign.store.answered(campaign.name, keys)
    log, state = campaign.chronicle.log, campaign.chronicle.state
    seen, fresh = set[str](), list[bool]()
    for request in requests:
        key = None if request is None else request.key
        found = known.get(key or "")
        done = request is not None and found is not None and request.stands(found, log, state)
        fresh.append(not done and key not in seen)
        if key is not None:
            seen.add(key)
    return fresh


@dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """A plan that was made before."""

    commands: list[Command[Items]]

    def __call__(self, found: Chronicle) -> list[Command[Items]]:
        return self.commands


def _commands(
    problem: "Problem", seen: Chronicle, asks: Sequence[Ask], fresh: Sequence[bool], name: str
) -> list[Command[Items]]:
    """Candidates for all, dealt out in the order of the asks; repetitions need none."""
    counts = [one.count if new else 0 for one, new in zip(asks, fresh, strict=True)]
    chosen: tuple[Proposal, ...] = ()
    if sum(counts) > 0:
        # Where nothing is left, each is told when it is decided.
        with suppress(NothingLeft):
            chosen = proposals(problem, seen.state, name, sum(counts), asks[0].retry_failed)
    ends = [sum(counts[: place + 1]) for place in range(len(counts))]
    return [
        Command(_Deal(problem, one, chosen[end - count : end]), one.request)
        for one, count, end in zip(asks, counts, ends, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Deal:
    """Hands out a share, if all of it is still free."""

    problem: "Problem"
    ask: Ask
    share: tuple[Proposal, ...]

    def __call__(self, found: Chronicle) -> tuple[Sequence[Event], Items]:
        state, items = found.state, [one.item for one in self.share]
        taken = self.problem.taken(state, self.ask.retry_failed)
        left = min(state.free, len(self.problem.candidates.ids) - len(taken))
        if not items and left < 1:
            raise NothingLeft(nothing_left(state, self.ask.retry_failed))
        if not items or left < len(items) or not taken.isdisjoint(items):
            raise Overtaken
        return [Asked(self.ask.who, now(), self.share)], items
