"""Graph worlds: random, complete and star graphs with feedback from neighbours   [ASD §5.2]"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from serendip.core.arguments import (
    counts,
    generator,
    non_negative,
    number,
    positive,
    sparse,
    whole,
)
from serendip.core.arrays import Floats, Ints
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput
from serendip.pools.dense import DensePool
from serendip.simulate.environments.world import World


def random_edges(n: int, chance: float, rng: Generator) -> Ints:
    """(m, 2) each pair joined with this probability."""
    _check(n, chance, rng)
    pairs = np.stack(np.triu_indices(n, k=1), axis=1)
    return pairs[rng.random(len(pairs)) < chance]


def complete_edges(n: int) -> Ints:
    """(m, 2) every pair joined."""
    (n,) = counts(n=n)
    return np.stack(np.triu_indices(n, k=1), axis=1).astype(np.int64)


def star_edges(n: int, chance: float, rng: Generator, hub_share: float = 1 / 3) -> Ints:
    """(m, 2) a share of hubs joined to every node; the rest joined at random among themselves."""
    _check(n, chance, rng)
    if not 0 < number("hub_share", hub_share) <= 1:
        raise InvalidInput(f"hub_share must lie in (0, 1]; got {hub_share}.")
    n_hubs = max(1, round(n * hub_share))
    pairs = np.stack(np.triu_indices(n, k=1), axis=1)
    return pairs[(pairs[:, 0] < n_hubs) | (rng.random(len(pairs)) < chance)]


def _check(n: int, chance: float, rng: Generator) -> None:
    counts(n=n)
    if not 0 <= number("chance", chance) <= 1:
        raise InvalidInput(f"chance must lie in [0, 1]; got {chance}.")
    generator("rng", rng)


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourOracle:
    """Choosing a node shows its noisy value and those of its neighbours, each with fresh noise."""

    adjacency: csr_array
    values: Floats
    noise_std: float

    def reveal(self, item: int, rng: Generator) -> Observation:
        """Row 0 is the node; the rest are its neighbours."""
        item = whole("item", item, 0, len(self.values) - 1)
        start, stop = self.adjacency.indptr[item], self.adjacency.indptr[item + 1]
        nodes = np.r_[item, self.adjacency.indices[start:stop]].astype(np.int64)
        labels = self.values[nodes] + self.noise_std * rng.standard_normal(len(nodes))
        return Observation(item, nodes[:, None], labels)


def graph_world(
    adjacency: csr_array,
    noise_variance: float,
    rng: Generator,
    prior_variance: float = 1.0,
    prior_mean: float = 0.0,
) -> World:
    """Node values ~ N(m, σ²), seen with noise ~ N(0, σ_ε²)."""
    adjacency = sparse("adjacency", adjacency)
    number("prior_mean", prior_mean)
    non_negative(noise_variance=noise_variance)
    positive(prior_variance=prior_variance)
    generator("rng", rng)
    n = adjacency.shape[0]
    values = prior_mean + np.sqrt(prior_variance) * rng.standard_normal(n)
    oracle = NeighbourOracle(adjacency, values, float(np.sqrt(noise_variance)))
    return World(DensePool(np.arange(n)[:, None]), oracle, values)


def unstructured_world(horizon: int, rng: Generator, noise_variance: float = 1.0) -> World:
    """Proposition 1: n = T² candidates that tell nothing about each other.

    The prior of the proof: T of the T² candidates, a block picked at random, have value Δ = ½, the
    others 0; labels carry noise of variance one. No policy has less than order-T regret.
    """
    (horizon,) = counts(horizon=horizon)
    non_negative(noise_variance=noise_variance)
    generator("rng", rng)
    n = horizon * horizon
    values = np.zeros(n)
    start = horizon * int(rng.integers(horizon))
    values[start : start + horizon] = 0.5
    values = values[rng.permutation(n)]
    isolated = csr_array((n, n))
    return World(
        DensePool(np.arange(n)[:, None]),
        NeighbourOracle(isolated, values, float(np.sqrt(noise_variance))),
        values,
    )
