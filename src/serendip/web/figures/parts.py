"""What all figures share: plain dictionaries of plotly, nothing computed, nothing imported.

Colours are names such as `@accent`, which the page replaces by those of its theme.
"""

from typing import Any

import numpy as np

from serendip.core.arrays import Floats

Figure = dict[str, Any]


def numbers(values: Floats) -> list[float | None]:
    """Values as JSON has them: what is not finite is null."""
    return [float(f"{one:.6g}") if np.isfinite(one) else None for one in np.ravel(values)]


def figure_of(data: list[Figure], alt: str, note: str = "", **layout: Any) -> Figure:
    """A figure.

    Args:
        data: Its traces.
        alt: What it shows, for those who cannot see it.
        note: What everybody should know about it; stands below.
        layout: As plotly has it; a height counts more than that of the page.
    """
    return {"data": data, "layout": layout, "alt": alt, "note": note}


def steps_axis(title: str, last: int) -> Figure:
    """An axis of whole numbers from 0 on, with at most ten marks."""
    size = 10 ** max(0, len(str(max(1, last))) - 2)
    each = next(size * one for one in (1, 2, 5, 10, 20) if last <= 10 * size * one)
    return {"title": {"text": title}, "rangemode": "tozero", "tick0": 0, "dtick": each}


def axis(title: str, **more: Any) -> Figure:
    """An axis with a title."""
    return {"title": {"text": title}, **more}
