"""Experiments: kept runs, resumption after a kill, and the same table whatever the jobs."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pandas as pd
import pytest

from serendip.policies.greedy import Greedy
from serendip.policies.ucb import UCB
from serendip.simulate.experiments.catalogue import EXPERIMENTS
from serendip.simulate.experiments.check import Bar
from serendip.simulate.experiments.experiment import (
    over_pools,
    paired,
    run_experiment,
    summarise,
)
from serendip.simulate.experiments.lower_bound import EXPERIMENT

SMALL = replace(
    EXPERIMENT, settings=(5, 8), policies={"greedy": Greedy(), "ucb": UCB()}, quick_settings=None
)
COMPARED = ["setting", "policy", "seed", "step", "item", "label", "total", "regret"]


def test_the_table_does_not_depend_on_jobs(tmp_path):
    alone = run_experiment(SMALL, tmp_path / "a", jobs=1, repeats=3)
    together = run_experiment(SMALL, tmp_path / "b", jobs=2, repeats=3)
    pd.testing.assert_frame_equal(alone[COMPARED], together[COMPARED])
    assert len(alone) == 3 * 2 * (5 + 8)


def test_kept_runs_are_not_run_again_and_damaged_ones_are(tmp_path):
    first = run_experiment(SMALL, tmp_path, repeats=2)
    kept = sorted((tmp_path / "lower-bound" / "runs").iterdir())
    times = [path.stat().st_mtime_ns for path in kept]
    kept[0].write_bytes(b"half a file")
    again = run_experiment(SMALL, tmp_path, repeats=2)
    pd.testing.assert_frame_equal(first[COMPARED], again[COMPARED])
    assert [path.stat().st_mtime_ns for path in kept][1:] == times[1:]
    assert kept[0].stat().st_mtime_ns != times[0]


def test_a_changed_policy_is_run_anew(tmp_path):
    run_experiment(SMALL, tmp_path, repeats=1)
    before = len(list((tmp_path / "lower-bound" / "runs").iterdir()))
    changed = replace(SMALL, policies={"greedy": Greedy(), "ucb": UCB(width=2.0)})
    run_experiment(changed, tmp_path, repeats=1)
    assert len(list((tmp_path / "lower-bound" / "runs").iterdir())) == before + 2


def test_a_killed_run_resumes_to_the_same_table(tmp_path):
    whole = ["reproduce", "lower-bound", "--quick", "--repeats", "3", "--jobs", "1"]
    command = [sys.executable, "-c", "from serendip.cli.main import run; run()", *whole]
    subprocess.run([*command, "--out", "whole"], cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen(
        [*command, "--out", "killed"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    runs = tmp_path / "killed" / "lower-bound" / "runs"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not runs.exists() or len(list(runs.iterdir())) < 4):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = len(list(runs.glob("*.parquet")))
    assert 0 < done < 54
    subprocess.run([*command, "--out", "killed"], cwd=tmp_path, check=True, capture_output=True)
    tables = [
        pd.read_parquet(tmp_path / name / "lower-bound" / "steps.parquet")[COMPARED]
        for name in ("whole", "killed")
    ]
    pd.testing.assert_frame_equal(*tables)


def test_summaries_by_hand():
    steps = pd.DataFrame(
        {
            "experiment": "e",
            "setting": "v: p",
            "policy": ["a", "a", "b", "b"],
            "seed": [0, 1, 0, 1],
            "step": 1,
            "regret": [1.0, 3.0, 4.0, 4.0],
            "budget_regret": 0.0,
            "total": 0.0,
            "seconds": 0.1,
        }
    )
    table = summarise(steps).set_index("policy")
    assert table.loc["a", "regret"] == 2.0
    assert table.loc["a", "se"] == pytest.approx(1.0)
    assert paired(steps, "v: p", "a", "b") == pytest.approx((-2.0, 1.0))
    other = steps.assign(setting="v: q", regret=steps["regret"] + 2)
    pooled = over_pools(pd.concat([steps, other]))
    assert set(pooled["setting"]) == {"v"}
    assert summarise(pooled).set_index("policy").loc["a", "regret"] == 3.0


def test_bars():
    assert Bar("", 0.8, 0.8, "").holds
    assert not Bar("", 0.81, 0.8, "").holds


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_greedy_is_always_in_the_picture(name):
    assert {"greedy", "random"} <= set(EXPERIMENTS[name].policies)


def test_workers_leave_when_their_parent_is_killed(tmp_path):
    code = "from serendip.cli.main import run; run()"
    command = [sys.executable, "-c", code, "reproduce", "lower-bound", "--jobs", "2"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    children: list[int] = []
    while time.monotonic() < deadline and len(children) < 3:  # two workers, and a tracker
        listed = subprocess.run(
            ["ps", "--ppid", str(process.pid), "-o", "pid="],
            capture_output=True,
            text=True,
            check=False,
        )
        children = [int(pid) for pid in listed.stdout.split()]
        time.sleep(0.05)
    assert len(children) >= 3
    time.sleep(2.0)  # long enough for the workers to be at work
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(os.path.exists(f"/proc/{pid}") for pid in children):
        time.sleep(0.1)
    assert not [pid for pid in children if os.path.exists(f"/proc/{pid}")]
