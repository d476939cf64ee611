"""Graph feedback on random, complete and star graphs, σ² = 0.1, 1, 10   [ASD §5.2, Fig. 1 e–j]

The text has N = 900 nodes N(0, 1), p = 0.01 and T = 50; λ = 3 and 100 draws for SampleVIDS are
those of the authors' public code. Its script (`graph-random-authors` and so on) has N = 300 nodes
of standard deviation 10, and 0.1, 1 and 10 are the standard deviation of the noise in the labels,
but the variance that the posterior takes it to have.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from scipy.sparse import csr_array

from serendip.core.rng import Purpose, stream
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.policies.sample_vids import SampleVIDS
from serendip.simulate.environments.graph import (
    complete_edges,
    graph_world,
    random_edges,
    star_edges,
)
from serendip.simulate.experiments.experiment import Experiment, Task
from serendip.simulate.experiments.rivals import RIVALS

CHANCE, HORIZON = 0.01, 50
NOISE = (0.1, 1.0, 10.0)

Kind = Literal["random", "complete", "star"]


@dataclass(frozen=True, slots=True)
class GraphTask:
    """(noise, seed) → what to play; the text's settings unless told otherwise."""

    kind: Kind
    """Any two nodes joined with probability p; all joined; a third of the nodes joined to all, the
    rest with probability p."""
    n: int = 900
    node_mean: float = 0.0
    node_std: float = 1.0
    """The nodes' spread; the model knows it, and has mean 0."""
    noise_is_std: bool = False
    """Labels have noise of this standard deviation, and the model takes it for a variance."""

    def __call__(self, noise: float, seed: int) -> Task:
        adjacency = self._adjacency(seed)
        world = graph_world(
            adjacency,
            noise**2 if self.noise_is_std else noise,
            stream(seed, Purpose.WORLD),
            prior_variance=self.node_std**2,
            prior_mean=self.node_mean,
        )
        model = GraphModel(adjacency, prior_variance=self.node_std**2, noise_variance=noise)
        return Task(world, model, HORIZON)

    def _adjacency(self, seed: int) -> csr_array:
        if self.kind == "complete":
            return _complete(self.n)
        edges = random_edges if self.kind == "random" else star_edges
        return adjacency_of(self.n, edges(self.n, CHANCE, stream(seed, Purpose.GRAPH)))


@lru_cache(maxsize=2)
def _complete(n: int) -> csr_array:
    return adjacency_of(n, complete_edges(n))


def _experiment(task: GraphTask, claim: str) -> Experiment:
    names = ("thompson", "ucb", "greedy", "random")
    policies = {"ids": RIVALS["ids"], "vids": SampleVIDS(power=3.0, n_draws=100)}
    scripted = task.noise_is_std
    return Experiment(
        name=f"graph-{task.kind}" + ("-authors" if scripted else ""),
        title=f"Graph model ({task.kind}" + (", the authors' settings)" if scripted else ")"),
        parameter="σ" if scripted else "σ²",
        settings=NOISE,
        task=task,
        policies={**policies, **{name: RIVALS[name] for name in names}},
        repeats=20 if scripted else 60,
        quick_repeats=4,
        claim=claim,
    )


def _authors(kind: Kind, node_mean: float) -> GraphTask:
    return GraphTask(kind, n=300, node_mean=node_mean, node_std=10.0, noise_is_std=True)


_CLAIMS: dict[Kind, str] = {
    "random": "IDS < Thompson at every noise",
    "complete": "IDS and Thompson level",
    "star": "IDS < Thompson at every noise, by far",
}

RANDOM, COMPLETE, STAR = (_experiment(GraphTask(kind), claim) for kind, claim in _CLAIMS.items())

RANDOM_AUTHORS = _experiment(_authors("random", 1.0), _CLAIMS["random"])
COMPLETE_AUTHORS = _experiment(_authors("complete", 1.0), _CLAIMS["complete"])
STAR_AUTHORS = _experiment(_authors("star", 0.0), _CLAIMS["star"])
