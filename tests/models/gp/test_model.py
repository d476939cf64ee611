"""The mixture of Gaussian processes: against dense algebra, against its draws, and calibrated."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, multivariate_t

from serendip.core.data import Block, Contenders, Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.laws import gaussian_shortfall
from serendip.core.reductions.folds import contenders, optima
from serendip.core.rng import stream
from serendip.models.gp.kernels import Group, additive, linear, radial, single_columns, weighted
from serendip.models.gp.model import GaussianProcessModel
from serendip.pools.dense import DensePool
from serendip.problems.framing import Columns, frame_problem, groups_of, vectors_of

COLUMNS = single_columns(3)
MIXED = weighted((0.5, additive(COLUMNS, 1.0)), (0.5, radial(COLUMNS, 0.7, 2.5)))
SEVERAL = (linear(COLUMNS), radial(COLUMNS, 0.5), MIXED)


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def problem(seed, t=9, n=12):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((t + n, 3))
    y = np.tanh(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(t + n)
    return x[:t], y[:t], x[t:], rng


def dense_gp(kernel, noise, x, y, fresh, shape=1.5, rate=0.09):
    """Mean and covariance of f at fresh points: the textbook, with s² integrated out."""
    a = kernel.matrix(x, x) + 1 + noise * np.eye(len(y))
    cross = kernel.matrix(fresh, x) + 1
    mean = cross @ np.linalg.solve(a, y)
    left = kernel.matrix(fresh, fresh) + 1 - cross @ np.linalg.solve(a, cross.T)
    misfit = y @ np.linalg.solve(a, y)
    return mean, left * (rate + 0.5 * misfit) / (shape + 0.5 * len(y) - 1)


def test_one_label_by_hand():
    # x = z = 1, k = 1, constant 1, r = 0.5, y = 1 in its own units: mean 2 / 2.5.
    model = GaussianProcessModel(
        1, kernels=(linear(single_columns(1)),), noise_ratios=(0.5,), label_unit=1.0
    )
    posterior = model.posterior(observations(np.ones((1, 1)), np.ones(1)), stream(0))
    mean, deviation = posterior.moments()(Block(np.arange(1), np.ones((1, 1))))
    assert mean[0] == pytest.approx(0.8)
    scale = (0.09 + 0.5 / 2.5) / (1.5 + 0.5 - 1)
    assert deviation[0] ** 2 == pytest.approx(scale * (2 - 4 / 2.5))
    assert posterior.noise_variance == pytest.approx(0.5 * scale)
    assert posterior.n_labels == 1


@pytest.mark.parametrize("kernel", SEVERAL)
@pytest.mark.parametrize("noise", [0.003, 0.3])
def test_one_component_is_the_dense_process(kernel, noise):
    x, y, fresh, rng = problem(1)
    model = GaussianProcessModel(3, kernels=(kernel,), noise_ratios=(noise,), label_unit=1.0)
    mean, deviation = model.posterior(observations(x, y), rng).moments()(
        Block(np.arange(len(fresh)), fresh)
    )
    exact_mean, exact_covariance = dense_gp(kernel, noise, x, y, fresh)
    np.testing.assert_allclose(mean, exact_mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(deviation**2, np.diag(exact_covariance), rtol=1e-6)


def test_weights_are_the_marginal_likelihood():
    x, y, _, rng = problem(2)
    model = GaussianProcessModel(3, kernels=SEVERAL)
    posterior = model.posterior(observations(x, y), rng)
    measured = ((y - y.mean()) / y.std() + 2.0) * np.sqrt(0.05)  # of root mean square ½
    # y ~ t with 2a degrees of freedom, scale matrix (b/a)(K + 1 + rI): s² integrated out.
    density = [
        [
            multivariate_t(
                shape=0.09 / 1.5 * (kernel.matrix(x, x) + 1 + noise * np.eye(len(y))), df=3.0
            ).logpdf(measured)
            for noise in model.noise_ratios
        ]
        for kernel in SEVERAL
    ]
    expected = np.exp(density - np.max(density))
    np.testing.assert_allclose(posterior.weights, expected / expected.sum(), rtol=1e-6)


def test_moments_are_those_of_the_mixture():
    x, y, fresh, rng = problem(3)
    model = GaussianProcessModel(3, kernels=SEVERAL, label_unit=1.0)
    posterior = model.posterior(observations(x, y), rng)
    weights = np.where(posterior.weights > 1e-4, posterior.weights, 0.0)
    weights /= weights.sum()
    parts = [
        (weights[i, j], *dense_gp(kernel, noise, x, y, fresh))
        for i, kernel in enumerate(SEVERAL)
        for j, noise in enumerate(model.noise_ratios)
    ]
    mean = sum(w * m for w, m, _ in parts)
    second = sum(w * (np.diag(c) + m**2) for w, m, c in parts)
    found, deviation = posterior.moments()(Block(np.arange(len(fresh)), fresh))
    np.testing.assert_allclose(found, mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(deviation**2, second - mean**2, rtol=1e-5)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), t=st.integers(1, 10))
def test_stepwise_equals_batch_in_any_order(seed, t):
    x, y, fresh, rng = problem(seed, t)
    seen = observations(x, y)
    model = GaussianProcessModel(3)
    batch, stepwise = model.posterior(seen, rng), model.posterior((), rng)
    for index in rng.permutation(t):
        stepwise = stepwise.update(seen[index], rng)
    block = Block(np.arange(len(fresh)), fresh)
    np.testing.assert_allclose(stepwise.weights, batch.weights, atol=1e-9)
    np.testing.assert_allclose(stepwise.moments()(block), batch.moments()(block), atol=1e-7)


@pytest.mark.parametrize(("factor", "offset"), [(1e-3, 0.0), (100.0, 1.0), (1.0, 1e4)])
def test_zero_and_unit_of_labels_do_not_matter(factor, offset):
    x, y, fresh, rng = problem(4)
    model, block = GaussianProcessModel(3), Block(np.arange(len(fresh)), fresh)
    plain = model.posterior(observations(x, y), rng)
    moved = model.posterior(observations(x, factor * y + offset), rng)
    np.testing.assert_allclose(moved.weights, plain.weights, atol=1e-8)
    mean, deviation = plain.moments()(block)
    moved_mean, moved_deviation = moved.moments()(block)
    np.testing.assert_allclose(moved_mean, factor * mean + offset, rtol=1e-8)
    np.testing.assert_allclose(moved_deviation, factor * deviation, rtol=1e-5)
    values = plain.sample(5, stream(0)).values(block)
    again = moved.sample(5, stream(0)).values(block)
    np.testing.assert_allclose(again, factor * values + offset, rtol=1e-6)


@pytest.mark.parametrize("t", [6, 25])
def test_draws_have_the_moments_that_are_claimed(t):
    """20,000 paths over 40 sketches of 512 features.

    Means within 6 standard errors, deviations within 4 % on average and 12 % everywhere. With
    fewer labels s² has such tails that the spread of draws is itself a matter of luck.
    """
    x, y, fresh, rng = problem(5, t)
    block = Block(np.arange(len(fresh)), fresh)
    posterior = GaussianProcessModel(3, label_unit=1.0).posterior(observations(x, y), rng)
    mean, deviation = posterior.moments()(block)
    values = np.concatenate([posterior.sample(500, rng).values(block) for _ in range(40)], axis=1)
    assert np.all(np.abs(values.mean(axis=1) - mean) < 6 * deviation / np.sqrt(20_000))
    ratio = values.std(axis=1) / deviation
    assert np.abs(ratio - 1).mean() < 0.04
    assert np.abs(ratio - 1).max() < 0.12


@pytest.mark.parametrize("kernel", SEVERAL)
def test_joint_draws_of_one_component(kernel):
    """The covariance of 20,000 paths is the dense one, within 6 % of its largest entry."""
    x, y, fresh, rng = problem(6)
    model = GaussianProcessModel(3, kernels=(kernel,), noise_ratios=(0.07,), label_unit=1.0)
    posterior = model.posterior(observations(x, y), rng)
    block = Block(np.arange(len(fresh)), fresh)
    values = np.concatenate([posterior.sample(500, rng).values(block) for _ in range(40)], axis=1)
    mean, covariance = dense_gp(kernel, 0.07, x, y, fresh)
    top = np.diag(covariance).max()
    np.testing.assert_allclose(values.mean(axis=1), mean, atol=6 * np.sqrt(top / 20_000))
    np.testing.assert_allclose(np.cov(values), covariance, atol=0.06 * top)


def naive_tradeoff(posterior, draws, doubtful, block):
    """Δ and g from the dense covariance of the mixture."""
    both = np.concatenate([np.asarray(doubtful.x), block.x])
    model, c = posterior.model, len(doubtful.x)
    weights = np.where(posterior.weights > 1e-4, posterior.weights, 0.0)
    weights /= weights.sum()
    parts = [
        (weights[i, j], *dense_gp(kernel, noise, posterior.x, posterior.y, both))
        for i, kernel in enumerate(posterior.kernels)
        for j, noise in enumerate(model.noise_ratios)
    ]
    mean = sum(w * m for w, m, _ in parts)
    covariance = sum(w * (s + np.outer(m - mean, m - mean)) for w, m, s in parts)
    variance = np.diag(covariance)[c:]
    values = draws.values(block)
    level = doubtful.thresholds.mean()
    shared = ((values - values.mean(axis=1)[:, None]) @ (doubtful.thresholds - level)) / len(
        doubtful.thresholds
    )
    apart = doubtful.thresholds.var() - 2 * shared + variance
    told = doubtful.doubt @ (covariance[:c, c:] - 0.5 * shared) ** 2
    return (
        gaussian_shortfall(level - mean[c:], apart),
        told / (variance + posterior.noise_variance),
    )


def test_the_tradeoff_is_that_of_the_dense_covariance():
    x, y, fresh, rng = problem(7)
    model = GaussianProcessModel(3, kernels=SEVERAL, label_unit=1.0)
    posterior = model.posterior(observations(x, y), rng)
    draws = posterior.sample(200, rng)
    block = Block(np.arange(len(fresh)), fresh)
    doubtful = contenders(DensePool(fresh), optima(DensePool(fresh), draws, 4))
    found = draws.tradeoff(doubtful)(block)
    regret, gain = naive_tradeoff(posterior, draws, doubtful, block)
    # Grid points of less than a thousandth are left out.
    np.testing.assert_allclose(found.regret, regret, rtol=5e-3, atol=1e-8)
    np.testing.assert_allclose(found.gain, gain, rtol=5e-3)
    np.testing.assert_allclose(found.mean, posterior.moments()(block)[0])


def test_many_contenders_are_thinned_by_their_doubt():
    """With 256 of 800 contenders the gains still agree within 10 %, and in their order."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((820, 3))
    model = GaussianProcessModel(3, label_unit=1.0)
    posterior = model.posterior(observations(x[:20], np.sin(x[:20, 0])), rng)
    draws = posterior.sample(50, rng)
    share = rng.uniform(0.01, 0.99, 800)
    block = Block(np.arange(800), x[20:])
    doubtful = Contenders(block.items, block.x, share, np.ones(50), np.full(50, 0.02))
    thinned = draws.tradeoff(doubtful)(block).gain
    exact = np.zeros(800)
    for start in range(0, 800, 200):
        part = slice(start, start + 200)
        some = Contenders(
            block.items[part],
            block.x[part],
            share[part],
            np.ones(50),
            np.full(50, 0.02),
        )
        exact += draws.tradeoff(some)(block).gain
    assert abs(np.median(thinned / exact) - 1) < 0.1
    assert np.corrcoef(np.log(thinned), np.log(exact))[0, 1] > 0.95


def test_refined_values_keep_any_company():
    """Of equal rows equal values, alone, in blocks and among others."""
    x, y, fresh, rng = problem(9, n=70)
    posterior = GaussianProcessModel(3).posterior(observations(x, y), rng)
    draws = posterior.sample(30, rng)
    rows, which = rng.integers(70, size=400), rng.integers(30, size=400)
    together = draws.refine(fresh[rows], which)
    alone = np.array(
        [draws.refine(fresh[[r]], np.array([i]))[0] for r, i in zip(rows, which, strict=True)]
    )
    np.testing.assert_array_equal(together, alone)
    block = Block(np.arange(70), fresh)
    scanned = draws.values(block)[rows, which]
    assert np.all(np.abs(scanned - together) <= draws.slack(block)[which])


def test_single_precision_pools_are_welcome():
    x, y, fresh, rng = problem(10)
    draws = GaussianProcessModel(3).posterior(observations(x, y), rng).sample(10, rng)
    small = Block(np.arange(len(fresh)), fresh.astype(np.float32))
    exact = draws.refine(small.x, np.zeros(len(fresh), dtype=np.int64))
    assert np.all(np.abs(draws.values(small)[:, 0] - exact) <= draws.slack(small)[0])


def test_the_right_kernel_is_trusted():
    """A straight line is seen as one, a product of two columns is not."""
    rng = np.random.default_rng(11)
    x = rng.standard_normal((60, 3))
    kernels = (linear(COLUMNS), additive(COLUMNS, 1.0), radial(COLUMNS, 1.0, 2.5))
    model = GaussianProcessModel(3, kernels=kernels)
    truths = (x[:, 0] - x[:, 1], np.sin(2 * x).sum(axis=1), x[:, 0] * x[:, 1])
    for place, truth in enumerate(truths):
        seen = observations(x, truth + 0.05 * rng.standard_normal(60))
        weights = model.posterior(seen, rng).weights.sum(axis=1)
        assert weights[place] > 0.95


def test_groups_come_from_the_names_of_features():
    names = ("size", "base=a", "base=b", "base=x=1", "a=b", "base=2=u", "base=2=v")
    groups = groups_of(names, ("size", "base", "a=b", "base=2"))
    assert groups == (
        Group((0,)),
        Group((1, 2, 3), text=True),
        Group((4,)),
        Group((5, 6), text=True),
    )


def test_numbered_columns_may_be_a_vector():
    names = ("size", *(f"pc{k}" for k in range(1, 10)), "z1", "z2", *(f"lot={k}" for k in range(9)))
    groups = groups_of(names, (*names[:12], "lot"))
    found = vectors_of(names, groups, np.r_[5.0, np.full(8, 2.0), 1e-200, np.ones(11)])
    (vector,) = found  # two columns are no vector, nor are the levels of a text
    assert vector.columns == tuple(range(1, 10))
    np.testing.assert_allclose(vector.sizes, [np.sqrt(9 / 8)] * 8 + [0.0], atol=1e-150)


def test_sizes_of_a_vector_are_those_of_its_columns():
    import pandas as pd

    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 9)) * np.arange(1.0, 10.0)
    frame = pd.DataFrame(x, columns=[f"pc{k}" for k in range(9)]).assign(other=x[:, 0] ** 2, y=0.0)
    framed = frame_problem(frame, Columns("gp"), ("y",), tuple(map(str, range(50))))
    (vector,) = framed.model.vectors
    spread = x.std(axis=0)
    np.testing.assert_allclose(vector.sizes, spread / np.sqrt(np.mean(spread**2)))
    by_column, by_vector = framed.model.posterior((), rng).partitions
    assert by_column == framed.groups
    assert by_vector == (Group((9,)), vector)


def test_a_table_becomes_a_process_with_groups():
    import pandas as pd

    frame = pd.DataFrame({"n": [1.0, 2, 3, 4], "base": ["u", "v", "u", "w"], "y": [0.1, 2, 3, 4]})
    framed = frame_problem(frame, Columns("gp"), ("y",), ("0", "1", "2", "3"))
    assert framed.x.shape == (4, 4)  # no constant column: the model has a constant of its own
    assert framed.model.groups == (Group((0,)), Group((1, 2, 3), text=True))
    assert not framed.unit_labels


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"n_features": 0}, "at least 1"),
        ({"n_features": 2, "noise_ratios": ()}, "noise_ratios"),
        ({"n_features": 2, "noise_ratios": (0.1, 0.0)}, "noise_ratios"),
        ({"n_features": 2, "shape": 1.0}, "shape"),
        ({"n_features": 2, "n_waves": 1}, "n_waves"),
        ({"n_features": 2, "groups": (Group((0, 2)),)}, "columns 0 to 1"),
        ({"n_features": 2, "vectors": (Group((0, 2)),)}, "columns 0 to 1"),
    ],
)
def test_bad_settings_are_refused(settings_, words):
    with pytest.raises(InvalidInput, match=words):
        GaussianProcessModel(**settings_)


def test_wrong_number_of_features_is_refused():
    with pytest.raises(InvalidInput, match="3 features; item 0 has 2"):
        GaussianProcessModel(3).posterior(observations(np.ones((1, 2)), np.ones(1)), stream(0))


def test_features_too_large_to_compute_with_are_refused():
    seen = observations(np.full((2, 3), 1e200), np.ones(2))
    with pytest.raises(SerendipError, match="standardise"), np.errstate(all="ignore"):
        GaussianProcessModel(3).posterior(seen, stream(0))


@pytest.mark.statistical
def test_unknown_kernels_and_scales_are_calibrated():
    """Kernel, noise and s² drawn from the very prior of the model; fails for 1 in 10,000 seeds."""
    model = GaussianProcessModel(3, kernels=SEVERAL, label_unit=1.0, n_waves=256)
    runs, n_draws, bins = (4000 if os.environ.get("SERENDIP_FULL") else 800), 19, 10
    ranks = []
    for run in range(runs):
        rng = stream(run, "sbc gp")
        kernel, noise = SEVERAL[rng.integers(3)], rng.choice(model.noise_ratios)
        variance = model.rate / rng.gamma(model.shape)
        x = rng.standard_normal((9, 3))
        root = np.linalg.cholesky(kernel.matrix(x, x) + 1 + 1e-9 * np.eye(9))
        truth = np.sqrt(variance) * root @ rng.standard_normal(9)
        y = truth + np.sqrt(variance * noise) * rng.standard_normal(9)
        posterior = model.posterior(observations(x[:8], y[:8]), rng)
        values = posterior.sample(n_draws, rng).values(Block(np.array([8]), x[8:]))[0]
        ranks.append(int(np.sum(values < truth[8])))
    counts = np.bincount(np.asarray(ranks) * bins // (n_draws + 1), minlength=bins)
    expected = runs / bins
    assert np.sum((counts - expected) ** 2 / expected) < chi2.ppf(1 - 1e-4, bins - 1), counts


def test_models_differ_by_their_settings():
    model = GaussianProcessModel(3)
    assert replace(model, n_waves=64) != model
