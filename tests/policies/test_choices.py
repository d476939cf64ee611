"""Choices worked out the slow way, and the corner cases of the formulae."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import naive_budget_gain, naive_budget_regret, naive_gain, naive_regret, naive_vids
from serendip.core.data import Block, Observation
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.reductions.folds import contenders, everything, optima
from serendip.core.rng import stream
from serendip.models.draws import TableDraws, equal_weights, sampled_tradeoff
from serendip.models.finite import FiniteModel
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.ens import ENS
from serendip.policies.greedy import Greedy
from serendip.policies.ids import IDS
from serendip.policies.ratio import PeakTradeoff, choose_by_ratio
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.thompson import Thompson
from serendip.policies.uniform import Uniform
from serendip.pools.dense import DensePool
from worlds import PROBLEMS


def posterior_and_pool(seed, n=30, d=4, t=5):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    seen = [Observation(i, x[i : i + 1], rng.standard_normal(1)) for i in range(t)]
    pool = DensePool(x)
    for one in seen:
        pool = pool.without(one.item)
    return LinearModel(d, 1.0, 0.5).posterior(seen, rng), pool


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), power=st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_sample_vids_is_algorithm_two(seed, power):
    posterior, pool = posterior_and_pool(seed)
    draws = posterior.sample(50, stream(seed, "c"))
    block = everything(pool)
    values = draws.values(block)
    best = optima(pool, draws)
    found = PeakTradeoff.of(draws.summary(best), best)(block)
    np.testing.assert_allclose(found.regret, naive_regret(values), atol=1e-10)
    np.testing.assert_allclose(found.gain, naive_gain(values), atol=1e-10)
    choice = SampleVIDS(power, n_draws=50).choose(posterior, pool, 9, stream(seed, "c"))
    assert choice.item == block.items[naive_vids(values, power)]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), remaining=st.integers(1, 24))
def test_budget_ids_is_its_formula(seed, remaining):
    posterior, pool = posterior_and_pool(seed)
    draws = posterior.sample(50, stream(seed, "c"))
    block = everything(pool)
    values = draws.values(block)
    doubtful = contenders(pool, optima(pool, draws, remaining))
    regret = naive_budget_regret(values, remaining)
    np.testing.assert_allclose(sampled_tradeoff(draws, doubtful)(block).regret, regret, atol=1e-10)
    found = draws.tradeoff(doubtful)(block)
    covariance = block.x @ posterior.covariance @ block.x.T
    gain = naive_budget_gain(values, remaining, covariance, 0.5)
    np.testing.assert_allclose(found.gain, gain, atol=1e-10)
    policy = BudgetIDS(n_draws=50)
    choice = policy.choose(posterior, pool, remaining, stream(seed, "c"))
    place = int(np.searchsorted(block.items, choice.item))
    assert choice.details["instant_regret"] == pytest.approx(found.regret[place], abs=1e-10)
    if remaining == 1:  # the last label: nothing it teaches will be used
        assert found.regret[place] <= found.regret.min() + 1e-9
        return
    with np.errstate(divide="ignore"):
        ratios = 2 * remaining / (remaining - 1) * np.log(found.regret) - np.log(gain)
    assert ratios[place] <= ratios.min() + 1e-6


@pytest.mark.parametrize(
    ("seen", "remaining", "share"),
    [
        (0, 100, 1 / 10),
        (4, 96, 5 / 10),
        (9, 91, 1),
        (0, 300, 1 / 20),
        (18, 282, 19 / 20),
        (30, 270, 1),
        (0, 99, 1),
        (0, 5, 1),
        (3, 5, 1),
        (20, 40, 1),
        (5, 2, 1),
    ],
)
def test_a_model_that_infers_its_scales_is_believed_by_and_by(seen, remaining, share):
    """(Δ + 0.3 · mean Δ of the k cheapest contenders)^(λₖ share) / g, by hand."""
    rng = np.random.default_rng(seen)
    x = rng.standard_normal((seen + 3 * remaining, 4))
    pool, posterior = DensePool(x), LinearModel(4).posterior((), rng)
    for item in range(seen):
        posterior = posterior.update(Observation(item, x[[item]], rng.standard_normal(1)), rng)
        pool = pool.without(item)
    draws = posterior.sample(50, stream(0, "c"))
    block = everything(pool)
    doubtful = contenders(pool, optima(pool, draws, remaining))
    found = draws.tradeoff(doubtful)(block)
    costs = np.sort(found.regret[np.isin(block.items, doubtful.items)])[:remaining]
    power = 2 * remaining / (remaining - 1) * share
    scores = power * np.log(found.regret + 0.3 * costs.mean()) - np.log(found.gain)
    choice = BudgetIDS(n_draws=50).choose(posterior, pool, remaining, stream(0, "c"))
    assert choice.item == block.items[int(np.argmin(scores))]
    assert choice.score == pytest.approx(scores.min())


def _held_back(problem):
    """Whether `ids` is, for a model that was told its scales or was not."""
    seen, pool = problem.observed(4)
    posterior = problem.model.posterior(seen, stream(0, "fit"))
    held, free = (
        policy.choose(posterior, pool, 5, stream(0, "c"))
        for policy in (BudgetIDS(n_draws=40), BudgetIDS(n_draws=40, opening=0, floor=0.0))
    )
    return held != free


TOLD = (
    "linear", "logistic", "sparse", "low-rank", "graph", "finite-Bernoulli", "finite-Gaussian",
)  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_whether_scales_are_known_is_for_the_model_to_say(name):
    assert _held_back(PROBLEMS[name]) == (name not in TOLD)


@pytest.mark.parametrize("unit", [2.0**-50, 1.0, 2.0**60])
def test_only_rounding_counts_as_no_regret_whatever_the_unit_of_labels(unit):
    values = unit * np.random.default_rng(0).standard_normal((30, 8))
    values[:, 0] = np.abs(values).max(axis=1)  # the best in every draw
    pool, block = DensePool(np.arange(8)[:, None]), Block(np.arange(8), np.arange(8)[:, None])
    draws = TableDraws(values, equal_weights(30), Gaussian(0.1 * unit**2))
    best = optima(pool, draws)
    peak = PeakTradeoff.of(draws.summary(best), best)(block)
    budget = draws.tradeoff(contenders(pool, best))(block)
    for found in (peak, budget):
        assert found.regret[0] == 0.0
        assert np.all(found.regret[1:] > 0.1 * unit)
        assert not found.gain.any()  # who is the best is known


def test_draws_that_are_alike_tell_nothing():
    values = np.tile(np.random.default_rng(1).random(6) / 3.0, (7, 1))
    weights = np.random.default_rng(2).dirichlet(np.ones(7))
    pool, block = DensePool(np.arange(6)[:, None]), Block(np.arange(6), np.arange(6)[:, None])
    for likelihood in (Gaussian(1e-6), Bernoulli()):
        draws = TableDraws(values, weights, likelihood)
        best = optima(pool, draws)
        assert not draws.summary(best)(block).gain.any()
        assert not draws.tradeoff(contenders(pool, best))(block).gain.any()


def test_what_is_sure_to_be_good_can_wait():
    """One candidate is known to be the best, nine are in doubt: these are tried first."""
    values = np.random.default_rng(0).standard_normal((400, 10))
    values[:, 0] = 10.0
    x = np.arange(10)[:, None]
    pool, draws = DensePool(x), TableDraws(values, equal_weights(400), Gaussian(0.1))
    tradeoff = draws.tradeoff(contenders(pool, optima(pool, draws, 3)))
    rng = np.random.default_rng(1)
    assert choose_by_ratio(pool, tradeoff, 2.0, False, rng).item == 0
    assert choose_by_ratio(pool, tradeoff, 2.0, False, rng, floor=0.1).item != 0


@pytest.mark.parametrize("remaining", [2, 5, 15])
def test_what_all_have_in_common_counts_half(remaining):
    """A level of its own in every draw adds half its variance to what is told of each rival."""
    rng = np.random.default_rng(remaining)
    block = Block(np.arange(20), np.arange(20)[:, None])
    pool = DensePool(block.x)
    values = rng.standard_normal((100, 20)) @ rng.standard_normal((20, 20))
    told, plain, common = [], [], []
    for _ in range(2):
        draws = TableDraws(values, equal_weights(100), Gaussian(0.5))
        doubtful = contenders(pool, optima(pool, draws, remaining))
        spread = draws.values(block).var(axis=1) + 0.5
        told.append(draws.tradeoff(doubtful)(block).gain * spread)
        centred = draws.values(block) - draws.values(block).mean(axis=1)[:, None]
        covariance = centred @ centred[doubtful.items].T / 100
        shared = centred @ doubtful.thresholds / 100
        plain.append(covariance - 0.5 * shared[:, None])
        known = np.column_stack([np.ones(100), values, doubtful.thresholds])
        level = rng.standard_normal(100)
        level -= known @ np.linalg.lstsq(known, level, rcond=None)[0]
        values = values + 30.0 * level[:, None]
        common.append(900.0 * level.var())
    expected = (plain[0] + 0.5 * common[0]) ** 2 @ doubtful.doubt
    np.testing.assert_allclose(told[1], expected, rtol=1e-6)
    np.testing.assert_allclose(told[0], plain[0] ** 2 @ doubtful.doubt, rtol=1e-6)
    assert spread.min() > 100


@pytest.mark.parametrize("remaining", [1, 5, 15])
def test_two_moments_give_the_shortfall_of_many_draws(remaining):
    """The closed form for linear draws against the plain mean over 40,000 of them."""
    posterior, pool = posterior_and_pool(3)
    draws = posterior.sample(40_000, stream(0, "many"))
    block = everything(pool)
    doubtful = contenders(pool, optima(pool, draws, remaining))
    closed = draws.tradeoff(doubtful)(block).regret
    plain = naive_budget_regret(draws.values(block), remaining)
    assert np.abs(closed - plain).max() < 0.06 * plain.max()
    np.testing.assert_allclose(closed.sum(), plain.sum(), rtol=0.05)


def test_when_the_budget_covers_the_pool_the_best_mean_comes_first():
    posterior, pool = posterior_and_pool(0)
    block = everything(pool)
    best = block.items[np.argmax(block.x @ posterior.mean)]
    choice = BudgetIDS().choose(posterior, pool, 25, stream(0, "c"))
    assert choice.item == best
    assert choice.details["gain"] == 0.0  # every label will be bought: nothing is in doubt


@pytest.mark.parametrize("policy", [SampleVIDS(), BudgetIDS(), IDS(), SampleVIDS(randomised=True)])
def test_when_all_draws_agree_the_best_mean_is_taken(policy):
    values = np.array([[0.1, 0.9, 0.4]])
    posterior = FiniteModel(values, Gaussian(1.0)).posterior((), np.random.default_rng(0))
    pool = DensePool(np.arange(3)[:, None])
    assert policy.choose(posterior, pool, 1, stream(0, "c")).item == 1


def test_exact_ids_buys_information_that_variance_cannot_see():
    """The last candidate has no chance to be best, but its label tells which of the others is."""
    values = np.array([[0.9, 0.1, 0.0], [0.1, 0.9, 0.6]])
    posterior = FiniteModel(values, Bernoulli()).posterior((), np.random.default_rng(0))
    pool = DensePool(np.arange(3)[:, None])
    choices = [IDS().choose(posterior, pool, 1, stream(s, "c")) for s in range(200)]
    assert {choice.item for choice in choices} <= {0, 1, 2}
    assert len({choice.item for choice in choices}) <= 2


def test_thompson_follows_the_chance_of_being_best():
    values = np.array([[0.9, 0.1], [0.1, 0.9]])
    masses = np.array([0.7, 0.3])
    model = FiniteModel(values, Bernoulli(), masses)
    posterior = model.posterior((), np.random.default_rng(0))
    pool = DensePool(np.arange(2)[:, None])
    picks = [Thompson().choose(posterior, pool, 1, stream(s, "c")).item for s in range(3000)]
    assert np.mean(picks) == pytest.approx(0.3, abs=0.034)  # four standard errors


def test_random_is_uniform():
    posterior, pool = posterior_and_pool(0, n=12)
    picks = [Uniform().choose(posterior, pool, 1, stream(s, "c")).item for s in range(2100)]
    counts = np.bincount(picks, minlength=12)
    assert counts[:5].sum() == 0
    assert np.abs(counts[5:] - 300).max() < 4 * np.sqrt(300)


def naive_ens_binary(posterior, pool, remaining):
    """Refit after each outcome of each candidate: the definition."""
    block = everything(pool)
    scores = []
    for row, item in enumerate(block.items):
        chance = posterior.moments()(Block(np.array([item]), block.x[row : row + 1]))[0][0]
        total = chance
        rest = np.delete(np.arange(len(block)), row)
        others = Block(block.items[rest], block.x[rest])
        for label in (0.0, 1.0):
            seen = Observation(int(item), block.x[row : row + 1], np.array([label]))
            after = posterior.update(seen, None).moments()(others)[0]
            weight = chance if label else 1 - chance
            total += weight * np.sort(after)[::-1][: remaining - 1].sum()
        scores.append(total)
    return block.items, np.array(scores)


@pytest.mark.parametrize("remaining", [1, 2, 5])
def test_ens_is_its_definition_where_updates_are_exact(remaining):
    rng = np.random.default_rng(3)
    posterior = FiniteModel(rng.random((6, 8)), Bernoulli()).posterior((), rng)
    pool = DensePool(np.arange(8)[:, None]).without(2)
    items, scores = naive_ens_binary(posterior, pool, remaining)
    choice = ENS().choose(posterior, pool, remaining, stream(0, "c"))
    # Members of a top set that no label changes tie exactly, so compare scores, not items.
    assert scores[list(items).index(choice.item)] == pytest.approx(scores.max())
    assert choice.details["expected_total"] == pytest.approx(scores.max())


def test_ens_on_logistic_is_near_its_definition():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((15, 2))
    seen = [Observation(i, x[i : i + 1], np.array([float(i % 2)])) for i in range(4)]
    posterior = LogisticModel(2).posterior(seen, rng)
    pool = DensePool(x)
    for one in seen:
        pool = pool.without(one.item)
    items, scores = naive_ens_binary(posterior, pool, 4)
    choice = ENS().choose(posterior, pool, 4, stream(0, "c"))
    assert scores[list(items).index(choice.item)] > np.sort(scores)[-3] - 1e-12
    assert choice.details["expected_total"] == pytest.approx(scores.max(), abs=0.05)


def test_greedy_takes_the_best_mean():
    posterior, pool = posterior_and_pool(1)
    block = everything(pool)
    choice = Greedy().choose(posterior, pool, 3, stream(0, "c"))
    assert choice.item == block.items[np.argmax(block.x @ posterior.mean)]


def test_vids_prefers_the_hub_of_a_star():
    """A node that shows all others is worth a small regret."""
    star = adjacency_of(40, np.array([[0, leaf] for leaf in range(1, 40)]))
    posterior = GraphModel(star, 1.0, 0.1).posterior((), np.random.default_rng(0))
    pool = DensePool(np.arange(40)[:, None])
    for policy in (SampleVIDS(), BudgetIDS()):
        assert policy.choose(posterior, pool, 20, stream(0, "c")).item == 0


@pytest.mark.parametrize("policy", [SampleVIDS(n_draws=60), BudgetIDS(n_draws=60), Greedy()])
def test_permuting_the_pool_permutes_the_choice(policy):
    posterior, pool = posterior_and_pool(2)
    order = np.random.default_rng(0).permutation(30)
    first = policy.choose(posterior, DensePool(pool.x), 8, stream(0, "c")).item
    again = policy.choose(posterior, DensePool(pool.x[order]), 8, stream(0, "c")).item
    assert order[again] == first
