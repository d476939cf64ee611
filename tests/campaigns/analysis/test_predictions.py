"""Predictions: a table in the user's shape, chances that add up, held-out errors that are right."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from campaigns.analysis.test_view import small_view, view_of
from serendip.campaigns.analysis.limits import limited
from serendip.campaigns.analysis.predictions import (
    best_by_mean,
    free_labels,
    held_out,
    moments_of,
    predictions,
    whole_pool,
)
from serendip.campaigns.analysis.view import LabelMap
from serendip.core.data import Block, Observation
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.environments.table import table_world


def test_the_table_keeps_the_users_rows_and_columns():
    view = small_view(labels=LabelMap(10.0, 2.0))
    table = predictions(view, stream(0, "p"))
    ours = ["state", "expected", "uncertainty", "chance_of_top"]
    assert list(table.columns) == ["id", "name", "size", *ours, "yield"]
    assert table["id"].tolist() == list(view.ids)
    assert table["size"].tolist() == view.candidates.frame["size"].tolist()
    assert table["yield"].iloc[:12].tolist() == view.measured_values.tolist()
    assert table["yield"].iloc[12:].isna().all()
    mean, deviation = view.posterior.moments()(view.block(np.arange(40)))
    np.testing.assert_allclose(table["expected"], 10.0 + 2.0 * mean)
    np.testing.assert_allclose(table["uncertainty"], 2.0 * deviation)


def test_columns_of_the_user_are_never_overwritten():
    frame = pd.DataFrame({"id": range(40), "state": "solid", "expected": 1.0, "yield": np.nan})
    table = predictions(small_view(frame=frame), stream(0, "p"))
    assert table["state"].eq("solid").all()
    assert table["expected"].eq(1.0).all()
    assert set(table["state_"]) == {"measured", "proposed", "available"}
    assert list(table.columns).count("yield") == 1
    assert table.columns[-1] == "yield"


def test_chances_of_the_top_add_up_to_its_size():
    view = small_view()
    chances = predictions(view, stream(0, "p"))["chance_of_top"].to_numpy()
    assert chances.sum() == pytest.approx(free_labels(view)) == 6
    assert np.all(chances[:12] == 0.0)
    assert np.all(chances[view.pending] == 0.0)
    assert chances.max() <= 1.0


def test_a_spent_budget_asks_for_the_single_best():
    chances = predictions(small_view(budget=12, pending=()), stream(0, "p"))["chance_of_top"]
    assert chances.sum() == pytest.approx(1.0)


def test_minimising_turns_the_values_but_not_the_chances():
    plain = predictions(small_view(), stream(0, "p"))
    turned = predictions(small_view(labels=LabelMap(0.0, -1.0)), stream(0, "p"))
    np.testing.assert_allclose(turned["expected"], -plain["expected"])
    np.testing.assert_allclose(turned["uncertainty"], plain["uncertainty"])
    np.testing.assert_array_equal(turned["chance_of_top"], plain["chance_of_top"])


def test_held_out_predictions_are_those_of_a_model_without_the_label():
    world = linear_world(30, 3, 0.5, stream(4, "held"))
    model, items = LinearModel(3, 1.0, 0.5), list(range(15))
    view = view_of(world, model, items, 20)
    found = held_out(view)
    for left_out in items:
        seen = [
            Observation(one.item, world.pool.take(np.array([one.item])), np.array([one.value]))
            for one in view.measured
            if one.item != left_out
        ]
        block = Block(np.array([left_out]), world.pool.take(np.array([left_out])))
        mean, deviation = model.posterior(seen, stream(0, "u")).moments()(block)
        assert found.mean[left_out] == pytest.approx(mean[0])
        assert found.deviation[left_out] == pytest.approx(np.sqrt(deviation[0] ** 2 + 0.5))


def test_sums_over_the_pool_do_not_depend_on_its_blocks():
    view = small_view()
    draws = view.posterior.sample(20, stream(0, "d"))
    moments = moments_of(view.posterior, draws)
    cut = view.pool.with_block_rows(3)
    assert best_by_mean(cut, moments, 5).tolist() == best_by_mean(view.pool, moments, 5).tolist()
    whole = whole_pool(view.pool, draws, moments)
    assert whole.count == 26
    mean = moments(view.block(np.arange(40)))[0]
    assert whole.mean == pytest.approx(np.delete(mean, [*range(12), 20, 21]).sum())


def test_a_range_holds_expected_values_and_what_is_held_out():
    """A feature far out of the others' reach drives a plane far out of the range."""
    rng = stream(8, "range")
    x = np.column_stack([rng.standard_normal((60, 2)), np.ones(60)])
    x[:3, 0] = (30.0, -30.0, 12.0)
    values = np.clip(0.5 + 0.2 * x[:, 0] + 0.05 * rng.standard_normal(60), 0.0, 1.0)
    world = table_world(x, values)
    model = LinearModel(3, constant_column=2)
    for labels in (LabelMap(0.0, 100.0), LabelMap(100.0, -100.0)):
        items = list(range(10, 22))
        view = view_of(world, model, items, 30, values=values[items], labels=labels)
        bare = predictions(view, stream(0, "p"))["expected"]
        assert bare.max() > 150
        assert bare.min() < -50
        view = replace(view, bounds=(0.0, 100.0))
        table = predictions(view, stream(0, "p"))
        assert table["expected"].between(0.0, 100.0).all()
        assert (table["uncertainty"] <= 50.0 + 1e-9).all()
        found = held_out(view)
        assert np.all((found.mean >= 0.0) & (found.mean <= 100.0))
        middle = bare.between(30, 70) & (table["uncertainty"] < 8)
        assert middle.any()
        np.testing.assert_allclose(table["expected"][middle], bare[middle], atol=0.05)


def test_known_labels_and_labels_beside_others_are_not_taken_for_results():
    world = linear_world(30, 3, 0.5, stream(4, "held"))
    model = LinearModel(3, 1.0, 0.5)
    alone = view_of(world, model, list(range(15)), 20)
    later = replace(alone, measured=alone.measured[9:], rows=range(9, 15))
    np.testing.assert_allclose(held_out(later).mean, held_out(alone).mean[9:])


@pytest.mark.parametrize("mean", [-300.0, -2.0, 0.0, 0.3, 0.5, 0.99, 1.0, 1.7, 1e6])
@pytest.mark.parametrize("deviation", [0.0, 1e-12, 0.01, 0.4, 3.0, 1e5])
def test_moments_within_limits_are_those_of_draws(mean, deviation):
    drawn = np.clip(mean + deviation * stream(1, "z").standard_normal(200_000), 0.0, 1.0)
    found, spread = limited(np.array([mean]), np.array([deviation]), 0.0, 1.0)
    assert found[0] == pytest.approx(drawn.mean(), abs=0.004)
    assert spread[0] == pytest.approx(drawn.std(), abs=0.004)
    assert 0.0 <= found[0] <= 1.0
    turned, width = limited(np.array([1.0 - mean]), np.array([deviation]), 0.0, 1.0)
    assert turned[0] == pytest.approx(1.0 - found[0], abs=1e-9)
    assert width[0] == pytest.approx(spread[0], abs=1e-6)
