"""Inducing points: against dense algebra, against honest refits, and beside all labels."""

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.rng import stream
from serendip.models.gp.inducing import inducing_points, plausible_kernels, solved_through
from serendip.models.gp.kernels import additive, linear, radial, single_columns, weighted
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.gp.process import Scale, solved

COLUMNS = single_columns(3)
MIXED = weighted((0.5, additive(COLUMNS, 1.0)), (0.5, radial(COLUMNS, 0.7, 2.5)))
SEVERAL = (linear(COLUMNS), radial(COLUMNS, 0.5), MIXED)
NOISE = np.array([0.02, 0.3])
POINTS = np.arange(1, 40, 4)


def problem(seed, t=40, n=12):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((t + n, 3))
    y = np.tanh(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(t + n)
    return x[:t], y[:t], x[t:]


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def block_of(x):
    return Block(np.arange(len(x)), x)


def claimed(kernel, found, fresh):
    """Mean and variance over s² of f at fresh points, (R, n), as a fit has them."""
    cross = kernel.matrix(fresh, found.x) + 1.0
    gone = (1.0 / (found.sizes + NOISE[:, None])) @ ((cross @ found.basis) ** 2).T
    return found.pull @ cross.T, kernel.diagonal(fresh) + 1.0 - gone


def titsias(kernel, noise, x, y, z, fresh):
    """Mean and covariance over s² at fresh points, as the paper writes them: by C_ZZ."""
    inner, cross = kernel.matrix(z, z) + 1.0, kernel.matrix(z, x) + 1.0
    here = kernel.matrix(fresh, z) + 1.0
    middle = np.linalg.inv(inner + cross @ cross.T / noise)
    prior = kernel.matrix(fresh, fresh) + 1.0 - here @ np.linalg.solve(inner, here.T)
    return here @ middle @ cross @ y / noise, prior + here @ middle @ here.T


@pytest.mark.parametrize("kernel", SEVERAL, ids=["rank 4", "radial", "mixed"])
def test_all_labels_as_inducing_points_are_the_exact_process(kernel):
    """The kernel of rank 4 has 36 null directions."""
    x, y, fresh = problem(0)
    exact = solved(kernel, x, y, 2.0, NOISE)
    found = solved_through(np.arange(40), kernel, x, y, 2.0, NOISE)
    for told, expected in zip(
        claimed(kernel, found, fresh), claimed(kernel, exact, fresh), strict=True
    ):
        np.testing.assert_allclose(told, expected, atol=1e-5)
    np.testing.assert_allclose(found.log_determinant, exact.log_determinant, atol=1e-4)
    for name in ("misfit", "held", "precision"):
        np.testing.assert_allclose(getattr(found, name), getattr(exact, name), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", SEVERAL[1:], ids=["radial", "mixed"])
def test_few_points_are_the_textbook(kernel):
    x, y, fresh = problem(1)
    found = solved_through(POINTS, kernel, x, y, 1.0, NOISE)
    z = x[POINTS]
    cross = kernel.matrix(x, z) + 1.0
    projected = cross @ np.linalg.solve(kernel.matrix(z, z) + 1.0, cross.T)
    mean, variance = claimed(kernel, found, fresh)
    for place, noise in enumerate(NOISE):
        matrix = projected + noise * np.eye(40)
        assert found.log_determinant[place] == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-4)
        assert found.misfit[place] == pytest.approx(y @ np.linalg.solve(matrix, y), rel=1e-5)
        expected, covariance = titsias(kernel, noise, x, y, z, fresh)
        np.testing.assert_allclose(mean[place], expected, atol=1e-5)
        np.testing.assert_allclose(variance[place], np.diag(covariance), atol=1e-5)


@pytest.mark.parametrize("label", [0, 1, 22], ids=["other", "first point", "another"])
def test_labels_left_out_are_honest_refits(label):
    """Of the same inducing points, of which labels 1, 5, … are some."""
    x, y, _ = problem(2)
    found = solved_through(POINTS, MIXED, x, y, 1.0, NOISE)
    kept = np.arange(40) != label
    for place, noise in enumerate(NOISE):
        mean, variance = titsias(MIXED, noise, x[kept], y[kept], x[POINTS], x[[label]])
        error = found.held[place, label] / found.precision[place, label]
        assert y[label] - error == pytest.approx(mean[0], abs=1e-5)
        assert 1.0 / found.precision[place, label] == pytest.approx(
            variance[0, 0] + noise, abs=1e-5
        )


@pytest.mark.parametrize("kernel", SEVERAL[1:], ids=["radial", "mixed"])
def test_paths_have_the_mean_and_covariance_that_are_claimed(kernel):
    """Of 20,000 paths over 40 sketches: within 6 % of the largest variance."""
    x, y, fresh = problem(3)
    model = GaussianProcessModel(
        3, kernels=(kernel,), noise_ratios=(0.3,), label_unit=1.0, n_inducing=10
    )
    rng = stream(0, "paths")
    posterior = model.posterior(observations(x, y), rng)
    z, block = posterior.fits[0].x, block_of(fresh)
    assert len(z) == 10
    values = np.concatenate([posterior.sample(500, rng).values(block) for _ in range(40)], axis=1)
    mean, covariance = titsias(kernel, 0.3, x, y, z, fresh)
    cross = kernel.matrix(x, z) + 1.0
    projected = cross @ np.linalg.solve(kernel.matrix(z, z) + 1.0, cross.T) + 0.3 * np.eye(40)
    misfit = y @ np.linalg.solve(projected, y)
    covariance *= (0.09 + 0.5 * misfit) / (1.5 + 20.0 - 1.0)
    top = np.diag(covariance).max()
    np.testing.assert_allclose(values.mean(axis=1), mean, atol=6 * np.sqrt(top / 20_000))
    np.testing.assert_allclose(np.cov(values), covariance, atol=0.06 * top)
    np.testing.assert_allclose(posterior.moments()(block)[0], mean, atol=1e-5)
    np.testing.assert_allclose(
        posterior.moments()(block)[1] ** 2, np.diag(covariance), atol=1e-5 * top
    )


def test_rows_that_repeat_are_no_trouble():
    """Three rows, each labelled twenty times: as the exact process says."""
    rng = np.random.default_rng(4)
    x = np.repeat(rng.standard_normal((3, 3)), 20, axis=0)
    y, fresh = rng.standard_normal(60), rng.standard_normal((5, 3))
    exact = claimed(MIXED, solved(MIXED, x, y, 1.0, NOISE), fresh)
    found = solved_through(np.arange(0, 60, 2), MIXED, x, y, 1.0, NOISE)
    for told, expected in zip(claimed(MIXED, found, fresh), exact, strict=True):
        np.testing.assert_allclose(told, expected, atol=1e-5)


def test_points_are_spread_over_the_ranks_of_the_labels():
    x, y, _ = problem(5, t=101)
    points = inducing_points(x, y, 11)
    assert sorted(np.argsort(np.argsort(y))[points]) == list(range(0, 101, 10))


def test_order_of_labels_does_not_matter_even_where_they_tie():
    x, y, fresh = problem(6, t=60)
    y = np.round(y)
    shuffled = np.random.default_rng(0).permutation(60)
    model = GaussianProcessModel(3, n_inducing=12)
    one, other = (
        model.posterior(observations(x[order], y[order]), stream(0)).moments()(block_of(fresh))
        for order in (np.arange(60), shuffled)
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_kernels_that_some_labels_rule_out_are_not_solved():
    rng = np.random.default_rng(7)
    x = rng.standard_normal((60, 3))
    y = x[:, 0] - x[:, 1] + 0.05 * rng.standard_normal(60)
    kernels = [(kernel, 0.0) for kernel in SEVERAL]
    scale = Scale(1.5, 0.09)
    assert plausible_kernels(kernels, x, y, NOISE, scale, sample=50) == ((SEVERAL[0], 0.0),)
    corrected = [(SEVERAL[0], -1e3), *kernels[1:]]
    assert (SEVERAL[0], -1e3) not in plausible_kernels(corrected, x, y, NOISE, scale, sample=50)
    assert plausible_kernels(kernels, x, y, NOISE, scale, sample=60) == tuple(kernels)


def test_one_label_more_than_points_changes_little():
    """Less than a tenth of a deviation, beside the exact process of all 81 labels."""
    x, y, fresh = problem(8, t=81)
    seen, block = observations(x, y), block_of(fresh)
    kernels = (radial(COLUMNS, 1.0, 2.5), MIXED)
    exact, found = (
        GaussianProcessModel(3, kernels=kernels, n_inducing=n).posterior(seen, stream(0))
        for n in (81, 80)
    )
    assert len(exact.fits[0].x) == 81
    assert len(found.fits[0].x) == 80
    (mean, deviation), (told, told_deviation) = (one.moments()(block) for one in (exact, found))
    assert np.abs((told - mean) / deviation).max() < 0.1
    np.testing.assert_allclose(told_deviation, deviation, rtol=0.1)
    np.testing.assert_allclose(found.held_out().mean, exact.held_out().mean, atol=0.1 * y.std())
