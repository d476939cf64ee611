"""What the campaign commands share: options, and how a table is shown or written."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from serendip.cli.show import Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


Name = Annotated[str, typer.Argument(help="The campaign, as `serendip list` shows it.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar="SERENDIP_STORE",
        show_envvar=True,
        help="A SQLite file or a postgresql:// URL. Default: serendip.db in this folder.",
    ),
]
Who = Annotated[str | None, typer.Option("--who", help="Who you are. Default: your login.")]
Form = Annotated[Format, typer.Option("--format", help="What to print.")]
Out = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A file to write: .csv, .tsv, .xlsx or .parquet."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        help="A model or policy of yours that the campaign names and that may run: MODULE:NAME.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Write over the output file.")]


def allowed(*names: str | None) -> tuple[str, ...]:
    """Models and policies that the command line names; modules of this folder are found."""
    from serendip.core.registry import is_path

    given = tuple(name for name in names if name is not None)
    if any(map(is_path, given)) and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # last: no file here hides an installed package
    return given


def emit(
    frame: "pd.DataFrame", form: Format, shown: "Sequence[str] | None" = None, title: str = ""
) -> None:
    """A table on standard output; formulas are made harmless in CSV.

    Args:
        frame: The table.
        form: How it is printed.
        shown: Columns that a terminal has room for; by default all.
        title: Over the table.
    """
    if form is Format.json:
        from serendip.campaigns.output.cells import records

        typer.echo(json.dumps(records(frame), indent=2, allow_nan=False))
    elif form is Format.csv:
        from serendip.campaigns.output.cells import harmless

        harmless(frame).to_csv(sys.stdout, index=False)
    else:
        from serendip.cli.show import print_table

        columns = list(frame.columns) if shown is None else [c for c in shown if c in frame.columns]
        rows = frame[columns].to_numpy(dtype=object).tolist()
        print_table(columns, [[cell(value) for value in row] for row in rows], title=title)


def cell(value: Any) -> str:
    """A value as a terminal shows it; brackets are not taken for colours."""
    from serendip.campaigns.output.cells import plain_value

    plain = plain_value(value)
    if plain is None:
        return ""
    text = f"{plain:.4g}" if isinstance(plain, float) else str(plain)
    return text.replace("[", r"\[")


def say(text: str) -> None:
    """A remark beside the result, on standard error."""
    typer.echo(text, err=True)
