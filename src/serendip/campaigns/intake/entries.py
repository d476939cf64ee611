"""Results as they are typed, each judged on its own: what is wrong is said beside it."""

from collections.abc import Mapping
from dataclasses import dataclass

from serendip.campaigns.candidates import Candidates
from serendip.campaigns.intake.results import (
    Corrections,
    close,
    matched,
    outcomes_of,
    replaces,
    unknown,
    word_of,
)
from serendip.campaigns.log.state import State
from serendip.campaigns.spec import Settings
from serendip.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Objection:
    """Why one entry cannot be recorded as it stands."""

    says: str
    old: str = ""
    """What was told before, where the entry contradicts it and may replace it."""
    seen: float | None = None
    """The same as the number that it is."""


def objections(
    entries: Mapping[str, str],
    settings: Settings,
    candidates: Candidates,
    state: State,
    correct: Corrections = False,
) -> dict[str, Objection]:
    """What speaks against entries, by candidate; those that can be recorded are left out.

    Args:
        entries: What was typed, by candidate.
        settings: Of the campaign.
        candidates: Of the pool.
        state: Where the campaign stands.
        correct: Which entries may replace what was told before.
    """
    found: dict[str, Objection] = {}
    for item, written in entries.items():
        if not word_of(written):
            continue
        try:
            told = outcomes_of({item: written}, settings, candidates)[0]
        except InvalidInput as problem:
            found[item] = Objection(str(problem))
            continue
        conflict = _conflict(told.item, told.value, settings, state, correct)
        if conflict is not None:
            found[item] = conflict
    return found


def candidate_named(written: str, candidates: Candidates) -> str:
    """The candidate somebody means by what they wrote."""
    if not written.strip():
        raise InvalidInput("Say which candidate the result is of.")
    name = matched(written, candidates)
    if name is None:
        raise InvalidInput(unknown(written, candidates))
    return name


def _conflict(
    item: str, value: float | None, settings: Settings, state: State, correct: Corrections
) -> Objection | None:
    if item in state.results:
        told = state.results[item]
        if close(told.value, value) or (value is not None and replaces(correct, item, told.value)):
            return None
        old = settings.labels.decode(told.value)
        when = told.at[:16].replace("T", " ")
        says = f"{told.who} told {old} for it on {when}"
        if value is None:
            return Objection(f"{says}; take that back first.")
        return Objection(f"{says}.", old, told.value)
    if item in state.known and not close(state.known[item], value):
        old = settings.labels.decode(state.known[item])
        return Objection(f"Its result was {old} before the campaign began; that cannot be changed.")
    return None
