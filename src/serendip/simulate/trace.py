"""What happened in a run, as a tidy table; and its regret   [ASD eq. 1]"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from serendip.core.arguments import array, floats, shown
from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.core.naming import known
from serendip.core.protocols import Names

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class Step:
    """One label."""

    t: int
    """From 1."""
    item: int
    label: float
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of one run, in order."""

    steps: tuple[Step, ...]
    seed: int

    @property
    def items(self) -> Ints:
        """(T,) what was labelled."""
        return np.array([step.item for step in self.steps], dtype=np.int64)

    @property
    def labels(self) -> Floats:
        """(T,)"""
        return np.array([step.label for step in self.steps])

    @property
    def total(self) -> float:
        """Σ Y_t, what the campaign is for."""
        return float(self.labels.sum())

    def figure(self, name: str) -> Floats:
        """(T,) a figure, not-a-number at steps that have none where others do."""
        known(name, self._figures, "figure", "figures of this run")
        return np.array([step.figures.get(name, np.nan) for step in self.steps])

    @property
    def _figures(self) -> dict[str, None]:
        return dict.fromkeys(name for step in self.steps for name in step.figures)

    def frame(
        self, truth: Floats | None = None, ids: Names | None = None, **columns: object
    ) -> "DataFrame":
        """A tidy table, one row a step: seed, step, item, id, label, total, regret, figures.

        Args:
            truth: (n,) f_θ(x) of the whole pool, where it is known: adds the regret.
            ids: (n,) names of the candidates.
            columns: Constant columns to put first, such as policy="ids".
        """
        import pandas as pd

        data: dict[str, object] = {**columns, "seed": self.seed}
        data["step"] = [step.t for step in self.steps]
        data["item"] = self.items
        if ids is not None:
            data["id"] = [ids[item] for item in self.items]
        data["label"] = self.labels
        data["total"] = np.cumsum(self.labels)
        if truth is not None:
            data["regret"] = regret(self.items, truth)
        data |= {name: self.figure(name) for name in self._figures}
        return pd.DataFrame(data)


def regret(items: Ints, truth: Floats) -> Floats:
    """(T,) R_t = sum of the t largest f_θ less the sum of those chosen, for t = 1…T.

    The last entry is R_T of the paper's eq. 1.
    """
    items, truth, chosen = _checked(items, truth)
    return np.asarray(np.cumsum(np.sort(truth)[::-1][: len(items)]) - np.cumsum(chosen))


def budget_regret(items: Ints, truth: Floats) -> Floats:
    """(T,) Σ_{s ≤ t} (f_(k)(S_s) − f(X_s))₊ with k = T − s + 1 labels left.

    What each choice costs given the budget that is left. Its last entry equals that of `regret`
    for every sequence of choices; it never falls on the way.
    """
    items, truth, chosen = _checked(items, truth)
    ranked = np.sort(truth)[::-1]
    costs = np.empty(len(items))
    for step, value in enumerate(chosen):
        threshold = ranked[len(items) - step - 1]
        costs[step] = max(0.0, threshold - value)
        ranked = np.delete(ranked, np.argmax(ranked == value))
    return np.asarray(np.cumsum(costs))


def _checked(items: Ints, truth: Floats) -> tuple[Ints, Floats, Floats]:
    """The items, the true values, and those of the items."""
    items, truth = array("items", items), floats("truth", truth)
    if items.ndim != 1 or (items.size and items.dtype.kind not in "iu") or truth.ndim != 1:
        raise InvalidInput(
            "A run is a row of item numbers beside a row of true values; "
            f"got {shown(items)} of {items.dtype} and {shown(truth)}."
        )
    items = items.astype(np.int64)
    if len(np.unique(items)) < len(items):
        raise InvalidInput("A run labels each candidate at most once; an item stands there twice.")
    if len(items) > len(truth):
        raise InvalidInput(f"A run of {len(items)} labels needs a truth at least as long.")
    if items.size and not 0 <= items.min() <= items.max() < len(truth):
        raise InvalidInput(
            f"The truth is of items 0 to {len(truth) - 1}; "
            f"the run has {items.min()} to {items.max()}."
        )
    return items, truth, truth[items]
