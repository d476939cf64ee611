"""What every model must do; a model joins by adding itself to `worlds.PROBLEMS`."""

from dataclasses import replace

import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.errors import MissingCapability
from serendip.core.labels import LARGEST
from serendip.core.protocols import (
    SupportsLookahead,
    SupportsMoments,
    SupportsSeen,
    SupportsSeveral,
    require,
    update_all,
)
from serendip.core.reductions.folds import contenders, everything, optima
from serendip.core.rng import stream
from serendip.models.graph.model import GraphPosterior
from serendip.models.linear.logistic import LogisticPosterior
from serendip.policies.ens import ENS
from worlds import PROBLEMS


@pytest.fixture(params=PROBLEMS, name="problem")
def _problem(request):
    return PROBLEMS[request.param]


@pytest.fixture(params=[0, 6], name="state")
def _state(request, problem):
    seen, pool = problem.observed(request.param)
    return problem.model.posterior(seen, stream(0, "fit")), pool, request.param


def test_labels_are_counted(problem, state):
    posterior, pool, count = state
    assert posterior.n_labels == count
    item = int(everything(pool).items[0])
    seen = problem.world.oracle.reveal(item, stream(0, "label", item))
    assert posterior.update(seen, stream(0, "update")).n_labels == count + 1
    assert posterior.n_labels == count  # the old posterior is as it was


def test_labels_are_told_in_the_order_seen(problem, state):
    posterior, pool, count = state
    assert isinstance(posterior, SupportsSeen)
    seen, _ = problem.observed(count)
    np.testing.assert_array_equal(posterior.labels, np.array([y for one in seen for y in one.y]))
    last = problem.world.oracle.reveal(int(everything(pool).items[0]), stream(0, "label"))
    grown = posterior.update(last, stream(0, "update"))
    np.testing.assert_array_equal(grown.labels, np.concatenate([posterior.labels, last.y]))


def test_a_batch_of_labels_is_taken_in_as_one_by_one(problem, state):
    posterior, pool, count = state
    items = [int(item) for item in everything(pool).items[:3]]
    seen = [problem.world.oracle.reveal(item, stream(0, "label", item)) for item in items]
    found = update_all(posterior, seen, stream(0, "update", 2))
    assert found.n_labels == count + 3
    one_by_one = posterior
    for place, one in enumerate(seen):
        one_by_one = one_by_one.update(one, stream(0, "update", place))
    np.testing.assert_array_equal(found.labels, one_by_one.labels)
    if not (isinstance(found, SupportsSeveral) and isinstance(found, SupportsMoments)):
        return  # then it is one by one, with a generator for all
    for item in items:
        pool = pool.without(item)
    block = everything(pool)
    np.testing.assert_allclose(
        found.moments()(block), one_by_one.moments()(block), rtol=1e-6, atol=1e-6
    )


def test_same_seed_same_draws(state):
    posterior, pool, _ = state
    block = everything(pool)
    first = posterior.sample(25, stream(1, "draws")).values(block)
    again = posterior.sample(25, stream(1, "draws")).values(block)
    np.testing.assert_array_equal(first, again)
    n_draws = len(posterior.sample(25, stream(1, "draws")).weights)
    assert first.shape == (len(pool), n_draws)
    assert n_draws % 25 == 0  # more than 25 only where parts of a mixture have so many each
    assert len(posterior.sample(1, stream(1, "draw")).weights) == 1
    assert np.isfinite(first).all()


def test_weights_sum_to_one(state):
    posterior, _, _ = state
    weights = posterior.sample(10, stream(1, "draws")).weights
    assert weights.sum() == pytest.approx(1.0)


def test_refined_values_are_within_the_slack(state):
    posterior, pool, _ = state
    draws = posterior.sample(8, stream(1, "draws"))
    block = everything(pool)
    scanned = draws.values(block)
    for draw in range(8):
        exact = draws.refine(block.x, np.full(len(block), draw))
        assert np.all(np.abs(exact - scanned[:, draw]) <= draws.slack(block)[draw] + 1e-300)


def test_gains_and_regrets_are_not_negative_and_finite(state):
    posterior, pool, _ = state
    draws = posterior.sample(40, stream(1, "draws"))
    block = everything(pool)
    best = optima(pool, draws)
    summary = draws.summary(best)(block)
    assert np.all(summary.gain >= 0)
    assert np.isfinite(summary.gain).all()
    assert np.all(best.best_mean - summary.mean >= -1e-9)
    np.testing.assert_allclose(summary.mean, draws.values(block) @ draws.weights, atol=1e-9)
    for remaining in (1, 4, len(pool), len(pool) + 5):
        doubtful = contenders(pool, optima(pool, draws, remaining))
        found = draws.tradeoff(doubtful)(block)
        assert np.all(found.gain >= -1e-12)
        assert np.isfinite(found.gain).all()
        assert np.all(found.regret >= 0)
        assert np.isfinite(found.regret).all()


def test_blocks_do_not_change_what_is_said(state):
    posterior, pool, _ = state
    draws = posterior.sample(20, stream(1, "draws"))
    block = everything(pool)
    half = len(block) // 2
    parts = [Block(block.items[s], block.x[s]) for s in (slice(0, half), slice(half, None))]
    summary = draws.summary(optima(pool, draws))
    gains = np.concatenate([summary(part).gain for part in parts])
    np.testing.assert_allclose(gains, summary(block).gain, atol=1e-12)


def test_moments_agree_with_draws(state):
    posterior, pool, _ = state
    assert isinstance(posterior, SupportsMoments)
    block = everything(pool)
    mean, deviation = posterior.moments()(block)
    draws = posterior.sample(4000, stream(3, "many"))
    values = draws.values(block)
    found = values @ draws.weights
    spread = np.sqrt((values - found[:, None]) ** 2 @ draws.weights)
    room = 6 * deviation / np.sqrt(4000) + 1e-9
    assert np.mean(np.abs(found - mean) <= room) > 0.9
    # The prior of a graph of unknown scales has no fourth moment: 4000 draws show its second only
    # roughly.
    heavy = isinstance(posterior, GraphPosterior) and posterior.fits and not posterior.n_labels
    near = 0.25 if heavy else 0.1
    np.testing.assert_allclose(np.median(spread / (deviation + 1e-12)), 1.0, atol=near)


def test_a_label_to_come_leaves_means_as_they_are_on_average(state):
    """What is expected after the label, over its outcomes, is what is expected now."""
    posterior, pool, _ = state
    if not isinstance(posterior, SupportsLookahead):
        with pytest.raises(MissingCapability, match="needs"):
            require(posterior, SupportsLookahead, by=ENS())
        return
    others = everything(pool)
    some = Block(others.items[2:5], others.x[2:5])
    mean, chances, after = posterior.lookahead(others)(some)
    assert after.shape == (3, chances.shape[1], len(others))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    now = np.einsum("bq,bqn->bn", chances, after)
    # A Laplace approximation moves by one Newton step, which is not quite Bayes' rule.
    near = 0.1 if isinstance(posterior, LogisticPosterior) else 1e-9
    np.testing.assert_allclose(now, np.broadcast_to(now[0], now.shape), atol=near)
    np.testing.assert_allclose(now[0][2:5], mean, atol=near)
    assert np.all(np.diff(after[np.arange(3), :, np.arange(2, 5)], axis=1) >= -1e-12)


_ANY_UNIT = (
    "linear-unknown", "sparse-unknown", "matrix", "graph-unknown", "gp", "gp-inducing", "forest",
    "auto", "estimator", "neural", "own",
)  # fmt: skip


_OWN_LEVEL = tuple(set(PROBLEMS) & set(_ANY_UNIT) - {"linear-unknown", "sparse-unknown"})


def _with_a_constant(name):
    """The model with a level of its own; a linear one has it in a column of ones, the last."""
    if name in _OWN_LEVEL:
        return PROBLEMS[name].model, lambda x: x
    constant = PROBLEMS[name].model.n_features
    model = replace(PROBLEMS[name].model, n_features=constant + 1, constant_column=constant)
    return model, lambda x: np.c_[x, np.ones(len(x))]


@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("shift", [-1.0, 4.0, 64.0])
@pytest.mark.parametrize("name", [name for name in _ANY_UNIT if name in PROBLEMS])
def test_where_labels_have_their_zero_does_not_matter(name, shift, count):
    """Predictions shift with the labels; of one label, which has no spread, their mean does."""
    seen, pool = PROBLEMS[name].observed(count)
    model, wide = _with_a_constant(name)
    block = Block(everything(pool).items, wide(everything(pool).x))
    labels = np.concatenate([one.y for one in seen])
    by = shift * (labels.std() or 1.0)

    def told(by):
        moved = [Observation(one.item, wide(one.x), one.y + by) for one in seen]
        posterior = model.posterior(moved[:-1], stream(0, "fit"))
        return posterior.update(moved[-1], stream(0, "update")).moments()(block)

    (mean, deviation), (moved_mean, moved_deviation) = told(0.0), told(by)
    if name == "matrix" and labels.std() > 0:  # rounding sends its 40 chains other ways
        room = 6.0 * np.median(deviation) / np.sqrt(40)
        assert np.median(np.abs(moved_mean - by - mean)) < room
    elif labels.std() > 0:
        np.testing.assert_allclose(moved_deviation, deviation, rtol=1e-5)
        np.testing.assert_allclose(moved_mean - by, mean, atol=1e-5 * labels.std())
    elif name in ("linear-unknown", "gp", "gp-inducing"):
        np.testing.assert_allclose(moved_mean - by, mean, atol=1e-9 * (1.0 + abs(by)))


@pytest.mark.parametrize("name", [name for name in _ANY_UNIT if name in PROBLEMS])
def test_the_largest_labels_there_may_be_can_be_computed_with(name):
    problem = PROBLEMS[name]
    seen, pool = problem.observed(6)
    unit = LARGEST / max(np.abs(one.y).max() for one in seen)
    large = [Observation(one.item, one.x, np.clip(unit * one.y, -LARGEST, LARGEST)) for one in seen]
    posterior = problem.model.posterior(large, stream(0, "fit"))
    draws = posterior.sample(20, stream(1, "draws"))
    block = everything(pool)
    best = optima(pool, draws)
    assert np.isfinite(draws.values(block)).all()
    assert np.isfinite(draws.summary(best)(block).gain).all()
    found = draws.tradeoff(contenders(pool, best))(block)
    assert np.isfinite(found.gain).all()
    assert np.isfinite(found.regret).all()
    for part in posterior.moments()(block):
        assert np.isfinite(part).all()
