"""A made-up screen of coupling reactions, so that everything can be tried without data.

The pool is shipped with the package: 320 conditions, ten ligands × four bases × four solvents × two
temperatures, described as a chemist would. The yields are simulated: a smooth surface with a ridge
and an interaction, that no model here matches exactly, and noise.
"""

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from serendip.core.arrays import Floats
from serendip.core.rng import Purpose, stream

if TYPE_CHECKING:
    from pandas import DataFrame


def demo_pool() -> "DataFrame":
    """The bundled pool: one candidate a row, named by the column `id`."""
    import pandas as pd

    with (
        files("serendip").joinpath("simulate/environments/bundled/reactions.csv").open("rb") as file
    ):
        return pd.read_csv(file)


def demo_yields(pool: "DataFrame", seed: int = 0) -> Floats:
    """(n,) simulated yields in percent, of which no model knows how they are made."""
    angle = (pool["cone_angle"].to_numpy() - 160.0) / 25.0
    buried = (pool["buried_volume"].to_numpy() - 35.0) / 6.0
    strength = (pool["base_pka"].to_numpy() - 26.0) / 6.0
    polarity = (pool["solvent_polarity"].to_numpy() - 0.3) / 0.15
    hot = (pool["temperature"].to_numpy() - 70.0) / 10.0
    surface = (
        np.exp(-((angle - 0.4) ** 2)) * (1.0 - 0.35 * np.abs(strength - 0.3))
        + 0.25 * np.tanh(buried * strength)
        - 0.2 * polarity * angle
        + 0.12 * hot
    )
    noise = 0.06 * stream(seed, Purpose.DEMO_YIELDS).standard_normal(len(pool))
    return np.round(100.0 / (1.0 + np.exp(-3.0 * (surface + noise - 0.75))), 1)
