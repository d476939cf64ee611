"""Backup drills, on SQLite and on a real PostgreSQL server: under load, damaged, and elsewhere."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from campaigns.screens import serendip, settings, write_pool
from needs import need
from serendip.campaigns import Campaign
from serendip.campaigns.doctor import examine
from serendip.campaigns.errors import StoreDamaged, StoreFailed
from serendip.campaigns.log.backup import back_up, restore
from serendip.campaigns.log.engine import connected
from serendip.campaigns.log.schema import EVENTS, HEAD, METADATA
from serendip.campaigns.log.store import Store
from serendip.core.errors import InvalidInput

WRITER = """
import sys
from itertools import count
from serendip.campaigns import Campaign
campaign = Campaign.open("screen", sys.argv[1])
print("ready", flush=True)
for turn in count():
    for place in range(int(sys.argv[2]), 60, int(sys.argv[3])):
        campaign.tell({f"c{place:03d}": place / 7 + turn}, correct=True)
        if not turn:
            print(f"c{place:03d}", flush=True)
"""


@pytest.fixture(params=["sqlite", "postgresql"], name="elsewhere")
def _elsewhere(request, folder):
    """The address of another empty store."""
    if request.param == "sqlite":
        (folder / "other").mkdir()
        return str(folder / "other" / "serendip.db")
    return request.getfixturevalue("new_postgres")()


def rows_of(store):
    with connected(store.engine, writes=False) as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(sa.select(table)).all()))
            for table in METADATA.sorted_tables
        }


def begun(where, **changes):
    write_pool(n=60)
    return Campaign.create(settings(**changes), where)


def test_a_plain_copy_of_a_store_in_use_holds_nothing_and_a_backup_all(folder):
    """Why there is a command: everything may still be in the log beside the file."""
    campaign = begun("lab.db")
    with campaign.store.engine.connect() as open_elsewhere:
        open_elsewhere.exec_driver_sql("SELECT 1 FROM serendip_campaigns").close()
        campaign.tell({"c000": 1.0})
        shutil.copy("lab.db", "copied.db")
        with sqlite3.connect("copied.db") as plain:
            tables = plain.execute("SELECT name FROM sqlite_schema").fetchall()
            copied = plain.execute("SELECT * FROM serendip_events").fetchall() if tables else []
        assert len(copied) < 2
        assert back_up(campaign.store, Path("lab.bak")).n_events == 2
    assert sorted(path.name for path in folder.glob("*lab.bak*")) == ["lab.bak"]
    with sqlite3.connect("lab.bak") as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert len(plain.execute("SELECT * FROM serendip_events").fetchall()) == 2


def test_backup_under_load_restored_elsewhere_goes_on(where, elsewhere):
    """Processes write results; a backup holds a state that was, and the campaign goes on."""
    write_pool(n=64)
    Campaign.create(settings(budget=64, model="linear"), where)
    count = 3
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, where, str(place), str(count)],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "SERENDIP_THREADS": "1"},
        )
        for place in range(count)
    ]  # fmt: skip
    try:
        for one in writers:
            assert one.stdout.readline() == "ready\n"
        acknowledged = [one.stdout.readline().strip() for one in writers]
        made = [back_up(Store.open(where), Path(f"{turn}.bak")) for turn in range(3)]
        assert all(one.poll() is None for one in writers)
    finally:
        for one in writers:
            one.kill()
            one.communicate()
    assert made[0].n_events >= 1 + count
    assert [one.n_events for one in made] == sorted(one.n_events for one in made)
    store, found = restore(Path("2.bak"), elsewhere)
    assert found == made[2]
    copy, original = Campaign.open("screen", store), Campaign.open("screen", where)
    assert copy.log == original.log[: len(copy.log)]
    assert set(acknowledged) <= set(copy.state.results)
    assert not [one for one in examine(elsewhere) if one.state == "problem"]
    item = copy.ask(1)["code"][0]
    copy.tell({item: 1.0})
    assert Campaign.open("screen", elsewhere).state.results[item].value == 1.0


def test_every_row_survives_there_and_back(where, elsewhere):
    campaign = begun(where, snapshot=True)
    begun(where, name="Ωther one")
    campaign.ask(2)
    campaign.tell({"c000": 0.1 + 0.2, "c001": 1e-300, "c002": "failed"})
    campaign.undo()
    with connected(campaign.store.engine, writes=True) as connection:
        key = {"campaign": "screen", "key": "k", "digest": "d", "version": 3, "answer": '{"a":1}'}
        connection.execute(sa.insert(METADATA.tables["serendip_requests"]), key)
    back_up(campaign.store, Path("1.bak"))
    there, _ = restore(Path("1.bak"), elsewhere)
    assert rows_of(there) == rows_of(campaign.store)
    back_up(there, Path("2.bak"))
    back, _ = restore(Path("2.bak"), "back.db")
    assert rows_of(back) == rows_of(campaign.store)


def test_commands_say_what_is_in_it_and_what_is_not(folder):
    campaign = begun("lab.db", snapshot=True)
    code, out, _ = serendip("backup", "lab.bak", "--store", "lab.db")
    assert code == 0
    assert out.splitlines()[0] == "Written: lab.bak, 1 campaign, 1 events, every hash right."
    snapshot = campaign.state.created.snapshot
    assert {line.strip() for line in out.splitlines()[2:]} == {
        str(folder / "pool.csv"),
        snapshot.path,
    }
    (folder / "else").mkdir()
    (folder / "pool.csv").rename(folder / "moved.csv")
    code, out, _ = serendip("restore", "lab.bak", "--store", "else/new.db")
    assert code == 0
    assert out.splitlines()[0].endswith("new.db: 1 campaign, 1 events, every hash right.")
    assert "doctor" in out
    assert str(folder / "pool.csv") in out
    assert snapshot.path not in out  # it is still where it was
    assert serendip("doctor", "screen", "--pool", "moved.csv", "--store", "else/new.db")[0] == 0


def test_what_is_there_is_never_written_over(where, elsewhere):
    campaign = begun(where)
    Path("taken.bak").write_text("mine")
    with pytest.raises(InvalidInput, match="writes over nothing"):
        back_up(campaign.store, Path("taken.bak"))
    assert Path("taken.bak").read_text() == "mine"
    with pytest.raises(InvalidInput, match="folder"):
        back_up(campaign.store, Path("no/such/folder/x.bak"))
    back_up(campaign.store, Path("1.bak"))
    begun(elsewhere, name="another")
    before = rows_of(Store.open(elsewhere))
    with pytest.raises(InvalidInput, match=r"holds campaigns already \(another\)"):
        restore(Path("1.bak"), elsewhere)
    assert rows_of(Store.open(elsewhere)) == before
    assert not list(Path().glob(".*part*"))


def test_a_damaged_log_is_neither_backed_up_nor_restored(where, elsewhere):
    campaign = begun(where)
    campaign.tell({"c000": 1.0})
    back_up(campaign.store, Path("good.bak"))
    with connected(campaign.store.engine, writes=True) as connection:
        connection.execute(sa.update(EVENTS).where(EVENTS.c.version == 2).values(command=1))
    with pytest.raises(StoreDamaged, match="Event 2 of campaign 'screen'") as caught:
        back_up(campaign.store, Path("bad.bak"))
    assert ".part" not in str(caught.value)
    assert not list(Path().glob("*bad*"))
    with sqlite3.connect("good.bak") as plain:
        plain.execute("UPDATE serendip_events SET body = replace(body, '1.0', '2.0')")
    with pytest.raises(StoreDamaged, match=r"good\.bak"):
        restore(Path("good.bak"), elsewhere)
    assert rows_of(Store.open(elsewhere, create=True))["serendip_campaigns"] == []


@pytest.mark.parametrize("content", [None, b"", b"no database, but long enough to look at" * 99])
def test_files_that_are_no_backups_are_one_sentence(folder, content):
    file = folder / "notes.bak"
    if content is not None:
        file.write_bytes(content)
    code, out, said = serendip("restore", file, "--store", "new.db")
    assert (code, out) == (2, "")
    assert "notes.bak" in said
    assert len(said.splitlines()) == 1
    assert not (folder / "new.db").exists()


def test_a_truncated_backup_is_refused(folder):
    campaign = begun("lab.db")
    campaign.tell({f"c{place:03d}": place / 7 for place in range(30)})
    back_up(campaign.store, Path("1.bak"))
    size = Path("1.bak").stat().st_size
    for share in (0.1, 0.5, 0.9):
        shutil.copy("1.bak", "cut.bak")
        os.truncate("cut.bak", int(share * size))
        with pytest.raises(StoreFailed, match=r"cut\.bak"):
            restore(Path("cut.bak"), "new.db")
    assert not Path("new.db").exists() or Store.open("new.db").campaigns() == ()


def test_a_private_store_has_a_private_backup_and_a_read_only_one_can_be_restored(folder):
    need(os.name == "posix", "files have no permissions here", "run it on Linux or macOS")
    campaign = begun("lab.db")
    os.chmod("lab.db", 0o640)
    back_up(campaign.store, Path("1.bak"))
    assert Path("1.bak").stat().st_mode & 0o777 == 0o640
    os.chmod("1.bak", 0o400)
    assert restore(Path("1.bak"), "new.db")[1].n_campaigns == 1
    assert Path("1.bak").stat().st_mode & 0o777 == 0o400


# --- before a migration --------------------------------------------------------------------------


def at_first_revision(file):
    """Makes a current store one of revision 0001, which had no table of requests."""
    with sqlite3.connect(file) as plain:
        plain.execute("DROP TABLE serendip_requests")
        plain.execute("UPDATE serendip_schema SET version_num = '0001'")
    plain.close()


def test_a_store_is_copied_before_its_first_migration(folder):
    campaign = begun("lab.db")
    campaign.tell({"c000": 1.0})
    log = campaign.log
    at_first_revision("lab.db")
    assert len(Store.open("lab.db").read("screen")[0]) == 2
    kept = folder / f"lab.db.before-{HEAD}"
    with sqlite3.connect(kept) as plain:
        assert plain.execute("SELECT version_num FROM serendip_schema").fetchone() == ("0001",)
        assert len(plain.execute("SELECT * FROM serendip_events").fetchall()) == 2
    plain.close()
    Store.open("lab.db")
    assert sorted(folder.glob("lab.db.before*")) == [kept]  # once, not with every opening
    at_first_revision("lab.db")
    Store.open("lab.db")  # a copy that is there stays
    assert len(list(folder.glob("lab.db.before*"))) == 2
    store, _ = restore(kept, "new.db")  # such a copy is as good as a backup
    assert store.read("screen")[0] == log


def test_the_copy_before_a_migration_holds_what_is_not_in_the_file_yet(folder):
    """While somebody else has the store open, all that was written last is in SQLite's own log."""
    campaign = begun("lab.db")
    with closing(sqlite3.connect("lab.db")) as other:
        assert other.execute("SELECT count(*) FROM serendip_events").fetchone() == (1,)
        campaign.tell({"c000": 1.0})
        at_first_revision("lab.db")
        Store.open("lab.db")
        kept = folder / f"lab.db.before-{HEAD}"
        with closing(sqlite3.connect(kept)) as plain:
            assert plain.execute("SELECT count(*) FROM serendip_events").fetchone() == (2,)
            assert plain.execute("SELECT version_num FROM serendip_schema").fetchone() == ("0001",)


def test_a_new_store_is_not_copied(folder):
    Store.open("lab.db", create=True)
    assert not list(folder.glob("*before*"))
