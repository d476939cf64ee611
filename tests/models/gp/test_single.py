"""What float32 makes of paths, scores and contenders, beside what float64 has for all of them."""

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.reductions import cheapest, folds, scanning
from serendip.core.reductions.cheapest import least_regrets
from serendip.core.reductions.folds import LowestFold, contended, leading, lowest, optima
from serendip.core.reductions.scanning import SupportsScan, quick_of
from serendip.core.rng import stream
from serendip.models.ensemble.forest import ForestModel
from serendip.models.gp.kernel_terms import Levels
from serendip.models.gp.kernels import Group, linear, radial, single_columns, tanimoto, weighted
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.gp.single import SingleWaves
from serendip.models.mixture.auto import AutoModel, Member
from serendip.policies.ratio import MeanScores, RatioScores, RegretScores
from serendip.pools.dense import DensePool

N = 600
ALL = single_columns(4)
MODELS = {
    "default": GaussianProcessModel(4, n_waves=64),
    "wide": GaussianProcessModel(4, n_waves=64, kernels=(radial(ALL, 0.3, 1.5), radial(ALL, 2.0))),
    "plane": GaussianProcessModel(4, n_waves=64, kernels=(linear(ALL),)),
    "sum": GaussianProcessModel(
        4, kernels=(weighted((0.5, linear(ALL)), (0.5, radial(ALL, 1.0, 2.5))),)
    ),
    "text": GaussianProcessModel(4, n_waves=64, groups=(Group((0, 1), text=True), Group((2, 3)))),
    "bits": GaussianProcessModel(4, n_waves=64, kernels=(tanimoto(ALL),)),
    "levels": GaussianProcessModel(4, n_waves=64, factors=(Levels((0,), (-1.0, 0.0, 1.0)),)),
    "inducing": GaussianProcessModel(4, n_waves=64, n_inducing=8),
    "forest": ForestModel(4),
    "auto": AutoModel(
        (Member("gp", GaussianProcessModel(4, n_waves=64)), Member("forest", ForestModel(4)))
    ),
    "several": AutoModel(
        (
            Member("forest", ForestModel(4)),
            Member("gp", GaussianProcessModel(4, n_waves=64)),
            Member("plane", GaussianProcessModel(4, kernels=(linear(ALL),))),
        )
    ),
}


@pytest.fixture(autouse=True)
def _short_blocks_are_long(monkeypatch):
    monkeypatch.setattr(scanning, "LONG", 256)
    monkeypatch.setattr(folds, "LONG", 256)


def problem(name, labels=12, shift=0.0, unit=1.0, n=N):
    """Draws, and a pool in float32 in which some rows repeat."""
    rng = stream(0, "single")
    x = rng.standard_normal((n, 4)).astype(np.float32)
    if name == "levels":
        x[:, 0] = np.rint(np.clip(x[:, 0], -1, 1))
    x[-20:] = x[:20]
    y = np.sin(2.0 * x[:labels, 0]) + x[:labels, 1] + 0.1 * rng.standard_normal(labels)
    seen = [Observation(i, x[[i]], unit * (y[[i]] + shift)) for i in range(labels)]
    posterior = MODELS[name].posterior(seen, stream(0, "fit"))
    return posterior.sample(40, stream(0, "draws")), DensePool(x, removed=np.arange(labels))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("shift", [0.0, 1e5])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_scanned_values_are_within_their_slack_of_the_exact_ones(name, shift, kind):
    draws, pool = problem(name, shift=shift, n=N)
    assert isinstance(draws, SupportsScan)
    block = Block(np.arange(N), pool.x.astype(kind))
    exact = draws.values(Block(block.items, block.x.astype(np.float64)))
    scan = draws.scan(block)
    for rows in (slice(0, 400), slice(400, 401), slice(401, N)):
        values, slack = scan(rows)
        error = np.abs(np.asarray(values, dtype=np.float64) - exact[rows])
        assert (error <= slack).all()
    assert np.median(slack) < 0.02 * np.median(exact.std(axis=0))


@pytest.mark.parametrize("unit", [1e-29, 1e28])
@pytest.mark.parametrize("name", ["default", "forest", "auto"])
def test_labels_of_any_size_are_scanned_and_bounded(name, unit):
    draws, pool = problem(name, unit=unit)
    block = Block(np.arange(N), pool.x)
    exact = draws.values(Block(block.items, block.x.astype(np.float64)))
    values, slack = draws.scan(block)(slice(0, N))
    assert (np.abs(values - exact) <= slack + 1e-300).all()
    tradeoff = draws.tradeoff(contended(pool, draws, 5))
    score = RatioScores(tradeoff, 2.0)
    assert lowest(pool, score, 1).item == lowest(pool.with_block_rows(200), score, 1).item


@pytest.mark.parametrize("name", [name for name in MODELS if name != "forest"])
@pytest.mark.parametrize(("labels", "count"), [(25, 3), (25, 300), (1, 20), (0, 20)])
def test_bounds_are_on_the_right_side(name, labels, count):
    draws, pool = problem(name, labels=labels)
    tradeoff = draws.tradeoff(contended(pool, draws, count))
    block = Block(np.arange(N), pool.x)
    exact, quick = tradeoff(block), quick_of(tradeoff)
    for looks in range(3):  # closer for all so many times, then for nobody
        left = iter([True] * looks + [False] * 9)
        found = quick(block, lambda one, left=left: np.full(len(one.regret), next(left)))
        assert (found.regret <= exact.regret).all()
        assert (found.gain >= exact.gain).all()
        assert (found.mean >= exact.mean).all()
    close = quick(block, lambda one: np.ones(len(one.regret), dtype=bool))
    likely = exact.regret > 0.1 * np.median(exact.regret)
    assert np.median(close.regret[likely] / exact.regret[likely]) > 0.9


def test_the_gain_of_a_forest_is_within_the_bound_for_all_candidates():
    draws, pool = problem("forest", labels=25)
    tradeoff = draws.tradeoff(contended(pool, draws, 20))
    exact, rough = tradeoff(Block(np.arange(N), pool.x)), tradeoff.rough()
    assert exact.gain.max() <= rough.gain[0]
    assert exact.regret.min() >= rough.regret[0]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("labels", [0, 25])
def test_the_lowest_score_is_that_of_all_scores(name, labels):
    draws, pool = problem(name, labels=labels)
    tradeoff = draws.tradeoff(contended(pool, draws, 20))
    for score in (
        RatioScores(tradeoff, 2.0),
        RatioScores(tradeoff, 0.2, floor=0.1),
        RegretScores(tradeoff),
        MeanScores(tradeoff),
    ):
        found = lowest(pool, score, 7)
        items, keys = pool.fold(LowestFold(score))
        assert found.item in items
        assert found.score == pytest.approx(keys[0].min(), rel=1e-9)
        again = lowest(pool.with_block_rows(200), score, 7)
        assert again.item == found.item
        assert again.score == pytest.approx(found.score, rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [1, 7, 100])
def test_who_leads_is_who_leads_by_values_in_float64(name, count):
    draws, pool = problem(name)
    rest = np.arange(12, N)
    values = draws.values(Block(rest, pool.x[rest].astype(np.float64)))
    best = np.sort(values, axis=0)[::-1][:count]
    found = optima(pool, draws, count)
    np.testing.assert_allclose(found.values, best.T, rtol=0, atol=1e-8 * np.abs(values).max())
    some = leading(pool, draws, count)
    np.testing.assert_array_equal(np.sort(some.items, axis=1), np.sort(found.items, axis=1))
    np.testing.assert_array_equal(some.thresholds, found.thresholds)
    again = leading(pool.with_block_rows(200), draws, count)
    np.testing.assert_array_equal(np.sort(again.items, axis=1), np.sort(some.items, axis=1))
    np.testing.assert_array_equal(again.thresholds, some.thresholds)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("count", "labels"), [(3, 25), (40, 25), (40, 0)])
def test_least_regrets_are_those_of_all(name, count, labels, monkeypatch):
    monkeypatch.setattr(cheapest, "_LONG", 256)
    draws, pool = problem(name, labels=labels)
    tradeoff = draws.tradeoff(contended(pool, draws, 20))
    block = Block(np.arange(labels, N), pool.x[labels:])
    wanted = np.sort(tradeoff(block).regret)[:count]
    np.testing.assert_allclose(least_regrets(tradeoff, block, count), wanted, rtol=1e-9, atol=1e-15)
    few = Block(block.items[:2], block.x[:2])
    assert len(least_regrets(tradeoff, few, count)) == 2


@pytest.mark.parametrize("far", [1.0, 30.0, 1e4, 1e12])
def test_waves_far_out_take_their_angles_from_float64(far):
    rng = stream(0, "far")
    sketch = MODELS["sum"].kernels[0].sketches(64, rng)[0][1]
    weights = rng.standard_normal((64, 5))
    x = far * rng.standard_normal((50, 4)).astype(np.float32).astype(np.float64)
    found = np.empty((50, 64), dtype=np.float32)
    waves = SingleWaves.of(sketch, weights)
    off = waves.written(x, found)
    assert (off == 0.0) == (far > 100.0)
    error = np.abs(found - sketch(x)) @ np.abs(weights)
    sizes = np.abs(weights).sum(axis=0) / np.sqrt(32)
    assert (error <= off * waves.swing + 16 * 2.0**-24 * sizes).all()


def test_long_blocks_are_bounded_a_part_at_a_time_whatever_the_members():
    draws, pool = problem("several", labels=25, n=3000)
    tradeoff = draws.tradeoff(contended(pool, draws, 20))
    score = RatioScores(tradeoff, 2.0)
    _, keys = pool.fold(LowestFold(score))
    assert lowest(pool, score, 7).score == pytest.approx(keys[0].min(), rel=1e-9)
