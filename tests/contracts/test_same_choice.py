"""The promise: rounding decides nothing. However sums are taken, the same candidate is picked.

On one machine to the bit: blocks, shards and merges in any order, and copies of candidates among
which only rounding could tell. On another processor scores differ by some units in the last place;
these are added here by hand.
"""

import numpy as np
import pytest

from contracts.test_policies import PAIRS, POLICIES, fits
from serendip.core.data import Observation, Scores, Summary, Tradeoff
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.reductions import folds
from serendip.core.reductions.folds import everything, frontier, lowest, optima
from serendip.core.reductions.mixture import two_point
from serendip.core.rng import priority, stream
from serendip.models.finite import FiniteModel
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.ids import IDS
from serendip.policies.sample_vids import SampleVIDS
from serendip.pools.dense import DensePool
from serendip.simulate.loop import suggest
from shard_cases import TreePool, sharded
from worlds import PROBLEMS

ULP = float(np.finfo(np.float64).eps)
ULPS = 8
"""What rounding does to a score, and more."""


class Shaken:
    """A function of blocks whose figures are some units in the last place off, item by item."""

    def __init__(self, inner, noise):
        self.inner = inner
        self.noise = noise

    def __call__(self, block):
        factor = 1.0 + ULPS * ULP * self.noise[:, block.items]
        found = self.inner(block)
        if isinstance(found, Tradeoff):
            return Tradeoff(
                found.regret * factor[0], found.gain * factor[1], found.mean * factor[2]
            )
        if isinstance(found, Summary):
            return Summary(found.mean * factor[0], found.gain * factor[1])
        return tuple(
            part * factor[place].reshape(-1, *[1] * (part.ndim - 1))
            for place, part in enumerate(found)
        )


def shaken(thing, noise):
    """A posterior or draws whose block functions are shaken; it offers what the thing offers."""

    def method(name):
        def call(self, *args):
            found = getattr(thing, name)(*args)
            deeper = name in ("sample", "atoms")
            return shaken(found, noise) if deeper else Shaken(found, noise)

        return call

    names = (
        "sample", "atoms", "summary", "tradeoff", "moments", "confidence", "design", "information",
        "lookahead",
    )  # fmt: skip
    own = {name: method(name) for name in names if hasattr(thing, name)}
    plain = (
        "values",
        "slack",
        "refine",
        "update",
        "n_labels",
        "labels",
        "scales_known",
        "weights",
        "likelihood",
    )
    own |= {
        name: property(lambda self, name=name: getattr(thing, name))
        for name in plain
        if hasattr(thing, name)
    }
    return type("Shaken", (), own)()


def pick(posterior, pool, policy, remaining, place=0):
    return suggest(posterior, pool, policy, remaining, lambda _: stream(place, "c"))[0].item


@pytest.mark.parametrize(("policy", "problem"), [pair for pair in PAIRS if fits(*pair)])
def test_a_few_units_in_the_last_place_never_change_the_choice(policy, problem):
    case = PROBLEMS[problem]
    seen, pool = case.observed(4)
    posterior = case.model.posterior(seen, stream(0, "fit"))
    for remaining in (1, 3, 10**6):
        plain = pick(posterior, pool, POLICIES[policy], remaining)
        for seed in range(2):
            noise = stream(seed, "shaken").uniform(-1.0, 1.0, (3, len(case.world.pool)))
            assert pick(shaken(posterior, noise), pool, POLICIES[policy], remaining) == plain


@pytest.mark.parametrize(("policy", "problem"), [pair for pair in PAIRS if fits(*pair)])
def test_sums_in_another_order_never_change_the_choice(policy, problem):
    """Blocks of one to seven rows, merged in any order."""
    case = PROBLEMS[problem]
    seen, pool = case.observed(4)
    posterior = case.model.posterior(seen, stream(0, "fit"))
    for remaining in (1, 3, 10**6):
        plain = pick(posterior, pool, POLICIES[policy], remaining)
        for rows in (1, 2, 7):
            tree = TreePool(pool.with_block_rows(rows), seed=rows)
            assert pick(posterior, tree, POLICIES[policy], remaining) == plain


@pytest.mark.parametrize("problem", PROBLEMS)
def test_contenders_that_are_read_when_needed_are_as_good_as_those_held(problem, monkeypatch):
    case = PROBLEMS[problem]
    seen, pool = case.observed(4)
    posterior = case.model.posterior(seen, stream(0, "fit"))
    held = pick(posterior, pool, POLICIES["ids"], 6)
    monkeypatch.setattr(folds, "_HELD", 0)
    assert pick(posterior, pool, POLICIES["ids"], 6) == held
    sharded = TreePool(pool.with_block_rows(7), seed=1)
    assert pick(posterior, sharded, POLICIES["ids"], 6) == held


def small(seed, likelihood):
    """Three parameters, four candidates, any prior; and the same with the parameters reordered."""
    rng = stream(seed, "small")
    table, masses, order = rng.random((3, 4)), rng.dirichlet(np.ones(3)), rng.permutation(3)
    pool = DensePool(np.arange(4)[:, None])
    models = (
        FiniteModel(table, likelihood, masses),
        FiniteModel(table[order], likelihood, masses[order]),
    )
    return pool, [model.posterior((), rng) for model in models]


@pytest.mark.parametrize("likelihood", [Gaussian(0.1), Bernoulli()])
def test_what_is_known_tells_nothing_at_all(likelihood):
    """All four will be labelled: which they are is known, and the information exactly zero."""
    for seed in range(300):
        pool, posteriors = small(seed, likelihood)
        items = set()
        for posterior in posteriors:
            best = optima(pool, posterior.atoms(), 4)
            assert not posterior.information(best, False)(everything(pool)).gain.any()
            items |= {
                pick(posterior, pool.with_block_rows(rows), IDS(ordered=False), 4)
                for rows in ((1, 2, 3, 4) if seed < 30 else ())
            }
        assert len(items) == (1 if seed < 30 else 0)


@pytest.mark.parametrize("likelihood", [Gaussian(0.1), Bernoulli()])
@pytest.mark.parametrize("remaining", [1, 2])
def test_exact_ids_does_not_depend_on_the_order_of_sums(likelihood, remaining):
    for seed in range(60):
        pool, posteriors = small(seed, likelihood)
        items = {
            pick(posterior, pool.with_block_rows(rows), IDS(), remaining, seed)
            for posterior in posteriors
            for rows in (1, 3, 4)
        }
        assert len(items) == 1


COPIED = {
    "gp": lambda: GaussianProcessModel(4),
    "linear": lambda: LinearModel(4),
    "logistic": lambda: LogisticModel(4),
}


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("model", COPIED)
@pytest.mark.parametrize(
    "policy",
    [
        BudgetIDS(n_draws=40, randomised=True),
        SampleVIDS(n_draws=40, randomised=True),
        BudgetIDS(n_draws=40),
    ],
    ids=["ids-randomised", "vids-randomised", "ids"],
)
def test_which_of_three_copies_is_picked_does_not_depend_on_blocks(policy, model, kind):
    for seed in range(6):
        rng = stream(seed, "copies")
        x = np.repeat(rng.standard_normal((14, 4)), 3, axis=0)[rng.permutation(42)].astype(kind)
        pool, seen, truth = DensePool(x), [], x @ rng.standard_normal(4)
        for item in range(6):
            label = truth[item] + 0.3 * rng.standard_normal()
            label = float(label > 0) if model == "logistic" else label
            seen.append(Observation(item, x[item : item + 1], np.array([label])))
            pool = pool.without(item)
        posterior = COPIED[model]().posterior(seen, stream(seed, "fit"))
        cuts = [pool.with_block_rows(rows) for rows in (1, 3, 7, 2048)]
        cuts += [TreePool(cuts[1], seed), sharded(pool.x, 3, 5, pool.removed)]
        assert len({pick(posterior, cut, policy, 10, seed) for cut in cuts}) == 1


class Points:
    """Regrets and gains looked up by item, off by some units in the last place where asked."""

    def __init__(self, regret, gain, seed=None):
        self.regret, self.gain = regret, gain
        if seed is not None:
            noise = stream(seed, "points").uniform(-1.0, 1.0, (2, len(regret)))
            self.regret = regret * (1.0 + ULPS * ULP * noise[0])
            self.gain = gain * (1.0 + ULPS * ULP * noise[1])

    def __call__(self, block):
        regret, gain = self.regret[block.items], self.gain[block.items]
        return Tradeoff(regret, gain, np.zeros(len(block)))


def mixed(pool, points, key, power, floor):
    """Who is mixed, and with what chance."""
    items, front = frontier(pool, points, key, floor)
    best = two_point(front.regret + floor, front.gain, power, priority(key, items))
    return int(items[best.first]), int(items[best.second]), best.chance, best.log_ratio


@pytest.mark.parametrize("kind", ["copies", "on a line", "copies on a line", "flat"])
@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_the_best_mixture_is_the_same_whatever_rounding_does(kind, floor):
    pool = DensePool(np.arange(60)[:, None])
    kinds = set()
    for key in range(16):
        rng = stream(key, "mixture")
        place = rng.integers(0, 9, size=60) if "copies" in kind else rng.random(60) * 8.0
        if "line" in kind:  # λ Δ / Δ* − g / g* = λ − 1 through Δ* = 5
            regret = 2.9 + 0.7 * place
            gain = 3.0 * (1.0 + 2.0 * (regret / 5.0 - 1.0))
        elif kind == "flat":
            regret, gain = 1.0 + place, np.full(60, 2.0)
        else:
            regret, gain = (1.0 + stream(key, "table").random((2, 9)))[:, place]
        gain = np.clip(gain, 0.0, None)
        plain = mixed(pool, Points(regret, gain), key, 2.0, floor)
        kinds.add(plain[0] != plain[1])
        for seed in range(4):
            points = Points(regret, gain, seed)
            for rows in (1, 7, 60):
                cut = TreePool(pool.with_block_rows(rows), seed)
                found = mixed(cut, points, key, 2.0, floor)
                assert found[:2] == plain[:2]
                assert found[2:] == pytest.approx(plain[2:], abs=1e-7)
    # Without a floor one of the nine places on the line is the best of it by itself.
    assert kinds == {kind == "on a line" or (kind == "copies on a line" and floor > 0)}


def test_copies_fill_no_memory_and_each_may_be_picked():
    """Of a thousand copies of three candidates little is kept, and the key decides which."""
    n = 3000
    pool = DensePool(np.arange(n)[:, None], block_rows=100)
    regret, gain = np.tile([1.0, 4.0, 2.0], n // 3), np.tile([0.1, 3.0, 0.2], n // 3)
    firsts = set()
    for key in range(30):
        points = Points(regret, gain, key)
        items, _ = frontier(pool, points, key)
        assert len(items) < 60
        firsts.add(mixed(pool, points, key, 2.0, 0.0)[0])
    assert len(firsts) > 25


def test_what_ties_for_the_lowest_score_goes_by_the_hash_too():
    pool = DensePool(np.arange(50)[:, None])
    for key in range(30):
        noise = stream(key, "ties").uniform(-1.0, 1.0, 50)

        class Near:
            def __init__(self, size):
                self.size = size

            def __call__(self, block, noise=noise):
                return Scores((-3.0 * (1.0 + self.size * ULP * noise[block.items]),))

        assert lowest(pool, Near(0), key).item == lowest(pool, Near(ULPS), key).item
