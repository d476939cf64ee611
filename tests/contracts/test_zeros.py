"""What is zero in theory is zero to the bit: no ratio of two roundings picks a candidate."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.reductions.folds import contenders, optima
from serendip.models.draws import LinearDraws, TableDraws, equal_weights
from serendip.models.finite import FiniteModel
from serendip.models.gp.kernels import radial, single_columns
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.graph.model import GraphDraws, GraphModel, adjacency_of
from serendip.pools.dense import DensePool

SURE = 2
"""The candidate that all draws agree on; they differ about the best."""
NUMBERS = DensePool(np.arange(6)[:, None])
ALL = Block(np.arange(6), NUMBERS.x)
either_kind = pytest.mark.parametrize("likelihood", [Gaussian(0.1), Bernoulli()])


def table_of(rng, n_draws):
    values = rng.random((n_draws, 6))
    values[:, SURE] = rng.random()
    return values


def check(gains):
    """Of one problem after the other."""
    assert [gain[SURE] for gain in gains] == [0.0] * len(gains)
    assert sum(gain.any() for gain in gains) > len(gains) // 2


@either_kind
@pytest.mark.parametrize("ordered", [True, False])
def test_a_label_that_all_parameters_agree_on_tells_nothing(likelihood, ordered):
    gains = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model = FiniteModel(table_of(rng, 5), likelihood, rng.dirichlet(np.ones(5)))
        posterior = model.posterior((), rng)
        best = optima(NUMBERS, posterior.atoms(), 2)
        gains.append(posterior.information(best, ordered)(ALL).gain)
    check(gains)


@either_kind
def test_a_value_that_all_draws_agree_on_tells_nothing(likelihood):
    peaks, budgets = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        draws = TableDraws(table_of(rng, 7), rng.dirichlet(np.ones(7)), likelihood)
        peaks.append(draws.summary(optima(NUMBERS, draws))(ALL).gain)
        budgets.append(draws.tradeoff(contenders(NUMBERS, optima(NUMBERS, draws, 2)))(ALL).gain)
    check(peaks)
    check(budgets)


def test_a_node_that_all_draws_agree_on_tells_nothing():
    gains = []
    graph = adjacency_of(6, np.array([[0, 1], [1, 3], [3, 4], [4, 5]]))  # the sure one is alone
    for seed in range(60):
        rng = np.random.default_rng(seed)
        posterior = GraphModel(graph, 1.0, noise_variance=0.5).posterior((), rng)
        table = TableDraws(table_of(rng, 20), equal_weights(20), Gaussian(0.5))
        draws = GraphDraws(table, posterior)
        gains.append(draws.summary(optima(NUMBERS, draws))(ALL).gain)
    check(gains)


@pytest.mark.parametrize("turned", [True, False])
def test_a_direction_that_all_draws_agree_on_tells_nothing_and_costs_nothing(turned):
    """Candidate 0 is known exactly, and the best."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        turn = np.linalg.qr(rng.standard_normal((4, 4)))[0] if turned else np.eye(4)
        x, root = rng.standard_normal((10, 4)), rng.standard_normal((4, 4))
        x[:, 0], x[0], root[0] = 0.0, (1.0, 0.0, 0.0, 0.0), 0.0
        mean = np.append(300.0 + rng.random(), rng.standard_normal(3))
        theta = mean + rng.standard_normal((30, 4)) @ root.T
        covariance = turn @ root @ root.T @ turn.T
        weights = rng.dirichlet(np.ones(30))
        draws = LinearDraws(theta @ turn.T, weights, turn @ mean, covariance, Gaussian(0.1))
        pool = DensePool(x @ turn.T)
        block = Block(np.arange(10), pool.x)
        summary = draws.summary(optima(pool.without(0), draws))(block)
        tradeoff = draws.tradeoff(contenders(pool, optima(pool, draws, 3)))(block)
        last = draws.tradeoff(contenders(pool, optima(pool, draws, 1)))(block)
        assert (summary.gain[0], tradeoff.gain[0]) == (0.0, 0.0)
        assert (summary.gain[1:] > 0).all()
        assert (tradeoff.gain[1:] > 0).all()
        if not turned:  # or it is as much as the rounding of the covariance makes of it
            assert last.regret[0] == 0.0
            assert (last.regret[1:] > 0).all()


def test_a_process_that_is_nearly_sure_of_the_best_expects_no_regret_of_it():
    """Two of eight are to be chosen, one stands ten deviations above the others."""
    x = np.tile(np.arange(8.0), 2)[:, None]
    labels = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 3.0, 0.5, 0.0])
    kernel = radial(single_columns(1), 1.0)
    model = GaussianProcessModel(1, kernels=(kernel,), noise_ratios=(0.01,), label_unit=1.0)
    rng = np.random.default_rng(0)
    seen = [Observation(i, x[i : i + 1], labels[i : i + 1]) for i in range(8)]
    posterior, pool = model.posterior(seen, rng), DensePool(x)
    for item in range(8):
        pool = pool.without(item)
    draws = posterior.sample(40, rng)
    block = Block(np.arange(8, 16), x[8:])
    found = draws.tradeoff(contenders(pool, optima(pool, draws, 2)))(block)
    assert found.regret[5] == 0.0
    assert (np.delete(found.regret, 5) > 0).all()


def test_a_label_that_drowns_in_noise_tells_nothing():
    """Noise of ten million times the spread of f: what is left of a gain is rounding."""
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((30, 2)), rng.standard_normal(5)
    pool, block = DensePool(x), Block(np.arange(5, 30), x[5:])
    for item in range(5):
        pool = pool.without(item)
    for ratio, tells in ((1e6, True), (1e14, False)):
        kernel = radial(single_columns(2), 1.0)
        model = GaussianProcessModel(2, kernels=(kernel,), noise_ratios=(ratio,), label_unit=1.0)
        seen = [Observation(i, x[i : i + 1], labels[i : i + 1]) for i in range(5)]
        draws = model.posterior(seen, rng).sample(40, rng)
        gain = draws.tradeoff(contenders(pool, optima(pool, draws, 3)))(block).gain
        assert (gain > 0).tolist() == [tells] * 25


def test_a_chance_that_is_rounding_is_no_doubt():
    values = np.eye(3)[[0, 1, 0]]
    draws = TableDraws(values, np.array([0.5, 1e-13, 0.5 - 1e-13]), Gaussian(0.1))
    pool = DensePool(np.arange(3)[:, None])
    found = contenders(pool, optima(pool, draws))
    assert found.items.tolist() == [0, 1]
    assert found.doubt.tolist() == [0.0, 0.0]
    assert (replace(found, share=np.array([0.5, 0.5])).doubt == 0.25).all()


def test_contenders_that_travelled_give_the_same_sums():
    """To another process an array goes in one piece, however it lay: sums must not notice."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        theta = rng.standard_normal((101, 4))
        weights = rng.dirichlet(np.ones(101))
        draws = LinearDraws(theta, weights, theta.mean(axis=0), np.eye(4), Gaussian(1.0))
        pool = DensePool(rng.standard_normal((50, 4)))
        here = contenders(pool, optima(pool, draws, 5))
        there = pickle.loads(pickle.dumps(here))
        assert here.weights @ here.thresholds == there.weights @ there.thresholds
