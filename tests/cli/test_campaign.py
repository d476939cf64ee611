"""The campaign commands as a user types them, in processes of their own."""

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import fields

import pandas as pd
import pytest

from campaigns import screens
from serendip.campaigns.example import example
from serendip.campaigns.spec import Settings
from serendip.simulate.environments.demo import demo_pool, demo_yields


def serendip(*arguments, cwd, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SERENDIP")}
    return subprocess.run(
        [sys.executable, "-c", "from serendip.cli.main import run; run()", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**clean, "COLUMNS": "200", **environment},
        check=False,
    )


def good(*arguments, cwd, **environment):
    result = serendip(*arguments, cwd=cwd, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module", name="truth")
def _truth():
    pool = demo_pool()
    return dict(zip(pool["id"], demo_yields(pool), strict=True))


@pytest.fixture(name="lab")
def _lab(tmp_path):
    demo_pool().to_csv(tmp_path / "reactions.csv", index=False)
    return tmp_path


BEGIN = ("init", "coupling", "--pool", "reactions.csv", "--label", "yield", "--id", "id")


def test_from_a_table_to_the_second_batch(lab, truth):
    begun = good(*BEGIN, "--budget", 24, cwd=lab)
    assert "320 candidates, money for 24 experiments" in begun
    before = (lab / "reactions.csv").read_bytes()
    good("ask", "coupling", "-n", 8, "-o", "next.csv", cwd=lab, SERENDIP_WHO="ann")
    sheet = pd.read_csv(lab / "next.csv", dtype={"yield": object})
    assert sheet["yield"].isna().all()
    sheet["yield"] = [str(truth[name]) for name in sheet["id"]]
    sheet.loc[0, "yield"] = "failed"
    sheet.loc[1, "yield"] = None
    sheet.to_csv(lab / "next.csv", index=False)
    told = good("tell", "coupling", "next.csv", cwd=lab)
    assert "Recorded: 6 measured, 1 failed." in told
    assert "Experiments: 7 of 24 spent, 1 pending." in told
    assert "nothing new" in good("tell", "coupling", "next.csv", cwd=lab)
    again = serendip("ask", "coupling", "-n", 8, "-o", "next.csv", cwd=lab)
    assert again.returncode == 2
    assert "--force" in again.stderr
    good("ask", "coupling", "-n", 8, "-o", "next2.xlsx", cwd=lab)
    second = pd.read_excel(lab / "next2.xlsx")
    assert not set(second["id"]) & set(sheet["id"])
    assert list(second.columns[:9]) == list(demo_pool().columns)
    found = json.loads(good("status", "coupling", "--format", "json", cwd=lab))
    assert found["measured"] == 6
    assert found["pending"] == 9
    assert found["forecast"]["low"] < found["forecast"]["expected_total"]
    assert "coupling" in good("status", "coupling", cwd=lab)
    assert (lab / "reactions.csv").read_bytes() == before
    events = json.loads(good("export", "coupling", "--what", "events", "--format", "json", cwd=lab))
    assert events[1]["who"] == "ann"


def test_the_other_commands(lab, truth, monkeypatch):
    """In this process, for there are many."""
    monkeypatch.chdir(lab)
    monkeypatch.delenv("SERENDIP_STORE", raising=False)

    def good(*arguments, cwd):
        code, out, err = screens.serendip(*arguments)
        assert code == 0, err
        return out

    good(*BEGIN, "--budget", 12, "--range", 0, 100, "--snapshot", cwd=lab)
    shown = json.loads(good("ask", "coupling", "-n", 3, "--format", "json", cwd=lab))
    for row in shown[:2]:
        item = row["id"]
        good("tell", "coupling", "--item", item, "--value", truth[item], cwd=lab)
    good("tell", "coupling", "--item", shown[2]["id"], "--exclude", cwd=lab)
    assert "excluded" in good("undo", "coupling", cwd=lab)
    pending = good("ask", "coupling", "--pending", "--format", "csv", cwd=lab)
    assert pending.splitlines()[1].startswith(shown[2]["id"])
    good("budget", "coupling", 15, cwd=lab)
    assert "of which 13 remain" in good("budget", "coupling", 15, cwd=lab)
    table = good("predict", "coupling", "--format", "csv", cwd=lab)
    assert len(table.splitlines()) == 321
    assert "R" in good("predict", "coupling", "--top", 5, cwd=lab)
    good("report", "coupling", cwd=lab)
    page = (lab / "coupling.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html")
    assert "http://" not in page.replace("http://www.w3.org", "")
    good("export", "coupling", "-o", "results.parquet", cwd=lab)
    assert len(pd.read_parquet(lab / "results.parquet")) == 2
    assert "coupling" in good("list", cwd=lab)
    health = good("doctor", cwd=lab)
    assert "every hash right" in health
    (lab / "reactions.csv").rename(lab / "moved.csv")
    warned = good("doctor", cwd=lab)
    assert "snapshot" in warned
    assert "problem" not in warned
    good("doctor", "coupling", "--pool", "moved.csv", cwd=lab)
    good("ask", "coupling", cwd=lab)


def test_exit_codes(lab):
    good(*BEGIN, "--budget", 2, cwd=lab)
    few = serendip("ask", "coupling", cwd=lab)
    assert few.returncode == 0
    assert "Only 2 could be proposed" in few.stderr
    assert serendip("ask", "coupling", cwd=lab).returncode == 3
    assert serendip("ask", "couplin", cwd=lab).returncode == 2
    (lab / "reactions.csv").write_text("id,a\nx,1\ny,2\n")
    sick = serendip("doctor", cwd=lab)
    assert sick.returncode == 1
    assert "restore the old file" in sick.stdout
    refused = serendip("ask", "coupling", cwd=lab)
    assert refused.returncode in (2, 3)
    assert "Traceback" not in refused.stderr


def test_a_settings_file(lab):
    good("init", "--example", cwd=lab)
    text = (lab / "campaign.toml").read_text(encoding="utf-8")
    (lab / "campaign.toml").write_text(text.replace("candidates.csv", "reactions.csv"))
    (lab / "elsewhere").mkdir()
    begun = good(
        "init", "../campaign.toml", "--budget", 9, "--store", "s.db", cwd=lab / "elsewhere"
    )
    assert "money for 9 experiments" in begun
    listed = good("list", "--format", "csv", cwd=lab, SERENDIP_STORE=str(lab / "elsewhere/s.db"))
    assert "first-screen" in listed


def test_every_line_of_the_example_is_a_setting():
    lines = [text.removeprefix("# ") for text in example().splitlines() if " = " in text]
    names = [name for line in lines for name in tomllib.loads(line)]
    assert set(names) == {field.name for field in fields(Settings)}


def processor_time(*command, cwd):
    """Seconds of work, whatever else the machine is doing; the best of three."""

    def once():
        before = os.times()
        subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, check=True)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    return min(once() for _ in range(3))


def test_help_starts_quickly(lab):
    command = "from serendip.cli.main import run; run()"
    bare = processor_time("-c", "pass", cwd=lab)
    assert processor_time("-c", command, "--help", cwd=lab) - bare < 0.4
