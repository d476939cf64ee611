"""A pool in shards against the same pool in one piece: every number must be the same."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serendip.campaigns.analysis.predictions import _WholeFold, best_by_mean
from serendip.campaigns.analysis.reasons import _LevelsFold
from serendip.core.errors import AlreadyLabelled, InvalidInput
from serendip.core.reductions.folds import contenders, everything, lowest, optima
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.policies.batch import choose_batch
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.ens import ENS
from serendip.policies.glm_ucb import GLMUCB
from serendip.policies.greedy import Greedy
from serendip.policies.ids import IDS
from serendip.policies.ratio import RatioScores
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import OFUL, UCB
from serendip.policies.uniform import Uniform
from serendip.pools.dense import DensePool
from serendip.pools.sharded import shard_bounds
from serendip.pools.sources import ArraySource, FileSource
from serendip.simulate.loop import play, suggest
from shard_cases import TreePool, adversarial, mixtures, sharded
from worlds import PROBLEMS


def reductions(pool, posterior, draws, count, key):
    """Every reduction of the package over a pool, as plain values."""
    best = optima(pool, draws, count)
    rivals = contenders(pool, best)
    tradeoff = draws.tradeoff(rivals)
    peaks = optima(pool, draws)
    summary = draws.summary(peaks)
    whole = everything(pool)
    levels = pool.fold(_LevelsFold(tradeoff))
    moments = posterior.moments()
    found = lowest(pool, RatioScores(tradeoff, 2.0), key)
    return {
        "peaks": peaks.items,
        "peak values": peaks.values,
        "leaders": best.items,
        "leader values": best.values,
        "contenders": rivals.items,
        "contender rows": rivals.x,
        "share": rivals.share,
        "thresholds": rivals.thresholds,
        "summary": summary(whole).gain,
        "lowest": found.item,
        "lowest score": found.score,
        "mixtures": mixtures(pool, tradeoff, key),
        "items": whole.items,
        "rows": whole.x,
        "count": levels.count,
        "regret": float(levels.regret),
        "gain": levels.gain,
        "best by mean": best_by_mean(pool, moments, count),
    }


CASES = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(1, 120),
    "d": st.integers(1, 5),
    "count": st.integers(1, 30),
    "block_rows": st.integers(1, 40),
    "kind": st.sampled_from(["plain", "duplicates", "near ties", "huge and tiny", "one line"]),
}


def case(seed, n, d, block_rows, kind):
    rng = np.random.default_rng(seed)
    pool = DensePool(adversarial(rng, n, d, kind), block_rows=block_rows)
    for item in rng.permutation(n)[: n // 5].tolist():
        pool = pool.without(item)
    posterior = LinearModel(d, 1.0, 1.0).posterior((), rng)
    return pool, posterior, posterior.sample(12, rng)


ROUNDED = ("summary", "lowest score", "regret", "gain")
"""Figures that sums of another shape may round in another way; all else is the same to the bit."""


def assert_same(found, expected):
    for name, value in expected.items():
        if name in ROUNDED:
            room = 1e-9 * np.abs(np.where(np.isfinite(value), value, 0.0)).max(initial=0.0)
            np.testing.assert_allclose(found[name], value, rtol=1e-7, atol=room, err_msg=name)
        elif name == "mixtures":
            assert found[name] == value
        else:
            np.testing.assert_array_equal(found[name], value, err_msg=name)


@settings(max_examples=120, deadline=None)
@given(**CASES, n_shards=st.integers(1, 12))
def test_every_reduction_is_the_same_for_any_number_of_shards(
    seed, n, d, count, block_rows, kind, n_shards
):
    pool, posterior, draws = case(seed, n, d, block_rows, kind)
    cut = sharded(pool.x, n_shards, block_rows, pool.removed)
    expected = reductions(pool, posterior, draws, count, seed)
    assert_same(reductions(cut, posterior, draws, count, seed), expected)


@settings(max_examples=120, deadline=None)
@given(**CASES, order=st.integers(0, 10**6))
def test_merges_may_come_in_any_order(seed, n, d, count, block_rows, kind, order):
    pool, posterior, draws = case(seed, n, d, block_rows, kind)
    expected = reductions(pool, posterior, draws, count, seed)
    tree = TreePool(pool, order)
    assert_same(reductions(tree, posterior, draws, count, seed), expected)
    sums = _WholeFold(draws, posterior.moments())  # for forecasts: equal but for rounding
    left, right = pool.fold(sums), tree.fold(sums)
    for field in fields(left):
        a, b = getattr(left, field.name), getattr(right, field.name)
        size = np.abs(pool.x.astype(np.float64)).sum() ** 2 + 1.0
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12 * size)


POLICIES = {
    "ids": BudgetIDS(n_draws=30),
    "ids-randomised": BudgetIDS(n_draws=30, randomised=True),
    "vids": SampleVIDS(n_draws=30),
    "vids-randomised": SampleVIDS(n_draws=30, randomised=True),
    "ids-exact": IDS(),
    "thompson": Thompson(),
    "ucb": UCB(),
    "oful": OFUL(),
    "glm-ucb": GLMUCB(),
    "ens": ENS(),
    "greedy": Greedy(),
    "random": Uniform(),
}
FITTING = {
    "ids-exact": ("finite",),
    "oful": ("linear",),
    "glm-ucb": ("logistic",),
    "ens": ("linear", "logistic", "finite"),
}


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (policy, problem)
        for policy in POLICIES
        for problem in PROBLEMS
        if problem.startswith(FITTING.get(policy, ("",)))
    ],
)
def test_every_policy_picks_the_same(policy, problem):
    one = PROBLEMS[problem]
    seen, dense = one.observed(4)
    posterior = one.model.posterior(seen, stream(0, "fit"))

    def pick(pool):
        return suggest(posterior, pool, POLICIES[policy], 3, lambda _: stream(1, "pick"))

    expected = pick(dense.with_block_rows(3))
    for n_shards in (1, 2, 3, 7):
        assert pick(sharded(dense.x, n_shards, 3, dense.removed)) == expected


def test_a_whole_campaign_is_the_same():
    one = next(case for name, case in PROBLEMS.items() if name.startswith("linear"))
    pool = one.world.pool.with_block_rows(7)
    policy = BudgetIDS(n_draws=30)
    expected = play(pool, one.world.oracle, one.model, policy, 8, seed=3, batch=2)
    for n_shards in (2, 5):
        cut = sharded(pool.x, n_shards, 7)
        found = play(cut, one.world.oracle, one.model, policy, 8, seed=3, batch=2)
        assert found == expected


def test_a_batch_leaves_the_shards_alone():
    one = next(case for name, case in PROBLEMS.items() if name.startswith("linear"))
    posterior = one.model.posterior((), stream(0, "fit"))
    cut = sharded(one.world.pool.x, 3, 5)
    chosen = choose_batch(Greedy(), posterior, cut, 6, 4, lambda place: stream(place))
    assert len({choice.item for choice in chosen}) == 4
    assert len(cut) == len(one.world.pool)


@given(n=st.integers(1, 500), n_shards=st.integers(1, 40), block_rows=st.integers(1, 100))
def test_shards_begin_with_blocks_and_differ_by_one_at_most(n, n_shards, block_rows):
    bounds = shard_bounds(n, n_shards, block_rows)
    assert bounds[0] == 0
    assert bounds[-1] == n
    assert (np.diff(bounds) > 0).all()
    assert (bounds[:-1] % block_rows == 0).all()
    blocks = -(-np.diff(bounds) // block_rows)
    assert blocks.max() - blocks.min() <= 1
    assert len(bounds) - 1 == min(n_shards, -(-n // block_rows))


def test_blocks_are_those_of_a_pool_in_memory():
    x = np.zeros((3, 2))
    assert ArraySource(x).block_rows == DensePool(x).block_rows


def test_names_and_mistakes():
    named = sharded(np.zeros((3, 1)), 2, 1, ids=["a", "b", "c"]).without(1)
    with pytest.raises(AlreadyLabelled, match="Candidate b"):
        named.without(1)
    with pytest.raises(InvalidInput, match="got 2 for 3 rows"):
        sharded(np.zeros((3, 1)), 2, 1, ids=["a", "b"])
    with pytest.raises(InvalidInput, match="n_shards must be at least 1; got 0"):
        shard_bounds(5, 0, 1)
    for x in (np.zeros(3), np.zeros((0, 2)), np.array([["a"]])):
        with pytest.raises(InvalidInput, match="table of numbers"):
            ArraySource(x)


def test_rows_of_a_file(tmp_path):
    x = np.arange(40.0).reshape(10, 4)
    np.save(tmp_path / "pool.npy", x)
    source = FileSource.of(tmp_path / "pool.npy", block_rows=2)
    np.testing.assert_array_equal(source.take(np.array([7, 0])), x[[7, 0]])
    part = source.cut(4, 9).cut(1, 3)
    assert (len(source), len(part)) == (10, 2)
    np.testing.assert_array_equal(everything(part.open()).x, x[5:7])


def test_files_that_will_not_do(tmp_path):
    file = tmp_path / "pool.npy"
    file.write_text("hello")
    with pytest.raises(InvalidInput, match="not a whole"):
        FileSource.of(file)
    np.save(file, np.zeros(3))
    with pytest.raises(InvalidInput, match="at least one row"):
        FileSource.of(file)
    x = np.ones((10, 2))
    x[7, 1] = np.nan
    np.save(file, x)
    with pytest.raises(InvalidInput, match=r"from row 5 of the pool.*row 2, column 1 holds nan"):
        FileSource.of(file).cut(5, 10).open()
    source = FileSource.of(file)
    np.save(file, np.ones((11, 2)))
    with pytest.raises(Exception, match="the same, unchanged file"):
        source.open()
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(InvalidInput, match="not a whole"):
        source.open()
    file.unlink()
    with pytest.raises(Exception, match=r"could not be read.*on every machine"):
        source.take(np.array([0]))
