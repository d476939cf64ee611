"""Logistic regression, d = 20, 50, 100   [ASD §5.2, Fig. 1 c–d]"""

from serendip.core.rng import Purpose, stream
from serendip.environments.linear import logistic_world
from serendip.experiments.experiment import Experiment, Task
from serendip.experiments.rivals import RIVALS
from serendip.models.logistic import LogisticModel

NAMES = ("ids", "vids", "thompson", "ucb", "glm-ucb", "greedy", "random")


def task(d: int, seed: int) -> Task:
    """Features and weights are standard normal; labels are coins."""
    world = logistic_world(500, d, stream(seed, Purpose.WORLD, d))
    return Task(world, LogisticModel(d, prior_variance=1.0), horizon=100)


EXPERIMENT = Experiment(
    name="logistic",
    title="Logistic model",
    parameter="d",
    settings=(20, 50, 100),
    task=task,
    policies={name: RIVALS[name] for name in NAMES},
    quick_repeats=3,
    quick_settings=(20, 50),
    claim="IDS < Thompson < GLM-UCB, at every d",
)
