import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.models.gp.kernels import Group, single_columns
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.gp.relevance import Scale, _Surface, learnt_kernels

SCALE = Scale(1.5, 0.09)


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def table(t, d, seed):
    """Labels that two of the columns decide."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((t, d))
    return x, np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1] + 0.05 * rng.standard_normal(t)


def surface(width=1.0):
    x, y = table(15, 5, 0)
    return _Surface(x, y, np.ones(5), np.array([0, 1, 2, 2, 3]), 4, width, SCALE)


@pytest.mark.parametrize("place", range(11))
def test_the_gradient_is_that_of_the_density(place):
    ground = surface()
    settings = np.random.default_rng(1).normal(0.0, 0.5, 11)
    step = np.zeros(11)
    step[place] = 1e-5
    up, down = ground._fall(settings + step)[0], ground._fall(settings - step)[0]
    assert (up - down) / 2e-5 == pytest.approx(ground._fall(settings)[1][place], abs=1e-6)


def test_the_density_is_that_of_a_dense_multivariate_t():
    ground = surface()
    settings = np.random.default_rng(2).normal(0.0, 0.5, 11)
    kernel = ground.kernel(settings)
    matrix = kernel.matrix(ground.x, ground.x) + 1.0
    matrix += (np.exp(settings[-1]) + 1e-6) * np.eye(15)
    rate = SCALE.rate + 0.5 * ground.labels @ np.linalg.solve(matrix, ground.labels)
    expected = -0.5 * np.linalg.slogdet(matrix)[1] - (SCALE.shape + 7.5) * np.log(rate)
    centre, width = ground._prior
    expected -= 0.5 * np.sum(((settings - centre) / width) ** 2)
    assert -ground._fall(settings)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("place", range(11))
def test_the_information_is_that_of_a_slow_derivative(place):
    ground = surface()
    settings = np.random.default_rng(3).normal(0.0, 0.5, 11)
    step = np.zeros(11)
    step[place] = 1e-5
    matrix = ground._parts(settings).matrix
    up, down = ground._parts(settings + step).matrix, ground._parts(settings - step).matrix
    slopes = list(ground._slopes(ground._parts(settings)))
    np.testing.assert_allclose(slopes[place], (up - down) / 2e-5, atol=1e-7)
    product = np.linalg.solve(matrix, slopes[place])
    assert 0.5 * np.trace(product @ product) >= 0


def test_columns_that_matter_are_found():
    x, y = table(80, 10, 4)
    (_, correction), (wide, _) = learnt_kernels(x, y, single_columns(10), (0.5, 2.0), SCALE)
    assert correction < 0
    relevance = np.array(wide.sketched[0][1].relevance)
    assert relevance[0] > 20 * np.median(relevance[2:])


def test_learning_pays_where_few_columns_matter():
    """Error on fresh rows, the same labels: with relevances learnt less than 0.7 of without."""
    ratios = []
    for seed in range(4):
        x, y = table(260, 12, 10 + seed)
        errors = []
        for learn in ((), (0.5, 1.0, 2.0)):
            model = GaussianProcessModel(12, learn=learn)
            posterior = model.posterior(observations(x[:60], y[:60]), np.random.default_rng(0))
            mean, _ = posterior.moments()(Block(np.arange(200), x[60:]))
            errors.append(np.mean((mean - y[60:]) ** 2))
        ratios.append(errors[1] / errors[0])
    assert np.mean(ratios) < 0.7


def test_learning_does_not_hurt_where_nothing_is_to_be_learnt():
    """Pure noise: the correction keeps what was learnt from being trusted."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((40, 12)), rng.standard_normal(40)
    posterior = GaussianProcessModel(12).posterior(observations(x, y), rng)
    assert posterior.weights[-3:].sum() < 0.3


def test_the_order_of_labels_does_not_matter():
    x, y = table(140, 4, 6)
    first = learnt_kernels(x, y, single_columns(4), (1.0,), SCALE)[0]
    order = np.random.default_rng(0).permutation(140)
    second = learnt_kernels(x[order], y[order], single_columns(4), (1.0,), SCALE)[0]
    np.testing.assert_allclose(
        first[0].sketched[0][1].relevance, second[0].sketched[0][1].relevance, rtol=1e-3
    )
    assert first[1] == pytest.approx(second[1], abs=1e-3)


def test_groups_share_a_relevance():
    x, y = table(30, 4, 7)
    groups = (Group((0, 2)), Group((1, 3)))
    kernel, _ = learnt_kernels(x, y, groups, (1.0,), SCALE)[0]
    relevance = kernel.exact[0][1].relevance
    assert relevance[0] == relevance[2] != relevance[1] == relevance[3]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_labels_teach_nothing(count):
    x, y = table(5, 3, 8)
    assert learnt_kernels(x[:count], y[:count], single_columns(3), (1.0,), SCALE) == ()


def test_equal_labels_and_rows_do_no_harm():
    x, y = np.ones((6, 3)), np.zeros(6)
    for kernel, correction in learnt_kernels(x, y, single_columns(3), (0.5, 2.0), SCALE):
        assert np.isfinite(kernel.matrix(x, x)).all()
        assert np.isfinite(correction)


def test_sizes_are_a_change_of_unit():
    x, y = table(30, 5, 4)
    sizes = (3.0, 0.5, 0.1)
    unit = np.array([1.0, 1.0, *sizes])
    plain = [Group((0,)), Group((1,)), Group((2, 3, 4))]
    sized = [*plain[:2], Group((2, 3, 4), sizes=sizes)]
    for (one, first), (other, second) in zip(
        learnt_kernels(x, y, sized, (0.5, 2.0), SCALE),
        learnt_kernels(x * unit, y, plain, (0.5, 2.0), SCALE),
        strict=True,
    ):
        assert first == second
        np.testing.assert_allclose(one.matrix(x, x), other.matrix(x * unit, x * unit), rtol=1e-9)


def density(vectors, sizes, truth_sizes, seed):
    """Mean log density of labels not seen, up to a constant; 40 seen, 30 columns of a vector."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((440, 30))
    inside = x * truth_sizes @ rng.standard_normal((30, 2)) / np.sqrt(truth_sizes @ truth_sizes)
    y = np.sin(inside[:, 0]) + 0.5 * inside[:, 1] + 0.1 * rng.standard_normal(440)
    groups = (Group(tuple(range(30)), sizes=tuple(sizes)),) if vectors else ()
    model = GaussianProcessModel(30, vectors=groups)
    posterior = model.posterior(observations(x[:40], y[:40]), rng)
    mean, deviation = posterior.moments()(Block(np.arange(400), x[40:]))
    variance = deviation**2 + posterior.noise_variance
    return np.mean(-0.5 * (y[40:] - mean) ** 2 / variance - 0.5 * np.log(variance))


def test_a_vector_is_met_with_fewer_labels():
    sizes = 1.0 / np.arange(1, 31)
    sizes /= np.sqrt(np.mean(sizes**2))
    told, plain = (
        np.mean([density(vectors, sizes, sizes, seed) for seed in range(6)])
        for vectors in (True, False)
    )
    assert told > 0.9
    assert told - plain > 0.1


def test_units_that_mean_nothing_do_little_harm():
    """Numbered columns in units of their own: the labels tell, and the sizes are not believed."""
    units = np.geomspace(1e-3, 1e3, 30)
    units = np.random.default_rng(0).permutation(units) / np.sqrt(np.mean(units**2))
    losses = [
        density(False, units, np.ones(30), seed) - density(True, units, np.ones(30), seed)
        for seed in range(6)
    ]
    assert np.mean(losses) < 0.02


def test_planes_of_numbers_must_be_asked_for():
    """Three labels ask for nothing: then planes of numbers count for less than those of names."""
    x, y = np.eye(3), np.array([0.1, 0.5, 0.3])
    shares = []
    for text in (False, True):
        groups = tuple(Group((column,), text=text) for column in range(3))
        kernel, _ = learnt_kernels(x, y, groups, (0.5,), SCALE)[0]
        shares.append(kernel.exact[0][0])
    assert shares[0] < 0.2 < shares[1]
