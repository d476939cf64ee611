"""IDS against ENS on linear models with noise 0.1, 1, 5, 10   [ASD App. ENS, Fig. ENS]"""

from serendip.core.rng import Purpose, stream
from serendip.models.linear.model import LinearModel
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.experiments.experiment import Experiment, Task
from serendip.simulate.experiments.rivals import RIVALS

NAMES = ("ids", "vids", "ens", "thompson", "greedy", "random")


def task(noise_std: float, seed: int) -> Task:
    """There are 500 candidates with d = 20; the noise is a standard deviation, as in the figure."""
    world = linear_world(500, 20, noise_std**2, stream(seed, Purpose.WORLD))
    model = LinearModel(20, prior_variance=1.0, noise_variance=noise_std**2)
    return Task(world, model, horizon=100)


EXPERIMENT = Experiment(
    name="ens",
    title="IDS against ENS, linear model",
    parameter="σ",
    settings=(0.1, 1.0, 5.0, 10.0),
    task=task,
    policies={name: RIVALS[name] for name in NAMES},
    repeats=60,
    quick_repeats=3,
    claim="ENS above IDS at low noise, below it at high noise",
)
