"""Nothing is skipped in silence: every reason comes with its remedy, and a run lists them."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SLOW

TESTS = Path(__file__).parent
SAMPLE = """
import pytest
from needs import need, need_program

@pytest.mark.parametrize("number", range(3))
def test_far(number):
    need(False, "there is no such thing", "make one")

def test_program():
    need_program("no-such-program")

def test_near():
    assert True
"""
WHOLE_FILE = """
from needs import need
need(False, "there is no such package", "pip install it")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_run_says_what_it_skipped_and_how_to_get_it(tmp_path, workers):
    for name in ("conftest.py", "needs.py"):
        (tmp_path / name).write_text((TESTS / name).read_text())
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    (tmp_path / "test_whole_file.py").write_text(WHOLE_FILE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, "."]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    lines = [line.strip() for line in made.stdout.splitlines()]
    assert "3 there is no such thing; make one" in lines
    assert "1 there is no such package; pip install it" in lines
    assert "1 there is no no-such-program; apt-get install no-such-program" in lines


def test_slow_files_are_there():
    assert [name for name in SLOW if not (TESTS / name).exists()] == []


def test_every_skip_is_made_where_remedies_are():
    skip = re.compile(r"pytest\.((mark\.)?(skip|skipif|xfail)|importorskip)\b")
    for file in sorted({*TESTS.rglob("*.py")} - {TESTS / "needs.py"}):
        nodes = [
            one for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, ast.Attribute)
        ]
        assert not [one.lineno for one in nodes if skip.fullmatch(ast.unparse(one))], (
            f"{file} skips by itself; use a function of tests/needs.py, which says the remedy"
        )
