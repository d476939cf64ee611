"""Small problems the contract suites share: a model joins them by adding itself to the list."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from outsider import Planes
from serendip.core.data import Observation
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.protocols import Model, Pool
from serendip.core.rng import stream
from serendip.models.ensemble.estimator import EstimatorModel
from serendip.models.ensemble.forest import ForestModel
from serendip.models.ensemble.neural import NeuralModel
from serendip.models.finite import FiniteModel
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel
from serendip.models.linear.sparse import SparseLinearModel
from serendip.models.matrix.low_rank import LowRankModel
from serendip.models.matrix.model import MatrixModel
from serendip.models.mixture.auto import AutoModel, Member
from serendip.pools.dense import DensePool
from serendip.simulate.environments.graph import graph_world, random_edges
from serendip.simulate.environments.linear import linear_world, logistic_world
from serendip.simulate.environments.low_rank import low_rank_world
from serendip.simulate.environments.sparse import sparse_world
from serendip.simulate.environments.world import World


@dataclass(frozen=True)
class Problem:
    name: str
    world: World
    model: Model

    def observed(self, count: int, seed: int = 0) -> tuple[list[Observation], Pool]:
        """Some labels, and the pool without them."""
        items = stream(seed, "observed").permutation(len(self.world.pool))[:count]
        pool: Pool = self.world.pool
        seen = []
        for item in items.tolist():
            seen.append(self.world.oracle.reveal(item, stream(seed, "label", item)))
            pool = pool.without(item)
        return seen, pool


class TableOracle:
    def __init__(self, values):
        self.values = values

    def reveal(self, item, rng):
        label = float(rng.random() < self.values[item])
        return Observation(item, np.array([[item]]), np.array([label]))


def _finite(likelihood) -> Problem:
    rng = stream(1, "finite")
    table = rng.random((40, 12))
    world = World(DensePool(np.arange(12)[:, None]), TableOracle(table[3]), table[3])
    return Problem(f"finite-{type(likelihood).__name__}", world, FiniteModel(table, likelihood))


def _graph(known: bool) -> Problem:
    rng = stream(2, "graph")
    adjacency = adjacency_of(30, random_edges(30, 0.1, rng))
    model = GraphModel(adjacency, 1.0, 0.2) if known else GraphModel(adjacency)
    return Problem("graph" if known else "graph-unknown", graph_world(adjacency, 0.2, rng), model)


def _auto() -> AutoModel:
    return AutoModel(
        (Member("gp", GaussianProcessModel(4)), Member("forest", ForestModel(4), prior=0.5))
    )


def _neural() -> tuple[Callable[[], Problem], ...]:
    """Networks too, where PyTorch is installed: pip install torch, and they are under contract."""
    if find_spec("torch") is None:
        return ()
    world = linear_world(40, 4, 0.3, stream(11, "neural"))
    return (lambda: Problem("neural", world, NeuralModel(4, n_members=8, n_steps=20)),)


_BUILDERS: tuple[Callable[[], Problem], ...] = (
    lambda: Problem(
        "linear", linear_world(40, 4, 0.3, stream(3, "linear")), LinearModel(4, 1.0, 0.3)
    ),
    lambda: Problem(
        "linear-unknown", linear_world(40, 4, 0.3, stream(3, "linear")), LinearModel(4)
    ),
    lambda: Problem(
        "logistic", logistic_world(40, 4, stream(4, "logistic")), LogisticModel(4, 1.0)
    ),
    lambda: Problem(
        "logistic-unknown", logistic_world(40, 4, stream(4, "logistic")), LogisticModel(4)
    ),
    lambda: Problem(
        "sparse",
        sparse_world(40, 60, 3, 0.1, stream(5, "sparse")),
        SparseLinearModel(60, 0.05, 1.0, 0.1, n_chains=40),
    ),
    lambda: Problem(
        "sparse-unknown",
        sparse_world(40, 60, 3, 0.1, stream(5, "sparse")),
        SparseLinearModel(60, n_chains=40),
    ),
    lambda: Problem(
        "low-rank",
        low_rank_world(6, 7, 2, 0.1, stream(6, "low-rank")),
        LowRankModel(6, 7, 2, noise_variance=0.1, n_chains=40),
    ),
    lambda: Problem(
        "matrix",
        low_rank_world(6, 7, 2, 0.1, stream(6, "low-rank")),
        MatrixModel(6, 7, (np.arange(6) % 3,), (np.linspace(-1, 1, 7)[:, None],), n_chains=40),
    ),
    lambda: _graph(known=True),
    lambda: _graph(known=False),
    lambda: Problem("gp", linear_world(40, 4, 0.3, stream(7, "gp")), GaussianProcessModel(4)),
    lambda: Problem(
        "gp-inducing",
        linear_world(40, 4, 0.3, stream(7, "gp")),
        GaussianProcessModel(4, n_inducing=3),
    ),
    lambda: Problem("forest", linear_world(40, 4, 0.3, stream(8, "forest")), ForestModel(4)),
    lambda: Problem("auto", linear_world(40, 4, 0.3, stream(9, "auto")), _auto()),
    lambda: Problem(
        "estimator",
        linear_world(40, 4, 0.3, stream(9, "estimator")),
        EstimatorModel(Ridge(), 4, n_refits=10),
    ),
    lambda: Problem(
        "classifier",
        logistic_world(40, 4, stream(10, "classifier")),
        EstimatorModel(LogisticRegression(), 4, n_refits=10),
    ),
    lambda: Problem("own", linear_world(40, 4, 0.3, stream(3, "linear")), Planes(4)),
    *_neural(),
    lambda: _finite(Bernoulli()),
    lambda: _finite(Gaussian(0.1)),
)

PROBLEMS = {problem.name: problem for problem in (build() for build in _BUILDERS)}
