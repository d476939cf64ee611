"""Taking back: which events no longer count when somebody says undo."""

from collections.abc import Sequence

from serendip.campaigns.log.events import (
    Asked,
    Corrected,
    Entry,
    Event,
    Excluded,
    Failed,
    Rebudgeted,
    Told,
    Undone,
    Withdrawn,
)
from serendip.campaigns.log.state import State
from serendip.campaigns.output.words import in_words
from serendip.core.errors import InvalidInput

_RESULTS = (Told, Failed, Excluded, Corrected)


def taken_back(
    log: Sequence[Entry],
    state: State,
    who: str,
    at: str,
    item: str | None = None,
    version: int | None = None,
) -> tuple[Sequence[Event], tuple[str, ...]]:
    """The events that take something back, and in words what it was.

    Args:
        log: All that happened.
        state: What it implies.
        who: Who takes it back.
        at: When.
        item: Take back the last that happened to this candidate.
        version: Take back this event.
    """
    if item is not None:
        targets = _of_item(log, state, item)
    elif version is not None:
        targets = _of_version(log, state, version)
    else:
        targets = _last(log, state)
    events: list[Event] = []
    words = [in_words(entry, frozenset()) for entry in targets]
    asked = [entry.event for entry in targets if isinstance(entry.event, Asked)]
    proposed = [one.item for event in asked for one in event.proposals]
    waiting = [one for one in proposed if one in state.pending and item in (None, one)]
    if waiting:
        events.append(Withdrawn(who, at, tuple(waiting)))
    versions = [entry.version for entry in targets if not isinstance(entry.event, Asked)]
    if versions:
        events.append(Undone(who, at, tuple(versions)))
    return events, tuple(words)


def stands(entry: Entry, state: State) -> bool:
    """Whether an event counts and can be taken back."""
    if entry.version in state.undone:
        return False
    match entry.event:
        case Asked(proposals=proposals):
            return any(_waits(entry, one.item, state) for one in proposals)
        case Told() | Failed() | Excluded() | Corrected() | Rebudgeted():
            return True
        case _:
            return False


def _waits(entry: Entry, item: str, state: State) -> bool:
    """Whether the item is pending because of this very proposal."""
    event = entry.event
    return isinstance(event, Asked) and state.pending.get(item) in event.proposals


def _last(log: Sequence[Entry], state: State) -> list[Entry]:
    standing = [entry for entry in log if stands(entry, state)]
    if not standing:
        raise InvalidInput("There is nothing to take back: nothing was asked or told yet.")
    command = standing[-1].command
    return [entry for entry in standing if entry.command == command]


def _of_item(log: Sequence[Entry], state: State, item: str) -> list[Entry]:
    for entry in reversed(log):
        event = entry.event
        mine = isinstance(event, _RESULTS) and event.item == item
        if stands(entry, state) and (mine or _waits(entry, item, state)):
            return [entry]
    raise InvalidInput(
        f"There is nothing to take back for {item!r}: it was neither proposed nor told."
    )


def _of_version(log: Sequence[Entry], state: State, version: int) -> list[Entry]:
    target = log[version - 1] if 1 <= version <= len(log) else None
    if target is None or not stands(target, state):
        raise InvalidInput(
            f"Event {version} cannot be taken back; `serendip export NAME --what events` shows "
            "which there are."
        )
    event = target.event
    later = [
        entry
        for entry in log[version:]
        if isinstance(event, Told)
        and isinstance(entry.event, Corrected)
        and entry.event.item == event.item
        and stands(entry, state)
    ]
    return [target, *later]
