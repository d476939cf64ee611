"""Ctrl-C while a command computes: one line, exit code 130, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from serendip.campaigns import Campaign
from serendip.simulate.environments.demo import demo_pool

# The command computes until it is interrupted: it says so, and then takes its time.
SLOW = """
import signal, time
from serendip.campaigns import problem
from serendip.cli.main import run

def slow(*_, **__):
    print("computing", flush=True)
    time.sleep(600)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    {patched} = slow
    run()
"""
FIT, CHOICE = "problem.Problem.posterior", "problem.suggest"


@pytest.fixture(name="lab")
def _lab(tmp_path):
    demo_pool().to_csv(tmp_path / "reactions.csv", index=False)
    settings = {"name": "screen", "pool": tmp_path / "reactions.csv", "label": "yield", "id": "id"}
    Campaign.create({**settings, "budget": 20, "model": "linear"}, tmp_path / "serendip.db", "ann")
    return tmp_path


def children(pid):
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize(
    ("patched", "command"),
    [
        (CHOICE, "ask screen -n 4 -o next.csv"),
        (CHOICE, "ask screen -n 4 --engine processes --shards 2"),
        (FIT, "status screen"),
        (FIT, "predict screen -o table.csv"),
        (FIT, "report screen"),
    ],
)
def test_an_interrupted_command_says_so_and_leaves_nothing_behind(lab, patched, command):
    before = {one.name for one in lab.iterdir()}
    script = lab / "slow.py"
    script.write_text(SLOW.format(patched=patched))
    environment = {**os.environ, "SERENDIP_STORE": str(lab / "serendip.db"), "TMPDIR": str(lab)}
    process = subprocess.Popen(
        [sys.executable, script, *command.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=lab,
        env=environment,
        start_new_session=True,
    )
    for line in process.stdout:
        if line == "computing\n":
            break
    workers = children(process.pid)
    assert (len(workers) >= 2) == ("processes" in command)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "serendip: stopped; what was finished is kept.\n"
    script.unlink()
    assert {one.name for one in lab.iterdir()} <= before | {"serendip.db-shm", "serendip.db-wal"}
    deadline = time.monotonic() + 20  # Python's own helper ends once it sees that we have
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    campaign = Campaign.open("screen", lab / "serendip.db")
    assert len(campaign.log) == 1
    assert len(campaign.ask(2)) == 2  # no lock is left


def test_a_file_that_is_being_written_is_not_left_in_part(tmp_path):
    from serendip.campaigns.output.cells import written

    (tmp_path / "report.html").write_text("the old one")

    def write(part):
        part.write_text("half of")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "report.html", write)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "the old one"
