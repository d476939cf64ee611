"""`serendip backtest`: what the policies would have found in a table that is already labelled."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from serendip.cli.campaign_options import MODEL_HELP, POLICY_NAMES, allowed
from serendip.cli.engine_options import Address, PlayWith, RunEngine
from serendip.cli.show import Format
from serendip.cli.table_options import (
    Binary,
    Categories,
    Edges,
    Features,
    Id,
    Ignore,
    MatrixColumns,
    Nominal,
    Range,
    Rank,
    Rows,
)

if TYPE_CHECKING:
    import pandas as pd

    from serendip.problems.folders.opening import PoolFolder
    from serendip.simulate.backtests.backtest import Backtest


class Missing(StrEnum):
    """What to do about empty cells."""

    error = "error"
    impute = "impute"


def backtest(
    table: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, XLSX or Parquet, or a pool folder; every row labelled."),
    ],
    label: Annotated[str, typer.Option(help="The column of the labels.")],
    budget: Annotated[
        int | None, typer.Option(help="Labels to buy; by default a fifth, at most 200.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A policy to run, repeat for more{POLICY_NAMES}. Default: all that fit."
        ),
    ] = None,
    model: Annotated[str, typer.Option(help=MODEL_HELP)] = "",
    features: Features = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    id: Id = None,
    rows: Rows = None,
    columns: MatrixColumns = None,
    rank: Rank = None,
    edges: Edges = None,
    batch: Annotated[int, typer.Option(help="Labels bought at once.")] = 1,
    repeats: Annotated[int, typer.Option(help="Runs of each policy.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    minimize: Annotated[
        bool, typer.Option("--minimize", help="Smaller labels are better.")
    ] = False,
    range: Range = None,
    categories: Categories = None,
    binary: Binary = None,
    hit: Annotated[
        float | None, typer.Option(help="Labels at least this good are hits. Default: best tenth.")
    ] = None,
    start: Annotated[
        int, typer.Option(help="Labels picked at random first, the same for all policies.")
    ] = 0,
    missing: Annotated[
        Missing, typer.Option(help="Empty feature cells: an error, or filled in.")
    ] = Missing.error,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default all cores.")
    ] = None,
    engine: PlayWith = RunEngine.processes,
    address: Address = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for steps.parquet, figure.png and report.md.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.table,
) -> None:
    """Replay a labelled table: what would each policy have found, and how soon?"""
    from serendip.cli.show import progress_bar
    from serendip.compute.engines import Engine
    from serendip.core.registry import is_path
    from serendip.problems.framing import Columns
    from serendip.simulate.backtests.backtest import backtest as run
    from serendip.tables import read_table

    where = Engine(engine.value, address=address)
    allowed(model, *(policy or ()))
    spec = Columns(
        model="" if is_path(model) else model,
        features=tuple(features) if features else None,
        ignore=tuple(ignore or ()),
        nominal=tuple(nominal or ()),
        missing=missing.value,
        rows=tuple(rows or ()),
        columns=tuple(columns or ()),
        rank=rank,
        edges=edges,
    )
    frame: pd.DataFrame | PoolFolder
    if table.is_dir():
        from serendip.problems.folders.opening import open_folder

        frame = open_folder(table)
    else:
        frame = read_table(table, names=(id, *spec.names), labels=(label,))
    with progress_bar("backtest") as progress:
        result = run(
            frame,
            label,
            budget=budget,
            policies=policy,
            model=model if is_path(model) else None,
            columns=spec,
            id=id,
            batch=batch,
            repeats=repeats,
            seed=seed,
            minimize=minimize,
            range=range,
            categories=[word.strip() for word in categories.split(",")] if categories else (),
            binary=bool(binary),
            hit=hit,
            start=start,
            jobs=jobs,
            engine=where,
            progress=progress,
        )
    if out is not None:
        from serendip.simulate.backtests.files import write_backtest

        for path in write_backtest(result, table.name, label, out):
            typer.echo(f"Written: {path}", err=True)
    if form is Format.json:
        typer.echo(json.dumps(result.as_json(), allow_nan=False))
    elif form is Format.csv:
        result.summary.to_csv(sys.stdout, index=False)
    else:
        _print(result)


def _print(result: "Backtest") -> None:
    from serendip.cli.show import print_table
    from serendip.simulate.backtests.files import difference_rows, repeats_of, summary_rows

    for note in result.notes:
        typer.echo(f"Note: {note}")
    title = (
        f"{result.n} candidates, budget {result.budget}, {result.model} model, {repeats_of(result)}"
    )
    print_table(*summary_rows(result), title=title)
    if len(result.differences):
        title = f"Regret less that of {result.baseline}, with 95 % intervals"
        print_table(*difference_rows(result), title=title)
