"""Contrasts between regrets, a figure a seed, and what they say of a claim.

A contrast *holds* where its 95 % interval lies on the claimed side of zero, *fails* where it lies
on the other, and *cannot be told* where it holds zero; one claimed to be zero holds where its
interval holds zero.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from serendip.core.arrays import Floats

Claimed = Literal["below", "zero", "above"]
Word = Literal["holds", "fails", "cannot be told"]
WORDS: tuple[Word, ...] = ("holds", "fails", "cannot be told")


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """A figure for each seed, whose mean is claimed to be below zero, zero, or above."""

    values: Floats
    claimed: Claimed
    level: float = 0.95

    @property
    def interval(self) -> tuple[float, float]:
        """Student's, of the mean."""
        n = len(self.values)
        error = float(np.std(self.values, ddof=1)) / np.sqrt(n) if n > 1 else np.inf
        width = float(stats.t.ppf(0.5 + self.level / 2, n - 1)) * error if n > 1 else np.inf
        mean = float(np.mean(self.values))
        return mean - width, mean + width

    @property
    def word(self) -> Word:
        """How the claim stands."""
        low, high = self.interval
        if self.claimed == "zero":
            return "holds" if low <= 0 <= high else "fails"
        if self.claimed == "above":
            low, high = -high, -low
        if high < 0:
            return "holds"
        return "fails" if low >= 0 else "cannot be told"

    def __str__(self) -> str:
        low, high = self.interval
        return f"{np.mean(self.values):+.2f} [{low:+.2f}, {high:+.2f}]"


def joined(words: list[Word]) -> Word:
    """Of parts that must all hold."""
    return max(words, key=("holds", "cannot be told", "fails").index)
