"""Low-rank matrix, 30 × 30, rank 2, σ² = 0.1, 0.5, 1   [ASD §5.2, Fig. 1 k–l]"""

from serendip.core.rng import Purpose, stream
from serendip.environments.low_rank import low_rank_world
from serendip.experiments.experiment import Experiment, Task
from serendip.experiments.rivals import RIVALS
from serendip.models.low_rank import LowRankModel
from serendip.policies.sample_vids import SampleVIDS

SIZE, RANK = 30, 2


def task(noise: float, seed: int) -> Task:
    """Factors N(0, 1); rank and scales known to the model."""
    world = low_rank_world(SIZE, SIZE, RANK, noise, stream(seed, Purpose.WORLD))
    model = LowRankModel(SIZE, SIZE, RANK, factor_variance=1.0, noise_variance=noise)
    return Task(world, model, horizon=100)


EXPERIMENT = Experiment(
    name="low-rank",
    title="Low-rank matrix",
    parameter="σ²",
    settings=(0.1, 0.5, 1.0),
    task=task,
    policies={
        "ids": RIVALS["ids"],
        "vids": SampleVIDS(power=3.0),
        **{name: RIVALS[name] for name in ("thompson", "ucb", "greedy", "random")},
    },
    quick_repeats=2,
    quick_settings=(0.1, 1.0),
    claim="IDS < Thompson at every noise",
)
