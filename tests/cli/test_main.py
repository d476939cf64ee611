"""`python -m serendip` is the command."""

import subprocess
import sys
from importlib.metadata import version


def test_the_package_runs_as_the_command():
    ran = subprocess.run(
        [sys.executable, "-m", "serendip", "--version"], capture_output=True, text=True, check=True
    )
    assert version("serendip") in ran.stdout
