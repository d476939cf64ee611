"""The Makefile where there is no suitable Python: one sentence that says what to do."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from needs import need_program

ROOT = Path(__file__).parents[1]
ALONE = {
    name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
}
"""The environment, as if not started by another make."""
OLD = """#!/bin/sh
case "$1" in --version) echo Python 3.9.18;; *) exit 1;; esac
"""
WITHOUT_VENV = """#!/bin/sh
case "$2" in *ensurepip*) exit 1;; esac
"""


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        (None, "There is no ./python. Install Python 3.11 or later"),
        (OLD, "serendip needs Python 3.11 or later; ./python is Python 3.9.18."),
        (WITHOUT_VENV, "./python cannot make an environment: its module venv is missing."),
    ],
)
def test_what_is_missing_is_said_before_anything_is_installed(tmp_path, python, sentence):
    need_program("make")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    if python is not None:
        (tmp_path / "python").write_text(python)
        (tmp_path / "python").chmod(0o755)
    command = ["make", "--no-print-directory", "PYTHON=./python", "demo"]
    made = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=ALONE
    )
    assert made.returncode == 2
    first, last = made.stderr.splitlines()
    assert first.startswith(sentence)
    assert last.startswith("make: ***")
    assert not (tmp_path / ".venv-demo").exists()


def dry(target):
    """What make would run, one command a line."""
    need_program("make")
    command = ["make", "--no-print-directory", "--dry-run", "--always-make", target]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=ALONE)
    return made.stdout.replace("\\\n", " ").splitlines()


def places(lines, words):
    """Where each of the words first stands."""
    return [next(at for at, line in enumerate(lines) if word in line) for word in words]


def test_the_demo_needs_no_tools_and_says_at_once_what_is_installed():
    lines = dry("demo")
    (install,) = [line for line in lines if "pip install" in line]
    assert install.endswith("--editable .")
    told, made = places(
        lines, ["Installing serendip into .venv-demo: 570 MB", "-m venv .venv-demo"]
    )
    assert told < made
    assert lines[-1] == ".venv-demo/bin/serendip demo"


def test_quick_is_lint_one_type_checker_and_the_fast_tests():
    lines = dry("quick")
    places(lines, ["ruff check", "ruff format --check", "lint-imports", "/mypy"])
    (tests,) = [line for line in lines if "/pytest" in line]
    assert "not slow and not statistical and not reproduction and not stress" in tests
    assert not any("pyright" in line for line in lines)


def test_everything_is_tested_under_other_kernels_too():
    lines = dry("test")
    order = places(
        lines, ["ruff check", "/mypy", "/pyright", "/pytest", "tests/kernels.py --quick"]
    )
    assert order == sorted(order)
    runs = [line.partition(" -m ")[2] for line in lines if "/pytest" in line]
    assert runs == ['"not statistical and not reproduction"', '"statistical or reproduction"']


@pytest.mark.parametrize("target", ["quick", "test", "statistical", "lowest"])
def test_two_processes_on_two_cores_have_one_thread_each(target):
    runs = [line for line in dry(target) if "/pytest" in line]
    assert runs
    assert all(re.search(r"\bOMP_NUM_THREADS=1 \S+/pytest -n 2 ", line) for line in runs)


def test_ci_tests_everything_and_the_lowest_versions():
    lines = (ROOT / ".ci/run").read_text().splitlines()
    assert lines[-2:] == ["make test", "make lowest"]
    assert "set -euo pipefail" in lines
    (install,) = [line for line in dry("lowest") if "pip install" in line]
    assert "--constraint tests/lowest.txt" in install
