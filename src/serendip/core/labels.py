"""What a user may write as a label, and the number it stands for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from serendip.core.arguments import number, shown
from serendip.core.errors import InvalidInput

LARGEST = 1e30
"""The largest label, up or down, that is taken: sums of squares and of fourth powers of labels stay
far from what a float can hold, also where a model computes in single precision."""


class Labels(Protocol):
    """A kind of label: turns what was written into a number, and back."""

    def encode(self, written: object) -> float:
        """The number a written label stands for; refuses what does not fit."""
        ...

    def decode(self, value: float) -> str:
        """How a number is shown to the person who wrote the labels."""
        ...


_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""A number as text; Python would also take 1_000 and the digits of every script."""


def _number(written: object) -> float:
    text = isinstance(written, str) and not _PLAIN.fullmatch(written.strip())
    if text or isinstance(written, bytes | bytearray):
        raise InvalidInput(f"A label must be a number; got {written!r}.")
    try:
        value = float(written)  # type: ignore[arg-type]  # whatever it is, float() says so
    except (TypeError, ValueError):
        raise InvalidInput(f"A label must be a number; got {shown(written)}.") from None
    except OverflowError:
        raise InvalidInput(f"A label must be a finite number; got {shown(written)}.") from None
    if not np.isfinite(value):
        raise InvalidInput(f"A label must be a finite number; got {written!r}.")
    return value


@dataclass(frozen=True, slots=True)
class Continuous:
    """Any number, or any number within [low, high] where a range is declared."""

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name))
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InvalidInput(f"A range needs low < high; got {self.low} and {self.high}.")

    def encode(self, written: object) -> float:
        """The number itself, once it is known to be inside the range and not too large."""
        if isinstance(written, bool | np.bool_):
            raise InvalidInput(
                f"A label must be a number; got {written}, which is one for binary labels only."
            )
        value = _number(written)
        if abs(value) > LARGEST:
            raise InvalidInput(
                f"A label lies between -{LARGEST:g} and {LARGEST:g}; got {value:g}. Correct it, or "
                "give labels in a larger unit."
            )
        below = self.low is not None and value < self.low
        above = self.high is not None and value > self.high
        if below or above:
            raise InvalidInput(
                f"The label {value:g} lies outside the declared range "
                f"[{self.low}, {self.high}]. Correct the label or declare a wider range."
            )
        return value

    def decode(self, value: float) -> str:
        """The number with six significant digits."""
        return f"{value:.6g}"


@dataclass(frozen=True, slots=True)
class Binary:
    """Found or not: 0 or 1 (True and False are read as such)."""

    def encode(self, written: object) -> float:
        """0.0 or 1.0."""
        value = _number(written)
        if value not in (0.0, 1.0):
            raise InvalidInput(f"A binary label must be 0 or 1; got {written!r}.")
        return value

    def decode(self, value: float) -> str:
        """'1' from one half upward, '0' below."""
        return "1" if value >= 0.5 else "0"


@dataclass(frozen=True, slots=True)
class Ordered:
    """Ordered categories, worst first, spread evenly over [0, 1].

    `Ordered(("low", "medium", "high"))` maps to 0, ½ and 1: the order is kept and the mapping is
    the object itself.
    """

    categories: Sequence[str]

    def __post_init__(self) -> None:
        if isinstance(self.categories, str) or not isinstance(self.categories, Iterable):
            raise InvalidInput(
                f"Ordered labels need categories, worst first; got {shown(self.categories)}."
            )
        names = tuple(str(name) for name in self.categories)
        if len(names) < 2:
            raise InvalidInput(f"Ordered labels need at least two categories; got {names}.")
        if len(set(names)) < len(names):
            raise InvalidInput(f"Ordered categories must differ from each other; got {names}.")
        object.__setattr__(self, "categories", names)

    @property
    def mapping(self) -> dict[str, float]:
        """Each category with its number, worst first."""
        top = len(self.categories) - 1
        return {name: rank / top for rank, name in enumerate(self.categories)}

    def encode(self, written: object) -> float:
        """The category's number in [0, 1]."""
        name = str(written).strip()
        if name not in self.mapping:
            known = ", ".join(self.categories)
            raise InvalidInput(f"The label {name!r} is not one of the categories: {known}.")
        return self.mapping[name]

    def decode(self, value: float) -> str:
        """The category whose number is nearest."""
        top = len(self.categories) - 1
        return self.categories[int(np.clip(round(value * top), 0, top))]
