"""Commands that may be sent again: what makes two of them one, and when the first still counts."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from serendip.campaigns.errors import KeyTaken
from serendip.campaigns.intake.results import Outcome
from serendip.campaigns.log.events import Asked, Entry, Excluded, Failed, Told, Withdrawn
from serendip.campaigns.log.state import State
from serendip.campaigns.log.store import Remembered
from serendip.core.errors import InvalidInput

_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "ask": ("count", "retry_failed"),
    "tell": ("results", "correct"),
    "undo": ("item", "event"),
    "budget": ("budget",),
}
"""Every command with what is said in it. These words are hashed: they stay as they are."""

_KEY = re.compile(r"[\x21-\x7e]{1,200}")

_DIGEST = "2:"
"""How a digest begins that was made as here; those of before have no number."""


@dataclass(frozen=True, slots=True)
class Request:
    """A command that its sender may repeat: the second time it changes nothing."""

    key: str
    """Chosen by the sender, another one for each command."""
    command: str
    said: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise InvalidInput(
                "The key of a request is 1 to 200 letters, digits and signs of ASCII without "
                f"blanks; got {self.key[:60]!r}."
            )

    @classmethod
    def of(cls, key: str, command: str, *said: Any) -> "Request":
        """The request with this key.

        Args:
            key: Chosen by the sender.
            command: One of those above.
            said: What is said in it: plain values, of a tell its outcomes.
        """
        return cls(key, command, said)

    @property
    def digest(self) -> str:
        """Of the command in words of its own, so that a key cannot come to mean two."""
        names = _COMMANDS[self.command]
        body = {name: _plain(one) for name, one in zip(names, self.said, strict=True)}
        text = json.dumps(
            {"command": self.command, **body},
            allow_nan=False,
            ensure_ascii=True,
            separators=(",", ":"),
            sort_keys=True,
        )
        return _DIGEST + hashlib.sha256(text.encode()).hexdigest()

    def check(self, found: Remembered) -> None:
        """Refuses a key that came with another command before."""
        same = self.digest if found.digest.startswith(_DIGEST) else self._first_digest()
        if found.digest != same:
            raise KeyTaken(
                f"The key {self.key!r} was used for another request before; use a new key for "
                "every request, and the same one only to repeat it."
            )

    def stands(self, found: Remembered, log: Sequence[Entry], state: State) -> bool:
        """Whether what was done then still counts; what was taken back must be done anew.

        Args:
            found: What was remembered of it.
            log: All that happened.
            state: What it implies.
        """
        if found.version > len(log):  # what it recorded was not read yet
            return True
        repeats = found.answer.get("repeats", ()) if isinstance(found.answer, Mapping) else ()
        if any(state.condition(item) in ("available", "proposed") for item in repeats):
            return False  # it had been told before, and that was taken back
        first = log[found.version - 1].command
        mine = log[first - 1 : found.version]
        if self.command == "ask":
            asked = [entry.event for entry in mine if isinstance(entry.event, Asked)]
            return not all(_withdrawn(event, log[found.version :], state) for event in asked)
        return all(entry.version not in state.undone for entry in mine)

    def _first_digest(self) -> str:
        """The digest as it was before it had a number, with the classes written as they were."""
        text = json.dumps((self.command, *map(_as_it_was, self.said)), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _plain(said: Any) -> Any:
    """Outcomes as plain values; where they were written is no part of what they say."""
    if isinstance(said, Outcome):
        word = "excluded" if said.excluded else "failed"
        result = word if said.value is None else said.value
        side = [[one.item, one.value] for one in said.side]
        return [said.item, result, side] if side else [said.item, result]
    return [_plain(one) for one in said] if isinstance(said, tuple | list) else said


def _as_it_was(said: Any) -> Any:
    """What the first rule hashed of an outcome: how Python showed it then."""
    if isinstance(said, Outcome):
        side = [f"KnownLabel(item={one.item!r}, value={one.value!r})" for one in said.side]
        inside = f"{side[0]}," if len(side) == 1 else ", ".join(side)
        return (
            f"Outcome(item={said.item!r}, value={said.value!r}, excluded={said.excluded!r}, "
            f"where={said.where!r}, side=({inside}))"
        )
    return [_as_it_was(one) for one in said] if isinstance(said, tuple | list) else said


def _withdrawn(asked: Asked, later: Sequence[Entry], state: State) -> bool:
    """Whether all the proposals of an ask were taken back; none has a result or waits for one."""
    left = {one.item for one in asked.proposals}
    for entry in later:
        event = entry.event
        if entry.version in state.undone:
            continue
        if isinstance(event, Told | Failed | Excluded) and event.item in left:
            return False
        if isinstance(event, Withdrawn):
            left -= set(event.items)
    return not left
