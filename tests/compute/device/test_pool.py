"""A pool with a device against the same pool without one: the same numbers, whatever the rows.

Runs on the processor, by PyTorch alone; SERENDIP_DEVICE=cuda runs it on a GPU (benchmarks/gpu.py).
"""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from needs import need_package

torch = need_package("torch")

from serendip.compute.device.halved import halved, table_rows  # noqa: E402
from serendip.compute.device.kernels import kernels_for  # noqa: E402
from serendip.compute.device.pool import DeviceMemory, DevicePool  # noqa: E402
from serendip.compute.device.rows import padded_width  # noqa: E402
from serendip.compute.device.scores import _bounds, _told, asked, question  # noqa: E402
from serendip.compute.engines import Engine  # noqa: E402
from serendip.core.data import Observation  # noqa: E402
from serendip.core.errors import AlreadyLabelled, SerendipError  # noqa: E402
from serendip.core.reductions.folds import everything, frontier, leading, lowest, optima  # noqa: E402
from serendip.core.reductions.leaders import LeadersFold  # noqa: E402
from serendip.core.rng import stream  # noqa: E402
from serendip.models.draws import LinearDraws  # noqa: E402
from serendip.models.linear.logistic import LogisticModel  # noqa: E402
from serendip.models.linear.model import LinearModel  # noqa: E402
from serendip.models.linear_forms import LinearSummary  # noqa: E402
from serendip.policies.budget_ids import BudgetIDS  # noqa: E402
from serendip.policies.greedy import Greedy  # noqa: E402
from serendip.policies.index import IndexScores, Optimism  # noqa: E402
from serendip.policies.ratio import PeakTradeoff, RatioScores, RegretScores  # noqa: E402
from serendip.policies.sample_vids import SampleVIDS  # noqa: E402
from serendip.policies.thompson import Thompson  # noqa: E402
from serendip.policies.ucb import OFUL, UCB  # noqa: E402
from serendip.pools.dense import DensePool  # noqa: E402
from serendip.pools.storage.mapped import mapped_pool  # noqa: E402
from shard_cases import adversarial  # noqa: E402

DEVICE = os.environ.get("SERENDIP_DEVICE", "cpu")
KINDS = ["plain", "duplicates", "near ties", "huge and tiny", "one giant", "zeros", "negative"]


def posterior_for(x, rng, n_labels, unknown=False):
    """Labels of rows of ordinary size, which need not be in the pool."""
    d = x.shape[1]
    theta, told = rng.standard_normal(d), rng.standard_normal((n_labels, d))
    seen = [
        Observation(item, told[item : item + 1], np.array([float(told[item] @ theta)]))
        for item in range(n_labels)
    ]
    return (LinearModel(d) if unknown else LinearModel(d, 1.0, 0.1)).posterior(seen, rng)


CASES = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(1, 300),
    "d": st.integers(1, 20),
    "block_rows": st.sampled_from([16, 32, 64]),
    "slab_rows": st.sampled_from([16, 64, 128, None]),
    "streamed": st.booleans(),
    "kind": st.sampled_from(KINDS),
}


def case(seed, n, d, block_rows, slab_rows, streamed, kind):
    rng = np.random.default_rng(seed)
    plain = DensePool(adversarial(rng, n, d, kind))
    room = 0 if streamed else None
    device = DevicePool.of(plain, DEVICE, block_rows=block_rows, slab_rows=slab_rows, room=room)
    for item in rng.permutation(n)[: n // 4].tolist():
        plain, device = plain.without(item), device.without(item)
    return plain, device, posterior_for(plain.x, rng, min(n, 4), bool(rng.integers(2))), rng


@settings(max_examples=100, deadline=None)
@given(**CASES, count=st.integers(1, 40))
def test_leaders_are_the_same(seed, n, d, block_rows, slab_rows, streamed, kind, count):
    plain, device, posterior, rng = case(seed, n, d, block_rows, slab_rows, streamed, kind)
    draws = posterior.sample(17, rng)
    found, wanted = optima(device, draws, count), optima(plain, draws, count)
    np.testing.assert_array_equal(found.items, wanted.items)
    np.testing.assert_array_equal(found.values, wanted.values)
    found, wanted = leading(device, draws, count), leading(plain, draws, count)
    np.testing.assert_array_equal(np.sort(found.items, axis=1), np.sort(wanted.items, axis=1))
    np.testing.assert_array_equal(found.thresholds, wanted.thresholds)


@settings(max_examples=60, deadline=None)
@given(**CASES, remaining=st.integers(1, 30))
def test_choices_are_the_same(seed, n, d, block_rows, slab_rows, streamed, kind, remaining):
    plain, device, posterior, _ = case(seed, n, d, block_rows, slab_rows, streamed, kind)
    policies = (
        BudgetIDS(n_draws=20), SampleVIDS(n_draws=20), BudgetIDS(n_draws=20, randomised=True),
        Greedy(), UCB(), OFUL(), Thompson(),
    )  # fmt: skip
    for policy in policies:
        picks = [
            policy.choose(posterior, pool, remaining, stream(seed, "pick"))
            for pool in (device, plain)
        ]
        assert picks[0].item == picks[1].item, policy


@settings(max_examples=60, deadline=None)
@given(**CASES)
def test_bounds_hold_for_every_row(seed, n, d, block_rows, slab_rows, streamed, kind):
    plain, device, posterior, rng = case(seed, n, d, block_rows, slab_rows, streamed, kind)
    draws = posterior.sample(20, rng)
    best = optima(plain, draws)
    block = everything(plain)
    from serendip.core.reductions.folds import contenders

    budget = draws.tradeoff(contenders(plain, optima(plain, draws, 5)))
    peak = PeakTradeoff.of(draws.summary(best), best)
    scores = [
        RatioScores(peak, 2.0), RatioScores(budget, 2.5), RegretScores(budget), RegretScores(peak),
        RatioScores(peak, 2.0, 0.05), RatioScores(budget, 2.5, 0.05),
        RatioScores(budget, 2.0, 1e-9),
        IndexScores(posterior.moments(), Optimism(1.0)),
    ]  # fmt: skip
    for score in scores:
        exact = np.full(n, np.nan)
        exact[block.items] = score(block).keys[0]
        ask = asked(question(score), device.memory.width, DEVICE)
        for slab in device.memory.seen_without(device.removed):
            blocks = slice(0, len(slab.residual))
            told = _told(ask.span, slab.scale)
            low, _ = _bounds(slab, ask, told, blocks, device.memory.kernels)
            low = low.cpu().double().numpy()[: slab.n_rows]
            here = exact[slab.first : slab.first + slab.n_rows]
            wrong = (low > here) & ~np.isnan(here)
            assert not wrong.any(), (score, low[wrong], here[wrong])


class TestMemory:
    def test_pools_that_share_a_device_do_not_see_each_other(self):
        rng = np.random.default_rng(3)
        x = rng.standard_normal((500, 6)).astype(np.float32)
        first = DevicePool.of(DensePool(x), DEVICE, block_rows=32)
        draws = posterior_for(x, rng, 5).sample(30, rng)
        second = first
        for item in np.unique(optima(first, draws, 3).items).tolist():
            second = second.without(item)
        for pool in (second, first, second):
            wanted = optima(pool.inner, draws, 3)
            np.testing.assert_array_equal(optima(pool, draws, 3).items, wanted.items)

    def test_a_block_that_nobody_is_left_of_shows_nothing(self):
        x = np.full((64, 3), -1.0)
        x[:32] = 5.0
        pool = DevicePool.of(DensePool(x), DEVICE, block_rows=32)
        for item in range(32):
            pool = pool.without(item)
        theta = np.ones((2, 3))
        draws = LinearDraws(
            theta, np.full(2, 0.5), np.ones(3), np.eye(3), LinearModel(3, 1.0, 1.0)
            .posterior((), np.random.default_rng(0)).sample(2, np.random.default_rng(0)).likelihood,
        )  # fmt: skip
        assert set(optima(pool, draws).items.ravel().tolist()) == {32}
        assert Greedy().choose(
            posterior_for(x, np.random.default_rng(1), 3), pool, 3, stream(0, "a")
        ).item >= 32  # fmt: skip

    def test_rows_without_room_travel_each_time(self, tmp_path):
        rng = np.random.default_rng(4)
        x = rng.standard_normal((400, 5)).astype(np.float32)
        np.save(tmp_path / "x.npy", x)
        pool = mapped_pool(tmp_path / "x.npy")
        one_slab = 2 * padded_width(5) * 128
        device = DevicePool.of(pool, DEVICE, block_rows=32, slab_rows=128, room=2 * one_slab)
        assert len(device.memory.slabs) == 2
        draws = posterior_for(x, rng, 5).sample(30, rng)
        np.testing.assert_array_equal(optima(device, draws, 9).items, optima(pool, draws, 9).items)

    def test_a_device_that_fills_up_holds_what_it_can(self, monkeypatch):
        from serendip.compute.device import pool as module

        x = np.random.default_rng(5).standard_normal((400, 5))
        made = module.new_slab
        calls = []

        def scarce(*arguments):
            calls.append(arguments)
            if len(calls) == 2:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return made(*arguments)

        monkeypatch.setattr(module, "new_slab", scarce)
        device = DevicePool.of(DensePool(x), DEVICE, block_rows=32, slab_rows=128)
        assert len(device.memory.slabs) == 1
        draws = posterior_for(x, np.random.default_rng(5), 5).sample(9, np.random.default_rng(6))
        np.testing.assert_array_equal(
            optima(device, draws).items, optima(DensePool(x), draws).items
        )

    def test_out_of_memory_in_a_step_is_an_error_and_no_pick(self, monkeypatch):
        x = np.random.default_rng(5).standard_normal((400, 5))
        device = DevicePool.of(DensePool(x), DEVICE, block_rows=32)

        def full(*_):
            raise torch.OutOfMemoryError("CUDA out of memory.")

        kernels = type("Full", (), {"block_maxima": staticmethod(full)})
        monkeypatch.setattr(device.memory, "kernels", kernels)
        with pytest.raises(SerendipError, match="nothing was chosen"):
            SampleVIDS(n_draws=8).choose(
                posterior_for(x, np.random.default_rng(1), 3), device, 3, stream(0, "a")
            )

    def test_labelled_twice_is_refused(self):
        device = DevicePool.of(DensePool(np.ones((4, 2))), DEVICE, block_rows=16)
        with pytest.raises(AlreadyLabelled, match="each can be tried once"):
            device.without(2).without(2)


def test_a_gain_that_is_zero_but_for_rounding_is_zero_on_a_device_too():
    """The last row seems best by far, if what it tells were not rounding: nobody is left out."""
    x = np.tile([0.0, 1e-5], (150, 1)) * np.linspace(0.9, 1.0, 150)[:, None]
    x[-1] = 0.999e-6, 3e-7
    plain = DensePool(x)
    device = DevicePool.of(plain, DEVICE, block_rows=16)
    summary = LinearSummary(np.array([1e6, 0.0]), np.array([[0.0], [1.0]]), 1.0)
    score = RatioScores(PeakTradeoff(summary, 1.0, 1.0), 2.0)
    assert lowest(plain, score, 0).item == lowest(device, score, 0).item == 148


def test_models_without_a_way_on_the_device_walk_the_pool():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((200, 4))
    seen = [Observation(i, x[i : i + 1], np.array([float(x[i, 0] > 0)])) for i in range(12)]
    posterior = LogisticModel(4, 1.0).posterior(seen, rng)
    plain = DensePool(x)
    device = DevicePool.of(plain, DEVICE, block_rows=32)
    for policy in (SampleVIDS(n_draws=30), BudgetIDS(n_draws=30)):
        picks = [policy.choose(posterior, pool, 9, stream(1, "a")) for pool in (plain, device)]
        assert picks[0].item == picks[1].item
    tradeoff = PeakTradeoff(
        posterior.sample(9, rng).summary(optima(plain, posterior.sample(9, rng))), 1.0, 1.0
    )
    np.testing.assert_array_equal(frontier(device, tradeoff)[0], frontier(plain, tradeoff)[0])


def test_few_values_are_computed_again():
    """Of 20 000 × 200 values hardly more than one a draw needs float64; far more would be slow."""
    rng = np.random.default_rng(9)
    x = rng.standard_normal((20_000, 16)).astype(np.float32)
    device = DevicePool.of(DensePool(x), DEVICE, block_rows=64)
    draws = posterior_for(x, rng, 10).sample(200, rng)
    assert len(device.fold(LeadersFold(draws, 1)).pairs) < 3 * 200


def test_draws_that_are_not_finite_are_refused():
    x = np.random.default_rng(1).standard_normal((40, 3))
    device = DevicePool.of(DensePool(x), DEVICE, block_rows=16)
    draws = posterior_for(x, np.random.default_rng(1), 3).sample(5, np.random.default_rng(1))
    bad = draws.theta.copy()
    bad[2, 1] = np.nan
    wrong = LinearDraws(bad, draws.weights, draws.mean, draws.covariance, draws.likelihood)
    with pytest.raises(SerendipError, match="not finite"):
        optima(device, wrong)


def test_kernels_agree_with_each_other():
    """What a GPU computes by its own kernels against PyTorch; the same thing twice elsewhere."""
    rng = np.random.default_rng(2)
    half = torch.as_tensor(rng.standard_normal((256, 32)), device=DEVICE).half()
    theta = halved(rng.standard_normal((100, 20)), 32, table_rows(100, 128), DEVICE)
    fast, plain = kernels_for(DEVICE, 32), kernels_for("cpu", 32)
    most = fast.block_maxima(half, theta.theta, 64)
    wanted = plain.block_maxima(half.cpu(), theta.theta.cpu(), 64)
    torch.testing.assert_close(most.cpu(), wanted, rtol=1e-4, atol=1e-4)
    values = (half.double() @ theta.theta.double().T).reshape(4, 64, 128).amax(1)
    torch.testing.assert_close(most.double(), values, rtol=1e-4, atol=1e-4)


def test_without_a_gpu_the_engine_says_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SerendipError, match="--engine threads"):
        DeviceMemory(DensePool(np.ones((4, 2))))


def test_a_campaign_asks_a_device_for_the_same_proposals(tmp_path, monkeypatch):
    from serendip.campaigns.campaign import Campaign

    rng = np.random.default_rng(12)
    frame = pd.DataFrame(rng.standard_normal((300, 4)), columns=list("abcd")).round(3)
    frame.insert(0, "id", [f"c{row}" for row in range(300)])
    frame.to_csv(tmp_path / "pool.csv", index=False)
    monkeypatch.setattr("serendip.compute.device.pool.found_device", lambda: DEVICE)
    proposals = []
    for name in ("threads", "gpu"):
        campaign = Campaign.create(
            {"name": "screen", "pool": str(tmp_path / "pool.csv"), "label": "y", "id": "id",
             "budget": 20, "model": "linear"},
            tmp_path / f"{name}.db",
        )  # fmt: skip
        asked_for = []
        for _ in range(2):
            table = campaign.ask(4, engine=Engine(name))
            asked_for += table["id"].tolist()
            campaign.tell({item: float(place) for place, item in enumerate(table["id"])})
        proposals.append(asked_for)
    assert proposals[0] == proposals[1]
