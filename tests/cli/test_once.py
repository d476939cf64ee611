"""An option that takes one value is given once; those for several may be repeated."""

import subprocess
import sys

import pytest
import typer.main

from campaigns.screens import serendip
from serendip.cli.main import app, mount
from serendip.cli.once import Once

RUN = "from serendip.cli.main import run; run()"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["init", "a", "--label", "A", "--label", "B"], "--label"),
        (["init", "a", "--smiles", "A", "--smiles=B"], "--smiles"),
        (["init", "a", "--pool", "x.csv", "--pool", "x.csv"], "--pool"),
        (["init", "a", "--range", "0", "1", "--range", "0", "2"], "--range"),
        (["ask", "a", "-n", "3", "--count", "4"], "--count"),
        (["ask", "a", "-n3", "-n4"], "--count"),
        (["ask", "a", "-o", "x.csv", "--output", "y.csv"], "--output"),
        (["tell", "a", "--item", "x", "--value", "1", "--value", "2"], "--value"),
        (["status", "a", "--forecast", "--no-forecast"], "--forecast"),
        (["list", "--store", "a.db", "--store", "b.db"], "--store"),
        (["backtest", "x.csv", "--label", "A", "--label", "B"], "--label"),
        (["backup", "x.bak", "--store", "a.db", "--store", "b.db"], "--store"),
        (["pool", "info", "x", "--format", "csv", "--format", "json"], "--format"),
        (["serve", "--port", "1", "--port", "2"], "--port"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(arguments, option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, said = serendip(*arguments)
    assert (code, out) == (2, "")
    assert said == f"serendip: {option} is given 2 times, and only one can count; give it once.\n"
    assert not list(tmp_path.iterdir())


def test_commands_that_are_imported_late_are_not_left_out(tmp_path):
    options = ("--format", "csv", "--format", "json")
    made = subprocess.run(
        [sys.executable, "-c", RUN, "datasets", "list", *options],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 2
    assert made.stderr.startswith("serendip: --format is given 2 times")


def test_options_for_several_may_be_repeated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pool.csv").write_text(
        "id,a,b,x,y\n" + "".join(f"{k},{k % 2},{k % 3},{k},{k}\n" for k in range(8))
    )
    code, out, said = serendip(
        *("init", "screen", "--pool", "pool.csv", "--id", "id", "--label", "yield"),
        *("--budget", 4, "--ignore", "x", "--ignore", "y", "--nominal", "a", "--nominal", "b"),
    )
    assert code == 0, said
    assert "began" in out


def test_no_command_is_left_out():
    mount()
    commands, waiting = [], [typer.main.get_command(app)]
    while waiting:
        one = waiting.pop()
        waiting += getattr(one, "commands", {}).values()
        commands += [] if hasattr(one, "commands") else [one]
    assert len(commands) > 15
    assert all(isinstance(one, Once) for one in commands)
