"""Models and policies of others: chosen by name, run only where the user says so, and gone."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pandas as pd
import pytest

import serendip
from campaigns.screens import serendip as typed
from campaigns.screens import settings, write_pool
from serendip.campaigns.campaign import Campaign
from serendip.core.errors import InvalidInput, NotAvailable
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.server.replays import Replay
from strangers import Package
from web.servers import Server

PATHS = ("laboratory:plane", "laboratory:Cautious")
ALLOW = [word for path in PATHS for word in ("--allow", path)]
BEGIN = ("init", "screen", "--pool", "pool.csv", "--label", "yield", "--budget", 9, "--id", "code")


@pytest.fixture(name="truth")
def _truth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SERENDIP_STORE", raising=False)
    return write_pool()[0]


@pytest.fixture(name="package")
def _package(tmp_path, monkeypatch, truth):
    package = Package(tmp_path / "site")
    monkeypatch.syspath_prepend(package.folder)
    yield package
    sys.modules.pop(package.name, None)


@contextmanager
def on_path():
    """Processes that are started find the modules that this one does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        yield


def forget(package):
    """From here on nothing has imported it."""
    sys.modules.pop(package.name, None)
    package.forget()


def uninstall(package):
    forget(package)
    sys.path.remove(str(package.folder))
    shutil.rmtree(package.folder)


def good(*arguments):
    code, out, err = typed(*arguments)
    assert code == 0, err
    return out


def refused(*arguments):
    code, _, err = typed(*arguments)
    assert code == 2
    assert err.count("\n") == 1
    return err


# --- chosen by the name of an entry point ---------------------------------------------------------


def test_an_installed_package_plays_in_commands(package, truth):
    def asked(command):
        typing = [sys.executable, "-m", "serendip", command, "--help"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
        return subprocess.run(typing, env=environment, capture_output=True, text=True).stdout

    for command in ("init", "backtest"):
        assert "plane" in (said := asked(command))
        assert "cautious" in said
    assert not package.was_imported
    frame = pd.read_csv("pool.csv").assign(**{"yield": lambda t: t["code"].map(truth)})
    frame.to_csv("labelled.csv", index=False)
    played = ("labelled.csv", "--label", "yield", "--id", "code", "--budget", 3, "--repeats", 1)
    chosen = ("--policy", "cautious", "--policy", "random", "--model", "plane", "--jobs", 1)
    result = json.loads(good("backtest", *played, *chosen, "--format", "json"))
    assert (result["model"], set(result["policies"])) == ("plane", {"cautious", "random"})
    good(*BEGIN, "--model", "plane", "--policy", "cautious")
    good("ask", "screen", "-n", 2, "-o", "next.csv")
    assert len(pd.read_csv("next.csv")) == 2


def test_an_installed_package_plays_over_rest(package, tmp_path):
    with on_path(), Server(tmp_path / "s.db") as server, server.client() as client:
        rows = pd.read_csv("pool.csv").to_dict("records")
        body = {"label": "yield", "id": "code", "budget": 9, "rows": rows}
        theirs = {"model": "plane", "policy": "cautious"}
        made = client.post("/api/v1/campaigns", json={**body, **theirs, "name": "a"})
        assert made.status_code == 201, made.text
        asked = client.post("/api/v1/campaigns/a/ask", json={"count": 2})
        assert len(asked.json()["proposals"]) == 2, asked.text
        package.forget()
        for name, path in (("model", PATHS[0]), ("policy", PATHS[1])):
            sent = client.post("/api/v1/campaigns", json={**body, name: path, "name": "b"})
            assert sent.status_code == 422
            assert "run only for who names" in sent.json()["detail"]
        sent = client.post("/api/v1/backtests", json={"campaign": "a", "policies": [PATHS[1]]})
        assert sent.status_code == 422
        page = client.get("/backtest")
        assert page.status_code == 200
        assert not package.was_imported


# --- by an import path ----------------------------------------------------------------------------


def test_an_import_path_is_run_for_who_names_it(package, truth):
    said = good(*BEGIN, "--model", PATHS[0], "--policy", PATHS[1])
    assert f"ask screen -n 8 --allow {PATHS[0]} --allow {PATHS[1]}" in said
    forget(package)
    err = refused("ask", "screen")
    assert f"add --allow {PATHS[0]} to the command" in err
    assert f"add --allow {PATHS[1]}" in refused("ask", "screen", *ALLOW[:2])
    forget(package)
    good("ask", "screen", "-n", 2, *ALLOW, "-o", "next.csv")
    assert package.was_imported
    good("tell", "screen", "--item", "c001", "--value", truth["c001"])
    assert "At the end of the budget" in good("status", "screen", *ALLOW)
    assert "Progress and forecast" in Campaign.open("screen", allow=PATHS).report()


def test_a_log_that_names_code_does_not_run_it(package, truth, tmp_path):
    good(*BEGIN, "--model", PATHS[0], "--policy", PATHS[1])
    good("ask", "screen", "-n", 2, *ALLOW, "-o", "next.csv")
    forget(package)
    good("tell", "screen", "--item", "c001", "--value", truth["c001"])
    for command in (
        ("list",),
        ("status", "screen"),
        ("report", "screen", "-o", "screen.html"),
        *(("export", "screen", "--what", what) for what in ("results", "pending", "events")),
        ("ask", "screen", "--pending"),
        ("undo", "screen"),
        ("budget", "screen", 8),
        ("doctor",),
        ("backup", "copy.db"),
        ("restore", "copy.db", "--store", "other.db"),
        ("status", "screen", "--store", "other.db"),
    ):
        good(*command)
    assert refused("ask", "screen", "--store", "other.db")
    assert refused("export", "screen", "--what", "predictions")
    assert not package.was_imported
    with pytest.raises(NotAvailable):
        Campaign.open("screen").ask(1)
    with pytest.raises(NotAvailable):
        Campaign.create(settings(policy=PATHS[1], name="b"), "other.db", allow=())
    assert not package.was_imported


def test_a_file_of_settings_names_no_code(package):
    with open("campaign.toml", "w") as file:
        for name, value in settings(policy=PATHS[1], model=PATHS[0]).items():
            print(f"{name} = {json.dumps(value)}", file=file)
    assert "an import path" in refused("init", "campaign.toml")
    assert "an import path" in refused("init", "campaign.toml", "--model", PATHS[0])
    forget(package)
    refused("init", "campaign.toml")
    assert not package.was_imported
    good("init", "campaign.toml", "--model", PATHS[0], "--policy", PATHS[1])


def test_a_module_in_this_folder_is_found(package, truth, tmp_path):
    (tmp_path / "own.py").write_text("from laboratory import Cautious as Mine\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    code = "from serendip.cli.main import run; run()"
    typing = [sys.executable, "-P", "-c", code, *map(str, BEGIN), "--policy", "own:Mine"]
    ran = subprocess.run(typing, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "policy own:Mine" in ran.stdout


@pytest.mark.parametrize("given", [{"policies": PATHS[1:]}, {"model": PATHS[0]}])
def test_what_the_page_sends_names_no_code(package, given):
    with pytest.raises(NotAvailable, match="an import path"):
        Replay(BacktestSettings.from_mapping({"label": "yield", **given}), "screen")
    assert not package.was_imported


# --- objects in Python ----------------------------------------------------------------------------


def test_an_object_is_as_good_as_a_name(package, truth):
    import laboratory

    frame = pd.read_csv("pool.csv").assign(**{"yield": lambda t: t["code"].map(truth)})
    common = {"id": "code", "budget": 3, "repeats": 1}
    several = {"ids": "ids", "mine": laboratory.Cautious()}
    found = serendip.backtest(frame, "yield", policies=several, model=laboratory.plane, **common)
    assert list(found.summary["policy"]) == ["ids", "mine"]
    assert found.model == "plane"
    named = serendip.backtest(frame, "yield", policies=PATHS[1], model=PATHS[0], **common)
    mine = found.steps[found.steps["policy"] == "mine"]
    assert named.steps["id"].tolist() == mine["id"].tolist()
    with pytest.raises(InvalidInput, match="given twice"):
        serendip.backtest(
            frame, "yield", model="gp", columns=serendip.Columns(model="gp"), **common
        )


def test_the_page_shows_a_campaign_that_names_code_and_does_not_run_it(package, truth, tmp_path):
    campaign = Campaign.create(settings(model=PATHS[0], policy=PATHS[1]), "s.db")
    item = campaign.ask(2)["code"][0]
    package.forget()
    with on_path(), Server(tmp_path / "s.db") as server, server.client() as client:
        api = "/api/v1/campaigns/screen"
        for address in ("", "/status", "/events", "/results"):
            answer = client.get(f"{api}{address}")
            assert answer.status_code == 200, (address, answer.text)
        told = client.post(f"{api}/tell", json={"results": {item: truth[item]}})
        assert told.status_code == 200, told.text
        asked = client.post(f"{api}/ask", json={"count": 1})
        assert asked.status_code == 422
        assert "only its log names" in asked.json()["detail"]
        for page in ("", "/progress", "/candidates", "/backtest"):
            assert client.get(f"/campaigns/screen{page}").status_code == 200, page
        for part in ("advice", "forecast", "quality", "figures/progress"):
            answer = client.get(f"/campaigns/screen/progress/{part}")
            assert answer.status_code == 422, (part, answer.text)
    assert not package.was_imported


# --- gone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("theirs", [{"model": "plane"}, {"policy": "cautious"}])
def test_a_campaign_outlives_its_package(package, truth, theirs):
    campaign = Campaign.create(settings(**theirs))
    item = campaign.ask(1)["code"][0]
    (what, name), *_ = theirs.items()
    uninstall(package)
    words = f"the {what} '{name}', which is not installed here; install the package"
    assert words in refused("ask", "screen", "--store", campaign.store)
    again = Campaign.open("screen", campaign.store)
    again.tell({item: truth[item]})
    assert again.export()["code"].tolist() == [item]
    page = again.report()
    assert item in page
    assert (words.replace("'", "&#x27;") in page) == (what == "model")
    findings = good("doctor", "screen", "--store", campaign.store)
    assert words in findings
    with pytest.raises(NotAvailable, match="Results can be recorded and exported without it"):
        again.ask(1)
