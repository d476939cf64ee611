"""Reasons: shares between nothing and all, neighbours that are near, one line each."""

from importlib import import_module

import numpy as np
import pytest

from campaigns.analysis.test_view import small_view, view_of
from serendip.campaigns.analysis.predictions import predictions
from serendip.campaigns.analysis.reasons import reasons
from serendip.campaigns.analysis.view import LabelMap
from serendip.core.data import Choice
from serendip.core.rng import stream
from serendip.models.graph.model import GraphModel, adjacency_of
from serendip.models.linear.model import LinearModel
from serendip.models.matrix.low_rank import LowRankModel
from serendip.simulate.environments.graph import graph_world
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.environments.low_rank import low_rank_world


def chosen(*items):
    return [Choice(item, 0.0) for item in items]


def test_one_line_for_each_choice():
    view = small_view(labels=LabelMap(10.0, 2.0))
    found = reasons(view, chosen(20, 21, 30), stream(0, "r"))
    assert [one.item for one in found] == [20, 21, 30]
    for one in found:
        assert 0.0 <= one.chance_of_top <= 1.0
        assert 0.0 <= one.regret_share <= 1.0
        assert 0.0 <= one.information_share <= 1.0
        assert one.kind in ("exploit", "explore", "both")
        assert "\n" not in one.sentence
        assert one.sentence.endswith(").")
        assert f"± {one.uncertainty:.3g}" in one.sentence
    assert reasons(view, [], stream(0, "r")) == ()


def test_it_agrees_with_the_predictions():
    view = small_view()
    table = predictions(view, stream(0, "same"))
    for one in reasons(view, chosen(*range(25, 40)), stream(0, "same")):
        row = table.iloc[one.item]
        assert one.expected == pytest.approx(row["expected"])
        assert one.uncertainty == pytest.approx(row["uncertainty"])
        assert one.chance_of_top == pytest.approx(row["chance_of_top"])


def test_some_candidate_has_all_the_information():
    view = small_view()
    shares = [one.information_share for one in reasons(view, chosen(*view_pool(view)), rng())]
    assert max(shares) == pytest.approx(1.0)


def test_what_is_usual_in_a_large_pool_is_told_by_some_of_it(monkeypatch):
    world = linear_world(4000, 4, 0.3, stream(7, "view"))
    view = view_of(world, LinearModel(4, 1.0, 0.3), list(range(12)), budget=60)
    items = chosen(*range(20, 400, 20))
    whole = reasons(view, items, rng())
    module = import_module("serendip.campaigns.analysis.reasons")
    monkeypatch.setattr(module, "_LARGE", 1000)
    monkeypatch.setattr(module, "_SAMPLE", 1500)
    some = reasons(view, items, rng())
    for exact, found in zip(whole, some, strict=True):
        assert found.regret_share == pytest.approx(exact.regret_share, rel=0.05)
        assert found.information_share == pytest.approx(exact.information_share, rel=0.1)
        assert found.chance_of_top == exact.chance_of_top
    assert [one.regret_share for one in some] != [one.regret_share for one in whole]


def view_pool(view):
    return [item for item in range(len(view.ids)) if view.state(item) == "available"]


def rng():
    return stream(0, "r")


def test_a_sure_thing_is_exploited_and_a_dark_horse_explored():
    """One feature is known well and the other not at all."""
    world = linear_world(60, 2, 0.01, stream(2, "kinds"))
    x = world.pool.x
    x[:20, 1] = 0.0
    x[20:40, 1] = 0.0
    x[40, 0], x[40, 1] = -3.0 * np.sign(world.truth[0] / x[0, 0]), 3.0
    values = 2.0 * x[:20, 0]
    view = view_of(world, LinearModel(2, 1.0, 0.01), list(range(20)), 25, values=values)
    sure = 20 + int(np.argmax(x[20:40, 0]))
    far = 40 + int(np.argmax(np.abs(x[40:, 1]) - 0.2 * x[40:, 0]))
    first, second = reasons(view, chosen(sure, far), rng())
    assert first.kind == "exploit"
    assert second.kind in ("explore", "both")
    assert second.information_share > first.information_share


def test_neighbours_are_the_nearest_measured_with_their_values():
    world = linear_world(30, 2, 0.1, stream(3, "near"))
    view = view_of(world, LinearModel(2, 1.0, 0.1), list(range(10)), 20, labels=LabelMap(5.0, -1.0))
    (found,) = reasons(view, chosen(15), rng())
    assert len(found.neighbours) == 3
    x = view.pool.take(np.array([15, *range(10)]))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    order = np.argsort(np.linalg.norm(x[1:] - x[0], axis=1))[:3]
    assert [name for name, _ in found.neighbours] == [f"c{i}" for i in order]
    assert [value for _, value in found.neighbours] == [view.measured[i].value for i in order]


def test_neighbours_in_a_matrix_share_a_row_or_a_column():
    world = low_rank_world(4, 5, 2, 0.1, stream(6, "matrix"))
    model = LowRankModel(4, 5, 2, noise_variance=0.1, n_chains=30)
    view = view_of(world, model, [0, 6, 12, 18], 10)
    object.__setattr__(view, "model", "low-rank")
    item = 1
    (found,) = reasons(view, chosen(item), rng())
    row, column = view.pool.take(np.array([item]))[0]
    for name, _ in found.neighbours:
        other = view.pool.take(np.array([view.ids.index(name)]))[0]
        assert other[0] == row or other[1] == column
    assert len(found.neighbours) == 2


def test_neighbours_in_a_graph_are_linked():
    adjacency = adjacency_of(8, np.array([[0, 1], [1, 2], [2, 3], [4, 5], [0, 2]]))
    world = graph_world(adjacency, 0.1, stream(2, "graph"))
    view = view_of(world, GraphModel(adjacency, 1.0, 0.1), [1, 3, 4], 6)
    found = reasons(view, chosen(2, 7), rng())
    assert sorted(name for name, _ in found[0].neighbours) == ["c1", "c3"]
    assert found[1].neighbours == ()
    assert "nearest" not in found[1].sentence


def test_the_first_choice_has_no_neighbours():
    world = linear_world(30, 3, 0.1, stream(1, "none"))
    (found,) = reasons(view_of(world, LinearModel(3), [], 10), chosen(4), rng())
    assert found.neighbours == ()


def test_the_last_candidate_can_be_explained():
    world = linear_world(6, 2, 0.1, stream(1, "tiny"))
    view = view_of(world, LinearModel(2, 1.0, 0.1), [0, 1, 2, 3, 4], 6, pending=(5,))
    (found,) = reasons(view, chosen(5), rng())
    assert found.chance_of_top == 1.0
    assert found.kind == "exploit"
