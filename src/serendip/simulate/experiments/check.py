"""The figures a release must reach, each beside its bar: `serendip reproduce check`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from serendip.compute.engines import Engine
from serendip.simulate.experiments import graph, linear
from serendip.simulate.experiments.experiment import Experiment, run_experiment, summarise

if TYPE_CHECKING:
    from pandas import DataFrame

_LINEAR_SEEDS, _GRAPH_SEEDS = 30, 10


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure that must not pass its bar."""

    what: str
    value: float
    bar: float
    detail: str

    @property
    def holds(self) -> bool:
        """Whether the figure is within its bar."""
        return self.value <= self.bar


def plans() -> list[tuple[Experiment, int]]:
    """What is run, and over how many seeds."""
    return [
        (replace(linear.EXPERIMENT, settings=(20,)), _LINEAR_SEEDS),
        (replace(graph.STAR, settings=(1.0,)), _GRAPH_SEEDS),
        (replace(graph.RANDOM, settings=(0.1,)), _GRAPH_SEEDS),
    ]


def check(
    folder: Path,
    jobs: int | None = 1,
    progress: Callable[[str, int, int], None] | None = None,
    seeds: int | None = None,
    engine: Engine | None = None,
) -> "tuple[list[Bar], DataFrame]":
    """Every bar, and the summary behind them.

    Args:
        folder: Where runs are kept.
        jobs: Processes; None for all cores.
        progress: Called with (experiment, runs done, runs in all).
        seeds: Fewer seeds than the release check takes.
        engine: Where they run; by default on this machine.
    """
    import pandas as pd

    summaries = []
    for experiment, count in plans():

        def report(done: int, total: int, name: str = experiment.name) -> None:
            if progress is not None:
                progress(name, done, total)

        steps = run_experiment(
            experiment, folder, jobs, seeds or count, progress=report, engine=engine
        )
        summary = summarise(steps)
        summary.insert(0, "experiment", experiment.name)
        summaries.append(summary)
    table = pd.concat(summaries, ignore_index=True)

    figures = {
        (row["experiment"], row["policy"]): (float(row["regret"]), float(row["se"]))
        for row in table.to_dict("records")
    }

    def bar(what: str, name: str, policy: str, rival: str, limit: float) -> Bar:
        mine, other = figures[name, policy], figures[name, rival]
        words = f"{mine[0]:.1f} ± {mine[1]:.1f} against {other[0]:.1f} ± {other[1]:.1f}"
        return Bar(what, mine[0] / other[0], limit, words)

    return [
        bar("budget-aware IDS / SampleVIDS, linear d = 20", "linear", "ids", "vids", 0.8),
        bar("SampleVIDS / Thompson, linear d = 20", "linear", "vids", "thompson", 1.0),
        bar("Thompson / OFUL, linear d = 20", "linear", "thompson", "oful", 0.6),
        bar("SampleVIDS / Thompson, star graph, σ² = 1", "graph-star", "vids", "thompson", 0.6),
        bar(
            "SampleVIDS / Thompson, random graph, σ² = .1", "graph-random", "vids", "thompson", 0.6
        ),
    ], table
