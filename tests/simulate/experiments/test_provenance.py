"""Kept runs are read back only where nothing they come from has changed: files are edited here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import serendip

TASKS = """
import json, sys, warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from serendip.core.rng import stream
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.experiments.experiment import Experiment, Task, run_experiment
from serendip.models.linear.model import LinearModel

def task(setting, seed, horizon=10):
    world = linear_world(30, 3, 0.1, stream(seed, "world"))
    return Task(world, LinearModel(3, prior_variance=1.0, noise_variance=0.1), horizon)

def played(policies, task=task, name="mine"):
    found = run_experiment(Experiment(name, "", "d", (3,), task, policies), Path("runs"), repeats=1)
    return [len(found), round(float(found["regret"].iloc[-1]), 6)]
"""
POLICY = """
from dataclasses import dataclass
import numpy as np
from serendip import Choice
from serendip.core.data import Block
from lab.scores import score

@dataclass(frozen=True)
class Mine:
    def choose(self, posterior, pool, remaining, rng):
        moments = posterior.moments()
        items = np.array([item for item in range(30) if item in pool])
        means = score(moments(Block(items, pool.take(items)))[0])
        return Choice(int(items[means.argmax()]), 0.0)
"""
SCORE = "def score(means):\n    return means\n"


@pytest.fixture(name="lab")
def _lab(tmp_path):
    """A folder with modules of a user's own, some of them below it."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "__init__.py").write_text("")
    (tmp_path / "tasks.py").write_text(TASKS)
    (tmp_path / "lab" / "mine.py").write_text(POLICY)
    (tmp_path / "lab" / "scores.py").write_text(SCORE)
    return tmp_path


def run(folder, text, *, stdin=False):
    """What a script prints last, and what it says on standard error; never a traceback."""
    (folder / "script.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-" if stdin else "script.py"],
        input=text if stdin else None,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def kept(folder):
    """The runs that are kept, with when they were written."""
    files = (folder / "runs" / "mine" / "runs").glob("*.parquet")
    return {file.name: file.stat().st_mtime_ns for file in files}


PLAY = "from tasks import *\nfrom lab.mine import Mine\nprint(json.dumps(played({'m': Mine()})))\n"


def test_nothing_changed_means_nothing_is_run(lab):
    first, said = run(lab, PLAY)
    before = kept(lab)
    assert len(before) == 1
    again, _ = run(lab, PLAY)
    assert (again, kept(lab), said) == (first, before, "")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("lab/mine.py", "argmax", "argmin"),
        ("lab/scores.py", "return means", "return -means"),  # what the policy imports
        ("tasks.py", "linear_world(30, 3, 0.1", "linear_world(30, 3, 9.0"),
    ],
)
def test_a_changed_module_is_run_anew(lab, file, old, new):
    first, _ = run(lab, PLAY)
    path = lab / file
    path.write_text(path.read_text().replace(old, new))
    second, said = run(lab, PLAY)
    assert second != first
    assert len(kept(lab)) == 2
    assert said == ""


def test_a_module_that_is_imported_only_in_a_function_counts(lab):
    lazy = POLICY.replace("from lab.scores import score\n", "").replace(
        "        moments =", "        from .scores import score\n        moments ="
    )
    (lab / "lab" / "mine.py").write_text(lazy)
    first, _ = run(lab, PLAY)
    (lab / "lab" / "scores.py").write_text(SCORE.replace("means\n", "-means\n"))
    assert run(lab, PLAY)[0] != first


DEEP = (
    "core/reductions/ties.py",
    "core/reductions/mixture.py",
    "models/sigmoid.py",
    "pools/walking.py",
    "simulate/loop.py",
)


def test_every_module_of_the_library_counts_wherever_it_stands(lab):
    """In a copy of the source; modules that no run imports do not count."""
    ours = lab / "serendip"
    shutil.copytree(
        Path(serendip.__file__).parent, ours, ignore=shutil.ignore_patterns("__pycache__")
    )
    text = (
        "from tasks import *\nimport serendip\nfrom lab.mine import Mine\n"
        "from serendip.simulate.experiments.provenance import provenance\n"
        "ours, found = Path(serendip.__file__).parent, {}\n"
        f"for name in {(*DEEP, 'web/app.py')!r}:\n"
        "    before, old = provenance(task, Mine()), (ours / name).read_bytes()\n"
        "    (ours / name).write_bytes(old + b'\\n# changed\\n')\n"
        "    found[name] = provenance(task, Mine()) != before\n"
        "    (ours / name).write_bytes(old)\n"
        "print(json.dumps([str(ours), found]))\n"
    )
    (where, found), _ = run(lab, text)
    assert where == str(ours)
    assert found == {**dict.fromkeys(DEEP, True), "web/app.py": False}


@pytest.mark.parametrize("package", ["scikit_learn", "pandas"])
def test_another_version_of_what_the_library_imports_counts(lab, package):
    """The task itself imports neither; models and tables of ours do."""
    run(lab, PLAY)
    installed = lab / f"{package}-0.0.1.dist-info"
    installed.mkdir()
    name = package.replace("_", "-")
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\n")
    run(lab, PLAY)
    assert len(kept(lab)) == 2


VARIANTS = {
    "constants": "[lambda d, s: task(d, s, 20), lambda d, s: task(d, s, 10)]",
    "partial": "[partial(task, horizon=t) for t in (20, 10)]",
    "defaults": "[lambda d, s, t=t: task(d, s, t) for t in (20, 10)]",
    "closures": "[(lambda t: lambda d, s: task(d, s, t))(t) for t in (20, 10)]",
    "objects": "[Told(20), Told(10)]",
    "methods": "[Told(20).play, Told(10).play]",
}


def test_what_tells_two_tasks_apart_counts(lab):
    told = (
        "@dataclass(frozen=True)\nclass Told:\n    t: int\n"
        "    def play(self, d, s):\n        return task(d, s, self.t)\n    __call__ = play\n"
    )
    variants = ", ".join(f"{name!r}: {tasks}" for name, tasks in VARIANTS.items())
    text = (
        f"from tasks import *\nfrom lab.mine import Mine\n{told}tasks = {{{variants}}}\n"
        "print(json.dumps({name: [played({'m': Mine()}, one)[0] for one in pair]"
        " for name, pair in tasks.items()}))\n"
    )
    found, said = run(lab, text)
    assert (found, said) == ({name: [20, 10] for name in VARIANTS}, "")
    before = kept(lab)
    assert run(lab, text)[0] == found
    assert kept(lab) == before


def test_a_global_that_a_task_reads_counts(lab):
    text = (
        "from tasks import *\nimport tasks\nfrom lab.mine import Mine\nfound = []\n"
        "def mine(d, s):\n    return task(d, s, T + tasks.EXTRA)\n"
        "for T, tasks.EXTRA in ((20, 0), (10, 0), (10, 3)):\n"
        "    found.append(played({'m': Mine()}, mine)[0])\n"
        "print(json.dumps(found))\n"
    )
    assert run(lab, text) == ([20, 10, 13], "")


def test_what_cannot_be_known_is_not_kept_and_said(lab):
    here = "def mine(d, s):\n    return task(d, s, 7)\n"
    head = "from tasks import *\nfrom lab.mine import Mine\n"
    play = "print(json.dumps(played({'m': Mine()}, mine)[0]))\n"
    for text, stdin in (
        (head + here + play, True),
        (head + f"exec({here!r})\n" + play, False),
        (
            head + "import threading\nlock = threading.Lock()\n"
            "def mine(d, s):\n    with lock:\n        return task(d, s, 7)\n" + play,
            False,
        ),
    ):
        found, said = run(lab, text, stdin=stdin)
        assert found == 7
        assert "are not kept, and are run anew" in said
        assert "Traceback" not in said
        assert kept(lab) == {}


def test_a_model_in_a_class_made_by_a_function_counts(lab):
    text = (
        "from tasks import *\nfrom lab.mine import Mine\n"
        "def made(sign):\n"
        "    class Turned(Mine):\n"
        "        def choose(self, posterior, pool, remaining, rng):\n"
        "            from serendip import Greedy, Uniform\n"
        "            rival = Greedy() if sign > 0 else Uniform()\n"
        "            return rival.choose(posterior, pool, remaining, rng)\n"
        "    return Turned()\n"
        "print(json.dumps([played({'m': made(sign)})[1] for sign in (1, -1)]))\n"
    )
    (greedy, random), said = run(lab, text)
    assert greedy != random
    assert said == ""
    assert run(lab, text)[0] == [greedy, random]
    assert len(kept(lab)) == 2
