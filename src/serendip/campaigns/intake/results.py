"""Results as people write them: read from a table, checked, and turned into events."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from serendip.campaigns.candidates import Candidates
from serendip.campaigns.log.events import Corrected, Event, Excluded, Failed, KnownLabel, Told
from serendip.campaigns.log.state import State
from serendip.campaigns.output.cells import plain_text
from serendip.campaigns.spec import Settings
from serendip.core.errors import AlreadyLabelled, InvalidInput
from serendip.models.registry import Input, takes
from serendip.tables.columns import known_column, row_number
from serendip.tables.label_cells import numbers_in, original, written_label
from serendip.tables.numerals import numbers_meant
from serendip.tables.unsure import Unsure

if TYPE_CHECKING:
    import pandas as pd

CANDIDATE = "candidate"
"""The column of names where the pool has none of its own."""

SEEN_WITH = "seen with"
"""Graphs: a column that names the candidate whose measurement showed this label as well."""


FAILED = ("failed", "fail")
EXCLUDED = ("excluded", "exclude")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What somebody says became of a candidate."""

    item: str
    value: float | None = None
    """The label in the user's units; None where it failed or is excluded."""
    excluded: bool = False
    where: str = ""
    """The row it was written in."""
    side: tuple[KnownLabel, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be recorded, and what people should know of it."""

    events: tuple[Event, ...]
    repeats: tuple[str, ...] = ()
    """Candidates whose result was told before, with the same value."""
    unproposed: tuple[str, ...] = ()
    """Candidates that the campaign had not proposed."""


def id_column(candidates: Candidates) -> str:
    """The column of names in tables that go out and come back."""
    taken = CANDIDATE in candidates.columns
    return candidates.id_column or (f"serendip {CANDIDATE}" if taken else CANDIDATE)


def results_table(file: Path, settings: Settings, candidates: Candidates) -> "pd.DataFrame":
    """The table in a file of results: ids as they are written, and labels where nothing is guessed.

    Args:
        file: A file such as `ask` writes, filled in.
        settings: Of the campaign.
        candidates: Of the pool.
    """
    from serendip.tables import read_table

    names, labels = result_columns(settings, candidates)
    return read_table(file, names=names, labels=labels)


def result_columns(
    settings: Settings, candidates: Candidates
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of names and those of labels, as a table of results may call them."""
    own = id_column(candidates)
    return (own, plain_text(own), SEEN_WITH), (settings.label, plain_text(settings.label))


def read_results(
    frame: "pd.DataFrame", settings: Settings, candidates: Candidates, name: str = "the table"
) -> tuple[Outcome, ...]:
    """The results in a table; rows with an empty label are pending and left out.

    Args:
        frame: A table with the ids and the label column, such as `ask` writes.
        settings: Of the campaign.
        candidates: Of the pool.
        name: What to call the table in messages.
    """
    plain = frame.rename(columns={column: original(str(column)) for column in frame.columns})
    names = plain[known_column(plain, id_column(candidates))].tolist()
    cells = plain[known_column(plain, settings.label)]
    shown_by = plain[SEEN_WITH].tolist() if SEEN_WITH in plain.columns else [None] * len(plain)
    words = [word_of(cell) for cell in cells.tolist()]
    labelled = [at for at, word in enumerate(words) if word not in ("", *FAILED, *EXCLUDED)]
    values = numbers_in(cells.iloc[labelled], settings.labels, (FAILED[0], EXCLUDED[0]))
    numbers = dict(zip(labelled, values, strict=True))
    found: dict[str, Outcome] = {}
    sides: list[tuple[str, KnownLabel, str]] = []
    for at, word in enumerate(words):
        if not word:
            continue
        where = f"row {row_number(plain, at)} of {name}"
        item = _candidate(names[at], candidates, where)
        one = Outcome(item, numbers.get(at), word in EXCLUDED, where)
        host = None if word_of(shown_by[at]) == "" else _candidate(shown_by[at], candidates, where)
        if host is not None and host != item:
            if one.value is None or takes(settings.model) is not Input.graph:
                raise InvalidInput(
                    f"Column {SEEN_WITH!r} is for labels of a graph that came with another; "
                    f"{where} has none. Empty that cell."
                )
            sides.append((host, KnownLabel(item, one.value), where))
        elif item in found and not _same(found[item], one):
            raise InvalidInput(
                f"{item} has two different results, in {found[item].where} and in {where}; "
                "keep one of them."
            )
        else:
            found.setdefault(item, one)
    for host, label, where in sides:
        if host not in found or found[host].value is None:
            raise InvalidInput(
                f"{label.item} was seen with {host} in {where}, but {host} has no label in the "
                "same table; add it."
            )
        found[host] = replace(found[host], side=(*found[host].side, label))
    return tuple(found.values())


def word_of(cell: object) -> str:
    """The cell as a lower-case word; empty for no value."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    text = str(cell).strip()
    return "" if text in ("<NA>", "NaT") else original(text).lower()


def label_of(written: object, settings: Settings) -> float:
    """The number a written label stands for."""
    return written_label(written, settings.labels)


def _candidate(written: object, candidates: Candidates, where: str) -> str:
    try:
        item = matched(written, candidates)
    except InvalidInput as problem:
        raise InvalidInput(f"{problem} (in {where})") from None
    if item is None:
        if word_of(written) == "":
            raise InvalidInput(f"There is a result but no id in {where}; fill in the id.")
        more = f" {written.says}." if isinstance(written, Unsure) else ""
        raise InvalidInput(f"{unknown(str(written), candidates)}{more} (in {where})")
    return item


def matched(written: object, candidates: Candidates) -> str | None:
    """The candidate somebody means; spreadsheets turn 007 into 7 and 1e5 into 100000.

    The text as it is written counts first, then the number that it is, where only one candidate is
    called so.
    """
    whole = isinstance(written, float) and written.is_integer() and abs(written) < 2**53
    if isinstance(written, bool):
        raise InvalidInput(f"The id {written} is a truth value; write the id as text.")
    text = str(int(written)) if isinstance(written, float) and whole else str(written).strip()
    for name in (original(text), text):
        if name in candidates.places and not inexact(written):
            return name
    near = candidates.numbered(text)
    if near and inexact(written):
        raise InvalidInput(
            f"The id {text} has more digits than a number keeps, so it may have been another; "
            "write it as text."
        )
    if len(near) > 1:
        raise InvalidInput(
            f"The id {text!r} may be {near[0]!r} or {near[1]!r}; write it as the pool has it, in "
            "a column of text."
        )
    return near[0] if near else None


def inexact(written: object) -> bool:
    """Whether a number came in a way that does not keep all of its digits."""
    if isinstance(written, float):
        return abs(written) >= 2**53
    large = (abs(number) >= 10**15 for number in numbers_meant(str(written)))
    return isinstance(written, Unsure) and any(large)


def unknown(item: str, candidates: Candidates) -> str:
    """What to say of an id that the pool does not have."""
    item = item if len(item) <= 60 else f"{item[:60]}…"
    near = candidates.closest(item)
    hint = (
        f" Did you mean {near!r}?" if near is not None else f" Ids look like {candidates.ids[0]!r}."
    )
    return f"The pool has no candidate {item!r}.{hint}"


def _same(old: Outcome, new: Outcome) -> bool:
    return old.excluded == new.excluded and close(old.value, new.value)


def close(old: float | None, new: float | None) -> bool:
    """Whether two labels are one, but for what a spreadsheet rounds away."""
    if old is None or new is None:
        return old is new
    return math.isclose(old, new, rel_tol=1e-12, abs_tol=0.0)


Corrections = bool | Mapping[str, float]
"""Whether labels that differ from what was told before replace it; or those that were seen, by
candidate, which alone are replaced, and only while they are what counts."""


def replaces(correct: Corrections, item: str, old: float) -> bool:
    """Whether a label of a candidate that has one may replace it."""
    if isinstance(correct, bool):
        return correct
    return item in correct and close(old, correct[item])


def decide(
    state: State, outcomes: Sequence[Outcome], who: str, at: str, correct: Corrections = False
) -> Decision:
    """The events that outcomes amount to; all of them or, where one does not fit, none.

    Args:
        state: Where the campaign stands.
        outcomes: What was said.
        who: Who says it.
        at: When.
        correct: Which labels that were told before are replaced.
    """
    events: list[Event] = []
    repeats: list[str] = []
    unproposed: list[str] = []
    conditions, known = state.conditions(), state.known
    for one in outcomes:
        item, condition = one.item, conditions.get(one.item, "available")
        where = f" ({one.where})" if one.where else ""
        if condition == "measured":
            old = state.results[item].value if item in state.results else known[item]
            if close(old, one.value):
                repeats.append(item)
            elif one.value is not None and item in state.results and replaces(correct, item, old):
                events.append(Corrected(who, at, item, one.value))
            else:
                raise AlreadyLabelled(_contradiction(one, old, item in known, where))
        elif one.value is not None:
            events.append(Told(who, at, item, one.value, one.side))
            if condition != "proposed":
                unproposed.append(item)
        elif one.excluded:
            if condition == "excluded":
                repeats.append(item)
            else:
                events.append(Excluded(who, at, item))
        elif condition in ("failed", "excluded"):
            repeats.append(item)
        else:
            events.append(Failed(who, at, item))
            if condition != "proposed":
                unproposed.append(item)
    return Decision(tuple(events), tuple(repeats), tuple(unproposed))


def _contradiction(one: Outcome, old: float, known: bool, where: str) -> str:
    new = "excluded" if one.excluded else "failed" if one.value is None else f"{one.value:g}"
    if known:
        return (
            f"{one.item} had the label {old:g} before the campaign began, and now {new} is "
            f"told{where}; labels from before cannot be changed, so begin a new campaign."
        )
    remedy = (
        f"undo the first with `serendip undo NAME --item {one.item}`"
        if one.value is None
        else "add --correct if the new one is right, or undo the first"
    )
    return f"{one.item} was told as {old:g} before, and now {new} is told{where}; {remedy}."


def outcomes_of(
    results: Mapping[str, object], settings: Settings, candidates: Candidates
) -> tuple[Outcome, ...]:
    """Outcomes from a mapping of ids to labels, `failed`, `excluded` or None.

    An id that the pool has means that candidate; else it may be the same number, written otherwise.
    """
    found = []
    named: dict[str, object] = {}
    for item, written in results.items():
        name = item if item in candidates.places else matched(item, candidates)
        if name is None:
            raise InvalidInput(unknown(str(item), candidates))
        if name in named:
            raise InvalidInput(
                f"{named[name]!r} and {item!r} are both the candidate {name!r}; give it one result."
            )
        named[name] = item
        word = word_of(written)
        if word:
            value = None if word in (*FAILED, *EXCLUDED) else label_of(written, settings)
            found.append(Outcome(name, value, word in EXCLUDED))
    return tuple(found)
