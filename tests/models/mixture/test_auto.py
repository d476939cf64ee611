import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import t as student

from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import contenders, optima
from serendip.models.draws import sampled_tradeoff
from serendip.models.ensemble.forest import ForestModel
from serendip.models.gp.kernels import radial, single_columns
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.gp.paths import PathDraws
from serendip.models.mixture.auto import AutoModel, Member, stacked
from serendip.models.mixture.blend import BlendedDraws
from serendip.pools.dense import DensePool


def observations(x, y):
    return [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def smooth(seed, t):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (t, 3))
    return x, np.sin(x[:, 0]) + 0.3 * x[:, 1] + 0.02 * rng.standard_normal(t)


def steps(seed, t):
    """Jumps in columns with heavy tails, which trees follow and smooth functions do not."""
    rng = np.random.default_rng(seed)
    hidden = rng.uniform(-2, 2, (t, 3))
    y = np.where(hidden[:, 0] > 0.3, 1.0, 0.0) * np.where(hidden[:, 1] > -0.2, 1.0, 0.2)
    return np.exp(3.0 * hidden) / 100.0, y + np.where(np.abs(hidden[:, 2]) < 0.7, 0.5, 0.0)


def auto(d=3):
    return AutoModel(
        (Member("gp", GaussianProcessModel(d), 0.9), Member("forest", ForestModel(d), 0.1))
    )


# --- weights -------------------------------------------------------------------------------------


def test_stacking_finds_the_maximum():
    """Against a general optimiser on the logits."""
    rng = np.random.default_rng(0)
    logs, prior = rng.normal(0, 2, (3, 25)), np.array([0.6, 0.3, 0.1])

    def fall(logits):
        weights = logits - logsumexp(logits)
        return -(logsumexp(logs + weights[:, None], axis=0).sum() + 5 * prior @ weights)

    best = minimize(fall, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(stacked(logs, prior), np.exp(best - logsumexp(best)), atol=2e-3)


def test_without_labels_the_prior_stands():
    posterior = auto().posterior((), np.random.default_rng(0))
    assert [one.weight for one in posterior.trust] == pytest.approx([0.9, 0.1])


def test_the_right_model_is_trusted():
    rng = np.random.default_rng(1)
    on_smooth = auto().posterior(observations(*smooth(2, 60)), rng)
    on_steps = auto().posterior(observations(*steps(3, 200)), rng)
    assert on_smooth.trust[0].weight > 0.9
    assert on_steps.trust[1].weight > 0.4
    assert on_steps.trust[1].score > on_steps.trust[0].score


@pytest.mark.parametrize("make", [smooth, steps])
def test_the_mixture_is_nearly_as_good_as_its_best_member(make):
    """Squared error on fresh rows over four tables: at most 15 % above the better member."""
    errors = {"auto": [], "gp": [], "forest": []}
    for seed in range(4):
        x, y = make(20 + seed, 400)
        posterior = auto().posterior(observations(x[:100], y[:100]), np.random.default_rng(seed))
        rest = Block(np.arange(300), x[100:])
        for name, one in zip(errors, (posterior, *posterior.parts), strict=True):
            errors[name].append(np.mean((one.moments()(rest)[0] - y[100:]) ** 2))
    means = {name: np.mean(found) for name, found in errors.items()}
    assert means["auto"] < 1.15 * min(means["gp"], means["forest"])


def test_weights_follow_the_data_alone():
    x, y = smooth(4, 12)
    seen = observations(x, y)
    whole = auto().posterior(seen, np.random.default_rng(0))
    again = auto().posterior(seen, np.random.default_rng(0))
    assert whole.trust == again.trust


@pytest.mark.parametrize(
    "members", [(), (Member("a", ForestModel(2)), Member("a", ForestModel(2)))]
)
def test_members_must_differ(members):
    with pytest.raises(InvalidInput, match="different names"):
        AutoModel(members)


def test_priors_are_positive():
    with pytest.raises(InvalidInput, match="above 0"):
        AutoModel((Member("a", ForestModel(2), 0.0),))


# --- labels left out -----------------------------------------------------------------------------


def test_held_out_is_what_fits_without_the_label_say():
    """Kernels given, so nothing is learnt: the closed form is exact."""
    x, y = smooth(5, 9)
    groups = single_columns(3)
    kernels = (radial(groups, 1.2), radial(groups, 1.0, 2.5))  # alike, so that both count
    model = GaussianProcessModel(3, kernels=kernels, noise_ratios=(0.02, 0.03), label_unit=1.0)
    found = model.posterior(observations(x, y), np.random.default_rng(0)).held_out().log_density
    for i in range(9):
        kept = np.arange(9) != i
        without = model.posterior(observations(x[kept], y[kept]), np.random.default_rng(0))
        density = 0.0
        for fit in without.fits:
            cross = fit.cross(x[i : i + 1])
            mean = fit.means(cross)[0] + fit.offset
            inner = (cross @ fit.basis)[0] ** 2 @ (1 / (fit.sizes + fit.noise[:, None])).T
            spread = fit.kernel.diagonal(x[i : i + 1])[0] + 1 - inner + fit.noise
            scale = np.sqrt(fit.rates / fit.shape * spread)
            density += fit.weights @ student.pdf(y[i], 2 * fit.shape, mean, scale)
        assert found[i] == pytest.approx(np.log(density), abs=1e-6)


def test_held_out_of_the_mixture_mixes_its_members():
    posterior = auto().posterior(observations(*steps(6, 60)), np.random.default_rng(0))
    logs = [part.held_out().log_density for part in posterior.parts]
    weights = [one.weight for one in posterior.trust]
    expected = np.log(weights[0] * np.exp(logs[0]) + weights[1] * np.exp(logs[1]))
    np.testing.assert_allclose(posterior.held_out().log_density, expected, rtol=1e-9)


# --- draws ---------------------------------------------------------------------------------------


def test_every_member_is_drawn_and_counts_by_its_trust():
    posterior, draws, _ = blended()
    assert [len(part.weights) for part in draws.parts] == [400, 400]
    trust = np.array([one.weight for one in posterior.trust])
    masses = draws.weights.reshape(2, 400).sum(axis=1)
    np.testing.assert_allclose(masses, trust, rtol=1e-12)


def test_one_draw_is_of_one_member_by_its_trust():
    """As often as it is trusted; 400 times leave 2.5 %, and four times that is allowed."""
    posterior, _, block = blended()
    rng = np.random.default_rng(2)
    first = sum(isinstance(posterior.sample(1, rng), PathDraws) for _ in range(400))
    assert first / 400 == pytest.approx(posterior.trust[0].weight, abs=0.1)
    assert 0.1 < posterior.trust[0].weight < 0.9
    assert posterior.sample(1, rng).values(block).shape == (50, 1)


def blended():
    x, y = steps(7, 60)
    posterior = auto().posterior(observations(x, y), np.random.default_rng(0))
    draws = posterior.sample(400, np.random.default_rng(1))
    assert isinstance(draws, BlendedDraws)
    fresh, _ = steps(8, 50)
    return posterior, draws, Block(np.arange(50), fresh)


def test_draws_have_the_moments_of_the_mixture():
    """Over 50 candidates; 400 draws leave an error of a twentieth of a standard deviation."""
    posterior, draws, block = blended()
    mean, deviation = posterior.moments()(block)
    values = draws.values(block)
    found = values @ draws.weights
    spread = np.sqrt((values - found[:, None]) ** 2 @ draws.weights)
    assert np.abs((found - mean) / deviation).mean() < 0.15
    assert np.median(spread / deviation) == pytest.approx(1.0, abs=0.15)


def test_refinement_agrees_with_values():
    _, draws, block = blended()
    rows, columns = np.repeat(np.arange(50), 3), np.tile([0, 250, 399], 50)
    exact = draws.refine(block.x[rows], columns)
    slack = draws.slack(block)[columns]
    assert (np.abs(exact - draws.values(block)[rows, columns]) <= slack + 1e-12).all()


def test_the_tradeoff_is_close_to_that_of_the_draws():
    """Regret and mean like the fallback's, whose only error is that of 400 draws."""
    _, draws, block = blended()
    pool = DensePool(block.x)
    doubtful = contenders(pool, optima(pool, draws, 5))
    found = draws.tradeoff(doubtful)(block)
    slow = sampled_tradeoff(draws, doubtful)(block)
    assert np.corrcoef(found.regret, slow.regret)[0, 1] > 0.98
    assert np.corrcoef(found.mean, slow.mean)[0, 1] > 0.99
    assert np.corrcoef(found.gain, slow.gain)[0, 1] > 0.7
