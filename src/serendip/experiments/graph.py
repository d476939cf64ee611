"""Graph feedback on random, complete and star graphs, σ² = 0.1, 1, 10   [ASD §5.2, Fig. 1 e–j]

N = 900 nodes, p = 0.01, T = 50, λ = 3 and 100 draws for SampleVIDS, as in the authors' public code.
"""

from collections.abc import Callable
from functools import lru_cache

from scipy.sparse import csr_array

from serendip.core.rng import Purpose, stream
from serendip.environments.graph import complete_edges, graph_world, random_edges, star_edges
from serendip.experiments.experiment import Experiment, Task
from serendip.experiments.rivals import RIVALS
from serendip.models.graph import GraphModel, adjacency_of
from serendip.policies.sample_vids import SampleVIDS

N, CHANCE, HORIZON = 900, 0.01, 50
NOISE = (0.1, 1.0, 10.0)


def random_task(noise: float, seed: int) -> Task:
    """Any two nodes joined with probability p."""
    adjacency = adjacency_of(N, random_edges(N, CHANCE, stream(seed, Purpose.GRAPH)))
    return _task(adjacency, noise, seed)


def star_task(noise: float, seed: int) -> Task:
    """A third of the nodes joined to all; the rest joined with probability p."""
    adjacency = adjacency_of(N, star_edges(N, CHANCE, stream(seed, Purpose.GRAPH)))
    return _task(adjacency, noise, seed)


def complete_task(noise: float, seed: int) -> Task:
    """Any label shows every node."""
    return _task(_complete(), noise, seed)


@lru_cache(maxsize=1)
def _complete() -> csr_array:
    return adjacency_of(N, complete_edges(N))


def _task(adjacency: csr_array, noise: float, seed: int) -> Task:
    world = graph_world(adjacency, noise, stream(seed, Purpose.WORLD))
    model = GraphModel(adjacency, prior_variance=1.0, noise_variance=noise)
    return Task(world, model, HORIZON)


def _experiment(kind: str, task: Callable[[float, int], Task], claim: str) -> Experiment:
    names = ("thompson", "ucb", "greedy", "random")
    policies = {"ids": RIVALS["ids"], "vids": SampleVIDS(power=3.0, n_draws=100)}
    return Experiment(
        name=f"graph-{kind}",
        title=f"Graph model ({kind})",
        parameter="σ²",
        settings=NOISE,
        task=task,
        policies={**policies, **{name: RIVALS[name] for name in names}},
        quick_repeats=4,
        claim=claim,
    )


RANDOM = _experiment("random", random_task, "IDS < Thompson at every noise")
STAR = _experiment("star", star_task, "IDS < Thompson at every noise, by far")
COMPLETE = _experiment("complete", complete_task, "IDS and Thompson level")
