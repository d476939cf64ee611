"""Are the posteriors what they claim? Simulation-based calibration, and Laplace against MCMC.

Seeds are fixed, so a test either always passes or never does; the rate stated is that at which a
correct program would have failed had the seed been drawn at random. Each chi-square test fails for
1 in 10,000 seeds.
"""

import os

import numpy as np
import pytest
from scipy.special import expit, log_expit
from scipy.stats import chi2

from serendip.core.data import Block, Observation
from serendip.core.rng import stream
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.models.graph.scales import GraphScales
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel, UnknownScales
from serendip.simulate.environments.graph import random_edges

pytestmark = pytest.mark.statistical

FULL = bool(os.environ.get("SERENDIP_FULL"))
RUNS = 4000 if FULL else 1200
DRAWS, BINS = 19, 10
FALSE_ALARM = 1e-4


def assert_uniform(ranks):
    """Ranks of the truth among 19 draws, in ten bins of two, are uniform (Talts et al. 2018)."""
    counts = np.bincount(np.asarray(ranks) * BINS // (DRAWS + 1), minlength=BINS)
    expected = len(ranks) / BINS
    statistic = np.sum((counts - expected) ** 2 / expected)
    assert statistic < chi2.ppf(1 - FALSE_ALARM, BINS - 1), counts


def linear_ranks(noise_factor=1.0):
    """Ranks of f(x) at a fresh x; the model may be told a wrong noise."""
    ranks = []
    for run in range(RUNS):
        rng = stream(run, "sbc linear")
        x = rng.standard_normal((8, 3))
        theta = np.sqrt(2.0) * rng.standard_normal(3)
        y = x @ theta + np.sqrt(0.5) * rng.standard_normal(8)
        seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(7)]
        posterior = LinearModel(3, 2.0, 0.5 * noise_factor).posterior(seen, rng)
        values = posterior.sample(DRAWS, rng).values(Block(np.array([7]), x[7:]))[0]
        ranks.append(int(np.sum(values < x[7] @ theta)))
    return ranks


def test_linear_posterior_is_calibrated():
    assert_uniform(linear_ranks())


def test_the_test_can_fail():
    """A model told a quarter of the noise is overconfident, and this is seen."""
    with pytest.raises(AssertionError):
        assert_uniform(linear_ranks(noise_factor=0.25))


def test_unknown_scales_are_calibrated():
    """Scales drawn from the very prior of the model, labels left in its units."""
    scales = UnknownScales()
    ranks = []
    for run in range(RUNS):
        rng = stream(run, "sbc unknown")
        signal, noise = rng.choice(scales.signal_ratios), rng.choice(scales.noise_ratios)
        variance = scales.rate / rng.gamma(scales.shape)
        x = rng.standard_normal((9, 3))
        theta = np.sqrt(variance * signal / 3) * rng.standard_normal(3)
        y = x @ theta + np.sqrt(variance * noise) * rng.standard_normal(9)
        seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(8)]
        model = LinearModel(3, scales=scales, label_unit=1.0)
        posterior = model.posterior(seen, rng)
        values = posterior.sample(DRAWS, rng).values(Block(np.array([8]), x[8:]))[0]
        ranks.append(int(np.sum(values < x[8] @ theta)))
    assert_uniform(ranks)


def test_graph_posterior_is_calibrated():
    ranks = []
    for run in range(RUNS):
        rng = stream(run, "sbc graph")
        adjacency = adjacency_of(8, random_edges(8, 0.3, rng))
        values = 1.0 + np.sqrt(2.0) * rng.standard_normal(8)
        posterior = GraphModel(adjacency, 2.0, 0.5, prior_mean=1.0).posterior((), rng)
        for node in (0, 3):
            nodes = np.r_[
                node, adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
            ]
            labels = values[nodes] + np.sqrt(0.5) * rng.standard_normal(len(nodes))
            posterior = posterior.update(Observation(node, nodes[:, None], labels), rng)
        target = int(rng.integers(8))
        draws = posterior.sample(DRAWS, rng)
        drawn = draws.values(Block(np.array([target]), np.array([[target]])))[0]
        ranks.append(int(np.sum(drawn < values[target])))
    assert_uniform(ranks)


def test_unknown_scales_of_a_graph_are_calibrated():
    """Scales drawn from the very prior of the model, labels left in its units."""
    scales = GraphScales()
    adjacency = adjacency_of(6, np.array([[0, 1], [0, 2], [3, 4]]))
    model = GraphModel(adjacency, label_unit=1.0)
    ranks = []
    for run in range(RUNS):
        rng = stream(run, "sbc graph scales")
        variance = scales.rate / rng.gamma(scales.shape)
        noise = variance * rng.choice(scales.noise_ratios)
        values = np.sqrt(variance) * (rng.standard_normal() + rng.standard_normal(6))
        nodes = np.array([0, 1, 2, 3, 4, 0, 3])
        labels = values[nodes] + np.sqrt(noise) * rng.standard_normal(7)
        posterior = model.posterior([Observation(0, nodes[:, None], labels)], rng)
        target = int(rng.integers(6))
        draws = posterior.sample(DRAWS, rng)
        drawn = draws.values(Block(np.array([target]), np.array([[target]])))[0]
        ranks.append(int(np.sum(drawn < values[target])))
    assert_uniform(ranks)


def mcmc_reference(x, y, prior_variance, rng, size, chains=400):
    """Many parallel random-walk Metropolis chains on the exact logistic posterior."""

    def log_density(theta):
        score = theta @ x.T
        fit = log_expit(score) @ y + log_expit(-score) @ (1 - y)
        return fit - 0.5 * np.sum(theta**2, axis=1) / prior_variance

    d = x.shape[1]
    theta = np.sqrt(prior_variance) * rng.standard_normal((chains, d))
    current = log_density(theta)
    kept = []
    for sweep in range(size):
        proposal = theta + 0.45 * rng.standard_normal((chains, d))
        proposed = log_density(proposal)
        accepted = np.log(rng.random(chains)) < proposed - current
        theta = np.where(accepted[:, None], proposal, theta)
        current = np.where(accepted, proposed, current)
        if sweep >= size // 2 and sweep % 20 == 0:
            kept.append(theta.copy())
    return np.concatenate(kept)


@pytest.mark.parametrize("labels", [20, 60])
def test_laplace_is_close_to_the_exact_posterior(labels):
    """Chances within 0.03 and their spread within 25 % of a long MCMC run, on average over x."""
    rng = stream(labels, "laplace")
    x = rng.standard_normal((labels, 4))
    y = (rng.random(labels) < expit(x @ rng.standard_normal(4))).astype(float)
    seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(labels)]
    posterior = LogisticModel(4, 1.0).posterior(seen, rng)
    theta = mcmc_reference(x, y, 1.0, rng, size=4000 if FULL else 2000)
    fresh = rng.standard_normal((200, 4))
    exact = expit(fresh @ theta.T)
    mean, deviation = posterior.moments()(Block(np.arange(200), fresh))
    assert np.abs(mean - exact.mean(axis=1)).mean() < 0.03
    assert np.abs(mean - exact.mean(axis=1)).max() < 0.10
    ratio = deviation / exact.std(axis=1)
    assert 0.75 < np.median(ratio) < 1.25
