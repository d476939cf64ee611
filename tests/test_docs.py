"""What the documentation shows runs as it stands: its Python, its commands, and its links."""

import csv
import glob
import re
import shlex
import shutil
import sys
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from serendip.cli.main import app, mount, run
from serendip.models.registry import MODELS
from serendip.policies.registry import POLICIES

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
COMMAND = re.compile(r"^    (?:\$ )?(serendip .*)$|`(serendip [^`]*)`", flags=re.MULTILINE)

SHOWN = re.compile(r"^    \$ (.*)\n((?:    [^$\n].*\n|\n(?=    [^$]))*)", flags=re.MULTILINE)


def examples(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)])
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_screen.csv").write_text(
        "name,a,b,yield\n" + "".join(f"c{i},{i % 7},{i % 5},{(i * 7) % 11}\n" for i in range(60))
    )
    scope = {}
    for example in examples(page):
        exec(example, scope)
    assert len(scope) > 1


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}"


def rows_of(page):
    """Name and second cell of each row of a table whose first cell is a name in backticks."""
    text = (ROOT / page).read_text()
    return dict(re.findall(r"^\| `([\w-]+)` \| ([^|]*) \|", text, flags=re.MULTILINE))


def test_tables_of_names_are_those_of_the_registries():
    titles = {name: entry.title for name, entry in POLICIES.items()}
    assert rows_of("docs/policies.md") == titles
    assert rows_of("docs/models.md").keys() == MODELS.keys()
    readme = (ROOT / "README.md").read_text()
    assert [name for name in (*POLICIES, *MODELS) if f"`{name}`" not in readme] == []


def words(command):
    """A command as a shell would split it, without `serendip`; braces, … and comments left out."""
    line = command.replace("…", "").split("{")[0]
    return shlex.split(line, comments=True)[1:]


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_commands_and_options_exist(page):
    mount()
    for found in COMMAND.finditer((ROOT / page).read_text()):
        arguments = words(found[1] or found[2])
        command = typer.main.get_command(app)
        while arguments and getattr(command, "commands", None) and arguments[0][0] != "-":
            assert arguments[0] in command.commands, f"{page}: {found[0]}"
            command = command.commands[arguments.pop(0)]
        known = {"--help", *(name for one in command.params for name in one.opts)}
        known |= {name for one in command.params for name in one.secondary_opts}
        for word in arguments:
            option = word.split("=")[0]
            assert not option.startswith("-") or option in known, f"{page}: {found[0]}"


@pytest.fixture(name="lab")
def _lab(tmp_path, monkeypatch):
    """A fresh folder with the bundled reactions in it."""
    folder = tmp_path / "lab"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SERENDIP_WHO", "ann")
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.delenv("SERENDIP_STORE", raising=False)
    with (
        files("serendip").joinpath("simulate/environments/bundled/reactions.csv").open("rb") as file
    ):
        (folder / "reactions.csv").write_bytes(file.read())
    return folder


@pytest.fixture(name="typed")
def _typed(monkeypatch, capsys):
    """A function that runs a command as if it were typed: its exit code and all it printed."""

    def type_in(command):
        found = [glob.glob(word) if "*" in word else [word] for word in words(command)]
        monkeypatch.setattr(sys, "argv", ["serendip", *chain.from_iterable(found)])
        code = 0
        try:
            run()
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return code, said.out + said.err

    return type_in


def fill_in(file, labels):
    """Writes labels beside the proposals of a file, one after another."""
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row, label in zip(rows, labels, strict=True):
        row["yield"] = label
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def alike(text):
    """Text without what differs between machines and days: names, numbers and rulers."""
    text = re.sub(r"\bR\d+|Exploit|Explore|[-−+]?\d[\d.:]*|[─-]{3,}", "0", text)
    return " ".join(text.split())


def test_the_session_of_the_chemist_is_what_the_program_says(lab, typed):
    page = (ROOT / "docs/chemist.md").read_text()
    shown = dict(SHOWN.findall(page))
    labels = [line.split(",")[1] for line in shown["cut -d, -f1,10 batch1.csv"].split()[1:]]
    shutil.copy("reactions.csv", "candidates.csv")  # what campaign.toml calls it
    for found in COMMAND.finditer(page):
        command = found[1] or found[2]
        code, said = typed(command)
        wanted = shown.get(command, "") if found[1] else ""
        assert code == (2 if wanted.strip().startswith("serendip: ") else 0), f"{command}: {said}"
        for part in wanted.split("…"):
            assert alike(part) in alike(said), command
        if command.endswith("-o batch1.csv"):
            fill_in(lab / "batch1.csv", labels)


def test_the_quick_start_runs(lab, typed):
    (lab / "my_screen.csv").write_text(
        "name,a,b,yield\n" + "".join(f"c{i},{i % 3},{i % 5},{(i * 7) % 11}\n" for i in range(10))
    )
    start = (ROOT / "README.md").read_text().partition("## Quick start")[2].partition("\n## ")[0]
    for found in COMMAND.finditer(start):
        code, said = typed(found[1])
        assert code == 0, f"{found[1]}: {said}"
        if "ask" in found[1]:
            fill_in(lab / "next.csv", range(8))
    assert (lab / "result" / "report.md").exists()


def test_a_pool_on_disk_is_made_and_asked(lab, typed):
    (lab / "screens").mkdir()
    for part in range(2):
        rng = np.random.default_rng(part)
        frame = pd.DataFrame(rng.standard_normal((150, 3)), columns=["a", "b", "c"])
        frame["name"] = [f"c{part}-{row}" for row in range(150)]
        frame["yield"] = np.where(frame.index < 3, 1.0 * frame.index, np.nan)
        frame.to_parquet(lab / "screens" / f"{part}.parquet", index=False)
    page = (ROOT / "docs/scale.md").read_text().partition("## Pools on disk")[2]
    for line in re.findall(r"^    (serendip .*)$", page.partition("\nIn Python")[0], re.MULTILINE):
        code, said = typed(line)
        assert code == 0, f"{line}: {said}"
    assert len(pd.read_csv("next.csv")) == 8
