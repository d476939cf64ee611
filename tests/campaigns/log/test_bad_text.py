"""Bytes that are no text, as a terminal may hand them over, and what old logs hold of them."""

import os
import subprocess
import sys

import pandas as pd
import pytest

from campaigns.screens import settings, write_pool
from serendip.campaigns import Campaign

RUN = "from serendip.cli.main import run; run()"
BAD = (b"ann\xff", b"\x1b[2Jann", b"a\nb")


def typed(*arguments, **env):
    """A command in a process of its own, with bytes as arguments."""
    words = [one if isinstance(one, bytes) else str(one).encode() for one in arguments]
    made = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        capture_output=True, check=False, env={**os.environ, "PYTHONUTF8": "1", **env},
    )  # fmt: skip
    return made.returncode, made.stdout.decode(), made.stderr.decode()


def refused(made, *words):
    code, out, said = made
    assert (code, out) == (2, "")
    assert len(said.splitlines()) == 1
    assert said.rstrip("\n").isprintable()
    for word in words:
        assert word in said


@pytest.mark.parametrize("who", BAD)
def test_a_name_that_is_no_text_is_refused_and_nothing_recorded(folder, who):
    write_pool(n=12)
    begin = ("init", "screen", "--pool", "pool.csv", "--label", "yield", "--budget", 9)
    refused(typed(*begin, "--who", who), "who acts")
    assert not (folder / "serendip.db").exists()
    Campaign.create(settings(budget=9))
    for command in (
        ("ask", "screen"),
        ("tell", "screen", "--item", "c001", "--value", "3"),
        ("undo", "screen"),
        ("budget", "screen", "10"),
    ):
        refused(typed(*command, "--who", who), "who acts")
    refused(typed("ask", "screen", SERENDIP_WHO=os.fsdecode(who)), "SERENDIP_WHO")
    assert len(Campaign.open("screen").log) == 1


def test_names_columns_and_files_that_are_no_text_are_refused(folder):
    write_pool(n=12)
    begin = ["init", "screen", "--pool", "pool.csv", "--label", "yield", "--budget", "9"]
    for place, bad in ((1, b"scr\xff"), (3, b"po\xffol.csv"), (5, b"yi\xff")):
        wrong = list(begin)
        wrong[place] = bad
        if place == 3:
            (folder / os.fsdecode(bad)).write_bytes((folder / "pool.csv").read_bytes())
        refused(typed(*wrong))
    Campaign.create(settings(budget=9))
    refused(typed("status", b"scr\xff"), "name of a campaign")
    refused(typed("tell", "screen", "--item", b"c\xff", "--value", "3"))
    assert len(Campaign.open("screen").log) == 1


def test_a_log_that_holds_such_text_still_lists_exports_and_reports(folder):
    write_pool(n=12)
    campaign = Campaign.create(settings(budget=9, model="linear"))
    for item, who in (("c000", "ann\udcff"), ("c001", "\x1b[2J\x07bob")):
        campaign.who = who  # past the check, as when there was none
        campaign.tell({item: 1.0})
    for command in (
        ["list"],
        ["status", "screen"],
        ["export", "screen"],
        ["export", "screen", "--what", "events"],
        ["export", "screen", "--what", "events", "--format", "json"],
        ["export", "screen", "--what", "events", "-o", "events.xlsx"],
        ["export", "screen", "--what", "events", "-o", "events.parquet"],
        ["export", "screen", "-o", "results.csv"],
        ["report", "screen"],
        ["undo", "screen"],
        ["doctor"],
    ):
        code, out, said = typed(*command)
        assert code == 0, said
        assert said == ""
        assert "\x1b" not in out
    names = pd.read_excel("events.xlsx")["who"].tolist()[1:]
    assert names == [r"ann\udcff", r"\x1b[2J\x07bob"]


def test_a_pool_whose_name_is_no_text_is_still_found(folder):
    """Such a campaign could be begun once; its log is written here as it was then."""
    write_pool(n=12)
    odd = folder / os.fsdecode(b"po\xffol.csv")
    odd.write_bytes((folder / "pool.csv").read_bytes())
    from serendip.campaigns.log.events import Created, FileRef
    from serendip.campaigns.log.store import Store
    from serendip.campaigns.pool_file import sha256_of
    from serendip.campaigns.spec import Settings

    plain = Settings.from_mapping(settings(budget=9, pool=str(odd), model="linear")).as_json()
    ref = FileRef(str(odd), odd.name, sha256_of(odd))
    Store.open("serendip.db", create=True).create("screen", Created("ann", "now", plain, ref, 12))
    for command in (["status", "screen"], ["ask", "screen", "-n", "1"], ["report", "screen"]):
        code, _, said = typed(*command)
        assert code == 0, said
    odd.unlink()
    refused(typed("ask", "screen"), "gone")


def test_a_workbook_holds_cells_with_control_characters(folder):
    pd.DataFrame({"code": ["a", "b"], "x": [1, 2], "note": ["bell\x07", "fine"]}).to_csv(
        "pool.csv", index=False
    )
    Campaign.create(settings(budget=2, ignore=["note"])).tell({"a": 1.0})
    code, _, said = typed("export", "screen", "-o", "results.xlsx")
    assert code == 0, said
    assert pd.read_excel("results.xlsx")["note"].tolist() == [r"bell\x07"]
