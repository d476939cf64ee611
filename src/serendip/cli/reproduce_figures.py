"""The figures of `serendip reproduce`, drawn from the steps of its runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from serendip.simulate.experiments.experiment import Experiment

_ROWS = {
    "linear": "linear model",
    "logistic": "logistic model",
    "graph-random": "random graph",
    "graph-complete": "complete graph",
    "graph-star": "star graph",
    "low-rank": "matrix",
}
"""The simulations of the paper's figure, a row each."""

_COLUMNS = {"pndc": 4, "cncci": 3}
"""Panels in a row, where there is one for each pool."""


def draw_experiment(experiment: "Experiment", steps: "DataFrame") -> "Figure":
    """Curves at each setting, and regret at the end."""
    from serendip.plots.experiment import experiment_figure
    from serendip.simulate.experiments.experiment import over_pools, summarise

    if experiment.pooled:
        steps = over_pools(steps)
    names = list(experiment.policies)
    return experiment_figure(experiment.title, experiment.parameter, steps, summarise(steps), names)


def draw_table(steps: "DataFrame") -> "Iterator[tuple[str, Figure]]":
    """Of each pool the curves to the last label, and the labels themselves; with their names."""
    from serendip.plots.reproduction import horizon_figure, response_figure
    from serendip.simulate.experiments.printed import HORIZONS
    from serendip.simulate.experiments.table import by_pool

    steps = by_pool(steps)
    policies = ("vids", "thompson", "ucb", "greedy", "random")
    for name, n_columns in _COLUMNS.items():
        mine = steps[steps["data"] == name]
        title = f"{name.upper()}: regret until nothing is left"
        yield f"curves-{name}", horizon_figure(title, mine, policies, HORIZONS[name], n_columns)
        once = mine[(mine["policy"] == "ucb") & (mine["seed"] == 0)]
        labels = {str(pool): list(rows["label"]) for pool, rows in once.groupby("pool", sort=False)}
        title = f"{name.upper()}: the yields of each pool"
        yield f"responses-{name}", response_figure(title, labels, n_columns)


def draw_all(runs: Path, folder: Path) -> None:
    """Every figure of the documents for which there are runs."""
    from serendip.simulate.experiments.catalogue import EXPERIMENTS
    from serendip.simulate.experiments.results import kept_steps

    def save(figure: "Figure", name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"reproduce-{name}.png")

    for name, experiment in EXPERIMENTS.items():
        steps = kept_steps(name, runs)
        if steps is not None:
            save(draw_experiment(experiment, steps), name)
    table = kept_steps("table", runs)
    if table is not None:
        for name, figure in draw_table(table):
            save(figure, name)
    simulations = _draw_simulations(runs)
    if simulations is not None:
        save(simulations, "simulations")


def _draw_simulations(runs: Path) -> "Figure | None":
    """The paper's figure of simulations in four columns, where all of them were run."""
    from serendip.plots.reproduction import simulations_figure
    from serendip.policies.registry import POLICIES
    from serendip.simulate.experiments.catalogue import EXPERIMENTS
    from serendip.simulate.experiments.experiment import summarise
    from serendip.simulate.experiments.results import kept_steps

    rows = []
    for name, title in _ROWS.items():
        steps = kept_steps(name, runs)
        if steps is None:
            return None
        rows.append((title, EXPERIMENTS[name].parameter, steps, summarise(steps)))
    return simulations_figure(rows, tuple(POLICIES))
