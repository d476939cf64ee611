"""The figure of an experiment in the paper's form: a panel of curves per setting, and a summary."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from serendip.core.naming import listed
from serendip.plots.curves import (
    add_legend,
    draw_curves,
    draw_summary,
    leave_random_out_of_scale,
    new_figure,
    setting_title,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def experiment_figure(
    title: str,
    parameter: str,
    steps: "DataFrame",
    summary: "DataFrame",
    policies: str | Sequence[str],
) -> "Figure":
    """Regret curves with bands for each setting, then regret at T against the setting."""
    settings = list(dict.fromkeys(steps["setting"]))
    figure, panels = new_figure(len(settings) + 1)
    for panel, setting in zip(panels, settings, strict=False):
        mine = steps[steps["setting"] == setting]
        draw_curves(panel, mine, "regret", policies)
        leave_random_out_of_scale(panel, mine, "regret")
        panel.set_title(setting_title(parameter, setting), fontsize=10)
    panels[0].set_ylabel("cumulative regret")
    draw_summary(panels[-1], summary, settings, policies, parameter)
    panels[-1].set_title("regret at the end", fontsize=10)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    add_legend(figure, panels[0], 7)
    return figure


def backtest_figure(
    title: str,
    steps: "DataFrame",
    policies: str | Sequence[str],
    random_regret: Sequence[float],
    random_total: Sequence[float],
) -> "Figure":
    """Mean regret and mean cumulative sum with bands, expected random choice as the reference."""
    figure, panels = new_figure(2)
    for panel, column, name in zip(
        panels, ("regret", "total"), ("regret", "sum of labels"), strict=True
    ):
        learning = [policy for policy in listed(policies) if policy != "random"]
        draw_curves(panel, steps, column, learning, run="repeat")
        reference = random_regret if column == "regret" else random_total
        panel.plot(
            range(1, len(reference) + 1),
            reference,
            color="#666666",
            linestyle="--",
            label="Random, expected",
        )
        panel.set_ylabel(name)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    add_legend(figure, panels[0], 4)
    return figure
