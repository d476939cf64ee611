"""What CONTRIBUTING.md says is done in a copy of the package, and found where it should be."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

import serendip

SRC = Path(serendip.__file__).parent
GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"

LOOK = """
import contextlib, io, json, sys
import pandas as pd
from starlette.requests import Request
from serendip.campaigns.campaign import Campaign
from serendip.cli.main import run
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.api.models import NewBacktest, NewCampaign
from serendip.web.api.router import api, document_of
from serendip.web.pages import backtest, beginning
from serendip.web.pages.beginning_form import Beginning
from serendip.web.server.settings import ServeSettings

def typed(*arguments):
    sys.argv, out = ["serendip", *arguments], io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            run()
        except SystemExit as end:
            assert not end.code, end.code
    return out.getvalue()

table = ["--label", "y", "--id", "code", "--budget", "2", "--model", "linear"]
found = {"init": typed("init", "--help"), "backtest": typed("backtest", "--help")}
typed("init", "--example")
found["example"] = open("campaign.toml", encoding="utf-8").read()
schemas = document_of(api(ServeSettings()), ServeSettings())["components"]["schemas"]
for name in ("NewCampaign", "NewBacktest"):
    found[name] = schemas[name]["properties"]["patience"]
scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
request = Request({**scope, "state": {"csrf": "c", "nonce": "n"}})
frame = pd.read_csv("pool.csv")
found["new"] = beginning._page(
    request, "new_columns.html", "0", Beginning.of(frame, "pool.csv")
).body.decode()
form = Beginning.of(frame, "pool.csv", True)
found["replay"] = backtest._form(request, "0", form, "backtest_columns.html", []).body.decode()
form = Beginning.filled(frame, "pool.csv", {"patience": "5", "label": "y"})
found["sent"] = form.settings("pool.csv", {})["patience"]
typed("init", "told", "--pool", "pool.csv", *table, "--patience", "4")
typed("init", "not told", "--pool", "pool.csv", *table)
kept = [Campaign.open(name, "serendip.db").settings.patience for name in ("told", "not told")]
made = typed("backtest", "done.csv", *table, "--policy", "random", "--repeats", "1",
             "--patience", "4", "--format", "json")
found |= {"kept": kept, "n": json.loads(made)["n"]}
body = NewBacktest(label="y", patience=6).model_dump(exclude_none=True)
found["replayed"] = BacktestSettings.from_mapping(body).patience
found["stored"] = Campaign.open("told", "serendip.db").log[0].event.settings["patience"]
print(json.dumps(found))
"""


def recipe(title):
    """The code of a section of the guide."""
    section = GUIDE.read_text(encoding="utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]


def test_a_new_setting_is_one_field(tmp_path):
    """The guide's field, put among those that campaigns and backtests share, and nothing else."""
    shutil.copytree(SRC, tmp_path / "serendip", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "serendip/problems/settings.py"
    text = file.read_text(encoding="utf-8")
    before, mark, after = text.partition("\n    def __post_init__(")
    file.write_text(before + recipe("How to add a setting") + mark + after, encoding="utf-8")
    lab = tmp_path / "lab"
    lab.mkdir()
    pool = pd.DataFrame({"code": [f"c{k}" for k in range(12)], "x": [float(k) for k in range(12)]})
    pool.to_csv(lab / "pool.csv", index=False)
    pool.assign(y=pool["x"] ** 2).to_csv(lab / "done.csv", index=False)
    ran = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=lab,
        env={"PYTHONPATH": str(tmp_path), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    told = "Labels without a new best one after which a search is given up."
    for place in ("init", "backtest"):
        assert "--patience " in found[place]
        assert f"{told} Default: never." in " ".join(found[place].split())
    assert f"# {told} Default: never.\n# patience = 30\n" in found["example"]
    for request in ("NewCampaign", "NewBacktest"):
        assert told in found[request]["description"]
        assert found[request]["default"] == 0
    for page in ("new", "replay"):
        assert '<input id="patience" name="patience" value="0"' in found[page]
        assert told in found[page]
    assert found["sent"] == 5
    assert found["kept"] == [4, 0]
    assert (found["stored"], found["replayed"], found["n"]) == (4, 6, 12)
