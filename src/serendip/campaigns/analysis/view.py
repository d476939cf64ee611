"""What a campaign looks like at one moment: all that forecasts, reasons and reports may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from serendip.core.arrays import Floats, Ints
from serendip.core.data import Block
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Names, Pool, Posterior
from serendip.problems.label_kinds import LabelMap

if TYPE_CHECKING:
    from serendip.campaigns.candidates import Candidates


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
    candidates: "Candidates"
    """Names and the user's columns, looked up when needed."""
    states: Mapping[int, str]
    """Of each candidate that anything happened to: proposed, measured, failed or excluded."""
    measured: tuple[Measured, ...]
    """In the order told."""
    posterior: Posterior
    """In the model's labels, larger is better."""
    pool: Pool
    """What can still be chosen."""
    labels: LabelMap
    remaining: int
    """Labels of the budget that are still to come, pending proposals included."""
    bounds: tuple[float, float] | None = None
    """The least and the largest label there can be, in the user's units, where that was said."""
    rows: Sequence[int] | None = None
    """(t,) which of the labels that the posterior has seen each of the measured is, where it has
    seen others too: labels known before, or shown beside a result."""

    def __post_init__(self) -> None:
        unknown = next((item for item in self.states if not 0 <= item < len(self.ids)), None)
        if unknown is not None:
            raise InvalidInput(
                f"A view has {len(self.ids)} candidates; got a state of candidate {unknown}."
            )

    @property
    def ids(self) -> Names:
        """(n,) the name of each candidate."""
        return self.candidates.ids

    def state(self, item: int) -> str:
        """`available`, `proposed`, `measured`, `failed` or `excluded`."""
        return self.states.get(item, "available")

    @property
    def pending(self) -> Ints:
        """Candidates that were proposed and not told yet."""
        waiting = (item for item, state in self.states.items() if state == "proposed")
        return np.array(sorted(waiting), dtype=np.int64)

    @property
    def measured_items(self) -> Ints:
        """(t,) in the order told."""
        return np.array([one.item for one in self.measured], dtype=np.int64)

    @property
    def measured_values(self) -> Floats:
        """(t,) in the user's units, in the order told."""
        return np.array([one.value for one in self.measured], dtype=np.float64)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest label there can be as the model sees them, or infinite."""
        return self.labels.limits(self.bounds)

    def in_user_units(self, values: Floats) -> Floats:
        """Labels as the user reads them, none outside the declared range."""
        found = self.labels.offset + self.labels.factor * values
        return np.asarray(found if self.bounds is None else np.clip(found, *self.bounds))

    def block(self, items: Ints) -> Block:
        """Features of any candidates, labelled ones too."""
        return Block(items, self.pool.take(items))


def shown(value: float) -> str:
    """A number as people read it: three digits, or all of them before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100.0 * share:.0f} %"
