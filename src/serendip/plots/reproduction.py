"""Figures of the paper that show several experiments or pools at once."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from serendip.plots.curves import (
    add_legend,
    draw_curves,
    draw_summary,
    leave_random_out_of_scale,
    new_figure,
    setting_title,
)
from serendip.policies.registry import entry_for_plots

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame


def horizon_figure(
    title: str,
    steps: "DataFrame",
    policies: Sequence[str],
    mark: int,
    n_columns: int,
) -> "Figure":
    """Regret of each pool until nothing is left to be labelled.

    Args:
        title: Above all panels.
        steps: Every step, with a column "pool".
        policies: Drawn in this order.
        mark: A step to mark by a line.
        n_columns: Panels in a row.
    """
    pools = list(dict.fromkeys(steps["pool"]))
    figure, panels = _grid(len(pools), n_columns)
    for place, (panel, pool) in enumerate(zip(panels, pools, strict=True)):
        panel.axvline(mark, color="#666666", linewidth=0.8, linestyle=":")
        draw_curves(panel, steps[steps["pool"] == pool], "regret", policies)
        panel.set_title(pool, fontsize=10)
        panel.set_ylim(bottom=0)
        panel.set_xlim(0, int(steps["step"].max()))
        if place + n_columns < len(pools):
            panel.set_xlabel("")
        if place % n_columns == 0:
            panel.set_ylabel("cumulative regret")
    figure.suptitle(title, fontsize=11, fontweight="bold")
    add_legend(figure, panels[0], len(policies))
    return figure


def response_figure(
    title: str, responses: "Mapping[str, Sequence[float]]", n_columns: int
) -> "Figure":
    """A histogram of the labels of each pool, from 0 to 1, with a line at their mean."""
    figure, panels = _grid(len(responses), n_columns)
    edges = [place / 25 for place in range(26)]
    for place, (panel, (pool, labels)) in enumerate(zip(panels, responses.items(), strict=True)):
        panel.hist(labels, bins=edges, color="#56B4E9", edgecolor="white", linewidth=0.4)
        panel.axvline(float(np.mean(labels)), color="#D55E00", linewidth=1.5)
        panel.set_title(pool, fontsize=10)
        panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        if place + n_columns >= len(responses):
            panel.set_xlabel("yield")
        if place % n_columns == 0:
            panel.set_ylabel("reactions")
    figure.suptitle(title, fontsize=11, fontweight="bold")
    return figure


def simulations_figure(
    rows: "Sequence[tuple[str, str, DataFrame, DataFrame]]", policies: Sequence[str]
) -> "Figure":
    """Four columns: the curves at each of three settings, and regret at the end against them.

    Args:
        rows: Of each experiment its name, its parameter, its steps and its summary.
        policies: All that any experiment has, in the order of the legend.
    """
    figure, panels = new_figure(4, len(rows), size=(2.9, 2.3))
    handles: dict[str, Artist] = {}
    for row, (name, parameter, steps, summary) in enumerate(rows):
        mine = panels[4 * row : 4 * row + 4]
        settings = list(dict.fromkeys(steps["setting"]))
        played = [policy for policy in policies if policy in set(steps["policy"])]
        for panel, setting in zip(mine, settings, strict=False):
            here = steps[steps["setting"] == setting]
            draw_curves(panel, here, "regret", played)
            leave_random_out_of_scale(panel, here, "regret")
            panel.set_title(setting_title(parameter, setting), fontsize=9)
        draw_summary(mine[3], summary, settings, played, parameter)
        mine[3].set_title(f"regret at T = {steps['step'].max()}", fontsize=9)
        mine[0].set_ylabel(f"{name}\nregret", fontsize=9)
        handles |= {
            label: handle
            for handle, label in zip(*mine[0].get_legend_handles_labels(), strict=True)
        }
    names = [label for one in policies if (label := entry_for_plots(one).plotted) in handles]
    figure.legend(
        [handles[name] for name in names], names, loc="outside lower center", ncols=5, frameon=False
    )
    return figure


def _grid(n_panels: int, n_columns: int) -> "tuple[Figure, list[Axes]]":
    """As many small panels; what is left of the last row is taken away."""
    figure, panels = new_figure(n_columns, -(-n_panels // n_columns), size=(2.9, 2.3))
    for panel in panels[n_panels:]:
        panel.remove()
    return figure, panels[:n_panels]
