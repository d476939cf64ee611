import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import multivariate_t

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import contenders, optima
from serendip.models.draws import grouped_summary, sampled_tradeoff
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.models.graph.scales import GraphScales
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
    posterior = GraphModel(adjacency, 1.0, noise_variance=0.5).posterior((), RNG)
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


def test_nothing_of_a_level_is_discounted():
    """Graphs have β = 0, other draws β = ½: the same tables without their graph gain less."""
    posterior = GraphModel(adjacency_of(5, np.empty((0, 2))), 2.0, 0.5).posterior((), RNG)
    pool = DensePool(np.arange(5)[:, None])
    draws = posterior.sample(20_000, RNG)
    doubtful = contenders(pool, optima(pool, draws, 2))
    block = Block(doubtful.items, doubtful.x)
    values = draws.values(block)
    labels = values.var(axis=1) + 0.5

    def general(beta):
        above = values - beta * doubtful.thresholds
        covariance = np.cov(np.concatenate([above, values]), bias=True)[:5, 5:]
        return doubtful.doubt @ covariance**2 / labels

    graph, plain = draws.tradeoff(doubtful)(block).gain, sampled_tradeoff(draws, doubtful)(block)
    np.testing.assert_allclose(graph, general(0.0), rtol=0.1)
    np.testing.assert_allclose(plain.gain, general(0.5), rtol=1e-6)
    assert np.all(plain.gain < 0.9 * graph)


NODES = np.array([0, 1, 2, 1, 1, 3, 0, 5])
LOOKS = np.array([0.3, 0.9, 0.1, 0.7, 0.8, 0.4, 0.5, 0.2])


def looked(model, nodes=NODES, labels=LOOKS):
    posterior = model.posterior((), RNG)
    for node, label in zip(nodes, labels, strict=True):
        seen = Observation(int(node), np.array([[node]]), np.array([label]))
        posterior = posterior.update(seen, RNG)
    return posterior


def test_unknown_scales_against_the_dense_formulae():
    """Y ~ t with shape matrix 11ᵀ + ZZᵀ + rI, and nodes given y, written down as they are."""
    model = GraphModel(adjacency_of(6, np.empty((0, 2))), label_unit=1.0)
    posterior, scales = looked(model), GraphScales()
    z = np.eye(6)[NODES]
    evidence, means, variances = [], [], []
    for ratio in scales.noise_ratios:
        across = np.ones((6, 8)) + z.T  # cov(nodes, looks) / τ²
        shape = np.ones((8, 8)) + z @ z.T + ratio * np.eye(8)
        law = multivariate_t(
            shape=shape * scales.rate / scales.shape, df=2 * scales.shape, loc=np.zeros(8)
        )
        evidence.append(law.pdf(LOOKS))
        solved = np.linalg.solve(shape, across.T).T
        rate = scales.rate + 0.5 * LOOKS @ np.linalg.solve(shape, LOOKS)
        scale = rate / (scales.shape + 4.0 - 1.0)
        means.append(solved @ LOOKS)
        variances.append(scale * (2.0 - np.einsum("nk,nk->n", solved, across)))
    weights = np.array(evidence) / np.sum(evidence)
    mean = weights @ np.array(means)
    variance = weights @ (np.array(variances) + (np.array(means) - mean) ** 2)
    np.testing.assert_allclose([fit.weight for fit in posterior.fits], weights, rtol=1e-9)
    np.testing.assert_allclose(posterior.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(posterior.variance, variance, rtol=1e-9)


def test_one_by_one_is_all_at_once():
    adjacency = adjacency_of(6, np.array([[0, 1], [1, 2], [3, 5]]))
    for model in (GraphModel(adjacency), GraphModel(adjacency, 2.0, 0.3, 0.4)):
        seen = [
            Observation(int(n), np.array([[n], [n]]), np.array([v, v + 0.1]))
            for n, v in zip(NODES[:3], LOOKS, strict=False)
        ]
        together, apart = model.posterior(seen, RNG), model.posterior((), RNG)
        for one in seen[::-1]:
            apart = apart.update(one, RNG)
        np.testing.assert_allclose(together.mean, apart.mean)
        np.testing.assert_allclose(together.variance, apart.variance)
        np.testing.assert_array_equal(together.open_nodes, apart.open_nodes)
        assert together.noise_variance == pytest.approx(apart.noise_variance)
        assert together.n_labels == apart.n_labels == 3


def test_the_noise_is_found_from_many_looks():
    rng = np.random.default_rng(1)
    nodes = np.repeat(np.arange(80), 6)
    values = 50.0 + 10.0 * rng.standard_normal(80)
    adjacency = adjacency_of(80, np.empty((0, 2)))
    for noise in (1.0, 10.0):
        labels = values[nodes] + noise * rng.standard_normal(480)
        posterior = looked(GraphModel(adjacency), nodes, labels)
        assert posterior.noise_variance == pytest.approx(noise**2, rel=0.25)
        weights = {fit.ratio: fit.weight for fit in posterior.fits}
        assert weights[noise**2 / 100.0] > 0.8
        draws = posterior.sample(2000, rng).values(Block(np.arange(80), np.arange(80)[:, None]))
        np.testing.assert_allclose(draws.mean(axis=1), posterior.mean, atol=1.0)
        np.testing.assert_allclose(
            draws.std(axis=1).mean(), np.sqrt(posterior.variance).mean(), rtol=0.1
        )


@pytest.mark.parametrize("labels", [[0.0, 0.0, 0.0], [7.0, 7.0, 7.0], [1e9, 1e9 + 1, 1e9]])
def test_labels_that_repeat_exactly_stay_in_numbers(labels):
    model = GraphModel(adjacency_of(4, np.array([[0, 1]])))
    posterior = looked(model, [0, 1, 0, 0], [*labels, labels[0]])
    assert np.isfinite(posterior.mean).all()
    assert np.all(posterior.variance > 0)
    assert posterior.noise_variance > 0
    spread = max(labels) - min(labels) + 1e-9 * max(labels)
    assert posterior.mean[0] == pytest.approx(labels[0], abs=spread + 0.3 * abs(labels[0]))


def test_replayed_labels_are_taken_for_exact():
    rng = np.random.default_rng(2)
    values = rng.random(60)
    nodes = rng.integers(60, size=200)
    posterior = looked(GraphModel(adjacency_of(60, np.empty((0, 2)))), nodes, values[nodes])
    assert posterior.fits[0].weight > 0.99
    seen = np.unique(nodes)
    np.testing.assert_allclose(posterior.mean[seen], values[seen], atol=0.01)


def test_settings_are_checked():
    with pytest.raises(InvalidInput, match="Give both prior_variance and noise_variance"):
        GraphModel(PATH, noise_variance=0.5)
    with pytest.raises(InvalidInput, match="noise_variance must be positive"):
        GraphModel(PATH, 1.0, -0.5)
    with pytest.raises(InvalidInput, match="noise_ratios must be positive"):
        GraphScales(noise_ratios=(0.0,))
    with pytest.raises(InvalidInput, match="shape must exceed 1"):
        GraphScales(shape=0.5)
