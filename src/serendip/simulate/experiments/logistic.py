"""Logistic regression, d = 20, 50, 100   [ASD §5.2, Fig. 1 c–d]

The figure stops at T = 100; the script of the authors' public code (`logistic-authors`) has
T = 250, λ = 2 and 1000 draws.
"""

from dataclasses import replace

from serendip.core.rng import Purpose, stream
from serendip.models.linear.logistic import LogisticModel
from serendip.policies.sample_vids import SampleVIDS
from serendip.simulate.environments.linear import logistic_world
from serendip.simulate.experiments.experiment import Experiment, Task
from serendip.simulate.experiments.rivals import RIVALS

NAMES = ("ids", "vids", "thompson", "ucb", "glm-ucb", "greedy", "random")


def task(d: int, seed: int) -> Task:
    """Features and weights are standard normal; labels are coins."""
    world = logistic_world(500, d, stream(seed, Purpose.WORLD, d))
    return Task(world, LogisticModel(d, prior_variance=1.0), horizon=100)


def authors_task(d: int, seed: int) -> Task:
    """The same, for as long as the script runs."""
    return replace(task(d, seed), horizon=250)


EXPERIMENT = Experiment(
    name="logistic",
    title="Logistic model",
    parameter="d",
    settings=(20, 50, 100),
    task=task,
    policies={name: RIVALS[name] for name in NAMES},
    repeats=60,
    quick_repeats=3,
    quick_settings=(20, 50),
    claim="IDS < Thompson < GLM-UCB, at every d",
)

AUTHORS = Experiment(
    name="logistic-authors",
    title="Logistic model (the authors' settings)",
    parameter="d",
    settings=(20, 50, 100),
    task=authors_task,
    policies={**{name: RIVALS[name] for name in NAMES}, "vids": SampleVIDS(n_draws=1000)},
    repeats=10,
    quick_repeats=2,
    quick_settings=(20,),
    claim="IDS < Thompson < GLM-UCB, at every d",
)
