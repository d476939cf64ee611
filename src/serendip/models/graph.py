"""Node values with graph feedback   [ASD §4.3, §5.2]

Choosing a node shows its own noisy value and those of its neighbours. Nodes are independent a
priori, N(prior_mean, prior_variance) each; every value seen is one more row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array, eye_array

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, Observation, Optima, Summary, Tradeoff
from serendip.core.errors import InvalidInput
from serendip.core.groups import Groups
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import TableDraws, equal_weights


def adjacency_of(n_nodes: int, edges: Ints) -> csr_array:
    """A symmetric 0/1 matrix without self-loops, from an (m, 2) array of node pairs."""
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if edges.size and (edges.min() < 0 or edges.max() >= n_nodes):
        raise InvalidInput(
            f"Edges must join nodes 0 to {n_nodes - 1}; got {edges.min()} to {edges.max()}."
        )
    edges = edges[edges[:, 0] != edges[:, 1]]
    ends = np.concatenate([edges, edges[:, ::-1]])
    ones = np.ones(len(ends))
    matrix = csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class GraphModel:
    """Independent Gaussian nodes on a known graph."""

    adjacency: csr_array
    """(n, n) symmetric 0/1; see `adjacency_of`."""
    prior_variance: float = 1.0
    noise_variance: float = 0.1
    prior_mean: float = 0.0

    def __post_init__(self) -> None:
        matrix = self.adjacency
        if matrix.shape[0] != matrix.shape[1] or abs(matrix - matrix.T).sum() > 0:
            raise InvalidInput("An adjacency matrix must be square and symmetric.")
        if not (self.prior_variance > 0 and self.noise_variance > 0):
            raise InvalidInput(
                f"Variances must be positive; got prior_variance {self.prior_variance} "
                f"and noise_variance {self.noise_variance}."
            )

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "GraphPosterior":
        """The posterior given these observations; the generator is not used."""
        n_nodes = self.adjacency.shape[0]
        prior = GraphPosterior(
            closed=csr_array(self.adjacency + eye_array(n_nodes, format="csr")),
            mean=np.full(n_nodes, self.prior_mean),
            variance=np.full(n_nodes, self.prior_variance),
            open_nodes=np.ones(n_nodes),
            noise_variance=self.noise_variance,
            n_labels=0,
        )
        for one in seen:
            prior = prior.update(one, rng)
        return prior


@dataclass(frozen=True, slots=True, eq=False)
class GraphPosterior:
    """An independent Gaussian for every node."""

    closed: csr_array
    """(n, n) I + A: what choosing a node shows."""
    mean: Floats
    variance: Floats
    open_nodes: Floats
    """(n,) 1 for a node that can still be chosen, 0 for one that was."""
    noise_variance: float
    n_labels: int

    def update(self, seen: Observation, rng: Generator) -> Self:
        """Each row is one noisy look at one node."""
        nodes = np.asarray(seen.x)[:, 0].astype(np.int64)
        looks = np.bincount(nodes, minlength=len(self.mean))
        sums = np.bincount(nodes, weights=seen.y, minlength=len(self.mean))
        precision = 1.0 / self.variance + looks / self.noise_variance
        mean = (self.mean / self.variance + sums / self.noise_variance) / precision
        open_nodes = self.open_nodes.copy()
        open_nodes[seen.item] = 0.0
        return type(self)(
            self.closed, mean, 1.0 / precision, open_nodes, self.noise_variance, self.n_labels + 1
        )

    def sample(self, size: int, rng: Generator) -> "GraphDraws":
        """Fresh node values."""
        normal = rng.standard_normal((size, len(self.mean)))
        table = self.mean + np.sqrt(self.variance) * normal
        draws = TableDraws(table, equal_weights(size), Gaussian(self.noise_variance))
        return GraphDraws(draws, self)

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of each node."""
        return NodeMoments(self.mean, np.sqrt(self.variance))


@dataclass(frozen=True, slots=True, eq=False)
class GraphDraws:
    """Tables of node values that know what choosing a node would show."""

    draws: TableDraws
    source: GraphPosterior

    @property
    def weights(self) -> Floats:
        """(M,)"""
        return self.draws.weights

    @property
    def likelihood(self) -> Gaussian:
        """Of each node that is seen."""
        return Gaussian(self.source.noise_variance)

    def values(self, block: Block) -> Array:
        """(b, M)"""
        return self.draws.values(block)

    def slack(self, block: Block) -> Floats:
        """Zero: a look-up does not round."""
        return self.draws.slack(block)

    def refine(self, x: Array, draws: Ints) -> Floats:
        """The same look-up."""
        return self.draws.refine(x, draws)

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """(I + A)v over the nodes that can still be chosen."""
        groups = Groups.of(best.peaks, best.weights)
        mean, spread = groups.spread(self.draws.table)
        return NodeSummary(mean, self._shown(spread))

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """g(x) sums p(1 − p) s⁴ / (s² + σ²) over the closed neighbourhood."""
        doubt = np.zeros(len(self.source.mean))
        doubt[np.asarray(contenders.x)[:, 0].astype(np.int64)] = contenders.doubt
        variance = self.source.variance
        mean = self.weights @ self.draws.table
        gain = self._shown(doubt * variance**2 / (variance + self.source.noise_variance))
        regret = contenders.shortfall(np.arange(len(mean)), mean)
        return NodeTradeoff(regret, gain, mean)

    def _shown(self, per_node: Floats) -> Floats:
        return np.asarray(self.source.closed @ (per_node * self.source.open_nodes))


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """Mean and gain looked up by node."""

    mean: Floats
    gain: Floats

    def __call__(self, block: Block) -> Summary:
        nodes = np.asarray(block.x)[:, 0].astype(np.int64)
        return Summary(self.mean[nodes], self.gain[nodes])


@dataclass(frozen=True, slots=True)
class NodeTradeoff:
    """Regret, gain and mean looked up by node."""

    regret: Floats
    gain: Floats
    mean: Floats

    def __call__(self, block: Block) -> Tradeoff:
        nodes = np.asarray(block.x)[:, 0].astype(np.int64)
        return Tradeoff(self.regret[nodes], self.gain[nodes], self.mean[nodes])


@dataclass(frozen=True, slots=True)
class NodeMoments:
    """Mean and standard deviation looked up by node."""

    mean: Floats
    deviation: Floats

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        nodes = np.asarray(block.x)[:, 0].astype(np.int64)
        return self.mean[nodes], self.deviation[nodes]
