"""What labels are measured from and in, so that neither their zero nor their unit matters."""

import numpy as np

from serendip.core.arrays import Floats

# The labels the prior of s² was made for: of root mean square ½, as yields in [0, 1] have it, and
# with their mean two spreads above zero, as where a policy chose them.
_SIZE, _ABOVE = 0.5, 2.0
_SPREAD = _SIZE / (1.0 + _ABOVE**2) ** 0.5

_ALIKE = 1e-9
"""Labels that differ less than this, beside their size, are all alike."""


def label_scale(y: Floats, *, constant: bool, unit: float | None) -> tuple[float, float]:
    """Offset and unit of the labels.

    With a constant to carry the offset back, labels are measured so that they lie as the prior
    expects, whatever their zero: with root mean square ½ and their mean two spreads above zero.
    Nothing that is told of them changes but by the same shift and factor. Without one they keep
    their zero.

    Args:
        y: (t,)
        constant: Whether the model has a constant term.
        unit: What labels of the usual size measure, where it is known; they keep their zero.
    """
    if unit is not None:
        return 0.0, unit
    if len(y) == 0:
        return 0.0, 1.0
    centre = float(y.mean())
    return scale_of(centre, float(np.sqrt(np.mean((y - centre) ** 2))), constant=constant)


def scale_of(centre: float, spread: float, *, constant: bool) -> tuple[float, float]:
    """The same from the mean of the labels and their standard deviation."""
    size = float(np.hypot(centre, spread))
    if size == 0.0:
        return 0.0, 1.0
    if not constant:
        return 0.0, size / _SIZE
    if spread <= _ALIKE * size:
        return centre, size / _SIZE
    unit = spread / _SPREAD
    return centre - _ABOVE * spread, unit


def far_apart(y: Floats, unit: float, other: float) -> bool:
    """Whether chains that measured these labels in one unit are no start for the other.

    A unit of labels that are all alike is of their size alone, which says nothing of their spread.
    """
    alike = float(np.ptp(y)) <= _ALIKE * float(np.abs(y).max())
    room = 1.0 + 1e-6 if alike else 4.0
    return not 1.0 / room < unit / other < room
