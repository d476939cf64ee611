"""A scale that is wrong by a factor of a hundred costs; one that is left to the model does not.

Every score is the mean log density of fresh labels. Models are compared on the same worlds, by the
mean of their difference: the unknown form must not lose `room` to the form that is told the truth,
and forms that are told a hundredth or a hundred times the truth must lose `cost` to it. Both must
hold with three standard errors to spare; the seeds are fixed.
"""

import numpy as np
import pytest
from scipy.special import expit

from serendip.core.data import Block, Observation
from serendip.core.rng import stream
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.sparse import SparseLinearModel

pytestmark = pytest.mark.statistical


def by_row(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def logistic_score(model, seed):
    """Fresh coins, in expectation over them."""
    rng = stream(seed, "logistic scales")
    x, theta = rng.standard_normal((260, 10)), rng.standard_normal(10)
    chance = expit(x @ theta)
    y = (rng.random(60) < chance[:60]).astype(float)
    posterior = model.posterior(by_row(x[:60], y), rng)
    mean, _ = posterior.moments()(Block(np.arange(200), x[60:]))
    return np.mean(chance[60:] * np.log(mean) + (1 - chance[60:]) * np.log1p(-mean))


def gaussian_score(posterior, block, y, noise_variance):
    mean, deviation = posterior.moments()(block)
    variance = deviation**2 + noise_variance
    return np.mean(-0.5 * (y - mean) ** 2 / variance - 0.5 * np.log(variance))


def graph_score(model, seed):
    """One more look at every node."""
    rng = stream(seed, "graph scales")
    values = 2.0 + rng.standard_normal(60)
    nodes = rng.integers(60, size=120)
    labels = values[nodes] + np.sqrt(0.3) * rng.standard_normal(120)
    posterior = model.posterior([Observation(0, nodes[:, None], labels)], rng)
    fresh = values + np.sqrt(0.3) * rng.standard_normal(60)
    block = Block(np.arange(60), np.arange(60)[:, None])
    return gaussian_score(posterior, block, fresh, posterior.noise_variance)


def sparse_score(model, seed):
    """Fresh candidates."""
    rng = stream(seed, "sparse scales")
    x, theta = rng.standard_normal((140, 30)), np.zeros(30)
    theta[:3] = rng.standard_normal(3)
    y = x @ theta + np.sqrt(0.1) * rng.standard_normal(140)
    posterior = model.posterior(by_row(x[:40], y[:40]), rng)
    noise = posterior.sample(1, rng).likelihood.noise_variance
    return gaussian_score(posterior, Block(np.arange(100), x[40:]), y[40:], noise)


NODES = adjacency_of(60, np.empty((0, 2)))


def sparse(*scales):
    return SparseLinearModel(30, *scales, n_chains=30)


@pytest.mark.parametrize(
    ("score", "right", "unknown", "wrong", "room", "cost", "seeds"),
    [
        pytest.param(
            logistic_score,
            LogisticModel(10, 1.0),
            LogisticModel(10),
            # A width that is too large costs little here: chances are averaged over it.
            (LogisticModel(10, 0.01),),
            0.02,
            0.1,
            40,
            id="logistic",
        ),
        pytest.param(
            graph_score,
            GraphModel(NODES, 1.0, 0.3, 2.0),
            GraphModel(NODES),
            (GraphModel(NODES, 1.0, 0.003, 2.0), GraphModel(NODES, 1.0, 30.0, 2.0)),
            0.03,
            0.3,
            40,
            id="graph",
        ),
        pytest.param(
            sparse_score,
            sparse(0.1, 1.0, 0.1),
            sparse(),
            (sparse(0.1, 1.0, 0.001), sparse(0.1, 1.0, 10.0)),
            0.1,
            0.3,
            8,
            id="sparse",
        ),
    ],
)
def test_unknown_scales_cost_little_and_wrong_ones_much(
    score, right, unknown, wrong, room, cost, seeds
):
    told = np.array([score(right, seed) for seed in range(seeds)])
    found = np.array([score(unknown, seed) for seed in range(seeds)])
    lost = told - found
    assert lost.mean() + 3 * lost.std(ddof=1) / np.sqrt(seeds) < room
    for model in wrong:
        lost = found - np.array([score(model, seed) for seed in range(seeds)])
        assert lost.mean() - 3 * lost.std(ddof=1) / np.sqrt(seeds) > cost
