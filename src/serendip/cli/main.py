"""`serendip`: the command line. Heavy modules are imported by the commands that need them."""

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

from serendip.cli.once import each_once
from serendip.core.errors import SerendipError

app = typer.Typer(
    name="serendip",
    help="What to try next: adaptive sampling for discovery over a finite pool, with a budget.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


_LATE = {
    "init": "Begin a campaign on a table of candidates.",
    "backtest": "Replay a labelled table: what would each policy have found, and how soon?",
    "datasets": "List, verify and load the real data sets.",
}
"""What is slow to import is imported only where it is asked for; `--help` lists it nevertheless."""


_INTERRUPTED = 130
"""Exit code."""


def mount(asked: str | None = None) -> None:
    """Adds every command, those of `_LATE` as no more than their names unless they are asked for.

    Args:
        asked: The command that is to be run; by default all may be.
    """
    from serendip.cli import backup, campaign, campaign_views, demo, pool, reproduce, serve

    app.registered_commands.clear()
    app.registered_groups.clear()
    _add("init", asked)
    app.command("ask")(campaign.ask)
    app.command("tell")(campaign.tell)
    app.command("status")(campaign_views.status)
    app.command("predict")(campaign_views.predict)
    app.command("report")(campaign_views.report)
    app.command("export")(campaign_views.export)
    app.command("undo")(campaign.undo)
    app.command("budget")(campaign.budget)
    app.command("list")(campaign_views.list_campaigns)
    app.command("doctor")(campaign_views.doctor)
    app.command("backup")(backup.backup)
    app.command("restore")(backup.restore)
    app.command("serve")(serve.serve)
    _add("backtest", asked)
    app.command("reproduce")(reproduce.reproduce)
    app.command("demo")(demo.demo)
    app.add_typer(pool.app, name="pool")
    _add("datasets", asked)
    each_once(app)


def _add(name: str, asked: str | None) -> None:
    if asked not in (None, name):
        app.command(name, help=_LATE[name])(_later)
        return
    module = import_module(f"serendip.cli.{name}")
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name, help=_LATE[name])
    else:
        app.command(name)(getattr(module, name))


def _later() -> None:
    """Stands in the list of commands for one that is not imported yet."""


def run() -> None:
    """Entry point: errors of ours become one sentence and an exit code; no traceback is shown.

    Codes: 0 done, 1 something needs repair (`doctor`, `datasets verify`), 2 refused, 3 nothing is
    left to propose, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what the terminal cannot show is written out
            stream.reconfigure(errors="backslashreplace")
    try:
        mount(next(iter(sys.argv[1:]), ""))
        app()
    except SerendipError as problem:
        typer.echo(f"serendip: {_printable(str(problem))}", err=True)
        sys.exit(3 if type(problem).__name__ == "NothingLeft" else 2)
    except KeyboardInterrupt:
        _say_stopped()
        sys.exit(_INTERRUPTED)
    except SystemExit as ended:
        if ended.code == _INTERRUPTED:  # what Typer makes of an interrupt
            _say_stopped()
        raise
    except BrokenPipeError:
        sys.exit(0)
    except OSError as problem:
        typer.echo(f"serendip: {problem.strerror or problem} ({problem.filename}).", err=True)
        sys.exit(2)


def _say_stopped() -> None:
    typer.echo("serendip: stopped; what was finished is kept.", err=True)


def _printable(text: str) -> str:
    """One line: a table's own control characters are shown, not obeyed by the terminal."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


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
