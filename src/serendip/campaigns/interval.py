"""How far the interval of a forecast reaches to either side of what is expected.

    half = z·κ·√(γ² Var + Σσ²)

    z       the Gaussian quantile of the level
    Var     of the sum over the draws: what is not known about f
    Σσ²     the scatter of the k labels still to come
    κ² ≥ 1  how much larger the squared held-out errors so far are than the model says
    γ²      (k / n)^a: the more labels are to come for each one seen, the further a policy goes
            from what the model has seen

The draws differ in level, noise and scales, so no Student quantile is added for these. How far a
campaign stays below the best that each draw holds is not added either: that is the best of many
values, and a bias, not an error to both sides.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from serendip.core.arrays import Floats


@dataclass(frozen=True, slots=True)
class Interval:
    """The rule and its constants; how these were chosen is in `docs/models.md`."""

    level: float = 0.8
    """The chance that the total lies inside."""
    power: float = 0.5
    """a"""
    least: float = 1.0 / 3.0
    """k / n counts as no less: what is left after three quarters of a budget."""
    most: float = 3.0
    """Nor as more: what is left after a quarter. Nothing was measured outside."""
    prior_errors: int = 2
    """Held-out errors of the expected size that κ² starts from."""
    worst: float = 9.0
    """A squared error counts at most this many times its expected size."""

    def half(self, inflation: float, reach: float, variance: Floats, scatter: Floats) -> Floats:
        """z·κ·√(γ² Var + Σσ²) from κ², γ², Var and Σσ²."""
        quantile = float(ndtri(0.5 + self.level / 2.0))
        return quantile * np.sqrt(inflation * (reach * variance + scatter))

    def reach(self, n_seen: int, n_left: int) -> float:
        """γ² with so many labels seen and so many to come."""
        ratio = n_left / max(1, n_seen)
        return float(min(max(ratio, self.least), self.most) ** self.power)

    def inflation(self, ratios: Floats) -> float:
        """κ² from squared held-out errors over what the model expects them to be."""
        counted = float(np.minimum(ratios, self.worst).sum())
        return max(1.0, (self.prior_errors + counted) / (self.prior_errors + len(ratios)))


INTERVAL = Interval()
