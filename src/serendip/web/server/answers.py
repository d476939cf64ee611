"""What the server answers about campaigns, before it becomes a page or JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from serendip.campaigns.intake.results import Decision
from serendip.campaigns.log.events import Corrected, Entry, Excluded, Failed
from serendip.campaigns.log.events import Told as ToldEvent
from serendip.campaigns.log.state import State
from serendip.campaigns.output.exports import Status
from serendip.campaigns.spec import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A campaign as its log stood at one moment; nothing in it changes afterwards."""

    name: str
    settings: Settings
    state: State
    log: tuple[Entry, ...]
    status: Status


@dataclass(frozen=True, slots=True)
class Proposed:
    """What an ask got."""

    version: int
    """Of the log, after it."""
    proposals: tuple[Mapping[str, Any], ...]
    """As rows of the table that `serendip ask` writes: the user's columns and the reasons."""
    id_column: str
    """Which of the columns holds the ids."""
    label: str
    """Which is for the results."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a tell recorded."""

    version: int
    """Of the log, after it."""
    measured: int
    failed: int
    excluded: int
    corrected: int
    repeats: tuple[str, ...]
    """Candidates whose result was told before, with the same value."""
    unproposed: tuple[str, ...]
    """Candidates that the campaign had not proposed."""

    @staticmethod
    def plain(made: Decision) -> dict[str, Any]:
        """All but the version, as values that can be remembered."""
        kinds = [type(event) for event in made.events]
        return {
            "measured": kinds.count(ToldEvent),
            "failed": kinds.count(Failed),
            "excluded": kinds.count(Excluded),
            "corrected": kinds.count(Corrected),
            "repeats": list(made.repeats),
            "unproposed": list(made.unproposed),
        }

    @classmethod
    def of(cls, version: int, plain: Mapping[str, Any]) -> "Told":
        """From what `plain` made."""
        lists = {name: tuple(plain[name]) for name in ("repeats", "unproposed")}
        return cls(version=version, **{**plain, **lists})


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back."""

    version: int
    words: tuple[str, ...]
