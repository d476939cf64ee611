"""The lowest versions that are allowed are the lowest that are tested; newer ones may warn."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("postgres", "chem", "web")


def test_floors_are_the_versions_that_make_lowest_installs():
    extras = PROJECT["optional-dependencies"]
    allowed = [*PROJECT["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    lines = (ROOT / "tests/lowest.txt").read_text().splitlines()
    tested = [Requirement(line) for line in lines if line and not line.startswith("#")]
    floors = {one.name: str(one.specifier) for one in map(Requirement, allowed)}
    assert floors == {one.name: str(one.specifier).replace("==", ">=") for one in tested}


def test_what_is_too_large_for_that_has_the_floors_of_everyday_tests():
    extras = PROJECT["optional-dependencies"]
    left_out = {name: extras[name] for name in extras if name not in (*EXTRAS, "test", "dev")}
    assert set(left_out) == {"neural", "gpu", "cluster", "map"}
    (torch,) = map(Requirement, left_out["neural"])
    (pinned,) = [one for one in map(Requirement, extras["dev"]) if one.name == "torch"]
    assert str(pinned.specifier) == f"{str(torch.specifier).replace('>=', '==')}.0"


WARNING = """
import warnings

def warn(module):
    warnings.warn_explicit("it will go away", DeprecationWarning, f"{module}.py", 1, module)

def test_theirs():
    warn("dependency.within")

def test_ours():
    warn("serendip")
"""


def test_a_deprecation_fails_where_it_is_ours_to_mend(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "test_sample.py").write_text(WARNING)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "test_sample.py"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 1, made.stdout + made.stderr
    assert "PASSED test_sample.py::test_theirs" in made.stdout
    assert "FAILED test_sample.py::test_ours - DeprecationWarning" in made.stdout
