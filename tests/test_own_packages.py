"""A model and a policy in a package of their own, as CONTRIBUTING.md has them, play everywhere."""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import serendip
from needs import need
from outsider import skeleton
from web.servers import PATIENCE, Server

SRC = Path(serendip.__file__).parents[1]
N = 40

ROWS = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 3)).round(3), columns=list("abc"))
POOL = ROWS.assign(code=[f"c{place:02d}" for place in range(N)])
DONE = POOL.assign(**{"yield": (50 + 20 * ROWS["a"] - 10 * ROWS["b"] ** 2).round(2)})
TRUTH = dict(zip(DONE["code"], DONE["yield"], strict=True))

IN_PYTHON = """
import json
import numpy as np
import pandas as pd
from mylab.models import Planes
from mylab.policies import PI
from serendip import Campaign, DensePool, Greedy, backtest, play

x = np.random.default_rng(0).normal(size=(30, 3))
played = play(DensePool(x), lambda item: x[item, 0], Planes(3), PI(), 6, seed=0)
table = pd.read_csv("done.csv")
given = {"label": "yield", "id": "code", "budget": 8, "repeats": 2}
objects = backtest(table, policies={"mine": PI(), "greedy": Greedy()}, model=Planes, **given)
names = backtest(table, policies=["pi", "ids", "random"], model="planes", **given)
campaign = Campaign.create(
    table.drop(columns="yield"), label="yield", id="code", budget=8, model="planes", policy="pi"
)
first = campaign.ask(3)["code"]
campaign.tell(dict(zip(first, [1.0, 2.0, "failed"])))
print(json.dumps({
    "items": played.items.tolist(),
    "objects": dict(zip(objects.summary["policy"], objects.summary["regret"])),
    "names": dict(zip(names.summary["policy"], names.summary["regret"])),
    "random": names.random_regret,
    "asked": [*first, *campaign.ask(2)["code"]],
}))
"""

USES = """
import numpy as np
import serendip
from mylab.models import Planes
from mylab.policies import PI
from serendip import Block, DensePool, Model, Policy, SampledPosterior, SupportsImprovement
from serendip import SupportsMoments, play, require, stream

policy: Policy[SupportsImprovement] = PI()
model: Model[SampledPosterior] = Planes(3)
posterior = require(model.posterior((), stream(0)), SupportsMoments, by=policy)
mean, deviation = posterior.moments()(Block(np.arange(1), np.zeros((1, 3))))
trace = play(DensePool([[0.0]]), lambda item: 1.0 * item, Planes(1), PI(), 1, seed=0)
bound: float = serendip.theory.linear_entropy_bound(2, 100, 20)
serendip.nonsense  # type: ignore[attr-defined]
play(DensePool([[0.0]]), "?", Planes(1), PI(), 1, seed=0)  # type: ignore[arg-type]
play(DensePool([[0.0]]), len, Planes(1), serendip.OFUL(), 1, seed=0)  # type: ignore
"""
"""What is ignored there must be an error: `strict` warns of any that is none."""


@pytest.fixture(scope="module", name="lab")
def _lab(tmp_path_factory):
    """A folder with tables, and an installed package: its files and its entry points."""
    lab = tmp_path_factory.mktemp("lab")
    package = lab / "site/mylab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""Of one laboratory."""\n')
    (package / "py.typed").touch()
    (package / "models.py").write_text(skeleton("How to add a model"), encoding="utf-8")
    (package / "policies.py").write_text(skeleton("How to add a policy"), encoding="utf-8")
    named = tomllib.loads(skeleton("How to add a model", "toml"))["project"]["entry-points"]
    about = lab / "site/mylab-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mylab\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
            for group, points in named.items()
        )
    )
    POOL.to_csv(lab / "pool.csv", index=False)
    DONE.to_csv(lab / "done.csv", index=False)
    return lab


@pytest.fixture(name="run")
def _run(lab, tmp_path, monkeypatch):
    """Runs Python in the folder, with the package installed; fails where it does."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (SRC, lab / "site"))))
    monkeypatch.setenv("SERENDIP_STORE", str(tmp_path / "lab.db"))

    def run(*arguments):
        made = subprocess.run(
            [sys.executable, *arguments], cwd=lab, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stdout + made.stderr
        return made.stdout

    return run


@pytest.fixture(name="serendip_")
def _serendip(run):
    """The command."""
    return lambda *words: run("-c", "from serendip.cli.main import run; run()", *words)


def test_types_are_checked_as_strictly_as_here(lab, run, tmp_path, monkeypatch):
    need(find_spec("mypy") is not None, "mypy is not installed", "pip install '.[dev]'")
    monkeypatch.setenv("MYPYPATH", os.pathsep.join(map(str, (SRC, lab / "site", tmp_path))))
    (tmp_path / "uses.py").write_text(USES)
    kept = str(tmp_path / "kept")
    run("-m", "mypy", "--strict", "--cache-dir", kept, "-p", "mylab", "-m", "uses")


def test_they_play_in_python(run):
    found = json.loads(run("-c", IN_PYTHON))
    assert len(set(found["items"])) == 6
    assert list(found["objects"]) == ["mine", "greedy"]
    assert set(found["names"]) == {"pi", "ids", "random"}
    assert found["names"]["pi"] == found["objects"]["mine"] < 0.8 * found["random"]
    assert len(set(found["asked"])) == 5


@pytest.mark.parametrize(
    ("model", "policy"), [("planes", "pi"), ("mylab.models:Planes", "mylab.policies:PI")]
)
def test_they_play_in_a_campaign_on_the_command_line(model, policy, serendip_, tmp_path):
    told = ["--pool", "pool.csv", "--label", "yield", "--id", "code", "--budget", "9"]
    serendip_("init", "first", *told, "--model", model, "--policy", policy)
    allow = ["--allow", model, "--allow", policy] if ":" in model else []
    asked = set()
    for batch in ("4", "5"):
        table = tmp_path / f"batch{batch}.csv"
        serendip_("ask", "first", "-n", batch, "--output", str(table), *allow)
        proposed = pd.read_csv(table)
        proposed["yield"] = proposed["code"].map(TRUTH)
        proposed.to_csv(table, index=False)
        serendip_("tell", "first", str(table))
        asked |= set(proposed["code"])
    assert len(asked) == 9
    assert max(map(TRUTH.get, asked)) >= sorted(TRUTH.values())[-3]
    assert "9" in serendip_("status", "first", *allow)
    both = ["--model", model, "--policy", policy, "--policy", "random", "--format", "json"]
    told = ["--label", "yield", "--id", "code", "--budget", "6", "--repeats", "2"]
    made = serendip_("backtest", "done.csv", *told, *both)
    assert set(json.loads(made)["policies"]) == {policy, "random"}


def test_they_are_among_what_a_help_offers(serendip_):
    for command in ("init", "backtest"):
        shown = serendip_(command, "--help")
        assert {"planes", "pi"} <= set(re.findall(r"\w+", shown))


def test_they_play_through_rest(run, tmp_path):
    body = {"name": "first", "rows": POOL.to_dict("records"), "id": "code", "label": "yield"}
    with Server(tmp_path / "rest.db") as server, server.client() as client:
        made = client.post(
            "/api/v1/campaigns", json={**body, "budget": 6, "model": "planes", "policy": "pi"}
        )
        assert made.status_code == 201, made.text
        for _ in range(2):
            batch = client.post("/api/v1/campaigns/first/ask", json={"count": 3}).json()
            codes = [row["code"] for row in batch["proposals"]]
            results = {"results": {code: TRUTH[code] for code in codes}}
            assert client.post("/api/v1/campaigns/first/tell", json=results).status_code == 200
        assert client.get("/api/v1/campaigns/first").json()["measured"] == 6
        sent = {"file": ("done.csv", DONE.to_csv(index=False))}
        table = client.post("/api/v1/tables", files=sent).json()["table"]
        replay = {"table": table, "id": "code", "label": "yield", "budget": 5}
        replay |= {"repeats": 1, "model": "planes", "policies": ["pi", "random"]}
        made = client.post("/api/v1/backtests", json=replay)
        assert made.status_code == 202, made.text
        where, end = made.headers["Location"], time.monotonic() + PATIENCE
        while client.get(where).json()["state"] in ("waiting", "running"):
            assert time.monotonic() < end
            time.sleep(0.2)
        found = client.get(f"{where}/result")
        assert set(found.json()["policies"]) == {"pi", "random"}, found.text
        refused = client.post(
            "/api/v1/campaigns",
            json={**body, "name": "b", "budget": 6, "policy": "mylab.policies:PI"},
        )
        assert refused.status_code == 422
        assert "import path" in refused.text
