import numpy as np
import pytest
from scipy.sparse import csr_array

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.folds import contenders, optima
from serendip.models.draws import grouped_summary
from serendip.models.graph import GraphModel, adjacency_of
from serendip.pools.dense import DensePool

RNG = np.random.default_rng(0)
PATH = adjacency_of(4, np.array([[0, 1], [1, 2], [2, 3]]))


def test_adjacency_is_symmetric_without_loops_or_doubles():
    matrix = adjacency_of(3, np.array([[0, 1], [1, 0], [2, 2]]))
    np.testing.assert_array_equal(matrix.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert adjacency_of(3, np.empty((0, 2))).nnz == 0
    with pytest.raises(InvalidInput, match="nodes 0 to 2"):
        adjacency_of(3, np.array([[0, 3]]))
    with pytest.raises(InvalidInput, match="symmetric"):
        GraphModel(csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])))


def test_neighbours_are_rows_like_any_other():
    posterior = GraphModel(PATH, prior_variance=1.0, noise_variance=0.5).posterior((), RNG)
    seen = Observation(1, np.array([[1], [0], [2]]), np.array([1.0, 3.0, -2.0]))
    posterior = posterior.update(seen, RNG)
    np.testing.assert_allclose(posterior.mean, [2.0, 2 / 3, -4 / 3, 0.0])
    np.testing.assert_allclose(posterior.variance, [1 / 3, 1 / 3, 1 / 3, 1.0])
    np.testing.assert_array_equal(posterior.open_nodes, [1, 0, 1, 1])
    assert posterior.n_labels == 1


def test_closed_forms_sum_the_closed_neighbourhood():
    edges = np.argwhere(np.triu(RNG.random((12, 12)) < 0.3, 1))
    adjacency = adjacency_of(12, edges)
    posterior = GraphModel(adjacency, noise_variance=0.5).posterior((), RNG)
    seen = Observation(4, np.array([[4], [7]]), np.array([0.3, 1.0]))
    posterior = posterior.update(seen, RNG)
    pool = DensePool(np.arange(12)[:, None]).without(4)
    draws = posterior.sample(200, RNG)
    left = np.array([item for item in range(12) if item != 4])
    block = Block(left, left[:, None])
    best = optima(pool, draws)
    single = grouped_summary(draws.draws, best)(block)
    closed = adjacency.toarray()[np.ix_(left, left)] + np.eye(11)
    np.testing.assert_allclose(draws.summary(best)(block).gain, closed @ single.gain)
    np.testing.assert_allclose(draws.summary(best)(block).mean, single.mean)
    doubtful = contenders(pool, optima(pool, draws, 3))
    doubt = dict(zip(doubtful.items, doubtful.doubt, strict=True))
    variance = posterior.variance
    per_node = [doubt.get(i, 0.0) * variance[i] ** 2 / (variance[i] + 0.5) for i in left]
    np.testing.assert_allclose(draws.tradeoff(doubtful)(block).gain, closed @ per_node)


def test_independent_nodes_make_the_budget_gain_the_general_formula():
    """Without edges g(x) is the general Σ w C² / Var Y with a diagonal C."""
    posterior = GraphModel(adjacency_of(5, np.empty((0, 2))), 2.0, 0.5).posterior((), RNG)
    pool = DensePool(np.arange(5)[:, None])
    draws = posterior.sample(100, RNG)
    doubtful = contenders(pool, optima(pool, draws, 2))
    gain = draws.tradeoff(doubtful)(Block(doubtful.items, doubtful.x)).gain
    np.testing.assert_allclose(gain, doubtful.doubt * 4.0 / 2.5)
