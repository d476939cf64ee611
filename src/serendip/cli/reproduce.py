"""`serendip reproduce`: the paper's experiments, one command each."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from serendip.cli.engine_options import Address, PlayWith, RunEngine

if TYPE_CHECKING:
    from serendip.compute.engines import Engine
    from serendip.simulate.experiments.experiment import Experiment

_NAMES = (
    "linear, logistic, graph-random, graph-complete, graph-star, low-rank, ens, pndc, pndc-tuned, "
    "cncci, sparse, lower-bound; with the settings of the authors' scripts linear-printed (or "
    "linear-authors), logistic-authors, graph-random-authors, graph-complete-authors, "
    "graph-star-authors, low-rank-authors, pndc-authors, cncci-authors; table; all; check; report"
)


def reproduce(
    name: Annotated[str, typer.Argument(help=f"What to run: {_NAMES}.", metavar="NAME")],
    quick: Annotated[bool, typer.Option(help="A reduced run: fewer settings and repeats.")] = False,
    repeats: Annotated[int | None, typer.Option(min=1, help="Runs of each policy.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default all cores.")
    ] = None,
    engine: PlayWith = RunEngine.processes,
    address: Address = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    out: Annotated[Path, typer.Option(help="Where runs and figures are kept.")] = Path("runs"),
    horizon: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Labels that each run buys, for longer or shorter curves; by default as many as "
            "in the paper. Runs and figure are kept as NAME-T and the number.",
        ),
    ] = None,
    tuned: Annotated[
        bool, typer.Option(help="With pndc: choose the noise level in hindsight, as the paper did.")
    ] = False,
    noise: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="With table: the noise that the model of IDS and Thompson sampling has, a "
            "standard deviation; by default 0.1 (PNDC) and 0.01 (CNCCI), as fitted.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data (or set SERENDIP_DATA).")
    ] = None,
) -> None:
    """Run an experiment of the paper, print its table and draw its figure.

    Every run is kept in the folder OUT as soon as it ends; a command that was stopped continues
    where it was. `check` compares the figures of a release with their bars and exits with 1 where
    one falls short; `table` sets the paper's table of real reactions beside ours, cell by cell, and
    draws its curves until nothing is left; `report` writes the pages of results in docs from the
    regrets kept there, after it has taken in those of the runs in OUT.
    """
    from serendip.compute.engines import Engine
    from serendip.core.errors import InvalidInput
    from serendip.core.naming import known
    from serendip.simulate.experiments.catalogue import ALIASES, EXPERIMENTS
    from serendip.simulate.experiments.experiment import with_horizon

    name = ALIASES.get(name, name)
    if data is not None:
        os.environ["SERENDIP_DATA"] = str(data.resolve())
    where = Engine(engine.value, address=address)
    if horizon is not None and name in ("table", "check", "report"):
        raise InvalidInput(f"--horizon goes with an experiment; leave it out of {name!r}.")
    if name == "check":
        _check(out, jobs, where)
        return
    if name == "report":
        from serendip.cli.reproduce_figures import draw_all
        from serendip.simulate.experiments.pages.report import write_report

        docs = Path("docs")
        draw_all(out, docs / "figures")
        for page in write_report(out, docs):
            typer.echo(f"Written: {page}")
        return
    if noise is not None and name != "table":
        raise InvalidInput("--noise goes with `serendip reproduce table`; leave it out.")
    if name == "table":
        _table(out, jobs, where, noise)
        return
    if name == "pndc" and tuned:
        name = "pndc-tuned"
    listed = dict.fromkeys([*EXPERIMENTS, "table", "all", "check", "report"])
    names = (
        list(EXPERIMENTS) if known(name, listed, "experiment", "experiments") == "all" else [name]
    )
    for one in names:
        experiment = EXPERIMENTS[one]
        if horizon is not None:
            experiment = with_horizon(experiment, horizon)
        _run(experiment, out, jobs, where, repeats, quick, seed)
    if name == "all":
        _table(out, jobs, where, None)


def _run(
    experiment: "Experiment",
    out: Path,
    jobs: int | None,
    engine: "Engine",
    repeats: int | None,
    quick: bool,
    seed: int,
) -> None:
    from serendip.cli.reproduce_figures import draw_experiment
    from serendip.cli.show import print_table, progress_bar
    from serendip.simulate.experiments.experiment import over_pools, run_experiment, summarise

    with progress_bar(experiment.name) as progress:
        steps = run_experiment(experiment, out, jobs, repeats, quick, seed, progress, engine)
    summary = summarise(over_pools(steps) if experiment.pooled else steps)
    summary.to_csv(out / experiment.name / "summary.csv", index=False)
    settings = list(dict.fromkeys(summary["setting"]))
    cells = {(row["policy"], row["setting"]): row for row in summary.to_dict("records")}
    rows = []
    for policy in experiment.policies:
        mine = [cells[policy, setting] for setting in settings]
        figures = [f"{cell['regret']:.2f} ± {cell['se']:.2f}" for cell in mine]
        pace = 1000 * sum(cell["seconds_per_ask"] for cell in mine) / len(mine)
        rows.append([policy, *figures, f"{pace:.1f}"])
    prefix = "" if experiment.pooled else f"{experiment.parameter} = "
    columns = ["policy", *(f"{prefix}{setting}" for setting in settings), "ms/ask"]
    print_table(columns, rows, f"{experiment.title}: regret, {int(summary['runs'].min())} runs")
    typer.echo(f"The paper: {experiment.claim}.")
    picture = out / experiment.name / "figure.png"
    draw_experiment(experiment, steps).savefig(picture)
    typer.echo(f"Figure: {picture}\n")


def _table(out: Path, jobs: int | None, engine: "Engine", noise: float | None) -> None:
    from serendip.cli.reproduce_figures import draw_table
    from serendip.cli.show import print_table, progress_bar
    from serendip.simulate.experiments.printed import POLICIES
    from serendip.simulate.experiments.table import (
        TITLES,
        at_table_steps,
        play_table,
        table_cells,
        table_summary,
    )

    with progress_bar("table") as progress:
        steps = play_table(out, jobs, noise, progress, engine)
    cells = table_cells(at_table_steps(steps))
    columns = ["pool", "printed as"]
    for policy in POLICIES[:-1]:
        columns += [f"{policy}: paper", "ours", "z"]
    columns += ["ucb: paper", "ours"]
    for name, title in TITLES.items():
        rows: dict[str, list[str]] = {}
        for cell in (cell for cell in cells if cell.data == name):
            row = rows.setdefault(cell.pool, [cell.pool, cell.column.label])
            row += cell.shown
        print_table(columns, list(rows.values()), f"{title}: regret, the paper's beside ours")
    for line in table_summary(cells):
        typer.echo(line)
    if noise is None:
        for name, figure in draw_table(steps):
            picture = out / "table" / f"{name}.png"
            figure.savefig(picture)
            typer.echo(f"Figure: {picture}")
    typer.echo("")


def _check(out: Path, jobs: int | None, engine: "Engine") -> None:
    from serendip.cli.show import print_table, progress_bar
    from serendip.simulate.experiments.check import check

    with progress_bar("check") as progress:
        bars, _ = check(out, jobs, lambda _, done, total: progress(done, total), engine=engine)
    rows = [
        [bar.what, f"{bar.value:.3f}", f"≤ {bar.bar:g}", "ok" if bar.holds else "SHORT", bar.detail]
        for bar in bars
    ]
    print_table(["ratio of mean regrets", "is", "bar", "", "figures"], rows)
    if not all(bar.holds for bar in bars):
        raise typer.Exit(1)
