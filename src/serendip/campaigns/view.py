"""What a campaign looks like at one moment: all that forecasts, reasons and reports may see."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from serendip.core.arrays import Floats, Ints
from serendip.core.data import Block
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Pool, Posterior

if TYPE_CHECKING:
    import pandas as pd


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

    def internal(self, value: float) -> float:
        """What the model sees for a label of the user."""
        return (value - self.offset) / self.factor

    def user(self, value: float) -> float:
        """What the user sees for a label of the model."""
        return self.offset + self.factor * value

    def user_width(self, width: float) -> float:
        """A width (a standard deviation, a half interval) in the user's units."""
        return abs(self.factor) * width


@dataclass(frozen=True, slots=True)
class Measured:
    """One label that was told."""

    item: int
    value: float
    """In the user's units."""
    at: str
    """When, as the user shall read it."""
    who: str
    proposed: bool
    """Whether it had been proposed, or was told out of the blue."""
    expected: float | None = None
    """What was expected when it was proposed, in the user's units, where that was kept."""


@dataclass(frozen=True, slots=True, eq=False)
class CampaignView:
    """A campaign at one moment."""

    name: str
    label: str
    """The column of the labels."""
    minimize: bool
    budget: int
    """T, labels in all."""
    model: str
    policy: str
    seed: int
    frame: "pd.DataFrame"
    """The user's pool with all its columns, indexed 0 … n − 1."""
    ids: tuple[str, ...]
    states: tuple[str, ...]
    """Of each candidate: available, proposed, measured, failed or excluded."""
    measured: tuple[Measured, ...]
    """In the order told."""
    posterior: Posterior
    """In the model's labels, larger is better."""
    pool: Pool
    """What can still be chosen."""
    labels: LabelMap
    remaining: int
    """Labels of the budget that are still to come, pending proposals included."""

    def __post_init__(self) -> None:
        n = len(self.frame)
        if len(self.ids) != n or len(self.states) != n:
            raise InvalidInput(
                f"A view needs one id and one state for each of the {n} candidates; "
                f"got {len(self.ids)} ids and {len(self.states)} states."
            )

    @property
    def pending(self) -> Ints:
        """Candidates that were proposed and not told yet."""
        return np.array([i for i, s in enumerate(self.states) if s == "proposed"], dtype=np.int64)

    @property
    def measured_items(self) -> Ints:
        """(t,) in the order told."""
        return np.array([one.item for one in self.measured], dtype=np.int64)

    @property
    def measured_values(self) -> Floats:
        """(t,) in the user's units, in the order told."""
        return np.array([one.value for one in self.measured], dtype=np.float64)

    def block(self, items: Ints) -> Block:
        """Features of any candidates, labelled ones too."""
        return Block(items, self.pool.take(items))


def shown(value: float) -> str:
    """A number as people read it: three digits, or all of them before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100.0 * share:.0f} %"
