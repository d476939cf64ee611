"""The Makefile where there is no suitable Python: one sentence that says what to do."""

import os
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


def test_the_demo_needs_no_tools():
    need_program("make")
    command = ["make", "--dry-run", "--always-make", "demo"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=ALONE)
    (install,) = [line for line in made.stdout.splitlines() if "pip install" in line]
    assert install.endswith("--editable .")
