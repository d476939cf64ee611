"""Labels held out: closed forms, importance weights and what members say, against brute force."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_t
from scipy.stats import t as student

from serendip.core.data import HeldOut, Observation
from serendip.core.errors import MissingCapability
from serendip.core.protocols import SupportsHeldOut, require
from serendip.core.rng import stream
from serendip.models.ensemble.forest import ForestModel
from serendip.models.finite import FiniteModel
from serendip.models.gp.kernels import radial, single_columns
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.models.left_out import inverses, mixed, refitted, reweighted
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel
from serendip.models.linear.sparse import SparseLinearModel
from serendip.models.matrix.low_rank import LowRankModel
from serendip.models.matrix.model import MatrixModel
from serendip.models.mixture.auto import AutoModel, Member
from worlds import PROBLEMS

EXACT = {
    "linear": LinearModel(3, 1.0, 0.3),
    "linear, little noise": LinearModel(3, 1.0, 1e-4),
    "linear, scales unknown": LinearModel(3, label_unit=1.0),
    "linear, scales unknown, with a constant": LinearModel(3, constant_column=2, label_unit=1.0),
    "gp": GaussianProcessModel(
        3, kernels=(radial(single_columns(3), 1.2),), noise_ratios=(0.02,), label_unit=1.0
    ),
    "gp, little noise": GaussianProcessModel(
        3, kernels=(radial(single_columns(3), 1.2),), noise_ratios=(1e-6,), label_unit=1.0
    ),
}


def table(kind):
    """Features with a constant in the end, and labels."""
    rng = stream(0, "held-out", len(kind))
    t = {"one": 1, "two": 2, "three": 3}.get(kind, 14)
    x = np.column_stack([rng.standard_normal((t, 2)), np.ones(t)])
    y = 0.5 + 0.3 * x[:, 0] + 0.1 * rng.standard_normal(t)
    match kind:
        case "duplicates":
            x[5:10], y[5:8] = x[4], y[4]
        case "leverage":  # the only row that says anything of the first feature
            x[:, 0] = 0.0
            x[3, 0] = 1000.0
        case "outlier":
            y[6] = 1e4
        case "alike":
            y[:] = 0.4
        case "nothing":
            x[:, :2] = 0.0
    return x, y


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


AWKWARD = (
    "usual", "one", "two", "three", "duplicates", "leverage", "outlier", "alike", "nothing",
)  # fmt: skip


@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("name", EXACT)
def test_closed_forms_agree_with_refits(name, kind):
    model, seen = EXACT[name], observations(*table(kind))
    found = model.posterior(seen, stream(0, "test")).held_out()
    exact = refitted(model, seen, stream(0, "test"), folds=len(seen))
    scale = 1e-6 * exact.deviation
    assert np.all(np.abs(found.mean - exact.mean) < scale + 1e-6 * np.abs(exact.mean))
    np.testing.assert_allclose(found.deviation, exact.deviation, rtol=1e-5)
    if "unknown" not in name and name.startswith("linear"):  # the others are no Gaussians
        np.testing.assert_allclose(found.log_density, exact.log_density, rtol=1e-5, atol=1e-5)


def test_the_density_is_that_of_the_mixture_of_students():
    """One grid point of r and D each, s² unknown: a t distribution in closed form."""
    x, y = table("usual")
    model = EXACT["gp"]
    found = model.posterior(observations(x, y), stream(0, "test")).held_out()
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        (fit,) = model.posterior(observations(x[kept], y[kept]), stream(0, "test")).fits
        cross = fit.cross(x[i : i + 1])
        mean = fit.means(cross)[0] + fit.offset
        spread = fit.variances(x[i : i + 1], cross @ fit.basis)[0] / fit.scales + fit.noise
        width = np.sqrt(fit.rates / fit.shape * spread)
        exact = student.logpdf(y[i], 2 * fit.shape, mean, width)
        assert found.log_density[i] == pytest.approx(exact[0], abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_kernels_too_light_to_be_drawn_from_foretell_too(seed):
    """p(y_i | y_−i) = p(y) / p(y_−i) of all kernels, by multivariate t densities."""
    rng = stream(seed, "light kernels")
    x = rng.standard_normal((12, 3))
    y = 0.4 + 0.2 * np.sin(2 * x[:, 0]) + 0.05 * rng.standard_normal(12)
    model = GaussianProcessModel(3, learn=(), label_unit=1.0)
    posterior = model.posterior(observations(x, y), rng)
    assert len(posterior.fits) < len(posterior.kernels)

    def evidence(kept):
        covariances = [
            0.06 * (kernel.matrix(x[kept], x[kept]) + 1.0 + noise * np.eye(len(kept)))
            for kernel in posterior.kernels
            for noise in model.noise_ratios
        ]
        return logsumexp([multivariate_t(shape=c, df=3.0).logpdf(y[kept]) for c in covariances])

    everyone = np.arange(12)
    exact = [evidence(everyone) - evidence(np.delete(everyone, i)) for i in everyone]
    np.testing.assert_allclose(posterior.held_out().log_density, exact, atol=1e-6)


@pytest.mark.parametrize("q", [1, 3, 6, 9])
def test_inverses_are_inverses(q):
    rng = stream(1, "inverses", q)
    features, y = rng.standard_normal((6, q)), rng.standard_normal(6)
    pull, precision = inverses(features, y, np.array([0.1, 2.0]))
    for place, noise in enumerate((0.1, 2.0)):
        inverse = np.linalg.inv(features @ features.T + noise * np.eye(6))
        np.testing.assert_allclose(pull[place], inverse @ y, rtol=1e-9)
        np.testing.assert_allclose(precision[place], np.diag(inverse), rtol=1e-9)
    both = np.stack([features, np.zeros_like(features)])
    again, _ = inverses(both, y, np.array([[0.1], [0.5]]))
    np.testing.assert_allclose(again[0, 0], pull[0], rtol=1e-9)
    np.testing.assert_allclose(again[1, 0], y / 0.5, rtol=1e-9)


@pytest.mark.parametrize("name", ["logistic", "logistic, width unknown"])
def test_logistic_refits_start_elsewhere_and_end_in_the_same_place(name):
    model = LogisticModel(3, 1.0 if name == "logistic" else None)
    for kind in AWKWARD:
        x, y = table(kind)
        seen = observations(x, (y > np.median(y)).astype(float))
        found = model.posterior(seen, stream(0, "test")).held_out()
        exact = refitted(model, seen, stream(0, "test"), folds=len(seen))
        # Grid points of little weight are not refitted.
        np.testing.assert_allclose(found.mean, exact.mean, atol=1e-3)
        np.testing.assert_allclose(found.log_density, exact.log_density, atol=0.05)


@pytest.mark.parametrize("known", [True, False])
def test_looks_at_a_graph_are_left_out_apart(known):
    """Observations have side labels, and some nodes are seen more than once."""
    adjacency = adjacency_of(6, np.array([[0, 1], [1, 2], [3, 4]]))
    model = GraphModel(adjacency, 1.0, 0.2) if known else GraphModel(adjacency, label_unit=1.0)
    seen = [
        Observation(0, np.array([[0], [1]]), np.array([0.2, 0.9])),
        Observation(1, np.array([[1], [0], [2]]), np.array([0.8, 0.1, 0.5])),
        Observation(5, np.array([[5]]), np.array([9.0])),
    ]
    posterior = model.posterior(seen, stream(0, "test"))
    found = posterior.held_out()
    rows = [
        Observation(0, one.x[j : j + 1], one.y[j : j + 1])
        for one in seen
        for j in range(len(one.y))
    ]
    exact = refitted(model, rows, stream(0, "test"), folds=6)
    np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-9)
    np.testing.assert_allclose(found.deviation, exact.deviation, rtol=1e-9)
    again = (
        model.posterior(seen[:1], stream(0, "test"))
        .update(seen[1], stream(0, "test"))
        .update(seen[2], stream(0, "test"))
    )
    np.testing.assert_allclose(again.held_out().mean, found.mean, rtol=1e-9)


def _agree(found: HeldOut, exact: HeldOut, each: float, all_in_all: float) -> None:
    """Differences of the means, in standard deviations; and the ratio of these."""
    off = np.abs(found.mean - exact.mean) / exact.deviation
    assert off.max() < each
    assert off.mean() < all_in_all
    ratio = np.log(found.deviation / exact.deviation)
    assert np.abs(ratio).mean() < 2 * all_in_all


AS_USED = {
    "gp": GaussianProcessModel(3),
    "forest": ForestModel(3, n_trees=100),
    "auto": AutoModel(
        (Member("gp", GaussianProcessModel(3)), Member("forest", ForestModel(3, n_trees=100)))
    ),
}


@pytest.mark.parametrize("kind", ["usual", "duplicates"])
@pytest.mark.parametrize("name", AS_USED)
def test_models_as_campaigns_use_them_agree_with_refits(name, kind):
    """What all labels taught stays (relevances, member weights), and few trees miss a label."""
    model, seen = AS_USED[name], observations(*table(kind))
    found = model.posterior(seen, stream(9, "all")).held_out()
    _agree(found, refitted(model, seen, stream(9, "rest"), folds=len(seen)), 1.25, 0.25)


@pytest.mark.parametrize("kind", ["three", "duplicates"])
def test_sparse_chains_reweighted_agree_with_refits(kind):
    x, y = table(kind)
    rng = stream(3, "sparse")
    x = np.column_stack([x, rng.standard_normal((len(y), 9))])
    model = SparseLinearModel(12, n_chains=200, sweeps=4, constant_column=2, label_unit=1.0)
    seen = observations(x, y)
    found = model.posterior(seen, stream(3, "all")).held_out()
    _agree(found, refitted(model, seen, stream(3, "rest")), 0.6, 0.2)


def test_matrix_chains_reweighted_agree_with_refits():
    rng = stream(4, "matrix")
    truth = 0.5 + 0.3 * rng.standard_normal((5, 1)) + 0.2 * rng.standard_normal(4)
    cells = rng.permutation(20)[:14]
    x = np.stack(np.divmod(cells, 4), axis=1)
    y = truth.ravel()[cells] + 0.05 * rng.standard_normal(14)
    seen = observations(x, y)
    model = MatrixModel(5, 4, max_rank=2, n_chains=400, label_unit=1.0)
    found = model.posterior(seen, stream(4, "all")).held_out()
    _agree(found, refitted(model, seen, stream(4, "rest")), 0.6, 0.25)


def test_a_low_rank_matrix_is_fitted_anew():
    model = LowRankModel(3, 3, 1, noise_variance=0.1, n_chains=100)
    seen = [Observation(i, np.array([[i, i]]), np.array([1.0])) for i in range(3)]
    found = model.posterior(seen, stream(5, "test")).held_out()
    # No two share a row or a column: without its own label nothing is known of an entry.
    assert np.all(np.abs(found.mean) < 0.5)
    assert np.all(found.deviation > 0.6)


def test_members_that_saw_a_label_say_nothing_of_it():
    problem = PROBLEMS["estimator"]
    seen, _ = problem.observed(20)
    plain = problem.model.posterior(seen, stream(6, "test")).held_out()
    shaken = [*seen[:7], Observation(seen[7].item, seen[7].x, seen[7].y + 50.0), *seen[8:]]
    found = problem.model.posterior(shaken, stream(6, "test")).held_out()
    assert abs(found.mean[7] - plain.mean[7]) < 2.0


@pytest.mark.parametrize(
    "name", [name for name in PROBLEMS if not name.startswith(("finite", "neural"))]
)
@pytest.mark.parametrize("count", [0, 1, 2, 8])
def test_every_model_of_campaigns_holds_labels_out(name, count):
    problem = PROBLEMS[name]
    seen, _ = problem.observed(count)
    posterior = problem.model.posterior(seen, stream(7, "test"))
    found = require(posterior, SupportsHeldOut, by=posterior).held_out()
    rows = sum(len(one.y) for one in seen)
    assert found.mean.shape == found.deviation.shape == found.log_density.shape == (rows,)
    assert np.isfinite([found.mean, found.deviation, found.log_density]).all()
    assert (found.deviation > 0).all()


def test_a_model_that_cannot_says_so():
    posterior = FiniteModel(np.eye(2), PROBLEMS["finite-Bernoulli"].model.likelihood)
    with pytest.raises(MissingCapability, match="predicts held-out labels"):
        require(posterior.posterior((), stream(0, "test")), SupportsHeldOut, by=posterior)


def test_a_mixture_has_the_moments_of_its_density():
    rng = stream(8, "mixture")
    parts = [
        HeldOut(np.array([0.0]), np.array([1.0]), np.log([0.2])),
        HeldOut(np.array([4.0]), np.array([2.0]), np.log([0.6])),
    ]
    found = mixed(parts, np.array([0.25, 0.75]))
    drawn = np.where(rng.random(400_000) < 0.25, 0.0, 4.0)
    drawn += np.where(drawn == 0.0, 1.0, 2.0) * rng.standard_normal(400_000)
    assert found.mean[0] == pytest.approx(drawn.mean(), abs=0.02)
    assert found.deviation[0] == pytest.approx(drawn.std(), abs=0.02)
    assert found.log_density[0] == pytest.approx(np.log(0.5))


def test_weights_make_of_draws_that_saw_a_label_draws_that_did_not():
    """Labels N(μ, 1), μ ~ N(0, 1): the law of each given the others is known."""
    rng = stream(0, "labels")
    y = 0.5 + rng.standard_normal(8)
    drawn = y.sum() / 9 + np.sqrt(1 / 9) * rng.standard_normal((1, 100_000))
    found = reweighted(y, np.repeat(drawn, 8, axis=0), np.ones((8, 100_000)))
    np.testing.assert_allclose(found.mean, (y.sum() - y) / 8, atol=0.02)
    np.testing.assert_allclose(found.deviation, np.sqrt(1 + 1 / 8), rtol=0.02)
