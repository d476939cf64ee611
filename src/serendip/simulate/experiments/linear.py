"""Linear regression, d = 20, 50, 100   [ASD §5.2, Fig. 1 a–b]

There are 500 candidates, features and weights are standard normal, and T = 100. The paper does not
print these nor the noise; the authors' public code has noise standard deviation 0.1 and 100 draws.
`linear` runs the noise at 1, where policies are told apart, and `linear-printed` the authors'
settings.
"""

from serendip.core.rng import Purpose, stream
from serendip.models.linear.model import LinearModel
from serendip.policies.sample_vids import SampleVIDS
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.experiments.experiment import Experiment, Task
from serendip.simulate.experiments.rivals import RIVALS

N, HORIZON = 500, 100
NAMES = ("ids", "vids", "thompson", "ucb", "oful", "greedy", "random")
DIMENSIONS = (20, 50, 100)


def task(d: int, seed: int) -> Task:
    """All scales one, and known to the model."""
    return _task(d, seed, noise_variance=1.0)


def printed_task(d: int, seed: int) -> Task:
    """The authors' noise."""
    return _task(d, seed, noise_variance=0.01)


def _task(d: int, seed: int, noise_variance: float) -> Task:
    world = linear_world(N, d, noise_variance, stream(seed, Purpose.WORLD, d))
    model = LinearModel(d, prior_variance=1.0, noise_variance=noise_variance)
    return Task(world, model, HORIZON)


EXPERIMENT = Experiment(
    name="linear",
    title="Linear model (noise variance 1)",
    parameter="d",
    settings=DIMENSIONS,
    task=task,
    policies={name: RIVALS[name] for name in NAMES},
    repeats=60,
    quick_settings=(20, 50),
    claim="IDS < Thompson < UCB with theory's width, at every d",
)

PRINTED = Experiment(
    name="linear-printed",
    title="Linear model (the authors' settings: noise 0.1²)",
    parameter="d",
    settings=DIMENSIONS,
    task=printed_task,
    policies={**{name: RIVALS[name] for name in NAMES}, "vids": SampleVIDS(n_draws=100)},
    repeats=60,
    quick_settings=(20,),
    claim="IDS < Thompson < UCB with theory's width, at every d",
)
