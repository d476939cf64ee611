"""A pool with bounds answers as the pool without: campaigns, near-ties, sizes of all kinds."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serendip.pools.screening.bounded as module
from serendip.core.bounds.ellipsoid import Belief
from serendip.core.data import Observation
from serendip.core.errors import SerendipError
from serendip.core.reductions.folds import everything, optima
from serendip.core.rng import stream
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel
from serendip.policies.batch import choose_batch
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.ratio import PeakTradeoff
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import UCB
from serendip.pools.dense import DensePool
from serendip.pools.screening.bounded import BoundedPool, bounded
from serendip.pools.screening.sights import fresh_sights, updated_sights
from serendip.simulate.environments.table import table_world
from serendip.simulate.loop import play
from shard_cases import mixtures

POLICIES = (
    SampleVIDS(n_draws=40),
    SampleVIDS(n_draws=40, randomised=True),
    BudgetIDS(n_draws=40),
    BudgetIDS(n_draws=40, power=0.8),
    BudgetIDS(n_draws=40, randomised=True),
    Thompson(),
    UCB(),
)
SCALES = (1e-30, 1e-12, 1.0, 1e8, 1e19)


def features(rng, n, d, kind, scale):
    """Rows of many kinds: alike, clustered, of very different sizes, near-ties."""
    x = rng.standard_normal((n, d))
    if kind == "duplicates":
        x = x[rng.integers(max(1, n // 5), size=n)]
    elif kind == "near-ties":
        x = x[rng.integers(min(n, 3), size=n)] * (1.0 + 1e-7 * rng.integers(-3, 4, size=(n, d)))
    elif kind == "outliers":
        x *= 10.0 ** rng.uniform(-6, 6, size=(n, 1))
    elif kind == "constant":
        x[:, 0] = 1.0
    return scale * x


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 300),
    d=st.integers(1, 6),
    kind=st.sampled_from(["plain", "duplicates", "near-ties", "outliers", "constant"]),
    scale=st.sampled_from(SCALES),
    single=st.booleans(),
    known=st.booleans(),
    policy=st.sampled_from(POLICIES),
    budget=st.integers(1, 320),
    first=st.integers(1, 40),
)
def test_choices_are_those_of_the_plain_pool(
    seed, n, d, kind, scale, single, known, policy, budget, first
):
    rng = np.random.default_rng(seed)
    x = features(rng, n, d, kind, scale)
    x = x.astype(np.float32) if single else x
    model = LinearModel(d, scale**-2.0, 0.1) if known else LinearModel(d)
    plain = DensePool(x, block_rows=64)
    pool = BoundedPool(plain, least=1, first=first)
    posterior = model.posterior((), rng)
    for t in range(min(4, n, budget)):
        ours = policy.choose(posterior, pool, budget - t, stream(seed, "c", t))
        theirs = policy.choose(posterior, plain, budget - t, stream(seed, "c", t))
        assert ours.item == theirs.item
        assert ours.score == pytest.approx(theirs.score, rel=1e-6)
        label = float(x[ours.item].sum() / scale + rng.standard_normal())
        seen = Observation(ours.item, x[ours.item][None], np.array([label]))
        try:
            posterior = posterior.update(seen, rng)
        except SerendipError:  # the model itself cannot compute with such sizes, and says so
            return
        plain, pool = plain.without(ours.item), pool.without(ours.item)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["plain", "duplicates", "near-ties", "outliers"]),
    count=st.integers(1, 60),
    stale=st.integers(0, 30),
)
def test_leaders_and_hull_are_the_same_by_old_sights(seed, kind, count, stale):
    """Sights from another belief are loose, never wrong."""
    rng = np.random.default_rng(seed)
    x = features(rng, 400, 4, kind, 1.0).astype(np.float32)
    plain = DensePool(x, block_rows=50)
    pool = BoundedPool(plain, least=1, first=10)
    seen = [Observation(i, x[i : i + 1], rng.standard_normal(1)) for i in range(stale)]
    old = LinearModel(4).posterior(seen, rng)
    optima(pool, old.sample(20, rng))
    kept = pool.memo.sights
    for one in seen:
        plain, pool = plain.without(one.item), pool.without(one.item)
    posterior = LinearModel(4, 1.0, 0.01).posterior(seen, rng)
    draws = posterior.sample(30, rng)
    pool.memo.sights = kept
    for fresh in (False, True):
        if fresh:
            optima(pool, draws)
        best, theirs = optima(pool, draws, count), optima(plain, draws, count)
        np.testing.assert_array_equal(best.items, theirs.items)
        np.testing.assert_array_equal(best.values, theirs.values)
        tradeoff = PeakTradeoff.of(draws.summary(theirs), theirs)
        pool.memo.sights = pool.memo.sights if fresh else kept
        assert mixtures(pool, tradeoff, seed) == mixtures(plain, tradeoff, seed)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["plain", "duplicates", "outliers", "constant"]),
    scale=st.sampled_from((1e-30, 1e-18, 1e-6, 1.0, 1e12)),
    single=st.booleans(),
    n_labels=st.integers(1, 8),
)
def test_sights_are_upper_bounds(seed, kind, scale, single, n_labels):
    rng = np.random.default_rng(seed)
    d = 40
    x = features(rng, 90, d, kind, scale)
    pool = DensePool(x.astype(np.float32) if single else x, block_rows=32)
    x = pool.x.astype(np.longdouble)
    root = rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-3, 3, size=d)
    belief = Belief(rng.standard_normal(d), root @ root.T, 0.2 * scale**2 * d)
    sights = fresh_sights(pool, belief, np.empty(0, dtype=np.int64))
    if sights is None:  # squares of such sizes overflow in float32
        assert scale == 1e12
        return
    for t in range(n_labels + 1):
        if t:
            mean = rng.standard_normal(d)
            news = Belief(mean, sights.around.form, belief.noise_variance)
            pool = pool.without(t - 1)
            sights = updated_sights(pool, sights, news, np.arange(t))
            if sights is None:  # better made anew
                return
        left = np.arange(t, 90)
        form = sights.around.form.astype(np.longdouble)
        variance = np.einsum("bd,de,be->b", x, form, x)[left]
        assert np.all(sights.mean[left] >= x[left] @ sights.around.centre)
        assert np.all(sights.width[left] >= np.sqrt(np.clip(variance, 0.0, None)) * (1 - 1e-12))
        if kind == "plain" and scale == 1.0 and t == 0:
            assert np.all(sights.width <= 1.01 * np.sqrt(variance) + 1e-3 * np.abs(x).max())


def test_most_candidates_are_left_out_once_labels_are_in(monkeypatch):
    """What the bounds are for: after enough labels few candidates are read at all."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20_000, 5)).astype(np.float32)
    truth = rng.standard_normal(5)
    posterior = LinearModel(5, 1.0, 0.1).posterior((), rng)
    pool = BoundedPool(DensePool(x), first=256)
    taken = []
    take = DensePool.take

    def counted(pool, items):
        taken.append(len(items))
        return take(pool, items)

    monkeypatch.setattr(DensePool, "take", counted)
    for t in range(12):
        taken.clear()
        choice = SampleVIDS(n_draws=100).choose(posterior, pool, 10, stream(0, "c", t))
        label = float(x[choice.item] @ truth + 0.3 * rng.standard_normal())
        seen = Observation(choice.item, x[choice.item][None], np.array([label]))
        posterior, pool = posterior.update(seen, rng), pool.without(choice.item)
    assert sum(taken) < 0.2 * len(x)


def test_a_pool_from_before_is_not_answered_with_the_sights_of_later():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((500, 3))
    before = BoundedPool(DensePool(x), least=1, first=5)
    draws = LinearModel(3, 1.0, 1.0).posterior((), rng).sample(30, rng)
    best = optima(before, draws)
    after = before
    for item in np.unique(best.items).tolist():
        after = after.without(item)
    again = LinearModel(3, 1.0, 1.0).posterior((), rng).sample(30, rng)
    optima(after, again)
    np.testing.assert_array_equal(optima(before, draws).items, best.items)


def test_sizes_out_of_range_are_walked_as_they_are():
    """Widths that float32 cannot hold are not kept."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((300, 2)) * 1e150
    pool = BoundedPool(DensePool(x), least=1, first=5)
    draws = LinearModel(2, 1.0, 1.0).posterior((), rng).sample(30, rng)
    np.testing.assert_array_equal(optima(pool, draws, 3).items, optima(pool.inner, draws, 3).items)
    assert pool.memo.sights is None


def test_whole_numbers_are_features_like_others():
    """Squares of small integers do not fit their own type."""
    rng = np.random.default_rng(9)
    x = rng.integers(-120, 120, size=(500, 4)).astype(np.int8)
    pool = BoundedPool(DensePool(x, block_rows=60), least=1, first=5)
    posterior = LinearModel(4, 1.0, 1.0).posterior((), rng)
    for policy in POLICIES:
        ours = policy.choose(posterior, pool, 5, stream(0, "c"))
        assert ours.item == policy.choose(posterior, pool.inner, 5, stream(0, "c")).item
    assert pool.memo.sights is not None


def test_models_without_bounds_are_walked_as_they_are():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((300, 2))
    pool = BoundedPool(DensePool(x), least=1)
    posterior = LogisticModel(2).posterior((), rng)
    for policy in POLICIES[:3]:
        ours = policy.choose(posterior, pool, 5, stream(0, "c"))
        assert ours.item == policy.choose(posterior, pool.inner, 5, stream(0, "c")).item
    assert pool.memo.sights is None


def test_batches_are_those_of_the_plain_pool():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((400, 3))
    posterior = LinearModel(3).posterior((), rng)
    batches = [
        choose_batch(BudgetIDS(n_draws=30), posterior, pool, 30, 6, lambda p: stream(0, "b", p))
        for pool in (DensePool(x), BoundedPool(DensePool(x), least=1, first=9))
    ]
    assert [one.item for one in batches[0]] == [one.item for one in batches[1]]


@pytest.mark.parametrize("model", [LinearModel(4), LinearModel(4, 1.0, 0.1)])
def test_a_whole_campaign_is_the_same(monkeypatch, model):
    """Through `play`, which bounds large pools by itself."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((3000, 4)).astype(np.float32)
    labels = x @ rng.standard_normal(4) + 0.3 * rng.standard_normal(3000)
    world = table_world(x, labels)
    plain = play(world.pool, world.oracle, model, BudgetIDS(n_draws=40), 20, seed=1)
    monkeypatch.setattr(module, "_LEAST", 1)
    assert isinstance(bounded(world.pool), BoundedPool)
    assert not isinstance(bounded(bounded(world.pool)).inner, BoundedPool)
    ours = play(world.pool, world.oracle, model, BudgetIDS(n_draws=40), 20, seed=1)
    np.testing.assert_array_equal(plain.items, ours.items)


def test_it_travels_without_its_memo():
    rng = np.random.default_rng(7)
    pool = BoundedPool(DensePool(rng.standard_normal((200, 3))), least=1, first=5).without(4)
    draws = LinearModel(3, 1.0, 1.0).posterior((), rng).sample(30, rng)
    best = optima(pool, draws)
    assert pool.memo.sights is not None
    copy = pickle.loads(pickle.dumps(pool))
    assert copy.memo.sights is None
    np.testing.assert_array_equal(everything(copy).items, everything(pool).items)
    np.testing.assert_array_equal(optima(copy, draws).items, best.items)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_threads_do_not_change_the_answer(monkeypatch, threads):
    rng = np.random.default_rng(8)
    x = rng.standard_normal((20_000, 4)).astype(np.float32)
    draws = LinearModel(4, 1.0, 1.0).posterior((), rng).sample(50, rng)
    plain = optima(DensePool(x), draws, 30)
    monkeypatch.setenv("SERENDIP_THREADS", threads)
    pool = BoundedPool(DensePool(x, block_rows=500), first=100)
    ours = optima(pool, draws, 30)
    np.testing.assert_array_equal(plain.items, ours.items)
    np.testing.assert_array_equal(plain.values, ours.values)
