"""Events in words."""

from serendip.campaigns.log.events import (
    Asked,
    Corrected,
    Created,
    Entry,
    Event,
    Excluded,
    Failed,
    Moved,
    Rebudgeted,
    Told,
    Undone,
    Withdrawn,
)
from serendip.campaigns.log.wire import SETTINGS
from serendip.core.text import escaped


def in_words(entry: Entry, undone: frozenset[int]) -> str:
    """One event as a sentence: when, who, what, and whether it still counts."""
    when = entry.event.at[:16].replace("T", " ")
    taken_back = " (taken back later)" if entry.version in undone else ""
    return f"{when} {entry.event.who} {what(entry.event)}{taken_back}."


def what(event: Event) -> str:
    """What happened."""
    match event:
        case Created(n_candidates=n, settings=settings, known=known):
            budget = settings[SETTINGS["budget"]]
            before = f", {len(known)} labels known before" if known else ""
            return f"began with {n} candidates and a budget of {budget}{before}"
        case Asked(proposals=proposals):
            return f"asked and got {_list([one.item for one in proposals])}"
        case Told(item=item, value=value, side=side):
            more = f", and {len(side)} labels seen with it" if side else ""
            return f"told {item} = {value:.6g}{more}"
        case Corrected(item=item, value=value):
            return f"corrected {item} to {value:.6g}"
        case Failed(item=item):
            return f"told that {item} failed"
        case Excluded(item=item):
            return f"excluded {item}"
        case Withdrawn(items=items):
            return f"withdrew {_list(items)}"
        case Undone(versions=versions):
            return f"took back event {_list([str(one) for one in versions])}"
        case Rebudgeted(budget=budget):
            return f"made the budget {budget}"
        case Moved(pool=pool):
            return f"moved the pool to {escaped(pool.path)}"


def _list(names: "list[str] | tuple[str, ...]") -> str:
    shown = ", ".join(names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown
