"""Figures of a campaign's course: progress, predictions, regret and information ratio."""

from collections.abc import Sequence

import numpy as np

from serendip.campaigns.analysis.course import Course
from serendip.campaigns.analysis.fit import Fit
from serendip.campaigns.analysis.forecast import Forecast
from serendip.campaigns.analysis.view import percent, shown
from serendip.web.figures.parts import Figure, axis, figure_of, numbers, steps_axis


def progress_figure(totals: Sequence[float], future: Forecast, label: str) -> Figure:
    """The sum so far, the forecast to the end of the budget, and random choice from now on.

    Args:
        totals: (t + 1,) after 0 … t results.
        future: From here on.
        label: What is summed.
    """
    spent = len(totals) - 1
    path = future.path
    steps = list(range(spent, spent + len(path.expected)))
    end = steps[-1]
    band = {
        "x": [*steps, *steps[::-1]],
        "y": [*numbers(path.high), *numbers(path.low)[::-1]],
        "fill": "toself",
        "fillcolor": "@accent-band",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "name": f"{percent(future.level)} interval",
        "mode": "lines",
    }
    data: list[Figure] = [
        {
            "x": [spent, end],
            "y": [float(future.total_so_far), float(future.random_total)],
            "mode": "lines",
            "line": {"color": "@soft", "dash": "dot", "width": 2},
            "name": "random choice",
        },
        *([band] if end > spent else []),
        {
            "x": steps,
            "y": numbers(path.expected),
            "mode": "lines",
            "line": {"color": "@accent", "dash": "dash", "width": 2},
            "name": "forecast",
        },
        {
            "x": list(range(spent + 1)),
            "y": numbers(np.asarray(totals)),
            "mode": "lines+markers" if spent <= 60 else "lines",
            "line": {"color": "@accent", "width": 3},
            "marker": {"size": 5},
            "name": "found so far",
        },
    ]
    alt = (
        f"Sum of {label}: {shown(future.total_so_far)} after {spent} results; "
        f"{shown(future.expected_total)} expected after {end}, between {shown(future.low)} and "
        f"{shown(future.high)}; random choice from now on would reach {shown(future.random_total)}."
    )
    return figure_of(
        data,
        alt,
        xaxis=steps_axis("results", end),
        yaxis=axis(f"sum of {label}", rangemode="tozero"),
    )


def fit_figure(fit: Fit, ids: Sequence[str], label: str, binary: bool) -> Figure:
    """Measured against predicted, each with the interval it was given; a chance has none."""
    ends = np.concatenate([fit.predicted, fit.measured])
    low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 1.0)
    room = 0.05 * (high - low or 1.0)
    line = [low - room, high + room]
    data: list[Figure] = [
        {
            "x": line,
            "y": line,
            "mode": "lines",
            "line": {"color": "@soft", "dash": "dot", "width": 1.5},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]
    ahead = np.array(fit.ahead, dtype=bool)
    for mine, name, colour in (
        (ahead, "predicted before it was measured", "@accent"),
        (~ahead, "predicted from the other results", "@warm"),
    ):
        if mine.any():
            data.append(
                {
                    "x": numbers(fit.predicted[mine]),
                    "y": numbers(fit.measured[mine]),
                    "error_x": {
                        "type": "data",
                        "array": numbers(fit.half[mine]),
                        "visible": not binary,
                        "color": f"{colour}-faint",
                        "thickness": 1.2,
                        "width": 0,
                    },
                    "mode": "markers",
                    "marker": {"color": colour, "size": 8},
                    "customdata": [one for one, kept in zip(ids, mine, strict=True) if kept],
                    "hovertemplate": "%{customdata}<br>predicted %{x:.4g}, measured %{y:.4g}"
                    "<extra></extra>",
                    "name": name,
                }
            )
    inside = "" if binary else f": {fit.inside} lie within their interval"
    alt = f"Measured against predicted {label} of {len(fit.items)} results{inside}."
    return figure_of(
        data,
        alt,
        xaxis=axis(f"predicted {label}", range=line),
        yaxis=axis("measured", range=line),
    )


def regret_figure(found: Course, label: str) -> Figure:
    """The regret as believed now, and the theory's bound on its average."""
    steps = list(range(len(found.regret)))
    data: list[Figure] = [
        {
            "x": steps,
            "y": numbers(found.regret),
            "mode": "lines",
            "line": {"color": "@accent", "width": 3},
            "name": "regret, as believed now",
        },
        {
            "x": found.after.tolist(),
            "y": numbers(found.bound),
            "mode": "lines+markers",
            "line": {"color": "@soft", "dash": "dot", "width": 2},
            "name": "bound on its average",
        },
    ]
    alt = f"Regret after {steps[-1]} results, as believed now: {shown(float(found.regret[-1]))}."
    return figure_of(
        data,
        alt,
        xaxis=steps_axis("results", steps[-1]),
        yaxis=axis(f"{label} missed", rangemode="tozero"),
    )


def ratio_figure(found: Course) -> Figure:
    """Information ratios at each batch."""
    series = (
        (found.ratio, "of what was proposed", "@accent", "solid"),
        (found.thompson, "of Thompson sampling", "@warm", "dash"),
        (found.least, "the least there was", "@soft", "dot"),
    )
    data = [
        {
            "x": found.labels.tolist(),
            "y": numbers(np.where(values > 0, values, np.nan)),
            "mode": "lines+markers",
            "line": {"color": colour, "dash": dash, "width": 2},
            "name": name,
        }
        for values, name, colour, dash in series
    ]
    alt = "Squared regret paid for each nat of information, at each batch; smaller is better."
    return figure_of(
        data,
        alt,
        xaxis=steps_axis("results when the batch was asked for", max([1, *found.labels.tolist()])),
        yaxis=axis("regret² per nat", type="log", dtick="D2", tickformat="~g"),
    )
