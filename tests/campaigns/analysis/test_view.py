"""The view, and views made of simulated and replayed campaigns for the tests beside this one."""

import numpy as np
import pandas as pd
import pytest

from serendip.campaigns.analysis.view import CampaignView, LabelMap, Measured
from serendip.campaigns.candidates import TableCandidates
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.simulate.environments.linear import linear_world
from serendip.tables import CURRENT
from serendip.tables.matching import SameNumber


def view_of(
    world,
    model,
    items,
    budget,
    *,
    labels=LabelMap(),  # noqa: B008  # frozen
    values=None,
    pending=(),
    failed=(),
    policy="ids",
    frame=None,
    seed=0,
):
    """A campaign in which these items were measured, in this order, and others are pending.

    `values` are the model's labels of the items; without them the oracle is asked.
    """
    n, pool = len(world.truth), world.pool
    if values is None:
        values = [world.oracle.reveal(i, stream(seed, "label", i)).label for i in items]
    states = {}
    for name, some in (("measured", items), ("proposed", pending), ("failed", failed)):
        for item in some:
            states[int(item)] = name
            pool = pool.without(int(item))
    seen = [
        Observation(int(i), world.pool.take(np.array([i])), np.array([y]))
        for i, y in zip(items, values, strict=True)
    ]
    measured = tuple(
        Measured(int(i), labels.user(float(y)), f"2026-11-{1 + j % 28:02d}", "ana", True)
        for j, (i, y) in enumerate(zip(items, values, strict=True))
    )
    if frame is None:
        frame = pd.DataFrame({"name": [f"c{i}" for i in range(n)], "size": np.arange(n) * 1.5})
    ids = tuple(f"c{i}" for i in range(n))
    return CampaignView(
        name="demo",
        label="yield",
        minimize=labels.factor < 0,
        budget=budget,
        model="linear",
        policy=policy,
        seed=seed,
        candidates=TableCandidates(
            frame, ids, {c: i for i, c in enumerate(ids)}, "name", CURRENT, (), SameNumber(ids, 2)
        ),
        states=states,
        measured=measured,
        posterior=model.posterior(seen, stream(seed, "update")),
        pool=pool,
        labels=labels,
        remaining=max(0, budget - len(items) - len(failed)),
    )


def small_view(**options):
    """Forty candidates with four features, twelve measured, two pending, budget twenty."""
    world = linear_world(40, 4, 0.3, stream(7, "view"))
    options = {"pending": (20, 21), "budget": 20} | options
    return view_of(world, LinearModel(4, 1.0, 0.3), list(range(12)), **options)


def test_a_label_map_goes_there_and_back():
    percent = LabelMap(100.0, -50.0)
    assert percent.user(0.5) == 75.0
    assert percent.internal(percent.user(0.3)) == pytest.approx(0.3)
    assert percent.user_width(2.0) == 100.0


@pytest.mark.parametrize(("offset", "factor"), [(0.0, 0.0), (np.nan, 1.0), (0.0, np.inf)])
def test_a_label_map_that_maps_nothing_is_refused(offset, factor):
    with pytest.raises(InvalidInput, match="factor other than zero"):
        LabelMap(offset, factor)


def test_a_view_knows_what_is_pending_and_measured():
    view = small_view()
    assert view.pending.tolist() == [20, 21]
    assert view.measured_items.tolist() == list(range(12))
    assert view.remaining == 8
    assert view.block(np.array([0, 39])).x.shape == (2, 4)


def test_a_view_with_a_state_of_nobody_is_refused():
    view = small_view()
    assert [view.state(item) for item in (0, 20, 39)] == ["measured", "proposed", "available"]
    fields = {name: getattr(view, name) for name in view.__slots__}
    with pytest.raises(InvalidInput, match="40 candidates; got a state of candidate 40"):
        CampaignView(**(fields | {"states": {40: "failed"}}))
