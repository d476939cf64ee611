"""Curves over steps with bands, and summaries against a parameter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.core.naming import listed
from serendip.policies.registry import Role, entry_for_plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame


def new_figure(
    n_columns: int, n_rows: int = 1, size: tuple[float, float] = (3.9, 3.3)
) -> "tuple[Figure, list[Axes]]":
    """A figure of equal panels of a size in inches, with no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width, height = size
    figure = Figure(figsize=(width * n_columns, height * n_rows), dpi=140, layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.ravel(figure.subplots(n_rows, n_columns, squeeze=False)).tolist()
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, axes


def draw_curves(
    panel: "Axes",
    steps: "DataFrame",
    column: str,
    policies: str | Sequence[str],
    run: str = "seed",
) -> None:
    """The mean of a column over runs against the step, with a band of two standard errors."""
    from matplotlib.ticker import MaxNLocator

    for policy in listed(policies):
        mine = steps[steps["policy"] == policy]
        table = mine.pivot_table(index="step", columns=run, values=column).to_numpy()
        step = np.sort(mine["step"].unique())
        mean = table.mean(axis=1)
        style = _style(policy)
        panel.plot(step, mean, label=entry_for_plots(policy).plotted, **style)
        if table.shape[1] > 1:
            error = 2 * table.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
            panel.fill_between(
                step, mean - error, mean + error, color=style["color"], alpha=0.15, linewidth=0
            )
    panel.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=(1, 2, 5, 10)))
    panel.set_xlabel("labels bought")


def leave_random_out_of_scale(panel: "Axes", steps: "DataFrame", column: str) -> None:
    """Scale a panel to the policies that learn; random choice may run off the top."""
    learning = steps[steps["policy"] != "random"]
    if len(learning) == 0:
        return
    last = learning.groupby(["policy", "step"])[column].mean()
    panel.set_ylim(0, 1.15 * float(last.max()))


def setting_title(parameter: str, setting: str) -> str:
    """What a panel is called; variants name themselves."""
    return setting if parameter in ("variant", "pool") else f"{parameter} = {setting}"


def draw_summary(
    panel: "Axes",
    summary: "DataFrame",
    settings: Sequence[str],
    policies: str | Sequence[str],
    parameter: str,
) -> None:
    """Final regret with error bars against the setting, on a logarithmic scale."""
    from matplotlib.ticker import LogLocator, NullLocator

    for policy in listed(policies):
        mine = summary[summary["policy"] == policy].set_index("setting")
        rows = [setting for setting in settings if setting in mine.index]
        places = [settings.index(setting) for setting in rows]
        panel.errorbar(
            places,
            mine.loc[rows, "regret"],
            yerr=2 * mine.loc[rows, "se"],
            marker="o",
            markersize=4,
            capsize=2,
            label=entry_for_plots(policy).plotted,
            **_style(policy),
        )
    panel.set_xticks(range(len(settings)), settings)
    panel.set_xlim(-0.3, len(settings) - 0.7)
    panel.set_xlabel(parameter)
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_locator(NullLocator())


def add_legend(figure: "Figure", panel: "Axes", n_columns: int) -> None:
    """One legend for all panels, below them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(n_columns, len(labels)),
        frameon=False,
    )


def _style(policy: str) -> dict[str, Any]:
    entry = entry_for_plots(policy)
    return {
        "color": entry.colour,
        "linewidth": 2.2 if entry.role is Role.ours else 1.5,
        "linestyle": "--" if entry.role is Role.chance else "-",
    }
