"""Proposition 1: without structure regret grows in proportion to T for every policy   [ASD §2]

n = T² candidates, labels N(θ_x, 1); the prior of the proof has T values of ½ and the rest 0. The
model knows that candidates are independent: the best anyone can do.
"""

import numpy as np

from serendip.core.rng import Purpose, stream
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.simulate.environments.graph import unstructured_world
from serendip.simulate.experiments.experiment import Experiment, Task
from serendip.simulate.experiments.rivals import RIVALS

NAMES = ("ids", "vids", "thompson", "ucb", "greedy", "random")


def task(horizon: int, seed: int) -> Task:
    """The prior mean and variance of a candidate are those of the proof's prior."""
    share = 1.0 / horizon
    model = GraphModel(
        adjacency_of(horizon * horizon, np.empty((0, 2), dtype=np.int64)),
        prior_mean=0.5 * share,
        prior_variance=0.25 * share * (1.0 - share),
        noise_variance=1.0,
    )
    return Task(unstructured_world(horizon, stream(seed, Purpose.WORLD, horizon)), model, horizon)


EXPERIMENT = Experiment(
    name="lower-bound",
    title="No structure: n = T² independent candidates",
    parameter="T",
    settings=(10, 20, 40, 80),
    task=task,
    policies={name: RIVALS[name] for name in NAMES},
    quick_repeats=6,
    quick_settings=(10, 20, 40),
    claim="regret grows in proportion to T for every policy",
)
