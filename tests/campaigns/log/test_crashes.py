"""Killed processes, crowds, full disks and files one may not write: nothing acknowledged is lost.

By default a reduced form runs; with SERENDIP_FULL=1 200 kills, and 60 s of crowding.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from campaigns.screens import settings, write_pool
from needs import need
from serendip.campaigns import Campaign
from serendip.campaigns.doctor import examine
from serendip.campaigns.log.events import Asked, Failed, Told
from serendip.campaigns.log.store import Store

FULL = bool(os.environ.get("SERENDIP_FULL"))
WORKERS = Path(__file__).with_name("workers.py")


def run_workers(*arguments, limit=600):
    made = subprocess.run(
        [sys.executable, str(WORKERS), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "SERENDIP_THREADS": "1"},
        timeout=limit,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


def check(where, facts):
    """Every acknowledged fact is in the log, no candidate was proposed twice, the log verifies."""
    campaign = Campaign.open("screen", where)
    events = [entry.event for entry in campaign.log]
    proposed = [one.item for event in events if isinstance(event, Asked) for one in event.proposals]
    twice = [item for item, count in Counter(proposed).items() if count > 1]
    assert not twice
    told = {event.item: event.value for event in events if isinstance(event, Told)}
    assert len(told) == sum(isinstance(event, Told) for event in events)
    failed = {event.item for event in events if isinstance(event, Failed)}
    problems = [fact for fact in facts if "problem" in fact]
    assert not problems
    for fact in facts:
        if "asked" in fact:
            assert set(fact["asked"]) <= set(proposed)
        elif "told" in fact:
            assert told[fact["told"]] == fact["value"]
        else:
            assert fact["failed"] in failed
    assert not [one for one in examine(where) if one.state == "problem"]
    return len(proposed), len(told)


@pytest.mark.stress
def test_kill_at_random_moments(where):
    n, rounds = (1500, 200) if FULL else (200, 12)  # too many to run out of
    write_pool(n=n)
    Campaign.create(settings(budget=n - 50), where)
    made = run_workers("kill", where, "screen", rounds, 1, limit=900)
    assert made["killed"] >= 0.9 * rounds
    proposed, told = check(where, made["facts"])
    assert proposed >= rounds / 8
    print(f"\n{where[:10]}: {made['killed']} kills, {proposed} proposals, {told} results")


@pytest.mark.stress
@pytest.mark.parametrize("where", ["sqlite", "postgresql"], indirect=True)
def test_crowds(where):
    count = 32 if where.startswith("postgresql") else 16
    n, seconds = (1200, 60) if FULL else (300, 4)
    write_pool(n=n)
    Campaign.create(settings(budget=n - 50), where)
    made = run_workers("crowd", where, "screen", count, seconds, 2)
    assert not [fact for fact in made["facts"] if "problem" in fact]
    assert made["codes"] == [0] * count
    proposed, told = check(where, made["facts"])
    assert proposed > count / 2
    print(f"\n{where[:10]}: {count} processes, {proposed} proposals, {told} results")


# --- disks and permissions -----------------------------------------------------------------------

SCRIPT = """
import json, resource, sys
from serendip.campaigns import Campaign
from serendip.core.errors import SerendipError
campaign = Campaign.open("screen")
if len(sys.argv) > 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
done, problem = [], ""
for start in range(0, 3000, 20):
    batch = {f"c{place:03d}": place / 7 for place in range(start, start + 20)}
    try:
        campaign.tell(batch)
        done += batch
    except SerendipError as refused:
        problem = str(refused)
        break
print(json.dumps([done, problem]))
"""


def tell_until_refused(*arguments):
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


def test_a_file_that_may_not_grow(folder):
    write_pool(n=3000)
    Campaign.create(settings(budget=2990), "serendip.db")
    size = max(path.stat().st_size for path in folder.glob("serendip.db*"))
    done, problem = tell_until_refused(size + 60_000)
    assert done
    assert "nothing was recorded" in problem
    results = Campaign.open("screen").state.results
    assert set(done) <= set(results)
    Campaign.open("screen").tell({"c2999": 1.0})
    assert not [one for one in examine() if one.state == "problem"]


def test_a_full_disk(tmp_path, monkeypatch):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", str(disk)]
    mounted = (
        not os.geteuid() and not subprocess.run(mount, capture_output=True, check=False).returncode
    )
    need(mounted, "no file system may be mounted", "run it as root of a machine, or privileged")
    try:
        monkeypatch.chdir(disk)
        monkeypatch.delenv("SERENDIP_STORE", raising=False)
        write_pool(n=3000)
        Campaign.create(settings(budget=2990), "serendip.db")
        done, problem = tell_until_refused()
        assert done
        assert "disk is probably full" in problem
        assert set(done) <= set(Campaign.open("screen").state.results)
    finally:
        monkeypatch.chdir(tmp_path)
        subprocess.run(["umount", str(disk)], check=False)


READ_ONLY = """
import os, sys, tempfile
from serendip.cli.main import run
told = sys.argv
sys.argv = [told[0], "tell", "screen", "--item", "c001", "--value", "1"]
try:
    run()  # all is imported while it may be
except SystemExit:
    pass
sys.argv = told
os.chmod(".", 0o555)
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)  # root may write everywhere
run()
"""


def as_nobody(*arguments):
    return subprocess.run(
        [sys.executable, "-c", READ_ONLY, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_file_one_may_only_read(monkeypatch):
    import tempfile

    need(os.name == "posix", "there are no POSIX permissions", "run it on Linux or macOS")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        monkeypatch.chdir(folder)
        monkeypatch.delenv("SERENDIP_STORE", raising=False)
        write_pool()
        Campaign.create(settings(), "serendip.db").tell({"c001": 1.0})
        before = (folder / "serendip.db").read_bytes()
        for path in folder.iterdir():
            path.chmod(0o444)
        try:
            made = as_nobody("tell", "screen", "--item", "c002", "--value", "2")
        finally:
            folder.chmod(0o755)
        assert made.returncode == 2, made.stderr
        assert made.stderr.startswith("serendip: ")
        assert made.stderr.count("\n") == 1
        assert "write" in made.stderr
        assert (folder / "serendip.db").read_bytes() == before
        for path in folder.iterdir():
            path.chmod(0o644)
        assert list(Campaign.open("screen").state.results) == ["c001"]


def test_a_truncated_store_is_named_by_the_doctor(folder):
    write_pool()
    Campaign.create(settings(), "serendip.db").ask(5)
    os.truncate("serendip.db", Path("serendip.db").stat().st_size // 2)
    problems = [one for one in examine() if one.state == "problem"]
    assert problems
    assert "backup" in problems[0].detail


def test_a_process_that_dies_while_holding_lets_go(where):
    """The lock of a killed process must not outlive it."""
    write_pool()
    Campaign.create(settings(), where)
    script = (
        "import os, signal, sys\n"
        "from serendip.campaigns.log.store import Store\n"
        "def die(held):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "Store.open(sys.argv[1]).holding('screen', die)\n"
    )
    made = subprocess.run([sys.executable, "-c", script, where], check=False, timeout=60)
    assert made.returncode == -9
    assert len(Campaign.open("screen", Store.open(where)).ask(2)) == 2
