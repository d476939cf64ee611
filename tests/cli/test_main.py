"""`python -m serendip` is the command."""

import subprocess
import sys
from importlib.metadata import version

import typer

from serendip.cli import main


def test_the_package_runs_as_the_command():
    ran = subprocess.run(
        [sys.executable, "-m", "serendip", "--version"], capture_output=True, text=True, check=True
    )
    assert version("serendip") in ran.stdout


def test_commands_that_are_imported_late_are_listed_as_they_describe_themselves():
    whole, listed = [], []
    for found, asked in ((whole, None), (listed, "")):
        main.mount(asked)
        commands = typer.main.get_command(main.app).commands
        found += sorted((name, one.get_short_help_str(200)) for name, one in commands.items())
    assert listed == whole
    main.mount("")
    assert all(main.app.registered_commands[place].callback is main._later for place in (0, -1))
