"""What is expected of labels that cannot lie outside a range."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from serendip.core.arrays import Floats
from serendip.core.data import Block
from serendip.core.protocols import MomentsFn


@dataclass(frozen=True, slots=True)
class LimitedMoments:
    """Mean and standard deviation of f(x) kept within limits, f(x) being Gaussian."""

    inner: MomentsFn
    low: float
    high: float

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        return limited(*self.inner(block), self.low, self.high)


def limited(mean: Floats, deviation: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Mean and standard deviation of min(max(Z, low), high) with Z ~ N(mean, deviation²).

    Measured from the point within the limits that is nearest to the mean, so that little cancels.
    """
    near = np.clip(mean, low, high)
    aside, width = mean - near, np.maximum(deviation, 1e-300)
    with np.errstate(over="ignore"):
        a, b = (np.clip((end - mean) / width, -38.0, 38.0) for end in (low, high))
    at_a, at_b = (np.exp(-0.5 * end**2) / np.sqrt(2.0 * np.pi) for end in (a, b))
    below, above = ndtr(a), ndtr(-b)
    inside = np.clip(1.0 - below - above, 0.0, 1.0)
    first = (low - near) * below + (high - near) * above
    first += aside * inside + width * (at_a - at_b)
    second = (low - near) ** 2 * below + (high - near) ** 2 * above
    second += (aside**2 + width**2) * inside + 2.0 * aside * width * (at_a - at_b)
    second += width**2 * (a * at_a - b * at_b)
    variance = np.clip(second - first**2, 0.0, deviation**2)
    return np.clip(near + first, low, high), np.sqrt(variance)
