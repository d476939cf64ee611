"""A backtest as files: every step, a figure, and a short report."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from serendip.core.errors import InvalidInput

if TYPE_CHECKING:
    from serendip.simulate.backtests.backtest import Backtest

Rows = tuple[list[str], list[list[str]]]


def summary_rows(result: "Backtest") -> Rows:
    """Header and rows of the summary, one policy a row, best first, random choice for reference."""
    columns = [
        "policy", "regret", "±", "total", "±", "hits", "× random", "best", "top found", "ms/ask",
    ]  # fmt: skip
    rows = []
    for row in result.summary.sort_values("regret").to_dict("records"):
        rows.append(
            [
                str(row["policy"]),
                _figure(row["regret"]),
                _figure(row["regret_se"]),
                _figure(row["total"]),
                _figure(row["total_se"]),
                f"{row['hits']:.1f}",
                f"{row['enrichment']:.2f}" if np.isfinite(row["enrichment"]) else "–",
                _figure(row["best"]),
                f"{100 * row['recall']:.0f} %",
                f"{1000 * row['seconds_per_ask']:.1f}",
            ]
        )
    expected = ["random, expected", _figure(result.random_regret), "", _figure(result.random_total)]
    rows.append([*expected, "", "", "1.00", "", "", ""])
    return columns, rows


def difference_rows(result: "Backtest") -> Rows:
    """Header and rows of the paired differences."""
    rows = [
        [
            str(row["policy"]),
            _signed(row["difference"]),
            f"[{_signed(row['low'])}, {_signed(row['high'])}]",
        ]
        for row in result.differences.sort_values("difference").to_dict("records")
    ]
    return ["policy", "difference", "95 % interval"], rows


def _figure(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def _signed(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:+.3g}"


def write_backtest(result: "Backtest", table: str, label: str, folder: Path) -> list[Path]:
    """steps.parquet, figure.png and report.md in a folder."""
    from serendip.plots.experiment import backtest_figure

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidInput(f"{folder} cannot be made a folder: {problem.strerror}.") from None
    steps, picture, report = (
        folder / name for name in ("steps.parquet", "figure.png", "report.md")
    )
    result.steps.to_parquet(steps, index=False)
    share = np.arange(1, result.budget + 1) / result.budget
    figure = backtest_figure(
        f"{table}: {label}",
        result.steps,
        list(result.summary.sort_values("regret")["policy"]),
        result.random_regrets,
        (share * result.random_total).tolist(),
    )
    figure.savefig(picture)
    report.write_text(_markdown(result, table, label), encoding="utf-8")
    return [steps, picture, report]


def repeats_of(result: "Backtest") -> str:
    """`1 repeat`, `10 repeats`."""
    return f"{result.repeats} {'repeat' if result.repeats == 1 else 'repeats'}"


def _markdown(result: "Backtest", table: str, label: str) -> str:
    best = result.summary.sort_values("regret").to_dict("records")[0]
    lines = [
        f"# Backtest of {table}, label {label}",
        "",
        f"{result.n} candidates, budget {result.budget}, {result.model} model, "
        f"{repeats_of(result)}, seed {result.seed}. "
        f"Regret is what the best {result.budget} candidates sum to "
        "less what was found; ± is a standard error over repeats. Hits are labels at least as good "
        f"as {_figure(result.hit)}; “top found” is the share of the true best {result.budget}, or "
        "of all that are better than the worst label, where these are fewer.",
        "",
        f"Lowest regret: **{best['policy']}**, {_figure(best['regret'])} ± "
        f"{_figure(best['regret_se'])}; random choice is expected to have "
        f"{_figure(result.random_regret)}.",
        "",
        "![Regret and sum of labels](figure.png)",
        "",
        *_pipes(*summary_rows(result)),
        "",
        f"## Paired differences in regret against {result.baseline}, the best baseline",
        "",
        *_pipes(*difference_rows(result)),
        "",
        *(f"- {note}" for note in result.notes),
        "",
        "Every step is in `steps.parquet`.",
    ]
    return "\n".join(lines) + "\n"


def _pipes(columns: list[str], rows: list[list[str]]) -> list[str]:
    rule = "|".join(["---"] + ["---:"] * (len(columns) - 1))
    return [f"| {' | '.join(columns)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]
