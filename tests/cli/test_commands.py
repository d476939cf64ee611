"""The commands as a user types them, in processes of their own."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from serendip.cli.main import run


def serendip(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-c", "from serendip.cli.main import run; run()", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )


@pytest.fixture(scope="module", name="table")
def _table(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((40, 3)), columns=["a", "b", "c"])
    frame["yield"] = 1 / (1 + np.exp(-frame["a"] + frame["b"]))
    path = tmp_path_factory.mktemp("tables") / "screen.csv"
    frame.to_csv(path, index=False)
    return path


def test_help_names_every_command(tmp_path):
    result = serendip("--help", cwd=tmp_path)
    assert result.returncode == 0
    for command in ("backtest", "reproduce", "demo", "datasets"):
        assert command in result.stdout


def test_version(tmp_path):
    assert serendip("--version", cwd=tmp_path).stdout.strip().count(".") == 2


def test_import_is_light(tmp_path):
    code = (
        "import sys, serendip.cli.main;"
        "heavy = {'pandas', 'matplotlib', 'scipy', 'networkx', 'pyarrow'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) if heavy else 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_backtest_prints_json_and_writes_files(table, tmp_path):
    arguments = ["backtest", table, "--label", "yield", "--budget", 8, "--repeats", 2]
    arguments += ["--policy", "ids", "--policy", "random", "--format", "json", "--out", "result"]
    result = serendip(*arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert figures["n"] == 40
    assert set(figures["policies"]) == {"ids", "random"}
    steps = pd.read_parquet(tmp_path / "result" / "steps.parquet")
    assert len(steps) == 2 * 2 * 8
    assert (tmp_path / "result" / "figure.png").stat().st_size > 10_000
    report = (tmp_path / "result" / "report.md").read_text()
    assert "| ids |" in report
    assert "figure.png" in report


def test_backtest_prints_a_table_and_csv(table, tmp_path):
    common = ["backtest", table, "--label", "yield", "--budget", 5, "--repeats", 2]
    shown = serendip(*common, "--policy", "greedy", "--policy", "ids", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "random, expected" in shown.stdout
    assert "95 % interval" in shown.stdout
    lines = serendip(*common, "--policy", "greedy", "--format", "csv", cwd=tmp_path).stdout
    assert lines.splitlines()[0].startswith("policy,regret,regret_se,total")


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        (None, [], "no file"),
        ("", [], "empty"),
        ("a,yield\n1,2\n2,\n", [], "no label in row 3"),
        ("a,yield\n1,2\n2,much\n", [], "much"),
        ("a,yield\n1,2\nx,3\n4,5\n", [], "'x'"),
        ("a,yield\n1,2\n1,3\n", [], "varies"),
        ("id,a,yield\nk,1,2\nk,2,3\n", ["--id", "id"], "unique"),
        ("a,yield\n1,2\n2,3\n", ["--budget", "9"], "between 1 and the 2 rows"),
        ("a,yield\n1,2\n2,3\n", ["--policy", "best"], "no policy 'best'"),
        ("a,yield\n1,2\n2,3\n", ["--policy", "glm-ucb"], "glm-ucb needs"),
        ("a,score\n1,2\n2,3\n", [], "score"),
    ],
)
def test_bad_tables_get_one_sentence_and_exit_code_two(
    content, arguments, words, tmp_path, monkeypatch, capsys
):
    """In this process, for a new one each takes seconds; the exit code of one is tested below."""
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_text(content)
    typed = ["serendip", "backtest", str(path), "--label", "yield", *arguments]
    monkeypatch.setattr(sys, "argv", typed)
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert words in said
    message = [line for line in said.splitlines() if line.startswith("serendip: ")]
    assert len(message) == 1


def test_unknown_experiment_is_refused(tmp_path):
    result = serendip("reproduce", "liner", cwd=tmp_path)
    assert result.returncode == 2
    assert "Did you mean linear" in result.stderr


def test_reproduce_draws_and_continues(tmp_path):
    arguments = ["reproduce", "lower-bound", "--quick", "--repeats", 1]
    first = serendip(*arguments, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    folder = tmp_path / "runs" / "lower-bound"
    assert (folder / "figure.png").stat().st_size > 10_000
    before = {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}
    again = serendip(*arguments, cwd=tmp_path)
    assert again.stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()} == before


def test_another_horizon_is_kept_apart_and_refused_where_there_is_none(tmp_path):
    arguments = ["reproduce", "lower-bound", "--quick", "--repeats", 1, "--horizon", 5]
    result = serendip(*arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "runs" / "lower-bound-T5" / "figure.png").exists()
    assert not (tmp_path / "runs" / "lower-bound").exists()
    result = serendip("reproduce", "table", "--horizon", 5, cwd=tmp_path)
    assert result.returncode == 2
    assert "leave it out of 'table'" in result.stderr


def test_demo(tmp_path):
    result = serendip("demo", "--repeats", 1, "--budget", 8, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "times what random choice" in result.stdout
    assert (tmp_path / "demo-output" / "figure.png").exists()
