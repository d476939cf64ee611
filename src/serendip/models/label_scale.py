"""What labels are measured from and in, so that their units do not matter."""

import numpy as np

# Root mean square and spread of the labels the prior of s² was made for: yields in [0, 1].
_SIZE, _SPREAD = 0.5, 0.3


def label_scale(
    label_sum: float, energy: float, n_rows: int, *, constant: bool, unit: float | None
) -> tuple[float, float]:
    """Offset and unit of the labels.

    Labels that lie far from zero for their spread are centred, where there is a constant to
    carry the centre back; others are left where they are.

    Args:
        label_sum: 1ᵀy.
        energy: yᵀy.
        n_rows: How many labels there are.
        constant: Whether the model has a constant term.
        unit: What labels of the usual size measure, where it is known.
    """
    if unit is not None:
        return 0.0, unit
    if n_rows == 0 or energy == 0.0:
        return 0.0, 1.0
    centre = label_sum / n_rows
    size = np.sqrt(energy / n_rows)
    spread = np.sqrt(max(energy / n_rows - centre**2, 0.0))
    far = constant and abs(centre) > 3.0 * spread > 1e-6 * size
    return (centre, float(spread / _SPREAD)) if far else (0.0, float(size / _SIZE))


def far_apart(unit: float, other: float) -> bool:
    """Whether chains that measured labels in one unit are no start for the other."""
    return not 0.25 < unit / other < 4.0
