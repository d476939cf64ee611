"""What counts as found in a backtest: hits, and the best T, also where labels are tied."""

from dataclasses import dataclass

import numpy as np

from serendip.core.arrays import Floats

_SHARE = 0.1
"""Of the table, which are hits unless the user says what a hit is."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Labels at least this good. In all of this module larger is better."""

    level: float
    n: int
    """How many the table has."""
    tied: bool = False
    """Whether the best tenth ends within a tie, so that they are more than a tenth."""
    rare: bool = False
    """Whether they are all that is better than the worst label, and less than a tenth."""

    @classmethod
    def of(cls, labels: Floats, level: float | None = None) -> "Hits":
        """Those of a table.

        A tenth that would take in the worst label would be the whole table; what is better than
        the worst are then the hits. So of two values it is always the better one.

        Args:
            labels: (n,) of the whole table.
            level: By default that of the best tenth.
        """
        if level is not None:
            return cls(level, int(np.sum(labels >= level)))
        ranked = np.sort(labels)
        first = int(np.ceil((1.0 - _SHARE) * (len(ranked) - 1) - 1e-9))
        rare = bool(ranked[0] == ranked[first] < ranked[-1])
        if rare:
            first = int(np.searchsorted(ranked, ranked[0], side="right"))
        found = len(ranked) - int(np.searchsorted(ranked, ranked[first]))
        return cls(float(ranked[first]), found, found > len(ranked) - first, rare)

    def among(self, bought: Floats) -> int:
        """How many of these labels are hits."""
        return int(np.sum(bought >= self.level))


@dataclass(frozen=True, slots=True)
class Best:
    """The best T labels of a table: all above a level, and some of those at it."""

    level: float
    """The T-th best label."""
    above: int
    at: int
    """How many at the level belong to them; none where it is the worst label, which nobody looks
    for, unless all are."""
    tied: int
    """How many the table has at the level."""

    @classmethod
    def of(cls, labels: Floats, budget: int) -> "Best":
        """Those of a table that a budget of T labels could buy."""
        level = float(np.sort(labels)[-budget])
        above, tied = int(np.sum(labels > level)), int(np.sum(labels == level))
        worst = above > 0 and above + tied == len(labels)
        return cls(level, above, 0 if worst else budget - above, tied)

    def share(self, bought: Floats) -> float:
        """What was found of all that could be found."""
        at_level = min(int(np.sum(bought == self.level)), self.at)
        return (int(np.sum(bought > self.level)) + at_level) / (self.above + self.at)


def notes_on_ties(hits: Hits, best: Best, budget: int, sign: float) -> tuple[str, ...]:
    """What people should know where a level cuts through equal labels.

    Args:
        hits: Of the table.
        best: Likewise.
        budget: T.
        sign: What turns a level into the user's label: −1 where smaller is better.
    """
    notes = []
    if hits.rare:
        notes.append(
            f"Less than a tenth of the labels are better than the worst; hits are these {hits.n}."
        )
    elif hits.tied:
        notes.append(
            f"The best tenth ends within a tie; hits are all {hits.n} labels at least as good as "
            f"{sign * hits.level + 0.0:.6g}."
        )
    level = f"{sign * best.level + 0.0:.6g}"
    if best.at == 0 and best.above + best.tied > budget:
        notes.append(
            f"Only {best.above} labels are better than the worst, {level}; “top found” is the "
            "share of these."
        )
    elif best.at and best.tied > best.at:
        notes.append(
            f"The best {budget} end within a tie: {best.tied} labels are {level}, and of those "
            f"found {best.at} at most count towards “top found”."
        )
    return tuple(notes)
