"""How far the interval of a forecast reaches to either side of what is expected.

    half = z·κ·√((Var + Σσ²)(1 + ρ(k − 1)))

    z    the Gaussian quantile of the level
    Var  of the sum over the draws: what is not known about f
    Σσ²  the scatter of the k labels to come
    κ²   how much larger, or smaller, the squared held-out errors so far are than the model says
    ρ    the share of the squared error of a label that is misfit common to all that are to come: a
         policy goes where the model has seen little

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
    """The rule and its constants; `docs/models.md` says which data chose them and when."""

    level: float = 0.8
    """The chance that the total lies inside."""
    shared: float = 0.08
    """ρ"""
    prior_errors: int = 2
    """Held-out errors of the expected size that κ² starts from."""
    worst: float = 9.0
    """A squared error counts at most this many times its expected size."""

    def half(self, inflation: float, variance: Floats) -> Floats:
        """(h + 1,) after 0 … h labels to come, from κ² and Var + Σσ² of their sums."""
        quantile = float(ndtri(0.5 + self.level / 2.0))
        others = np.maximum(np.arange(len(variance)) - 1, 0)
        return quantile * np.sqrt(inflation * variance * (1.0 + self.shared * others))

    def inflation(self, ratios: Floats) -> float:
        """κ² from squared held-out errors over what the model expects them to be."""
        counted = float(np.minimum(ratios, self.worst).sum())
        return (self.prior_errors + counted) / (self.prior_errors + len(ratios))


INTERVAL = Interval()
AT_RANDOM = Interval(shared=0.0)
"""Where candidates are picked at random, which leads away from nothing."""
