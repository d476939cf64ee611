"""Which labels there may be (any number, a range, categories, 0 or 1), and how a model sees them.

Campaigns and backtests read their labels through this, so that both show a model the same numbers.
"""

import math
from dataclasses import dataclass
from numbers import Real
from typing import TypeVar

import numpy as np

from serendip.core.arguments import flag, shown
from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.core.labels import Binary, Continuous, Labels, Ordered

Number = TypeVar("Number", float, Floats)


@dataclass(frozen=True, slots=True)
class LabelMap:
    """Between the user's labels and those the model sees, where larger is better.

        user = offset + factor · internal

    The factor is negative where smaller labels are better.
    """

    offset: float = 0.0
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.offset) and np.isfinite(self.factor) and self.factor != 0):
            raise InvalidInput(
                f"A label map needs a finite offset and a factor other than zero; "
                f"got {self.offset} and {self.factor}."
            )

    def internal(self, value: Number) -> Number:
        """What the model sees for a label of the user."""
        return (value - self.offset) / self.factor

    def user(self, value: float) -> float:
        """What the user sees for a label of the model."""
        return self.offset + self.factor * value

    def limits(self, bounds: tuple[float, float] | None) -> tuple[float, float]:
        """The ends of a range of the user as the model sees them; infinite where there is none."""
        if bounds is None:
            return -np.inf, np.inf
        low, high = sorted(self.internal(end) for end in bounds)
        return low, high

    def user_width(self, width: float) -> float:
        """A width (a standard deviation, a half interval) in the user's units."""
        return abs(self.factor) * width


def _two_numbers(ends: object) -> bool:
    return (
        isinstance(ends, tuple | list)
        and len(ends) == 2
        and all(isinstance(end, Real) and not isinstance(end, bool) for end in ends)
        and all(math.isfinite(end) for end in ends)
    )


@dataclass(frozen=True, slots=True)
class LabelKind:
    """What the user said of the labels."""

    minimize: bool = False
    """Whether smaller labels are better."""
    range: tuple[float, float] | None = None
    """The smallest and the largest label there can be."""
    categories: tuple[str, ...] = ()
    """Labels in words, worst first."""
    binary: bool = False
    """Whether every label is 0 or 1."""

    def __post_init__(self) -> None:
        flag("minimize", self.minimize)
        flag("binary", self.binary)
        if (self.range is not None) + bool(self.categories) + self.binary > 1:
            raise InvalidInput(
                "Labels have a range, or are categories, or are binary; give one of the three."
            )
        if self.range is not None and not _two_numbers(self.range):
            raise InvalidInput(f"A range needs two finite numbers; got {shown(self.range)}.")
        for word in self.categories:
            if not isinstance(word, str):
                raise InvalidInput(f"Categories are words, worst first; got {shown(word)}.")
            if not word or word.lower() in ("failed", "excluded"):
                raise InvalidInput(
                    f"A category cannot be called {word!r}, which means something else in a table "
                    "of results; choose another word."
                )
        if self.categories and self.minimize:
            raise InvalidInput(
                "Categories are ordered worst first, so minimize has no meaning; write them the "
                "other way round instead."
            )
        self.labels  # noqa: B018  # refuses a range that is none

    @property
    def declared(self) -> bool:
        """Whether the least and the largest label are known."""
        return self.range is not None or bool(self.categories) or self.binary

    @property
    def labels(self) -> Labels:
        """What may be written as a label."""
        if self.binary:
            return Binary()
        if self.categories:
            return Ordered(self.categories)
        low, high = self.range or (None, None)
        return Continuous(low, high)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the largest label there can be, where that was said."""
        return (0.0, 1.0) if self.binary or self.categories else self.range

    def label_map(self) -> LabelMap:
        """Between the user's labels and the model's; a range that is known is seen as [0, 1]."""
        if self.bounds is None:
            return LabelMap(0.0, -1.0 if self.minimize else 1.0)
        low, high = self.bounds
        return LabelMap(high, low - high) if self.minimize else LabelMap(low, high - low)
