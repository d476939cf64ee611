"""All figures of a forecast come of one table: what must hold between them, whatever the model."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from campaigns.analysis.test_view import view_of
from serendip.campaigns.analysis.forecast import forecast
from serendip.campaigns.analysis.predictions import N_DRAWS, predictions
from serendip.campaigns.analysis.view import LabelMap
from serendip.campaigns.campaign import Campaign
from serendip.core.data import Observation
from serendip.core.rng import stream
from serendip.models.ensemble.forest import ForestModel
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel
from serendip.models.linear.sparse import SparseLinearModel
from serendip.models.mixture.auto import AutoModel, Member
from serendip.simulate.environments.table import table_world

N = 50
GP = GaussianProcessModel(4)
MODELS = {
    "linear": LinearModel(4),
    "linear, scales given": LinearModel(4, 1.0, 0.05),
    "gp": GP,
    "forest": ForestModel(4, n_trees=20),
    "auto": AutoModel((Member("gp", GP), Member("forest", ForestModel(4, n_trees=20)))),
    "sparse": SparseLinearModel(4, n_chains=40),
    "logistic": LogisticModel(4),
}
MAPS = {
    "percent": (LabelMap(0.0, 100.0), (0.0, 100.0)),
    "minimise": (LabelMap(100.0, -100.0), (0.0, 100.0)),
    "unit": (LabelMap(), (0.0, 1.0)),
    "free": (LabelMap(), None),
    "free, minimise": (LabelMap(0.0, -1.0), None),
}
MOMENTS = ("before", "early", "late", "spent", "nearly all")


def view_at(model, kind, moment, binary=False, policy="ids"):
    rng = stream(3, "consistency")
    x = np.column_stack([rng.standard_normal((N, 3)), np.ones(N)])
    x[0, 0] = 15.0  # a plane would leave any range
    truth = np.clip(0.4 + 0.25 * x[:, 0] + 0.2 * np.tanh(x[:, 1]), 0.0, 1.0)
    values = (rng.random(N) < truth).astype(float) if binary else truth
    labels, bounds = MAPS[kind]
    n, budget = {
        "before": (0, 30), "early": (6, 30), "late": (27, 30), "spent": (30, 30),
        "nearly all": (46, 60),
    }[moment]  # fmt: skip
    order = rng.permutation(N)[: n + 2]
    pending = order[n:] if moment in ("early", "late") else ()
    view = view_of(
        table_world(x, truth), model, order[:n].tolist(), budget, values=values[order[:n]],
        labels=labels, pending=pending, policy=policy,
    )  # fmt: skip
    return replace(view, bounds=bounds)


def check(view):
    found = forecast(view, stream(0, "f"))
    path, now = found.path, found.total_so_far
    sign = 1.0 if view.labels.factor > 0 else -1.0
    tiny = 1e-9 * (1.0 + abs(now) + np.abs(path.expected).max())
    steps = len(path.expected) - 1
    # Totals.
    assert steps == min(view.remaining, len(view.pending) + len(view.pool))
    assert now == pytest.approx(sum(one.value for one in view.measured), abs=tiny)
    for one, last in ((path.expected, found.expected_total), (path.low, found.low)):
        assert one[0] == pytest.approx(now, abs=tiny)
        assert one[-1] == last
    assert (path.low <= path.expected + tiny).all()
    assert (path.expected <= path.high + tiny).all()
    # Choosing is never expected to be worse than chance.
    assert sign * (found.expected_total - found.random_total) >= -tiny
    if len(view.pool) > 0:
        assert sign * (found.next_each - found.random_each) >= -tiny or len(view.pending) > 0
    # Random choice is the mean of what is left; predictions say the same.
    table = predictions(view, stream(1, "p"))
    left = table.loc[table["state"] == "available", "expected"]
    waiting = table.loc[table["state"] == "proposed", "expected"][: view.remaining]
    if len(left):
        assert found.random_each == pytest.approx(left.mean(), abs=tiny)
    rest = (steps - len(waiting)) * found.random_each
    assert found.random_total == pytest.approx(now + waiting.sum() + rest, abs=tiny)
    if steps >= 10:
        assert now + 10 * found.next_each == pytest.approx(path.expected[10], abs=tiny)
    if view.bounds is not None:
        low, high = view.bounds
        assert table["expected"].between(low, high).all()
        steps_each = np.diff(path.expected)
        assert np.all((steps_each >= low - tiny) & (steps_each <= high + tiny))
        count = np.arange(steps + 1)
        assert (path.low >= now + low * count - tiny).all()
        assert (path.high <= now + high * count + tiny).all()
        more = min(10, len(view.pending) + len(view.pool) - steps)
        assert low * more - tiny <= found.value_of_ten_more <= high * more + tiny
        assert low - tiny <= found.next_each <= high + tiny
        assert low - tiny <= found.random_each <= high + tiny
        n = len(view.measured)
        assert low * n - tiny <= found.random_so_far <= high * n + tiny
    return found


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("name", ["linear", "linear, scales given"])
def test_figures_agree_with_one_another(name, kind, moment):
    check(view_at(MODELS[name], kind, moment))


@pytest.mark.parametrize("kind", ["minimise", "free"])
@pytest.mark.parametrize("name", ["gp", "forest", "auto", "sparse"])
def test_figures_of_other_models_agree(name, kind):
    for moment in ("before", "early", "nearly all") if name == "gp" else ("before", "early"):
        check(view_at(MODELS[name], kind, moment))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", ["unit", "percent"])
def test_figures_of_chances_agree(kind, moment):
    check(view_at(MODELS["logistic"], kind, moment))
    check(view_at(MODELS["logistic"], kind, moment, binary=True))
    check(view_at(MODELS["linear"], kind, moment, binary=True))


@pytest.mark.parametrize("kind", MAPS)
def test_random_choice_expects_what_chance_brings(kind):
    found = check(view_at(GP, kind, "early", policy="random"))
    assert found.expected_total == pytest.approx(found.random_total)


@pytest.mark.parametrize("seed", range(4))
def test_totals_are_those_of_the_draws(seed):
    """A policy that cannot learn any more sums what its draws have for the best by mean."""
    view = view_at(LinearModel(4, 1.0, 0.05), "unit", "late")
    view = replace(view, states={k: v for k, v in view.states.items() if v != "proposed"})
    view = replace(view, remaining=1, budget=28)
    found = forecast(view, stream(seed, "f"))
    items = np.array([i for i in range(N) if view.state(i) == "available"])
    draws = view.posterior.sample(4 * N_DRAWS, stream(seed, "other"))
    values = np.clip(draws.values(view.block(items)), 0.0, 1.0)
    best = values[np.argmax(values.mean(axis=1))].mean()
    assert found.expected_total - found.total_so_far == pytest.approx(best, abs=0.05)


def test_what_has_been_found_does_not_change_what_chance_would_bring():
    """Nineteen labels known, six good ones found: chance brings what is left, not as much."""
    rng = stream(5, "known")
    x = np.column_stack([rng.standard_normal((200, 3)), np.ones(200)])
    truth = np.clip(30.0 + 18.0 * np.tanh(x[:, 0]) + 12.0 * x[:, 1], 0.0, 100.0)
    order = rng.permutation(200)
    known, rest = order[:19], order[19:]
    best = rest[np.argsort(-truth[rest])]
    told = []
    for items in (best[:6], [*best[:6], best[60]]):
        view = view_of(table_world(x, truth), GP, items, 40, values=truth[list(items)])
        seen = [Observation(int(i), x[i : i + 1], truth[i : i + 1]) for i in (*known, *items)]
        rows = range(19, 19 + len(items))
        posterior = GP.posterior(seen, stream(0, "all"))
        pool = view.pool
        for item in known:
            pool = pool.without(int(item))
        told.append(
            forecast(replace(view, posterior=posterior, pool=pool, rows=rows), stream(0, "test"))
        )
    left = np.delete(truth, [*known, *best[:6]]).mean()
    for found in told:
        assert found.random_each == pytest.approx(left, abs=6.0)
    assert told[0].random_each == pytest.approx(told[1].random_each, abs=3.0)
    verdicts = {one.stop_advice.rpartition("so far. ")[2] for one in told}
    assert verdicts == {"It pays to go on."}


def test_one_label_more_does_not_turn_the_advice_over():
    """From one label to the next, `best found` and `pays to go on` never stand side by side."""
    rng = stream(6, "turning")
    x = np.column_stack([rng.standard_normal((60, 3)), np.ones(60)])
    truth = 0.4 + 0.2 * x[:, 0] + 0.1 * np.tanh(x[:, 1]) + 0.05 * rng.standard_normal(60)
    order = np.argsort(-(truth + 0.15 * rng.standard_normal(60)))
    words = []
    for n in range(4, 52, 2):
        items = order[:n].tolist()
        view = view_of(table_world(x, truth), LinearModel(4), items, 58, values=truth[items])
        words.append(forecast(view, stream(0, "f", n)).stop_advice.rpartition("so far. ")[2])
    assert words[0] == "It pays to go on."
    assert any("seem to be found" in one or "hardly better" in one for one in words)
    for one, other in pairwise(words):
        assert not ("pays" in one and "hardly" in other)
        assert not ("hardly" in one and "pays" in other)


def test_status_page_report_and_tables_say_the_same(tmp_path):
    rng = stream(7, "same")
    frame = pd.DataFrame(rng.standard_normal((40, 3)).round(3), columns=["a", "b", "c"])
    frame["name"] = [f"c{i}" for i in range(40)]
    frame.to_csv(tmp_path / "pool.csv", index=False)
    settings = {
        "name": "same", "pool": str(tmp_path / "pool.csv"), "label": "y", "id": "name",
        "budget": 12, "range": [0, 100], "model": "gp",
    }  # fmt: skip
    campaign = Campaign.create(settings, tmp_path / "s.db")
    table = campaign.predict()
    future = campaign.forecast()
    assert future.random_each == pytest.approx(table["expected"].mean())
    assert future.expected_total >= future.random_total >= 12 * table["expected"].min()
    proposed = campaign.ask(4)
    again = campaign.predict().set_index("id")["expected"]
    np.testing.assert_allclose(proposed["expected"], again[proposed["name"]], rtol=1e-3)
    campaign.tell(dict(zip(proposed["name"], (90.0, 20.0, 55.0, 70.0), strict=True)))
    assert campaign.export("predictions")["expected"].between(0, 100).all()
    future = campaign.forecast()
    report = campaign.report()
    assert f"which would end at {future.random_total:,.0f}"[:24] in report
    assert future.stop_advice in report
