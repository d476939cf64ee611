"""Figures of several experiments or pools, from steps made by hand."""

import pandas as pd
import pytest

from serendip.plots.reproduction import horizon_figure, response_figure, simulations_figure
from serendip.policies.registry import POLICIES
from serendip.simulate.experiments.experiment import summarise


def steps_of(settings, policies, horizon, column="setting"):
    """Two runs of each policy at each setting, regret proportional to the step."""
    rows = [
        (setting, policy, seed, step, step * (1 + place) + seed)
        for setting in settings
        for place, policy in enumerate(policies)
        for seed in (0, 1)
        for step in range(1, horizon + 1)
    ]
    table = pd.DataFrame(rows, columns=[column, "policy", "seed", "step", "regret"])
    return table.assign(total=0.0, seconds=0.1)


def legend_of(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_a_panel_for_each_pool_to_the_last_label():
    pools = [f"X{one}" for one in range(5)]
    steps = steps_of(pools, ("vids", "random"), 8, column="pool")
    figure = horizon_figure("title", steps, ("vids", "random"), mark=2, n_columns=3)
    assert [panel.get_title() for panel in figure.axes] == pools
    assert {panel.get_xlim() for panel in figure.axes} == {(0, 8)}
    labelled = [panel.get_title() for panel in figure.axes if panel.get_xlabel()]
    assert labelled == ["X2", "X3", "X4"]  # those with nothing below them
    mark, vids, _ = figure.axes[0].get_lines()
    assert list(mark.get_xdata()) == [2, 2]
    assert list(vids.get_ydata()) == [step + 0.5 for step in range(1, 9)]
    assert legend_of(figure) == ["SampleVIDS", "Random"]


def test_a_histogram_of_every_label():
    labels = {"X2": [0.0, 0.02, 0.5, 1.0], "X3": [0.99]}
    figure = response_figure("title", labels, n_columns=2)
    heights = [[bar.get_height() for bar in panel.patches] for panel in figure.axes]
    assert [sum(one) for one in heights] == [4, 1]
    assert (heights[0][0], heights[0][-1]) == (2, 1)
    (mean,) = figure.axes[0].get_lines()
    assert mean.get_xdata()[0] == pytest.approx(0.38)


def test_simulations_have_four_columns_and_one_legend_for_all():
    rows = []
    for name, parameter, policies in (
        ("linear", "d", ("vids", "oful")),
        ("graph", "σ²", ("vids",)),
    ):
        steps = steps_of(("1", "2", "3"), policies, 4)
        rows.append((name, parameter, steps, summarise(steps)))
    figure = simulations_figure(rows, tuple(POLICIES))
    assert len(figure.axes) == 8
    titles = [panel.get_title() for panel in figure.axes]
    assert titles[:4] == ["d = 1", "d = 2", "d = 3", "regret at T = 4"]
    assert titles[4] == "σ² = 1"
    assert figure.axes[7].get_xlabel() == "σ²"
    assert legend_of(figure) == ["SampleVIDS", "OFUL"]
