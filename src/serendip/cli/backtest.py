"""`serendip backtest`: what the policies would have found in a table that is already labelled."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from serendip.cli.campaign_options import allowed
from serendip.cli.engine_options import Address, PlayWith, RunEngine
from serendip.cli.setting_options import named, said, setting_options
from serendip.cli.show import Format
from serendip.simulate.backtests.settings import BacktestSettings

if TYPE_CHECKING:
    import pandas as pd

    from serendip.problems.folders.opening import PoolFolder
    from serendip.simulate.backtests.backtest import Backtest


@setting_options(BacktestSettings)
def backtest(
    table: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, XLSX or Parquet, or a pool folder; every row labelled."),
    ],
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default all cores.")
    ] = None,
    engine: PlayWith = RunEngine.processes,
    address: Address = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for steps.parquet, figure.png and report.md.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.table,
    **given: Any,
) -> None:
    """Replay a labelled table: what would each policy have found, and how soon?"""
    from serendip.cli.show import progress_bar
    from serendip.compute.engines import Engine
    from serendip.simulate.backtests.backtest import backtest as run
    from serendip.tables import read_table

    where = Engine(engine.value, address=address)
    allowed(*named(BacktestSettings, given))
    settings = BacktestSettings.from_mapping(said(given))
    frame: pd.DataFrame | PoolFolder
    if table.is_dir():
        from serendip.problems.folders.opening import open_folder

        frame = open_folder(table)
    else:
        names = (settings.id, *settings.name_columns)
        frame = read_table(table, names=names, labels=(settings.label,))
    with progress_bar("backtest") as progress:
        result = run(
            frame,
            settings.label,
            **settings.arguments(),
            jobs=jobs,
            engine=where,
            progress=progress,
        )
    if out is not None:
        from serendip.simulate.backtests.files import write_backtest

        for path in write_backtest(result, table.name, settings.label, out):
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
