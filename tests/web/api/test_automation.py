"""The programs of docs/automation.md, run as they stand against a real server."""

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from needs import need_program
from serendip.campaigns import Campaign
from web.servers import Server

PAGE = (Path(__file__).parents[3] / "docs/automation.md").read_text()
BEGIN, CURL_LOOP = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
(PYTHON_LOOP,) = re.findall(r"```py\n(.*?)```", PAGE, flags=re.DOTALL)
ROBOT = """
def measure(id):
    return "failed" if id.endswith("7") else int(id[1:]) % 101
"""
MEASURE = """#!/bin/sh
expr ${1#R} % 101
"""


def run(command, server, folder):
    text = [part.replace("http://localhost:8000", server.url) for part in command]
    made = subprocess.run(text, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.parametrize("loop", ["python", "curl"])
def test_the_loop_is_closed(tmp_path, loop):
    need_program("curl")
    (tmp_path / "reactions.csv").write_bytes(
        files("serendip").joinpath("simulate/environments/bundled/reactions.csv").read_bytes()
    )
    (tmp_path / "robot.py").write_text(ROBOT)
    (tmp_path / "measure").write_text(MEASURE)
    (tmp_path / "measure").chmod(0o755)
    with Server(tmp_path / "lab.db") as server:
        assert '"name":"coupling"' in run(["bash", "-euc", BEGIN], server, tmp_path)
        if loop == "python":
            run([sys.executable, "-c", PYTHON_LOOP], server, tmp_path)
        else:
            run(["bash", "-uc", CURL_LOOP], server, tmp_path)
    state = Campaign.open("coupling", tmp_path / "lab.db").state
    assert state.spent == state.budget == 12
    assert not state.pending
    assert all(one.value == int(one.item[1:]) % 101 for one in state.results.values())


def test_the_client_is_as_short_as_the_page_says():
    assert len(PYTHON_LOOP.strip().splitlines()) <= 10
