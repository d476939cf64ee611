"""Node values with graph feedback   [ASD §4.3, §5.2]

Choosing a node shows its own noisy value and those of its neighbours. Nodes are independent a
priori, N(m, τ²) each, and seen with noise N(0, σ²); every value seen is one more row.

With unknown scales m ~ N(0, τ²), τ² ~ InvGamma(shape, rate), and a grid over r = σ²/τ² carries
weights proportional to its marginal likelihood: a node seen n times has mean
(r m + n ȳ) / (r + n) and variance τ² r / (r + n), where ȳ ~ N(m, τ²(1 + r/n)).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array, eye_array

from serendip.core.arguments import array, instance, number, shown, sparse, whole
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import (
    Block,
    Contenders,
    HeldOut,
    Observation,
    Optima,
    Summary,
    Tradeoff,
    settled,
)
from serendip.core.errors import InvalidInput
from serendip.core.groups import Groups
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.core.rng import Purpose, stream
from serendip.models.draws import TableDraws, equal_weights
from serendip.models.fitting import (
    check_draws,
    check_one,
    check_seen,
    check_unit,
    check_variances,
    places,
)
from serendip.models.graph.scales import GraphFit, GraphScales, Looks, node_moments
from serendip.models.left_out import refitted


def adjacency_of(n_nodes: int, edges: Ints) -> csr_array:
    """A symmetric 0/1 matrix without self-loops, from an (m, 2) array of node pairs."""
    whole("n_nodes", n_nodes, 1)
    table = array("edges", edges)
    if table.size and (table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu"):
        raise InvalidInput(f"edges must be whole numbers of shape (m, 2); got {shown(table)}.")
    edges = table.astype(np.int64).reshape(-1, 2)
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


def _check_nodes(seen: Observation, n_nodes: int) -> None:
    places(seen.x, (n_nodes,), "node", f"item {seen.item}")
    whole("item", seen.item, 0, n_nodes - 1)


@dataclass(frozen=True, slots=True, eq=False)
class GraphModel:
    """Independent Gaussian nodes on a known graph.

    Give both variances, or neither: then they and the mean are unknown.

    Attributes:
        adjacency: (n, n) symmetric 0/1; see `adjacency_of`.
        prior_variance: τ²
        noise_variance: σ²
        prior_mean: m, where the variances are given.
        label_unit: What labels of the usual size measure, where it is known and scales are not.
            Otherwise it is taken from the labels seen.
    """

    adjacency: csr_array
    prior_variance: float | None = None
    noise_variance: float | None = None
    prior_mean: float = 0.0
    scales: GraphScales = field(default_factory=GraphScales)
    label_unit: float | None = None

    def __post_init__(self) -> None:
        matrix = sparse("adjacency", self.adjacency)
        if matrix.shape[0] != matrix.shape[1] or abs(matrix - matrix.T).sum() > 0:
            raise InvalidInput("An adjacency matrix must be square and symmetric.")
        object.__setattr__(self, "adjacency", matrix)
        given = (self.prior_variance, self.noise_variance)
        if (given[0] is None) != (given[1] is None):
            raise InvalidInput(
                "Give both prior_variance and noise_variance, or neither to have them inferred."
            )
        check_variances(prior_variance=self.prior_variance, noise_variance=self.noise_variance)
        number("prior_mean", self.prior_mean)
        instance("scales", self.scales, GraphScales, "GraphScales()")
        check_unit(self.label_unit)

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "GraphPosterior":
        """The posterior given these observations; the generator is not used."""
        check_seen(seen)
        n_nodes = self.adjacency.shape[0]
        closed = csr_array(self.adjacency + eye_array(n_nodes, format="csr"))
        looks = Looks(np.zeros(n_nodes), np.zeros(n_nodes), 0.0)
        open_nodes = np.ones(n_nodes)
        for one in seen:
            _check_nodes(one, n_nodes)
            looks = looks.including(one)
            open_nodes[one.item] = 0.0
        return self._posterior(closed, looks, open_nodes, tuple(seen))

    def _posterior(
        self, closed: csr_array, looks: Looks, open_nodes: Floats, seen: tuple[Observation, ...]
    ) -> "GraphPosterior":
        if self.prior_variance is not None and self.noise_variance is not None:
            fits: tuple[GraphFit, ...] = ()
            precision = 1.0 / self.prior_variance + looks.count / self.noise_variance
            pull = self.prior_mean / self.prior_variance
            mean = (pull + looks.count * looks.mean / self.noise_variance) / precision
            variance, noise_variance = 1.0 / precision, self.noise_variance
        else:
            fits = self.scales.fits(looks, self.label_unit)
            mean, variance = node_moments(fits, looks)
            noise_variance = sum(fit.weight * fit.scale * fit.ratio for fit in fits)
        return GraphPosterior(
            self, closed, looks, open_nodes, fits, mean, variance, noise_variance, seen
        )


@dataclass(frozen=True, slots=True, eq=False)
class GraphPosterior:
    """A Gaussian for every node; with unknown scales a mixture, its moments kept."""

    model: GraphModel
    closed: csr_array
    """(n, n) I + A: what choosing a node shows."""
    looks: Looks
    open_nodes: Floats
    """(n,) 1 for a node that can still be chosen, 0 for one that was."""
    fits: tuple[GraphFit, ...]
    """The grid over unknown scales; empty where they are given."""
    mean: Floats
    variance: Floats
    noise_variance: float
    """E[σ²] where it is unknown."""
    seen: tuple[Observation, ...]

    @property
    def n_labels(self) -> int:
        """How many nodes have been chosen."""
        return len(self.seen)

    @property
    def labels(self) -> Floats:
        """(t,) every look at a node so far."""
        return np.concatenate([np.empty(0), *(one.y for one in self.seen)])

    @property
    def scales_known(self) -> bool:
        """Whether mean and variances were given."""
        return not self.fits

    def update(self, seen: Observation, rng: Generator) -> "GraphPosterior":
        """Each row is one noisy look at one node; the generator is not used."""
        check_one(seen)
        _check_nodes(seen, len(self.open_nodes))
        open_nodes = self.open_nodes.copy()
        open_nodes[seen.item] = 0.0
        looks = self.looks.including(seen)
        return self.model._posterior(self.closed, looks, open_nodes, (*self.seen, seen))

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        places(x, self.mean.shape, "node", "the pool")

    def sample(self, size: int, rng: Generator) -> "GraphDraws":
        """Fresh node values."""
        check_draws(size, rng)
        normal = rng.standard_normal((size, len(self.mean)))
        if self.fits:
            table = self._sample_mixture(normal, rng)
        else:
            table = self.mean + np.sqrt(self.variance) * normal
        draws = TableDraws(table, equal_weights(size), Gaussian(self.noise_variance))
        return GraphDraws(draws, self)

    def _sample_mixture(self, normal: Floats, rng: Generator) -> Floats:
        """A point of the grid, then τ², then m, then the nodes."""
        size = len(normal)
        picks = rng.choice(len(self.fits), size=size, p=[fit.weight for fit in self.fits])
        gammas = rng.standard_gamma(self.fits[0].shape, size=size)
        levels = rng.standard_normal(size)
        for place in np.unique(picks):
            fit, own = self.fits[place], np.flatnonzero(picks == place)
            deviation = np.sqrt(fit.rate / gammas[own])
            level = fit.centre + deviation * levels[own] / np.sqrt(fit.certainty)
            drawn = fit.shrinkage(self.looks)
            normal[own] *= deviation[:, None] * np.sqrt(drawn)
            normal[own] += drawn * level[:, None] + (1.0 - drawn) * self.looks.mean
        return normal

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of each node."""
        return NodeMoments(self.mean, np.sqrt(self.variance))

    def held_out(self) -> HeldOut:
        """By refits; every look at a node is left out apart."""
        return refitted(_AtOnce(self.model), self.seen, stream(0, Purpose.HELD_OUT))


@dataclass(frozen=True, slots=True, eq=False)
class _AtOnce:
    """The same model, told all looks in one observation: their order does not matter."""

    model: GraphModel

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> GraphPosterior:
        """The posterior given these observations; which nodes are open is not kept."""
        if not seen:
            return self.model.posterior((), rng)
        x, y = np.concatenate([one.x for one in seen]), np.concatenate([one.y for one in seen])
        return self.model.posterior((Observation(seen[0].item, x, y),), rng)


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
        spread = settled(spread, self.likelihood.label_variance(mean, spread))
        return NodeSummary(mean, self._shown(spread))

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """g(x) sums p(1 − p) s⁴ / (s² + σ²) over the closed neighbourhood.

        This is the general gain with β = 0 (`LEVEL_DISCOUNT` is ½): given m, nodes are independent,
        so what a label tells of one node it tells of no other, and nothing is to be discounted.
        """
        doubt = np.zeros(len(self.source.mean))
        nodes = np.asarray(contenders.x)[:, 0].astype(np.int64)
        doubt[nodes] = contenders.doubt
        variance = self.source.variance
        mean = self.weights @ self.draws.table
        gain = self._shown(doubt * variance**2 / (variance + self.source.noise_variance))
        excess = contenders.excess(self.draws.table[:, nodes].T)
        regret = contenders.shortfall(np.arange(len(mean)), mean, excess)
        return NodeTradeoff(regret, gain, mean)

    def _shown(self, per_node: Floats) -> Floats:
        return np.asarray(self.source.closed @ (per_node * self.source.open_nodes))


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """Mean and gain looked up by node."""

    mean: Floats
    gain: Floats

    def __call__(self, block: Block) -> Summary:
        nodes = places(block.x, self.mean.shape, "node")[:, 0]
        return Summary(self.mean[nodes], self.gain[nodes])


@dataclass(frozen=True, slots=True)
class NodeTradeoff:
    """Regret, gain and mean looked up by node."""

    regret: Floats
    gain: Floats
    mean: Floats

    def __call__(self, block: Block) -> Tradeoff:
        nodes = places(block.x, self.mean.shape, "node")[:, 0]
        return Tradeoff(self.regret[nodes], self.gain[nodes], self.mean[nodes])


@dataclass(frozen=True, slots=True)
class NodeMoments:
    """Mean and standard deviation looked up by node."""

    mean: Floats
    deviation: Floats

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        nodes = places(block.x, self.mean.shape, "node")[:, 0]
        return self.mean[nodes], self.deviation[nodes]
