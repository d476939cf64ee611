"""The values that travel: frozen, slotted, and small."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from serendip.core.arguments import array, floats, number, shown, whole
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.core.labels import LARGEST


@dataclass(frozen=True, slots=True)
class Block:
    """Some candidates that are still unlabelled.

    Attributes:
        items: (b,) pool indices, increasing.
        x: (b, d) features; for a matrix (b, 2) row and column; for a graph (b, 1) node.
    """

    items: Ints
    x: Array

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Observation:
    """All that labelling one item revealed; row 0 is the item, more rows are side information.

    Attributes:
        x: (r, d)
        y: (r,)
    """

    item: int
    x: Array
    y: Floats

    def __post_init__(self) -> None:
        item = whole("item", self.item, 0)
        y = floats(f"The labels of item {item}", self.y)
        x = array(f"The features of item {item}", self.x)
        if x.ndim != 2 or y.ndim != 1:
            raise InvalidInput(
                f"An observation needs features of shape (rows, d) and labels of shape (rows,); "
                f"got {shown(x)} and {shown(y)} for item {item}."
            )
        if len(x) != len(y) or len(y) < 1:
            raise InvalidInput(
                f"An observation needs one label per row of features; "
                f"got {len(x)} rows and {len(y)} labels for item {item}."
            )
        if np.max(np.abs(y)) > LARGEST:
            raise InvalidInput(
                f"The label of item {item} is too large to compute with: {y}. Labels lie "
                f"between -{LARGEST:g} and {LARGEST:g}; give them in a larger unit."
            )
        object.__setattr__(self, "item", item)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    @property
    def label(self) -> float:
        """The label of the item itself."""
        return float(self.y[0])


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What each label would have been predicted as, had it not been known."""

    mean: Floats
    """(t,) E[y_i | the other labels]"""
    deviation: Floats
    """(t,) standard deviation of y_i given the other labels, its noise included."""
    log_density: Floats
    """(t,) log p(y_i | the other labels)"""


@dataclass(frozen=True, slots=True)
class Optima:
    """Where each draw has its k largest values over the remaining pool, best first."""

    items: Ints
    """(M, k): X*₁ … X*ₖ of each draw."""
    values: Floats
    """(M, k): f at those items, decreasing."""
    weights: Floats
    """(M,) weight of each draw; they sum to one."""

    @property
    def peaks(self) -> Ints:
        """(M,) X*₁, the best candidate of each draw."""
        return self.items[:, 0]

    @property
    def best_mean(self) -> float:
        """E[max f]."""
        return float(self.weights @ self.values[:, 0])

    @property
    def size(self) -> float:
        """E|max f|, beside which differences of labels are rounding."""
        return float(self.weights @ np.abs(self.values[:, 0]))

    @property
    def thresholds(self) -> Floats:
        """(M,) f_(k), the k-th largest value of each draw."""
        # In one piece, as it arrives at other processes: sums round by how numbers lie in memory.
        return np.ascontiguousarray(self.values[:, -1])


@dataclass(frozen=True, slots=True)
class Leading:
    """Who is among the k best of each draw: less than `Optima`, and found sooner."""

    items: Ints
    """(M, k) in any order."""
    thresholds: Floats
    """(M,) f_(k), the k-th largest value of each draw."""
    weights: Floats
    """(M,) weight of each draw; they sum to one."""


LEVEL_DISCOUNT = 0.5
"""β: the part of what a label tells about f_(k) that is no news about who is among the k best.

Graphs alone have β = 0: their nodes are independent, so no label tells of a level of them all."""


@dataclass(frozen=True, slots=True)
class Contenders:
    """The candidates that at least one draw holds among its k best."""

    items: Ints
    """(c,), increasing."""
    x: Array
    """(c, d)"""
    share: Floats
    """(c,) p(x′) = P(x′ among the k best)."""
    thresholds: Floats
    """(M,) f_(k) of each draw."""
    weights: Floats
    """(M,) weight of each draw."""

    @property
    def doubt(self) -> Floats:
        """(c,) w = p(1 − p): how much its membership is in doubt."""
        spread = self.share * (1.0 - self.share)
        return np.where(spread > 1e-12, spread, 0.0)

    def excess(self, values: Floats) -> Floats:
        """(c,) E[(f(x′) − f_(k))₊], given (c, M) the values of the contenders."""
        return np.asarray(np.clip(values - self.thresholds, 0.0, None) @ self.weights)

    def shortfall(self, items: Ints, mean: Floats, excess: Floats) -> Floats:
        """(b,) E[(f_(k) − f(x))₊] over the draws, of items whose mean over the draws is given.

        (a)₊ = a + (−a)₊, and the last term vanishes but for contenders, where it is the excess.
        """
        place = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        beyond = np.where(self.items[place] == items, excess[place], 0.0)
        level = float(self.weights @ self.thresholds)
        return settled(level - mean + beyond, float(self.weights @ np.abs(self.thresholds)))


_ROUNDING = 1e-12
"""What is smaller than this, beside what it was computed from, is rounding."""


def settled(found: Floats, size: float | Floats) -> Floats:
    """Regrets and gains that are zero but for rounding become zero: its sign decides nothing.

    Args:
        found: Not negative in theory.
        size: Natural size: that of labels for a regret, the variance of a label or of what it is to
            tell about for a gain, 1 for information in nats.
    """
    return np.where(found > _ROUNDING * size, found, 0.0)


def certain(share: Floats) -> Floats:
    """Shares that are one but for rounding become one."""
    return np.where(share > 1.0 - _ROUNDING, 1.0, share)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a step needs to know of each candidate of a block."""

    mean: Floats
    """(b,) f̄(x)"""
    gain: Floats
    """(b,) v(x), or g(x): what labelling x would tell."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What to order the candidates of a block by; lower is better.

    The first key decides; candidates that tie on it go by the second, and so on.
    """

    keys: tuple[Floats, ...]
    """Each (b,)."""


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """What each candidate of a block would cost now and tell for later."""

    regret: Floats
    """(b,) Δ(x) ≥ 0, the expected instant regret."""
    gain: Floats
    """(b,) v(x) or g(x) ≥ 0."""
    mean: Floats
    """(b,) f̄(x)"""


@dataclass(frozen=True, slots=True)
class Choice:
    """What to label next, and why.

    Attributes:
        details: Figures behind the choice: expected regret, gain, ratio, mean, … as the policy has
            them.
    """

    item: int
    score: float
    details: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole("item", self.item, 0)
        if not isinstance(self.score, int | float) or isinstance(self.score, bool):
            number("score", self.score)  # a float may be infinite, where nothing can be learnt
        if not isinstance(self.details, Mapping):
            raise InvalidInput(f"details must be figures by name; got {shown(self.details)}.")
