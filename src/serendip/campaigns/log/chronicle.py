"""A log as far as it was read, and how commands are recorded at its end.

Commands are decided while nobody else writes, each on the state that the one before it left, and
recorded in one transaction: many cost hardly more than one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from serendip.campaigns.log.events import Entry, Event
from serendip.campaigns.log.requests import Request
from serendip.campaigns.log.state import Fold, State
from serendip.campaigns.log.store import ROOT, Held, Log, Remembered, Store
from serendip.core.errors import SerendipError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Chronicle:
    """The log so far, the hash of its end, and what it implies."""

    log: tuple[Entry, ...]
    tip: str
    fold: Fold
    state: State

    @classmethod
    def of(cls, read: Log) -> "Chronicle":
        """A log that was read from its beginning."""
        log, tip = read
        fold = Fold(log)
        return cls(log, tip, fold, fold.state())

    def after(self, news: Sequence[Entry], tip: str) -> "Chronicle":
        """The same, some events later."""
        if not news:
            return self
        log = (*self.log, *news)
        fold = self.fold.after(log, len(news))
        return Chronicle(log, tip, fold, fold.state())

    @classmethod
    def read(cls, store: Store, name: str) -> "Chronicle":
        """The whole log of a campaign."""
        return cls.of(store.read(name, 0, ROOT))

    def refreshed(self, store: Store, name: str) -> "Chronicle":
        """With what others have written since."""
        return self.after(*store.read(name, len(self.log), self.tip))


@dataclass(frozen=True, slots=True, eq=False)
class Command(Generic[T]):
    """Something to be recorded."""

    decide: Callable[[Chronicle], tuple[Sequence[Event], T]]
    """The events it amounts to and what to answer; of plain values where there is a request. It
    may be called more than once, and must not change anything."""
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What became of a command."""

    version: int
    """Of the campaign when it had been carried out."""
    outcome: T


Answers = list[Answer[T] | SerendipError]
"""One a command: its answer, or why it was refused."""


def record(
    store: Store,
    name: str,
    seen: Chronicle,
    plan: Callable[[Chronicle], Sequence[Command[T]]],
) -> tuple[Chronicle, Answers[T]]:
    """Carries out commands, those that are refused excepted; all are on the disk or none.

    Args:
        store: Where the campaign is.
        name: Of the campaign.
        seen: Its log as far as it was read.
        plan: The commands, once the news are known.

    Returns:
        The log with what was recorded, and the answers.
    """

    def alone(held: Held) -> tuple[Chronicle, Answers[T]]:
        now = seen.after(*held.read(len(seen.log), seen.tip))
        commands = plan(now)
        keys = [one.request.key for one in commands if one.request is not None]
        known, answers = held.answered(keys), list[Answer[T] | SerendipError]()
        for command in commands:
            request = command.request
            try:
                found = None if request is None else known.get(request.key)
                if request is not None and found is not None:
                    request.check(found)
                    if request.stands(found, now.log, now.state):
                        answers.append(Answer(found.version, found.answer))
                        continue
                events, outcome = command.decide(now)
            except SerendipError as problem:
                answers.append(problem)
                continue
            now = now.after(held.append(events), held.tip)
            if request is not None:
                known[request.key] = Remembered(request.digest, held.version, outcome)
                held.remember(request.key, known[request.key])
            answers.append(Answer(held.version, outcome))
        return now, answers

    return store.holding(name, alone)


def one_of(answers: Answers[T]) -> Answer[T]:
    """The answer to the only command; raises why it was refused."""
    (answer,) = answers
    if isinstance(answer, SerendipError):
        raise answer
    return answer
