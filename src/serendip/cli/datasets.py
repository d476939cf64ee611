"""`serendip datasets`: list, verify, show and download the real data sets."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from serendip.cli.show import Format
from serendip.simulate.environments.datasets import (
    DATASETS,
    download,
    find_data_folder,
    load,
    verify,
)

app = typer.Typer(
    name="datasets",
    help="The real data sets: what there is, whether the files are intact, where to get them.",
    no_args_is_help=True,
)


Name = Annotated[str, typer.Argument(help="A data set, as `list` shows it.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Folder with the data sets (else SERENDIP_DATA, else found)."),
]
Shape = Annotated[Format, typer.Option("--format", help="How to show it.")]
Descriptors = Annotated[
    int | None, typer.Option("--descriptors", help="For cncci: 10 (the default) or 46.")
]


@app.command("list")
def list_datasets(data: Data = None, form: Shape = Format.table) -> None:
    """Every data set, with its size and whether its files are here."""
    folder = find_data_folder(data)
    rows = []
    for name, one in DATASETS.items():
        states = {check.state for check in verify(name, folder)} - {"not needed"}
        rows.append(
            {
                "name": name,
                "rows": one.n_rows,
                "pools": one.n_pools,
                "features": one.n_features,
                "kind": one.kind,
                "files": "ok" if states == {"ok"} else ", ".join(sorted(states - {"ok"})),
                "licence": one.licence,
                "title": one.title,
            }
        )
    _show(rows, form, f"Data sets in {folder}", hide=("title",))


@app.command("verify")
def verify_datasets(
    name: Annotated[str | None, typer.Argument(help="A data set; all where none is named.")] = None,
    data: Data = None,
    form: Shape = Format.table,
) -> None:
    """Compares every file with its checksum; exit code 1 where one is missing or changed."""
    folder = find_data_folder(data)
    names = list(DATASETS) if name is None else [name]
    checks = [(one, check) for one in names for check in verify(one, folder)]
    rows = [
        {"name": one, "file": check.path, "state": check.state, "sha256": check.found}
        for one, check in checks
    ]
    _show(rows, form, f"Files in {folder}", hide=("sha256",))
    if any(check.state in ("missing", "changed") for _, check in checks):
        raise typer.Exit(1)


@app.command("show")
def show_dataset(
    name: Name,
    rows: Annotated[int, typer.Option("--rows", min=1, help="How many rows to show.")] = 5,
    descriptors: Descriptors = None,
    data: Data = None,
    form: Shape = Format.table,
) -> None:
    """The first rows of a data set: ids, features and labels."""
    table = load(name, data, descriptors)
    labels, x = table.labels.head(rows), table.x.head(rows)
    shape = f"{name}: {len(table.x)} rows, {table.x.shape[1]} features, {len(table.pools)} pools"
    if form is Format.table:  # what fits a terminal
        labels, x = labels.iloc[:, :3], x.iloc[:, :3]
    parts = (part.to_dict(orient="records") for part in (labels, x))
    named = [{"id": one, **y, **z} for one, y, z in zip(table.ids[:rows], *parts, strict=True)]
    _show([{str(key): value for key, value in row.items()} for row in named], form, shape)


@app.command("download")
def download_dataset(name: Name, data: Data = None, form: Shape = Format.table) -> None:
    """Fetches the public sources of a data set, converts them and checks the result."""
    folder = find_data_folder(data)
    rows = [{"file": check.path, "state": check.state} for check in download(name, folder)]
    _show(rows, form, f"Files in {folder}")


def _show(
    rows: Sequence[Mapping[str, object]], form: Format, title: str, hide: Sequence[str] = ()
) -> None:
    """Rows as a table on the terminal (less the hidden columns), as CSV or as JSON."""
    columns = list(rows[0]) if rows else []
    if form is Format.json:
        typer.echo(json.dumps([dict(row) for row in rows], indent=2, default=str))
    elif form is Format.csv:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        typer.echo(text.getvalue(), nl=False)
    else:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        shown = [column for column in columns if column not in hide]
        grid = Table(title=escape(title))
        for column in shown:
            grid.add_column(escape(column), overflow="fold")
        for row in rows:
            grid.add_row(*(escape(_cell(row[column])) for column in shown))
        Console().print(grid)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
