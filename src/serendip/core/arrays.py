"""Names for the arrays that travel between modules."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = Any
"""An array that lives where its block lives (NumPy in memory, a device elsewhere)."""

Floats = npt.NDArray[np.float64]
"""A float64 array on the host."""

Ints = npt.NDArray[np.int64]
"""An int64 array on the host."""
