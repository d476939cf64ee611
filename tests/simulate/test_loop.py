"""The loop, its traces and the regret."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serendip.core.data import Block, Observation
from serendip.core.errors import AlreadyLabelled, InvalidInput, MissingCapability
from serendip.core.labels import Continuous
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.policies.batch import pretended
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.greedy import Greedy
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import UCB
from serendip.policies.uniform import Uniform
from serendip.pools.dense import DensePool
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.loop import absorb, expected_random_regret, play, suggest
from serendip.simulate.trace import Trace, budget_regret, regret

WORLD = linear_world(20, 3, 0.5, stream(0, "world"))
MODEL = LinearModel(3, 1.0, 0.5)


@settings(max_examples=300, deadline=None)
@given(
    values=st.lists(
        st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=15
    ),
    data=st.data(),
)
def test_regret_is_the_sum_of_what_each_choice_cost(values, data):
    """R_T = Σ_t (f_(k)(S_t) − f(X_t))₊ with k = T − t + 1, for every sequence of choices."""
    truth = np.array(values)
    horizon = data.draw(st.integers(1, len(values)))
    items = np.array(data.draw(st.permutations(range(len(values))))[:horizon])
    by_steps = budget_regret(items, truth)
    assert by_steps[-1] == pytest.approx(regret(items, truth)[-1], abs=1e-9)
    assert np.all(np.diff(by_steps) >= 0)


def test_an_oracle_may_be_a_function_of_the_item():
    asked = []

    def label(item):
        asked.append(item)
        return np.float32(WORLD.truth[item])

    trace = play(WORLD.pool, label, MODEL, Thompson(), 6, seed=0, batch=2)
    assert trace.items.tolist() == asked
    np.testing.assert_array_equal(trace.labels, WORLD.truth[asked].astype(np.float32))
    for wrong in (np.nan, "high", None):
        with pytest.raises(InvalidInput, match=r"The label of item \d+ must be a finite number"):
            play(WORLD.pool, lambda item, wrong=wrong: wrong, MODEL, Thompson(), 6, seed=0)


def test_regret_by_hand():
    truth = np.array([1.0, 5.0, 3.0, 2.0])
    np.testing.assert_allclose(regret(np.array([2, 0]), truth), [2.0, 4.0])
    np.testing.assert_allclose(budget_regret(np.array([2, 0]), truth), [0.0, 4.0])
    with pytest.raises(InvalidInput, match="twice"):
        regret(np.array([1, 1]), truth)


def test_rival_policies_see_the_same_labels():
    traces = [
        play(WORLD.pool, WORLD.oracle, MODEL, policy, 20, seed=3)
        for policy in (Uniform(), Greedy(), Thompson())
    ]
    labels = [dict(zip(t.items.tolist(), t.labels.tolist(), strict=True)) for t in traces]
    assert labels[0] == labels[1] == labels[2]
    assert traces[0].items.tolist() != traces[1].items.tolist()
    other = play(WORLD.pool, WORLD.oracle, MODEL, Greedy(), 20, seed=4)
    assert not np.isin(other.labels, list(labels[0].values())).any()


def test_trace_is_a_tidy_table():
    trace = play(WORLD.pool, WORLD.oracle, MODEL, Greedy(), 5, seed=0)
    ids = [f"c{i}" for i in range(20)]
    frame = trace.frame(truth=WORLD.truth, ids=ids, policy="greedy")
    assert list(frame.columns[:8]) == [
        "policy", "seed", "step", "item", "id", "label", "total", "regret",
    ]  # fmt: skip
    described = str(Trace.frame.__doc__).splitlines()[0].rpartition(": ")[2].rstrip(".")
    assert described.split(", ") == [*frame.columns[1:8], "figures"]
    assert len(frame) == 5
    assert frame["total"].iloc[-1] == pytest.approx(trace.total)
    assert frame["id"].tolist() == [ids[item] for item in trace.items]
    assert np.isfinite(frame["mean"]).all()
    with pytest.raises(InvalidInput, match="no figure 'nothing'"):
        trace.figure("nothing")


def test_watchers_add_figures():
    def watch(posterior, pool, choice, remaining, rng):
        return {"left": float(len(pool)), "remaining": float(remaining)}

    trace = play(WORLD.pool, WORLD.oracle, MODEL, Greedy(), 4, seed=0, watch=watch)
    np.testing.assert_array_equal(trace.figure("left"), [20, 19, 18, 17])
    np.testing.assert_array_equal(trace.figure("remaining"), [4, 3, 2, 1])


def test_a_posterior_that_turns_into_one_of_less_use_is_refused_when_it_does():
    class Bare:
        n_labels = 1

        def sample(self, size, rng):
            raise AssertionError("nobody asks for draws here")

        update = sample

    class Able(Bare):
        def moments(self):
            return MODEL.posterior((), stream(0)).moments()

        def update(self, seen, rng):
            return Bare()

    class Turning:
        def posterior(self, seen, rng):
            return Able()

    with pytest.raises(MissingCapability, match="Bare is not one"):
        play(WORLD.pool, WORLD.oracle, Turning(), Greedy(), 5, seed=0)


@pytest.mark.parametrize("horizon", [0, -3, 21])
def test_a_budget_that_does_not_fit_is_refused(horizon):
    with pytest.raises(InvalidInput, match="between 1 and the 20 candidates"):
        play(WORLD.pool, WORLD.oracle, MODEL, Greedy(), horizon, seed=0)


def test_labels_outside_the_declared_range_are_refused():
    with pytest.raises(InvalidInput, match="outside the declared range"):
        play(WORLD.pool, WORLD.oracle, MODEL, Greedy(), 5, 0, labels=Continuous(0.0, 1e-6))


def test_a_second_label_is_refused_and_nothing_changes():
    posterior = MODEL.posterior((), stream(0, "p"))
    seen = Observation(4, WORLD.pool.take(np.array([4])), np.array([1.0]))
    posterior, pool = absorb(posterior, WORLD.pool, seen, stream(0, "u"))
    with pytest.raises(AlreadyLabelled, match="labelled already"):
        absorb(posterior, pool, seen, stream(0, "u"))
    assert posterior.n_labels == 1


def test_labels_that_are_not_finite_are_refused():
    with pytest.raises(InvalidInput, match="finite"):
        Observation(0, np.ones((1, 3)), np.array([np.nan]))
    with pytest.raises(InvalidInput, match="one label per row"):
        Observation(0, np.ones((2, 3)), np.ones(1))


def test_nothing_left_is_said_plainly():
    posterior = MODEL.posterior((), stream(0, "p"))
    with pytest.raises(InvalidInput, match="budget is spent"):
        suggest(posterior, WORLD.pool, Greedy(), 0, lambda _: stream(0, "c"))
    pool = WORLD.pool
    for item in range(20):
        pool = pool.without(item)
    with pytest.raises(InvalidInput, match="pool is empty"):
        suggest(posterior, pool, Greedy(), 1, lambda _: stream(0, "c"))


def test_expected_random_regret():
    truth = np.array([0.0, 1.0, 2.0])
    assert expected_random_regret(truth, 2) == pytest.approx(3.0 - 2.0)
    items = [stream(s, "r").permutation(3)[:2] for s in range(4000)]
    mean = np.mean([regret(chosen, truth)[-1] for chosen in items])
    assert mean == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("policy", [BudgetIDS(n_draws=50), Thompson(), Greedy(), UCB(), Uniform()])
@pytest.mark.parametrize("batch", [3, 7, 20])
def test_batches_spend_the_same_budget_without_repeats(policy, batch):
    trace = play(WORLD.pool, WORLD.oracle, MODEL, policy, 18, seed=1, batch=batch)
    assert len(set(trace.items.tolist())) == 18
    again = play(WORLD.pool, WORLD.oracle, MODEL, policy, 18, seed=1, batch=batch)
    assert np.array_equal(trace.items, again.items)


def test_a_batch_of_ucb_does_not_ask_one_question_many_times():
    """Duplicated rows: without pretending, UCB would take the twins of its first choice."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.standard_normal((8, 8)), 4, axis=0)
    posterior = LinearModel(8, 1.0, 0.05).posterior((), rng)
    choices = suggest(posterior, DensePool(x), UCB(), 6, lambda place: stream(place, "c"), 6)
    groups = {choice.item // 4 for choice in choices}
    assert len(groups) >= 5


def test_what_is_pending_has_left_the_pool_and_is_known_to_come():
    posterior, pool = MODEL.posterior((), stream(0, "p")), WORLD.pool
    (first,) = suggest(posterior, pool, UCB(), 9, lambda _: stream(0, "c"))
    with pytest.raises(InvalidInput, match=f"have left the pool; {first.item} is still in it"):
        suggest(posterior, pool, UCB(), 9, lambda _: stream(0, "c"), 1, [first.item])
    left = pool.without(first.item)
    (next_one,) = suggest(posterior, left, UCB(), 8, lambda _: stream(0, "c"), 1, [first.item])
    pair = suggest(posterior, pool, UCB(), 9, lambda _: stream(0, "c"), 2)
    assert next_one.item == pair[1].item


def test_what_is_pretended_at_once_is_what_is_pretended_one_by_one():
    """An expected label changes no mean, so the order of pending candidates cannot matter."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((12, 4))
    pool, model = DensePool(x), LinearModel(4, 1.0, 0.05)
    seen = [Observation(i, x[[i]], rng.standard_normal(1)) for i in range(3)]
    posterior = one_by_one = model.posterior(seen, rng)
    guesses = [pretended(posterior, pool, item) for item in (5, 6, 7)]
    at_once = model.posterior([*seen, *guesses], rng)
    for item in (5, 6, 7):
        one_by_one = one_by_one.update(pretended(one_by_one, pool, item), rng)
    block = Block(np.arange(12), x)
    np.testing.assert_allclose(at_once.moments()(block), one_by_one.moments()(block), atol=1e-9)
    np.testing.assert_allclose(at_once.moments()(block)[0], posterior.moments()(block)[0])


def test_batch_sizes_that_do_not_fit_are_refused():
    posterior = MODEL.posterior((), stream(0, "p"))
    for count in (0, 6):
        with pytest.raises(InvalidInput, match="between 1 and 5"):
            suggest(posterior, WORLD.pool, Greedy(), 5, lambda _: stream(0, "c"), count)
    with pytest.raises(InvalidInput, match="batch must be at least 1"):
        play(WORLD.pool, WORLD.oracle, MODEL, Greedy(), 5, seed=0, batch=0)
