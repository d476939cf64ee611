import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import norm

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.models.linear.logistic import LogisticModel

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
Y = (RNG.random(30) < expit(X @ np.array([1.0, -2.0, 0.5]))).astype(float)


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def test_the_mode_is_the_mode():
    posterior = LogisticModel(3, 2.0).posterior(observations(X, Y), RNG)

    def loss(theta):
        score = X @ theta
        return theta @ theta / 4 - Y @ log_expit(score) - (1 - Y) @ log_expit(-score)

    reference = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(posterior.mode, reference.x, atol=1e-5)
    chance = expit(X @ posterior.mode)
    hessian = (X * (chance * (1 - chance))[:, None]).T @ X + np.eye(3) / 2
    factor = posterior.precision.factor
    np.testing.assert_allclose(factor @ factor.T, hessian, rtol=1e-8)


@pytest.mark.parametrize("prior_variance", [1.0, None])
def test_warm_start_ends_where_cold_start_ends(prior_variance):
    model = LogisticModel(3, prior_variance)
    stepwise = model.posterior((), RNG)
    for one in observations(X, Y):
        stepwise = stepwise.update(one, RNG)
    together = model.posterior(observations(X, Y), RNG)
    for one, other in zip(stepwise.fits, together.fits, strict=True):
        np.testing.assert_allclose(one.mode, other.mode, atol=1e-6)
        assert one.weight == pytest.approx(other.weight, abs=1e-6)
    assert stepwise.n_labels == 30


def test_separable_and_huge_features_stay_finite():
    x = np.array([[1e4, 0.0], [-1e4, 1.0], [2e4, 0.0]])
    posterior = LogisticModel(2, 100.0).posterior(observations(x, np.array([1.0, 0.0, 1.0])), RNG)
    mean, width = posterior.moments()(Block(np.arange(3), x))
    assert np.isfinite(posterior.mode).all()
    assert np.isfinite(mean).all()
    assert np.isfinite(width).all()
    assert mean[0] > 0.5 > mean[1]


def test_moments_are_those_of_the_sigmoid_not_the_sigmoid_of_the_mean():
    posterior = LogisticModel(3, 2.0).posterior(observations(X, Y), RNG)
    mean, width = posterior.moments()(Block(np.arange(1), X[:1]))
    centre = X[0] @ posterior.mode
    spread = np.linalg.norm(posterior.precision.whiten(X[0]))
    first = quad(lambda z: expit(z) * norm.pdf(z, centre, spread), -40, 40, points=[centre])[0]
    second = quad(lambda z: expit(z) ** 2 * norm.pdf(z, centre, spread), -40, 40, points=[centre])[
        0
    ]
    assert mean[0] == pytest.approx(first, abs=1e-6)
    assert width[0] == pytest.approx(np.sqrt(second - first**2), abs=1e-5)
    assert abs(mean[0] - expit(centre)) > 1e-4


def test_design_norm():
    posterior = LogisticModel(3, 2.0).posterior(observations(X, Y), RNG)
    plug_in, size = posterior.design()(Block(np.arange(30), X))
    gram = X.T @ X + np.eye(3) / 2
    np.testing.assert_allclose(plug_in, expit(X @ posterior.mode))
    np.testing.assert_allclose(size**2, np.einsum("nd,nd->n", X, np.linalg.solve(gram, X.T).T))


@pytest.mark.parametrize("prior_variance", [1.0, None])
def test_lookahead_is_close_to_refitting(prior_variance):
    model = LogisticModel(3, prior_variance)
    posterior = model.posterior(observations(X[:8], Y[:8]), RNG)
    others = Block(np.arange(30), X)
    before = posterior.moments()(others)[0]
    chance, chances, after = posterior.lookahead(others)(others)
    np.testing.assert_allclose(chances, np.stack([1 - chance, chance], axis=1))
    for item in (10, 20, 27):
        for label in (0, 1):
            seen = Observation(item, X[item : item + 1], np.array([float(label)]))
            exact = posterior.update(seen, RNG).moments()(others)[0]
            moved = np.abs(exact - before).mean()
            assert moved > 0.01  # so that the next line says something
            assert np.abs(after[item, label] - exact).mean() < 0.35 * moved


def test_labels_outside_the_unit_interval_are_refused():
    with pytest.raises(InvalidInput, match=r"labels in \[0, 1\]; got 1.5"):
        LogisticModel(3).posterior(observations(X[:1], np.array([1.5])), RNG)


def test_weights_of_the_grid_are_marginal_likelihoods():
    """Against quadrature over one weight; Laplace's method is good to a few per cent here."""
    x, y = X[:, :1], Y
    posterior = LogisticModel(1).posterior(observations(x, y), RNG)
    grid = LogisticModel(1).signal_ratios

    def likelihood(theta, variance):
        score = x[:, 0] * theta
        fit = y @ log_expit(score) + (1 - y) @ log_expit(-score)
        return np.exp(fit + 25.0) * norm.pdf(theta, 0, np.sqrt(variance))

    exact = np.array([quad(likelihood, -8, 8, (v,), points=[0.0], limit=200)[0] for v in grid])
    found = [fit.weight for fit in posterior.fits]
    np.testing.assert_allclose(found, exact / exact.sum(), rtol=0.05, atol=0.003)


def test_the_width_is_found_from_many_labels():
    for ratio in (1.0, 16.0):
        rng = np.random.default_rng(int(ratio))
        x = rng.standard_normal((1500, 40))
        theta = np.sqrt(ratio / 40) * rng.standard_normal(40)
        y = (rng.random(1500) < expit(x @ theta)).astype(float)
        posterior = LogisticModel(40).posterior(observations(x, y), rng)
        weights = {fit.widths[0] * 40: fit.weight for fit in posterior.fits}
        assert weights[ratio] > 0.5
        assert sum(w for r, w in weights.items() if ratio / 5 < r < ratio * 5) > 0.99


def test_a_mixture_has_the_moments_of_its_draws():
    posterior = LogisticModel(3).posterior(observations(X[:6], Y[:6]), RNG)
    assert sum(fit.weight > 0.05 for fit in posterior.fits) > 2
    block = Block(np.arange(30), X)
    mean, width = posterior.moments()(block)
    values = posterior.sample(20_000, RNG).values(block)
    np.testing.assert_allclose(values.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(values.std(axis=1), width, atol=0.02)


def test_a_constant_may_be_large_where_the_width_is_unknown():
    """Hits are rare and features tell nothing: the constant alone says so."""
    rng = np.random.default_rng(3)
    x = np.c_[rng.standard_normal((400, 20)), np.ones(400)]
    y = (rng.random(400) < 0.01).astype(float)
    mean, _ = (
        LogisticModel(21, constant_column=20)
        .posterior(observations(x, y), rng)
        .moments()(Block(np.arange(400), x))
    )
    assert mean.mean() == pytest.approx(y.mean(), abs=0.01)


@pytest.mark.parametrize(
    "settings", [{"n_features": 0}, {"prior_variance": 0.0}, {"signal_ratios": ()}]
)
def test_settings_are_checked(settings):
    with pytest.raises(InvalidInput, match=next(iter(settings))):
        LogisticModel(**{"n_features": 3} | settings)
