"""Batches: a slow and obvious form of the rule, and what it promises to users."""

from dataclasses import replace

import numpy as np
import pytest

from contracts.test_policies import POLICIES, fits
from naive import naive_budget_gain, naive_top
from serendip.core.data import Block, Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.laws import gaussian_shortfall
from serendip.core.reductions.folds import everything, optima
from serendip.core.rng import priority, stream
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel, UnknownScales
from serendip.policies import batch
from serendip.policies.batch import choose_batch, pretended, shortlist, tabled
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.glm_ucb import GLMUCB
from serendip.policies.greedy import Greedy
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.started import Started
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import UCB
from serendip.policies.uniform import Uniform
from serendip.pools.dense import DensePool
from serendip.simulate.loop import suggest
from shard_cases import TreePool, sharded
from worlds import PROBLEMS

NOISE = 0.3
UNTELLABLE = {(policy, "finite-Bernoulli") for policy in ("ids-exact", "ids-exact-set", "ens")}
"""Who must tell the model of an expected label, and a model that takes none between 0 and 1."""


@pytest.fixture(autouse=True)
def _enough(monkeypatch, request):
    """There are enough labels, so that batches are chosen at once, but where a test is `early`."""
    if "early" not in request.node.name:
        monkeypatch.setattr(batch, "_EARLY", 0)


def streams(seed):
    return lambda place: stream(seed, "batch", place)


def problem(seed, n=60, d=4, t=5, known=True):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    seen = [Observation(i, x[i : i + 1], rng.standard_normal(1)) for i in range(t)]
    model = LinearModel(d, 1.0, NOISE) if known else LinearModel(d)
    return model.posterior(seen, rng), DensePool(x, removed=np.arange(t))


class Obvious:
    """The law of a shortlist under a linear model, moved one expected label after another."""

    def __init__(self, posterior, draws, items, x):
        self.items = items.tolist()
        self.mean, self.covariance = x @ posterior.mean, x @ posterior.covariance @ x.T
        self.values = (draws.theta @ x.T).T

    def expect(self, item, rng):
        j, n_draws = self.items.index(item), self.values.shape[1]
        noise = np.sqrt(NOISE) * rng.standard_normal(n_draws)
        move = self.covariance[:, j] / (self.covariance[j, j] + NOISE)
        for draw in range(n_draws):
            surprise = self.mean[j] - self.values[j, draw] - noise[draw]
            self.values[:, draw] = self.values[:, draw] + move * surprise
        self.covariance = self.covariance - np.outer(move, self.covariance[j])

    def scores(self, left, count, power, floor):
        rows = [self.items.index(item) for item in left]
        values, mean = self.values[rows], self.mean[rows]
        covariance = self.covariance[np.ix_(rows, rows)]
        last = np.sort(values, axis=0)[::-1][count - 1]
        shared = (values @ (last - last.mean())) / len(last)
        apart = last.var() - 2.0 * shared + np.diag(covariance)
        regret = gaussian_shortfall(last.mean() - mean, apart)
        gain = naive_budget_gain(values, count, covariance, NOISE)
        regret = regret + floor * np.sort(regret)[:count].mean()
        return power * np.log(regret) - np.log(gain)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("pending", "scales_known"), [((), True), ((0, 3), True), ((), False)])
def test_a_batch_of_ids_is_its_formula(seed, pending, scales_known):
    posterior, pool = problem(seed)
    policy = BudgetIDS()
    if not scales_known:
        posterior = replace(posterior, scale=UnknownScales())
    remaining, count = 20, 6
    found = choose_batch(policy, posterior, pool, remaining, count, streams(seed), pending)
    rng, left, chosen = streams(seed)(0), everything(pool).items.tolist(), []
    later = remaining - count
    if not pending:
        chosen.append(policy.choose_in_batch(posterior, pool, remaining, later, rng).item)
    draws = posterior.sample(300, rng)
    rng.integers(2**63 - 1)  # for ties in who is shortlisted
    items = np.array(sorted({*left, *pending}))
    left = [item for item in left if item not in chosen]
    obvious = Obvious(posterior, draws, items, pool.take(items))
    for item in (*pending, *chosen):
        obvious.expect(item, rng)
    while len(chosen) < count:
        place = len(chosen)
        rng = streams(seed)(place) if place else rng
        power, floor = 2.0 * (remaining - place) / later, 0.0 if scales_known else 0.3
        scores = obvious.scores(left, remaining - place, power, floor)
        chosen.append(left[int(np.argmin(scores))])
        left.remove(chosen[-1])
        rng.integers(2**63 - 1)  # for ties in the score
        obvious.expect(chosen[-1], rng)
    assert [choice.item for choice in found] == chosen


@pytest.mark.parametrize("seed", range(3))
def test_the_shortlist_is_those_that_most_draws_hold_among_their_best(seed):
    posterior, pool = problem(seed, n=1500)
    near = 40
    believed, few = tabled(posterior, pool, near, [0, 4], stream(seed, "table"))
    rng = stream(seed, "table")
    draws = posterior.sample(300, rng)
    key = int(rng.integers(2**63 - 1))
    block = everything(pool)
    rows, _ = naive_top(draws.values(block), near)
    share = np.bincount(rows.ravel(), minlength=len(block)) / len(rows)
    order = np.lexsort((priority(key, block.items), -share.round(12)))
    wanted = [place for place in order[:512].tolist() if share[place] > 0]
    assert few.block.items.tolist() == sorted(block.items[wanted].tolist())
    assert believed.table.items.tolist() == few.block.items.tolist()  # the pending ones have left
    assert believed.n_labels == posterior.n_labels + 2


@pytest.mark.parametrize("small", [1000, 2000])
@pytest.mark.parametrize("policy", [BudgetIDS(n_draws=60), SampleVIDS(n_draws=60), UCB(), Greedy()])
def test_a_batch_is_the_same_however_the_pool_is_cut(policy, small, monkeypatch):
    monkeypatch.setattr(batch, "_SMALL", small)
    posterior, pool = problem(5, n=1500)
    remaining, count = 60, 5
    expected = choose_batch(policy, posterior, pool, remaining, count, streams(1), [2])
    others = [pool.with_block_rows(37), TreePool(pool.with_block_rows(100), 3)]
    others += [sharded(pool.x, shards, 64, removed=range(5)) for shards in (2, 7)]
    for other in others:
        found = choose_batch(policy, posterior, other, remaining, count, streams(1), [2])
        assert found == expected


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_and_model_has_batches(policy, name):
    if not fits(policy, name):
        return
    case = PROBLEMS[name]
    seen, pool = case.observed(3)
    posterior = case.model.posterior(seen, stream(0, "fit"))
    count = min(4, len(pool) - 1)
    pending = [seen[0].item] if name.startswith("graph") else [seen[0].item, seen[2].item]
    for outside in ([], pending):
        asked = (POLICIES[policy], count + 1, streams(0), count, outside)
        if (policy, name) in UNTELLABLE:
            with pytest.raises(InvalidInput, match="binary label must be 0 or 1"):
                suggest(posterior, pool, *asked)
            continue
        choices = suggest(posterior, pool, *asked)
        items = [choice.item for choice in choices]
        assert len({*items}) == count
        assert all(item in pool for item in items)
        assert choices == suggest(posterior, pool, *asked)
    alone = POLICIES[policy].choose(posterior, pool, count + 1, streams(0)(0))
    assert suggest(posterior, pool, POLICIES[policy], count + 1, streams(0)) == (alone,)


def test_greedy_takes_the_highest_means():
    posterior, pool = problem(2, known=False)
    block = everything(pool)
    mean, _ = posterior.moments()(block)
    found = choose_batch(Greedy(), posterior, pool, 20, 7, streams(0))
    assert [one.item for one in found] == block.items[np.argsort(-mean)[:7]].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_explored_in_the_last_batch(seed):
    """No label is bought after it, so what it teaches serves nobody."""
    posterior, pool = problem(seed, known=False)
    block = everything(pool)
    mean, _ = posterior.moments()(block)
    found = choose_batch(BudgetIDS(), posterior, pool, 7, 7, streams(seed))
    assert [one.item for one in found] == block.items[np.argsort(-mean)[:7]].tolist()
    early = choose_batch(BudgetIDS(), posterior, pool, 40, 7, streams(seed))
    assert {one.item for one in early} != {one.item for one in found}


@pytest.mark.parametrize("policy", [BudgetIDS(), SampleVIDS(), UCB()])
@pytest.mark.parametrize("model", [GaussianProcessModel(6), LinearModel(6)])
def test_twins_of_what_is_on_its_way_are_not_asked(policy, model):
    """Copies of a candidate have its value: a label says of all what it says of one."""
    rng = np.random.default_rng(0)
    x = np.repeat(np.eye(6) * 2.0, 3, axis=0) + 0.0
    seen = [
        Observation(i, rng.standard_normal((1, 6)) * 0.1, rng.standard_normal(1)) for i in (0, 1)
    ]
    posterior = model.posterior(seen, rng)
    pool = DensePool(x, removed=np.array([0]))
    found = choose_batch(policy, posterior, pool, 12, 4, streams(3), [0])
    kinds = [0, *(one.item // 3 for one in found)]
    assert len({*kinds}) >= 4


def test_thompson_and_chance_choose_anew():
    posterior, pool = problem(4)
    for policy in (Thompson(), Uniform()):
        left = pool
        for place, choice in enumerate(choose_batch(policy, posterior, pool, 9, 5, streams(2))):
            assert choice == policy.choose(posterior, left, 9 - place, streams(2)(place))
            left = left.without(choice.item)


def test_a_random_start_ends_inside_a_batch():
    posterior, pool = problem(4, t=2)
    found = choose_batch(Started(UCB(), 5), posterior, pool, 20, 6, streams(2))
    chance = choose_batch(Uniform(), posterior, pool, 20, 3, streams(2))
    assert found[:3] == chance
    left = pool
    for choice in chance:
        left = left.without(choice.item)
    rest = choose_batch(
        UCB(), posterior, left, 17, 3, lambda place: streams(2)(3 + place), [c.item for c in chance]
    )
    assert found[3:] == rest
    assert choose_batch(Started(UCB(), 9), posterior, pool, 20, 4, streams(2)) == choose_batch(
        Uniform(), posterior, pool, 20, 4, streams(2)
    )


ALL = [BudgetIDS(n_draws=60), SampleVIDS(n_draws=60), UCB(), Greedy()]


def one_by_one(policy, posterior, pool, remaining, count, seed, pending):
    """Each by the posterior that the expected labels of those before leave; and what all leave."""
    guesses = [pretended(posterior, pool, item) for item in pending]
    for guess in guesses:
        posterior = posterior.update(guess, streams(seed)(0))
    chosen = []
    for place in range(count):
        rng = streams(seed)(place)
        chosen.append(policy.choose(posterior, pool, remaining - place, rng))
        posterior = posterior.update(pretended(posterior, pool, chosen[-1].item), rng)
        pool = pool.without(chosen[-1].item)
    return chosen, posterior, pool


@pytest.mark.parametrize("policy", ALL)
def test_early_the_model_is_told_what_is_expected(policy):
    posterior, pool = problem(3, known=False)
    found = choose_batch(policy, posterior, pool, 20, 4, streams(7), [0])
    items = [choice.item for choice in found]
    assert items == [one.item for one in one_by_one(policy, posterior, pool, 20, 4, 7, [0])[0]]


@pytest.mark.parametrize("policy", ALL)
def test_a_batch_goes_on_from_a_table_once_it_is_no_longer_early(policy, monkeypatch):
    posterior, pool = problem(3, known=False)  # five labels, one pending, then two to be told
    monkeypatch.setattr(batch, "_EARLY", 8)
    found = choose_batch(policy, posterior, pool, 20, 6, streams(7), [0])
    first, told, left = one_by_one(policy, posterior, pool, 20, 2, 7, [0])
    monkeypatch.setattr(batch, "_EARLY", 0)
    rest = choose_batch(policy, told, left, 18, 4, lambda place: streams(7)(2 + place))
    assert [one.item for one in found] == [one.item for one in (*first, *rest)]
    assert [one.score for one in found] == pytest.approx([one.score for one in (*first, *rest)])
    if not isinstance(policy, Greedy):  # whose scores are means, which no expected label moves
        model = one_by_one(policy, posterior, pool, 20, 6, 7, [0])[0]
        assert found[-1].score != pytest.approx(model[-1].score, rel=1e-4)


def test_early_or_not_a_large_pool_and_given_scales_tell_the_model_nothing(monkeypatch):
    for (posterior, pool), small in ((problem(3, known=True), 2000), (problem(3, known=False), 50)):
        monkeypatch.setattr(batch, "_SMALL", small)
        monkeypatch.setattr(batch, "_EARLY", 24)
        found = choose_batch(BudgetIDS(), posterior, pool, 20, 6, streams(7))
        monkeypatch.setattr(batch, "_EARLY", 0)
        assert found == choose_batch(BudgetIDS(), posterior, pool, 20, 6, streams(7))


def test_policies_that_ask_for_more_are_told_by_the_model():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((20, 3))
    posterior = LogisticModel(3).posterior((), rng)
    pool = DensePool(x)
    found = choose_batch(GLMUCB(), posterior, pool, 9, 3, streams(0), [])
    for place, choice in enumerate(found):
        alone = GLMUCB().choose(posterior, pool, 9 - place, streams(0)(place))
        assert alone == choice
        mean, _ = posterior.moments()(Block(np.array([choice.item]), x[[choice.item]]))
        posterior = posterior.update(Observation(choice.item, x[[choice.item]], mean), rng)
        pool = pool.without(choice.item)


def test_a_table_is_a_posterior():
    posterior, pool = problem(6)
    believed, few = tabled(posterior, pool, 20, [], stream(0, "table"))
    block = everything(few)
    np.testing.assert_allclose(believed.moments()(block), posterior.moments()(block), atol=1e-9)
    draws = believed.sample(7, stream(1))
    values = draws.values(block)
    assert values.shape == (len(block), 300)
    rows, which = np.array([4, 4, 9]), np.array([0, 299, 17])
    assert np.array_equal(draws.refine(block.x[rows], which), values[rows, which])
    assert believed.sample(1, stream(1)).values(block).shape == (len(block), 1)
    item = int(block.items[3])
    seen = Observation(item, pool.take(np.array([item])), np.array([1.5]))
    told, exact = believed.update(seen, stream(2)), posterior.update(seen, stream(2))
    others = everything(few.without(item))
    np.testing.assert_allclose(told.moments()(others), exact.moments()(others), atol=1e-9)
    with pytest.raises(SerendipError, match="chosen from a shortlist"):
        told.moments()(block)
    assert optima(few.without(item), told.sample(2, stream(3)), 2).items.shape == (300, 2)


@pytest.mark.parametrize("pending", [(), (0, 4)])
def test_of_a_large_pool_all_choices_are_of_one_shortlist(pending, monkeypatch):
    posterior, pool = problem(7, n=1500)
    policy, remaining, count, near = BudgetIDS(n_draws=60), 700, 5, 512
    monkeypatch.setattr(batch, "_SMALL", 1000)
    found = choose_batch(policy, posterior, pool, remaining, count, streams(1), pending)
    rng = streams(1)(0)
    few = shortlist(posterior.sample(300, rng), pool, near, rng)
    assert 512 < len(few) <= 1024
    expected = []
    if not pending:
        expected.append(policy.choose_in_batch(posterior, few, near, near - count, rng).item)
    outside, left = [*pending, *expected], few
    for item in expected:
        left = left.without(item)
    believed, left = tabled(posterior, left, near, outside, rng)
    while len(expected) < count:
        place = len(expected)
        rng = streams(1)(place) if place else rng
        chosen = policy.choose_in_batch(believed, left, near - place, near - count, rng).item
        expected.append(chosen)
        believed, left = believed.expecting(chosen, rng), left.without(chosen)
    assert [one.item for one in found] == expected


@pytest.mark.parametrize("small", [1000, 2000])
def test_a_budget_of_any_size_and_a_batch_of_any_size(small, monkeypatch):
    monkeypatch.setattr(batch, "_SMALL", small)
    posterior, pool = problem(8, n=1400)
    for remaining, count in ((1390, 3), (700, 260)):
        found = choose_batch(BudgetIDS(n_draws=30), posterior, pool, remaining, count, streams(1))
        assert len({one.item for one in found}) == count
