"""Low-rank matrix, 30 × 30, rank 2, σ² = 0.1, 0.5, 1   [ASD §5.2, Fig. 1 k–l]

In the script of the authors' public code (`low-rank-authors`) 0.1, 0.5 and 1 are standard
deviations, the model has noise variance 0.04 whatever the noise is, IDS has λ = 3 and 500 draws,
and every policy begins with five labels at random.
"""

from dataclasses import replace

from serendip.core.rng import Purpose, stream
from serendip.models.matrix.low_rank import LowRankModel
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.started import Started
from serendip.simulate.environments.low_rank import low_rank_world
from serendip.simulate.experiments.experiment import Experiment, Task
from serendip.simulate.experiments.rivals import RIVALS

SIZE, RANK = 30, 2
NOISE = (0.1, 0.5, 1.0)
NAMES = ("thompson", "ucb", "greedy", "random")
CLAIM = "IDS < Thompson at every noise"

AUTHORS_NOISE_VARIANCE, AUTHORS_DRAWS, AUTHORS_FIRST = 0.04, 500, 5


def task(noise: float, seed: int) -> Task:
    """Factors N(0, 1); rank and scales known to the model."""
    world = low_rank_world(SIZE, SIZE, RANK, noise, stream(seed, Purpose.WORLD))
    model = LowRankModel(SIZE, SIZE, RANK, factor_variance=1.0, noise_variance=noise)
    return Task(world, model, horizon=100)


def authors_task(noise: float, seed: int) -> Task:
    """Labels have this standard deviation; what the model takes for their noise is fixed."""
    model = LowRankModel(
        SIZE, SIZE, RANK, noise_variance=AUTHORS_NOISE_VARIANCE, n_chains=AUTHORS_DRAWS
    )
    return replace(task(noise**2, seed), model=model)


EXPERIMENT = Experiment(
    name="low-rank",
    title="Low-rank matrix",
    parameter="σ²",
    settings=NOISE,
    task=task,
    policies={
        "ids": RIVALS["ids"],
        "vids": SampleVIDS(power=3.0),
        **{name: RIVALS[name] for name in NAMES},
    },
    repeats=60,
    quick_repeats=2,
    quick_settings=(0.1, 1.0),
    claim=CLAIM,
)

_POLICIES = {**EXPERIMENT.policies, "vids": SampleVIDS(power=3.0, n_draws=AUTHORS_DRAWS)}

AUTHORS = Experiment(
    name="low-rank-authors",
    title="Low-rank matrix (the authors' settings)",
    parameter="σ",
    settings=NOISE,
    task=authors_task,
    policies={name: Started(policy, AUTHORS_FIRST) for name, policy in _POLICIES.items()},
    repeats=10,
    quick_repeats=1,
    quick_settings=(0.1,),
    claim=CLAIM,
)
