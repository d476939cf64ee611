"""Figures of a pool: a map, a matrix, a part of a graph. Points carry the candidate's name."""

import numpy as np

from serendip.campaigns.analysis.view import percent, shown
from serendip.web.figures.parts import Figure, figure_of, numbers
from serendip.web.server.computed import GraphShown, Mapped, MatrixShown, Shown

STATES = {
    "available": ("not tried", "@faint", 5),
    "excluded": ("excluded", "@line", 6),
    "failed": ("failed", "@bad", 8),
    "measured": ("measured", "@accent", 8),
    "proposed": ("waiting for a result", "@warm", 11),
}
"""How a state is called, its colour, and the size of its points."""

_MANY_LINES = 60
"""Rows or columns of a matrix from which on there is no room for gaps between cells."""
_LEAST_HEIGHT, _ROW_HEIGHT = 420, 14
"""Pixels of a matrix, and of each of its rows, so that rows can be told apart and named."""


def map_figure(mapped: Mapped, colour: str, label: str) -> Figure:
    """The pool in the plane; points carry the candidate's name for who clicks them.

    Args:
        mapped: The map and its points.
        colour: `expected`, `uncertainty` or `state`.
        label: What is measured.
    """
    points, places = mapped.points, mapped.map.places
    states = np.array(points.states)
    data = []
    values = {"expected": points.expected, "uncertainty": points.uncertainty}.get(colour)
    for state, (name, token, size) in STATES.items():
        mine = states == state
        if not mine.any():
            continue
        marker: Figure = {"size": size, "color": token}
        if values is not None:
            marker |= {"color": numbers(values[mine]), "coloraxis": "coloraxis"}
            if state == "available":
                marker["opacity"] = 0.75
        if state in ("proposed", "measured", "failed"):
            marker["line"] = {"width": 1.6, "color": "@ink" if values is not None else "@surface"}
        if state == "proposed":
            marker["symbol"] = "diamond"
        data.append(
            {
                "x": numbers(places[mine, 0]),
                "y": numbers(places[mine, 1]),
                "mode": "markers",
                "marker": marker,
                "name": name,
                "customdata": [points.ids[at] for at in np.flatnonzero(mine)],
                "text": [_about(points, at, label) for at in np.flatnonzero(mine).tolist()],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    title = "expected" if colour == "expected" else "uncertainty"
    alt = (
        f"Map of {len(points.ids)} of {mapped.n} candidates by "
        f"{'principal components' if mapped.map.method == 'pca' else 'UMAP'}, coloured by {colour}."
    )
    figure = figure_of(
        data, alt, _map_note(mapped), xaxis=_bare(), yaxis=_bare(), hovermode="closest"
    )
    if values is not None:
        figure["layout"]["showlegend"] = False
        figure["layout"]["coloraxis"] = {
            "colorscale": "Viridis",
            "colorbar": {
                "title": {"text": title},
                "thickness": 12,
                "outlinewidth": 0,
            },
        }
    return figure


def _map_note(mapped: Mapped) -> str:
    """What the map leaves out, and what it does not keep to."""
    n_shown, share = len(mapped.points.ids), mapped.map.share
    parts = [] if n_shown == mapped.n else [f"{n_shown:,} of {mapped.n:,} candidates"]
    if share is not None:
        parts.append(f"the two directions hold {percent(share)} of how the columns differ")
    if mapped.map.n_moved:
        parts.append("candidates that would lie on one another are drawn side by side")
    words = "; ".join(parts)
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _bare() -> Figure:
    """An axis whose numbers mean nothing."""
    return {
        "showticklabels": False,
        "zeroline": False,
        "showgrid": False,
        "showline": False,
        "ticks": "",
    }


def _about(points: Shown, at: int, label: str) -> str:
    told = points.measured[at]
    was = f"<br>{_plain(label)} {shown(float(told))}" if np.isfinite(told) else ""
    return (
        f"<b>{_plain(points.ids[at])}</b>, {STATES[points.states[at]][0]}{was}<br>expected "
        f"{shown(float(points.expected[at]))} ± {shown(float(points.uncertainty[at]))}"
    )


def _plain(text: str) -> str:
    """A user's text, of which plotly shall read no part as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def matrix_figure(found: MatrixShown, label: str) -> Figure:
    """Expected values by row and column; what was measured or awaits its result is marked."""
    matrix, points = found.matrix, found.points
    there = matrix.items >= 0
    expected = np.where(there, points.expected[np.where(there, matrix.items, 0)], np.nan)
    gap = 1 if max(matrix.items.shape) <= _MANY_LINES else 0
    text = [
        [_about(points, int(item), label) if item >= 0 else "no candidate" for item in row]
        for row in matrix.items
    ]
    data: list[Figure] = [
        {
            "type": "heatmap",
            "z": [numbers(row) for row in expected],
            "x": [_plain(one) for one in matrix.columns],
            "y": [_plain(one) for one in matrix.rows],
            "text": text,
            "customdata": [
                [points.ids[item] if item >= 0 else "" for item in row] for row in matrix.items
            ],
            "hovertemplate": "%{text}<extra></extra>",
            "colorscale": "Viridis",
            "colorbar": {
                "title": {"text": f"expected {label}"},
                "thickness": 12,
                "outlinewidth": 0,
            },
            "xgap": gap,
            "ygap": gap,
        }
    ]
    states = np.array([*points.states, "none"])
    for state, symbol in (("measured", "circle"), ("proposed", "diamond"), ("failed", "x")):
        rows, columns = np.nonzero(states[matrix.items] == state)
        if len(rows):
            data.append(
                {
                    "x": [_plain(matrix.columns[at]) for at in columns],
                    "y": [_plain(matrix.rows[at]) for at in rows],
                    "mode": "markers",
                    "marker": {
                        "symbol": symbol,
                        "size": 8,
                        "color": "#ffffff",
                        "line": {"color": "#111111", "width": 1.2},
                    },
                    "name": STATES[state][0],
                    "hoverinfo": "skip",
                }
            )
    alt = f"Expected {label} of {len(matrix.rows)} rows × {len(matrix.columns)} columns."
    n_rows, n_columns = matrix.whole
    left_out = (n_rows, n_columns) != matrix.items.shape
    return figure_of(
        data,
        alt,
        f"The most promising of {n_rows:,} rows and {n_columns:,} columns." if left_out else "",
        height=max(_LEAST_HEIGHT, 110 + _ROW_HEIGHT * len(matrix.rows)),
        xaxis={"type": "category", "automargin": True, "showgrid": False},
        yaxis={"type": "category", "automargin": True, "showgrid": False},
    )


def graph_figure(found: GraphShown, label: str) -> Figure:
    """Nodes around the proposals, with the edges among them."""
    places, points = found.part.places, found.points
    lines: dict[str, list[float | None]] = {"x": [], "y": []}
    for one, other in found.part.edges.tolist():
        for axis, key in enumerate(("x", "y")):
            lines[key] += [float(places[one, axis]), float(places[other, axis]), None]
    data: list[Figure] = [
        {
            **lines,
            "mode": "lines",
            "line": {"color": "@faint", "width": 1},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]
    states = np.array(points.states)
    for state, (name, token, size) in STATES.items():
        mine = np.flatnonzero(states == state)
        if len(mine):
            data.append(
                {
                    "x": numbers(places[mine, 0]),
                    "y": numbers(places[mine, 1]),
                    "mode": "markers",
                    "marker": {"size": size + 3, "color": token},
                    "name": name,
                    "customdata": [points.ids[at] for at in mine],
                    "text": [_about(points, int(at), label) for at in mine],
                    "hovertemplate": "%{text}<extra></extra>",
                }
            )
    alt = f"{len(points.ids)} candidates around the proposals, and the edges among them."
    more = found.part.left_out
    note = f"{more:,} more neighbours are not shown." if more else ""
    return figure_of(data, alt, note, xaxis=_bare(), yaxis=_bare(), hovermode="closest")
