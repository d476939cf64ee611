"""Sparse linear model with many more features than labels   [ASD App. Sparse]

The appendix states a theorem and no experiment: s nonzero weights among d ≫ T, and a pool that is
exploratory (standard normal features).
"""

from serendip.core.rng import Purpose, stream
from serendip.models.linear.sparse import SparseLinearModel
from serendip.policies.sample_vids import SampleVIDS
from serendip.simulate.environments.sparse import sparse_world
from serendip.simulate.experiments.experiment import Experiment, Task
from serendip.simulate.experiments.rivals import RIVALS

SPARSITY, HORIZON = 5, 60


def task(d: int, seed: int) -> Task:
    """The model is not told the level of sparsity, nor any scale."""
    world = sparse_world(300, d, SPARSITY, 0.1, stream(seed, Purpose.WORLD, d))
    return Task(world, SparseLinearModel(d, label_unit=1.0), HORIZON)


EXPERIMENT = Experiment(
    name="sparse",
    title="Sparse linear model, d ≫ T",
    parameter="d",
    settings=(200, 500),
    task=task,
    policies={
        "ids": RIVALS["ids"],
        "vids": SampleVIDS(power=3.0),
        **{name: RIVALS[name] for name in ("thompson", "ucb", "greedy", "random")},
    },
    quick_repeats=2,
    quick_settings=(200,),
    claim="IDS has a bound of order s·T^⅔ with no power of d; no figure is printed",
)
