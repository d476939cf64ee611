"""The figure of a backtest."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from serendip.campaigns.analysis.view import shown
from serendip.policies.registry import Role, entry_for_plots
from serendip.web.figures.parts import Figure, axis, figure_of, numbers, steps_axis

RANDOM = "random, expected"


def backtest_figure(curves: Mapping[str, Any], what: str) -> Figure:
    """Mean curves of policies with bands of two standard errors, random choice as the reference.

    Args:
        curves: By policy `regret` and `total`, each with `mean` and `se` after each label.
        what: `regret` or `total`.
    """
    random = curves[RANDOM][what]["mean"]
    data: list[Figure] = [
        {
            "x": list(range(1, len(random) + 1)),
            "y": numbers(np.asarray(random, dtype=np.float64)),
            "mode": "lines",
            "line": {"color": "@soft", "dash": "dot", "width": 2},
            "name": "Random, expected",
        }
    ]
    for policy, curve in curves.items():
        entry = entry_for_plots(policy)
        if policy == RANDOM or entry.role is Role.chance:
            continue
        colour = entry.colour
        mean, error = (np.array(curve[what][part], dtype=np.float64) for part in ("mean", "se"))
        error = np.nan_to_num(error)
        step = list(range(1, len(mean) + 1))
        data += [
            {
                "x": [*step, *step[::-1]],
                "y": [*numbers(mean + 2 * error), *numbers(mean - 2 * error)[::-1]],
                "fill": "toself",
                "fillcolor": f"{colour}26",
                "line": {"width": 0},
                "mode": "lines",
                "hoverinfo": "skip",
                "showlegend": False,
                "legendgroup": policy,
            },
            {
                "x": step,
                "y": numbers(mean),
                "mode": "lines",
                "line": {"color": colour, "width": 3 if entry.role is Role.ours else 2},
                "name": entry.plotted,
                "legendgroup": policy,
            },
        ]
    named = "regret" if what == "regret" else "sum of labels"
    last = {name: curve[what]["mean"][-1] for name, curve in curves.items()}
    alt = f"Mean {named} by policy; at the end " + ", ".join(
        f"{entry_for_plots(name).plotted} {shown(float(value))}" for name, value in last.items()
    )
    return figure_of(data, alt, xaxis=steps_axis("labels bought", len(random)), yaxis=axis(named))
