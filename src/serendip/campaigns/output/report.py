"""A campaign as one page: a single HTML file that needs nothing else, on screen or on paper."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from serendip.campaigns.analysis.forecast import Forecast
from serendip.campaigns.analysis.predictions import held_out
from serendip.campaigns.analysis.reasons import Reason, reasons
from serendip.campaigns.analysis.view import CampaignView, percent, shown
from serendip.core.data import Choice
from serendip.core.progress import report

if TYPE_CHECKING:
    import pandas as pd

    from serendip.campaigns.log.state import State
    from serendip.campaigns.spec import Settings

_N_BEST = 10
_N_PENDING = 100
_N_COLUMNS, _N_BESIDE_REASONS = 5, 3
"""Columns of the user that a table shows besides the id."""


def html_report(
    view: CampaignView, forecast: Forecast, events_in_words: Sequence[str], rng: Generator
) -> str:
    """The page: facts, progress with forecast, predictions against results, tables, history.

    Args:
        view: The campaign now.
        forecast: Made from the same view.
        events_in_words: What happened, one sentence an event, oldest first.
        rng: For the draws behind predictions and reasons.
    """
    report("writing the report")
    sections = [
        _header(view.name, view, view.budget, len(view.ids)),
        _tiles(view, forecast),
        f'<p class="advice">{escape(forecast.stop_advice)}</p>',
        f'<p class="advice">{escape(forecast.trust)}</p>' if forecast.trust else "",
        _progress(view, forecast),
        _pending(view, rng),
        _best(view),
        _fit(view),
        _history(events_in_words),
    ]
    body = "\n".join(section for section in sections if section)
    return _PAGE.format(title=escape(view.name), style=_STYLE, body=body)


def html_record(
    settings: "Settings",
    state: "State",
    missing: str,
    tables: "Mapping[str, pd.DataFrame]",
    events_in_words: Sequence[str],
) -> str:
    """The page of a campaign whose model is not here: what was measured, proposed and done.

    Args:
        settings: Of the campaign.
        state: Where it stands.
        missing: Why there is no forecast.
        tables: What was measured and proposed, by their titles.
        events_in_words: What happened, one sentence an event, oldest first.
    """
    shown_tables = [
        f"<section><h2>{escape(title)}</h2>{_table(list(map(str, frame.columns)), rows, ())}"
        "</section>"
        for title, frame in tables.items()
        if (rows := [[_cell(value) for value in row] for row in frame.itertuples(index=False)])
    ]
    sections = [
        _header(settings.name, settings, state.budget, state.created.n_candidates),
        f'<p class="advice">{escape(missing)}</p>',
        *shown_tables,
        _history(events_in_words),
    ]
    return _PAGE.format(title=escape(settings.name), style=_STYLE, body="\n".join(sections))


def _header(name: str, view: "CampaignView | Settings", budget: int, n: int) -> str:
    goal = "Minimise" if view.minimize else "Maximise"
    facts = [
        f"{goal} the sum of <b>{escape(view.label)}</b>",
        _counted(n, "candidate"),
        f"budget {budget}",
        f"{escape(view.model)} model",
        f"{escape(view.policy)} policy",
        f"seed {view.seed}",
    ]
    listed = "".join(f"<li>{fact}</li>" for fact in facts)
    return f'<header><h1>{escape(name)}</h1><ul class="facts">{listed}</ul></header>'


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _tiles(view: CampaignView, forecast: Forecast) -> str:
    n_done, spent = len(view.measured), view.budget - view.remaining
    share = min(1.0, spent / view.budget) if view.budget else 1.0
    bar = f'<span class="bar"><span style="width:{share:.1%}"></span></span>'
    others = {"pending": len(view.pending)}
    others |= {name: list(view.states.values()).count(name) for name in ("failed", "excluded")}
    aside = ", ".join(f"{count} {name}" for name, count in others.items() if count)
    average = f"{shown(forecast.total_so_far / n_done)} on average" if n_done else "nothing yet"
    gain = forecast.expected_total - forecast.random_total
    gained = f"{'+' if gain >= 0 else '−'}{shown(abs(gain))}"
    interval = f"{percent(forecast.level)} interval {shown(forecast.low)} to {shown(forecast.high)}"
    at_random = f"from now on, which would end at {shown(forecast.random_total)}"
    tiles = [
        ("measured", str(n_done), f"{view.remaining} of {view.budget} left{bar}{aside}"),
        ("total so far", shown(forecast.total_so_far), average),
        ("expected at the end", shown(forecast.expected_total), interval),
        ("against random choice", gained, at_random),
        ("ten more than planned", shown(forecast.value_of_ten_more), "expected to be added"),
    ]
    boxes = "".join(
        f'<div class="tile"><span class="name">{name}</span><span class="big">{big}</span>'
        f'<span class="small">{small}</span></div>'
        for name, big, small in tiles
    )
    return f'<section class="tiles">{boxes}</section>'


def _progress(view: CampaignView, forecast: Forecast) -> str:
    from serendip.plots.campaign import inline_svg, progress_figure

    totals = [0.0, *np.cumsum(view.measured_values).tolist()]
    path, end = forecast.path, forecast.random_total
    figure = progress_figure(
        totals, path.expected, path.low, path.high, end, view.label, forecast.level
    )
    drawn = inline_svg(figure, "Sum of the labels found so far, with the forecast")
    return f"<section><h2>Progress and forecast</h2><figure>{drawn}</figure></section>"


def _fit(view: CampaignView) -> str:
    if len(view.measured) < 3:
        return ""
    from serendip.plots.campaign import fit_figure, inline_svg

    left_out = held_out(view).mean
    kept = [one.expected for one in view.measured]
    predicted = np.array(
        [left_out[place] if told is None else told for place, told in enumerate(kept)]
    )
    measured = view.measured_values
    error = float(np.median(np.abs(measured - predicted)))
    usual = float(np.median(np.abs(measured - np.median(measured))))
    ahead = [told is not None for told in kept]
    drawn = inline_svg(
        fit_figure(predicted, measured, ahead, view.label), "Measured against predicted values"
    )
    return (
        '<section><h2>Predicted and measured</h2><div class="beside">'
        f"<figure>{drawn}</figure><p>Each dot is a result, and what the model said of it "
        f"{_how_predicted(ahead)}. Dots on the line were predicted exactly. Half of the "
        f"predictions are off by less than <b>{shown(error)}</b>; half of the results lie within "
        f"{shown(usual)} of the middle one, which is what a guess without a model would be off "
        "by.</p></div></section>"
    )


def _how_predicted(ahead: Sequence[bool]) -> str:
    before, held = "when it was proposed", "from all other results, this one held out"
    if all(ahead):
        return before
    return f"{before} or, where that was not kept, {held}" if any(ahead) else held


def _best(view: CampaignView) -> str:
    if not view.measured:
        return ""
    values = view.measured_values if view.minimize else -view.measured_values
    best = [view.measured[place] for place in np.argsort(values, kind="stable")[:_N_BEST]]
    names = _columns(view, _N_COLUMNS)
    rows = [
        [
            str(rank),
            view.ids[one.item],
            shown(one.value),
            *_cells(view, one.item, names),
            one.at[:16].replace("T", " "),
            one.who if one.proposed else f"{one.who}, not proposed",
        ]
        for rank, one in enumerate(best, start=1)
    ]
    head = ["", "id", view.label, *names, "when", "who"]
    return f"<section><h2>Best found</h2>{_table(head, rows, (0, 2))}</section>"


def _pending(view: CampaignView, rng: Generator) -> str:
    if len(view.pending) == 0:
        words = "No proposal is waiting for its result."
        return f'<section><h2>Waiting for results</h2><p class="quiet">{words}</p></section>'
    listed = view.pending[:_N_PENDING].tolist()
    found = reasons(view, [Choice(item, 0.0) for item in listed], rng)
    names = _columns(view, _N_BESIDE_REASONS)
    rows = [
        [
            view.ids[one.item],
            *_cells(view, one.item, names),
            f"{shown(one.expected)} ± {shown(one.uncertainty)}",
            percent(one.chance_of_top),
            _why(one),
        ]
        for one in found
    ]
    head = ["id", *names, "expected", "chance of top", "why"]
    more = len(view.pending) - len(listed)
    rest = f'<p class="quiet">… and {more} more.</p>' if more else ""
    table = _table(head, rows, (len(names) + 1, len(names) + 2))
    return f"<section><h2>Waiting for results</h2>{table}{rest}</section>"


def _why(reason: Reason) -> str:
    """The reason without what stands in columns of its own."""
    words = "exploit and explore" if reason.kind == "both" else reason.kind
    near = ", ".join(f"{name} ({shown(value)})" for name, value in reason.neighbours)
    shares = (
        f"regret {percent(reason.regret_share)}, information {percent(reason.information_share)}"
    )
    return f"{words}; {shares}; near {near}" if near else f"{words}; {shares}"


def _history(events: Sequence[str]) -> str:
    if not events:
        return ""
    listed = "".join(f"<li>{escape(event)}</li>" for event in events)
    return (
        f"<section><h2>History</h2><details open><summary>{_counted(len(events), 'event')}, oldest "
        f"first</summary><ol>{listed}</ol></details></section>"
    )


def _columns(view: CampaignView, count: int) -> list[str]:
    """The user's columns a table has room for: those that tell candidates apart by words first."""
    some = np.arange(min(len(view.ids), 1000))
    frame, ids = view.candidates.rows(some), [view.ids[item] for item in some.tolist()]
    others = [name for name in frame.columns if name != view.label]
    names = [name for name in others if frame[name].astype(str).tolist() != ids]
    by_words = sorted(names, key=lambda name: frame[name].dtype.kind in "biufc")[:count]
    return [name for name in names if name in by_words]


def _cells(view: CampaignView, item: int, names: Sequence[str]) -> list[str]:
    row = view.candidates.rows(np.array([item])).iloc[0]
    return [_cell(row[name]) for name in names]


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else shown(float(value))
    return str(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    """A table of escaped text; the columns in `numbers` are set to the right."""

    def row(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="number"' if place in numbers else "" for place in range(len(cells))]
        return "".join(
            f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{row(head, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
<footer>Made by serendip. Intervals and chances are the model's; they allow for its errors so
far.</footer>
</body>
</html>
"""

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --card: #f5f6f8; --ink: #1d2430; --soft: #5c6675;
  --line: #dde1e7; --accent: #2f86c6; --warm: #d9822b; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181f; --card: #1d232d; --ink: #e6e9ee;
  --soft: #9aa5b4; --line: #323b48; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.5rem 3rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { margin: 0 0 .4rem; font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0 0 .8rem; font-size: 1.15rem; }
section { margin-top: 2.4rem; }
.facts { margin: 0; padding: 0; list-style: none; color: var(--soft); }
.facts li { display: inline; } .facts li + li::before { content: " · "; }
.facts b { color: var(--ink); }
.tiles { display: grid; gap: .8rem; margin-top: 1.6rem;
  grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); }
.tile { display: flex; flex-direction: column; padding: .9rem 1rem; border-radius: .6rem;
  background: var(--card); }
.name, .small, .quiet, footer, summary { color: var(--soft); font-size: .85rem; }
.big { font-size: 1.7rem; font-weight: 650; line-height: 1.4; }
.big, .number { font-variant-numeric: tabular-nums; }
.bar { display: block; height: .35rem; margin: .4rem 0; border-radius: 1rem; overflow: hidden;
  background: var(--line); }
.bar span { display: block; height: 100%; background: var(--accent); }
.advice { margin: 1.2rem 0 0; padding: .8rem 1rem; border-left: .25rem solid var(--warm);
  border-radius: .2rem; background: var(--card); }
figure { margin: 0; color: var(--soft); } figure svg { display: block; width: 100%; height: auto; }
.beside { display: grid; gap: 2rem; align-items: center; grid-template-columns: 3fr 2fr; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .88rem; }
th, td { padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td:last-child { min-width: 9rem; }
.number { text-align: right; white-space: nowrap; }
ol { margin: .6rem 0 0; padding-left: 2.6rem; font-size: .88rem; } li { overflow-wrap: anywhere; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
@media (max-width: 40rem) { .beside { grid-template-columns: 1fr; } }
@media print { :root { color-scheme: light; --paper: #fff; --card: #f5f6f8; --ink: #000;
  --soft: #444; --line: #ccc; } body { max-width: none; padding: 0; font-size: 11pt; }
  section, .tile, tr { break-inside: avoid; } section:has(ol) { break-inside: auto; }
  .scroll { overflow: visible; } * { print-color-adjust: exact; } }
"""
