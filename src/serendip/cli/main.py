"""`serendip`: the command line. Heavy modules are imported by the commands that need them."""

import sys
from typing import Annotated

import typer

from serendip.core.errors import SerendipError

app = typer.Typer(
    name="serendip",
    help="What to try next: adaptive sampling for discovery over a finite pool, with a budget.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def run() -> None:
    """Entry point: errors of ours become one sentence and exit code 2; no traceback is shown."""
    from serendip.cli import backtest, datasets, demo, reproduce

    app.command("backtest")(backtest.backtest)
    app.command("reproduce")(reproduce.reproduce)
    app.command("demo")(demo.demo)
    app.add_typer(datasets.app, name="datasets", help="List, verify and load the real data sets.")
    try:
        app()
    except SerendipError as problem:
        typer.echo(f"serendip: {problem}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("serendip: stopped; what was finished is kept.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(version("serendip"))
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
