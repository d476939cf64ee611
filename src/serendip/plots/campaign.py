"""The figures of a campaign's report: the total with its forecast, and predictions that came true.

Lines are drawn in one ink that the page replaces by its own colour, so that a figure is readable on
light and dark ground alike; the other colours are of middle brightness.
"""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from serendip.core.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#010203"
"""Stands for the colour of the text around the figure."""
_BLUE, _ORANGE, _GREY = "#2f86c6", "#d9822b", "#8c8c8c"


def progress_figure(
    totals: Sequence[float],
    expected: Floats,
    low: Floats,
    high: Floats,
    random_total: float,
    label: str,
    level: float,
) -> "Figure":
    """The total after each label so far, the forecast from there on, and random choice.

    Args:
        totals: (t + 1,) from 0 labels to now.
        expected: (k + 1,) forecast from now to the end, and so are `low` and `high`.
        low: Lower end of the interval.
        high: Upper end.
        random_total: What random choice from now on has at the end.
        label: What is summed.
        level: The chance that the interval holds the total.
    """
    figure, panel = _figure(7.6, 3.5)
    now, end = len(totals) - 1, len(totals) + len(expected) - 2
    panel.plot(
        [now, end],
        [totals[-1], random_total],
        color=_GREY,
        linestyle=":",
        linewidth=1.6,
        label="at random",
    )
    if end > now:
        ahead = np.arange(now, end + 1)
        name = f"forecast, with {100 * level:.0f} % interval"
        panel.fill_between(ahead, low, high, color=_ORANGE, alpha=0.22, linewidth=0)
        panel.plot(ahead, expected, color=_ORANGE, linestyle="--", linewidth=1.8, label=name)
    panel.plot(range(now + 1), totals, color=_BLUE, linewidth=2.2, label="found so far")
    panel.plot([now], totals[-1:], "o", color=_BLUE, markersize=6)
    panel.set_xlim(0, max(1, end) * 1.01)
    panel.locator_params(axis="x", integer=True)
    panel.set_xlabel("labels")
    panel.set_ylabel(f"sum of {_plain(label)}")
    _legend(panel, "upper left" if totals[-1] + expected[-1] >= 0 else "lower left")
    return figure


def fit_figure(expected: Floats, measured: Floats, ahead: Sequence[bool], label: str) -> "Figure":
    """Measured against predicted values; on the diagonal the prediction was right.

    Args:
        expected: (t,) what was predicted.
        measured: (t,) what came.
        ahead: (t,) whether the prediction was made before the measurement, or afterwards with this
            label held out.
        label: What was measured.
    """
    figure, panel = _figure(4.6, 3.9)
    ends = np.array([min(expected.min(), measured.min()), max(expected.max(), measured.max())])
    room = 0.05 * max(float(ends[1] - ends[0]), 1e-9)
    span = [float(ends[0]) - room, float(ends[1]) + room]
    panel.plot(span, span, color=_GREY, linewidth=1.2)
    before = np.array(ahead, dtype=bool)
    for chosen, colour, name in (
        (before, _BLUE, "when proposed"),
        (~before, _ORANGE, "held out"),
    ):
        if chosen.any():
            panel.scatter(
                expected[chosen],
                measured[chosen],
                s=22,
                color=colour,
                alpha=0.75,
                linewidths=0,
                label=name,
            )
    panel.set_xlim(*span)
    panel.set_ylim(*span)
    panel.set_xlabel(f"predicted {_plain(label)}")
    panel.set_ylabel("measured")
    if before.any() and not before.all():
        _legend(panel, "lower right")
    return figure


def inline_svg(figure: "Figure", title: str) -> str:
    """A figure as an `svg` element that takes the width and the text colour of its surroundings.

    Args:
        figure: With lines in `INK`.
        title: What the figure shows, for those who cannot see it; escaped by the caller.
    """
    import matplotlib as mpl

    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    opening, rest = text.split(">", 1)
    opening = re.sub(r'\s(width|height)="[^"]*"', "", opening)
    rest = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    # Two figures on one page must not share names; only those that are referred to are kept.
    used = set(re.findall(r"#([\w.-]+)[\")]", rest))
    rest = re.sub(r'\sid="([^"]*)"', lambda one: one[0] if one[1] in used else "", rest)
    return f'{opening} role="img" aria-label="{title}">{rest.strip()}'


def _figure(width: float, height: float) -> "tuple[Figure, Axes]":
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    panel = figure.subplots()
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color(INK)
    panel.tick_params(colors=INK, labelsize=9)
    panel.grid(axis="y", color=_GREY, alpha=0.25, linewidth=0.7)
    panel.set_axisbelow(True)
    for axis in (panel.xaxis, panel.yaxis):
        axis.label.set_color(INK)
        axis.label.set_fontsize(10)
    return figure, panel


def _legend(panel: "Axes", place: Literal["upper left", "lower left", "lower right"]) -> None:
    panel.legend(frameon=False, fontsize=9, labelcolor=INK, loc=place)


def _plain(words: str) -> str:
    """Text that matplotlib shall not read as a formula."""
    return words.replace("$", r"\$")
