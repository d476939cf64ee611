"""The contract of the store, on SQLite and on a real PostgreSQL server."""

import os
import shutil
import sqlite3
import threading

import pytest
import sqlalchemy as sa

from serendip.campaigns.errors import (
    CampaignExists,
    NoSuchCampaign,
    StaleCampaign,
    StoreDamaged,
    StoreFailed,
)
from serendip.campaigns.log.engine import connected
from serendip.campaigns.log.events import (
    Asked,
    Corrected,
    Created,
    Excluded,
    Failed,
    FileRef,
    KnownLabel,
    Moved,
    Proposal,
    Rebudgeted,
    Told,
    Undone,
    Withdrawn,
)
from serendip.campaigns.log.schema import EVENTS, HEAD
from serendip.campaigns.log.store import Store
from serendip.campaigns.log.wire import decoded, encoded
from serendip.core.errors import InvalidInput

REF = FileRef("/data/pool.csv", "pool.csv", "ab" * 32)
CREATED = Created("ann", "2026-01-01T00:00:00+00:00", {"budget": 9, "seed": 0}, REF, 20)
EVERY_EVENT = [
    Created("ann", "now", {"budget": 3}, REF, 20, REF, REF, (KnownLabel("Ω '=x", 0.1 + 0.2),)),
    Asked("bob", "now", (Proposal("a", 0.1, 1e-300, 1.0, "both", 0.5, 0.5, 'why\n"so"'),)),
    Told("Zoë 🧪", "now", "a", -0.0),
    Told("bob", "now", "a", 1e308, (KnownLabel("b", 3.0),)),
    Failed("bob", "now", "a"),
    Excluded("bob", "now", "\u0000"),
    Corrected("bob", "now", "a", 5e-324),
    Withdrawn("bob", "now", ("a", "b")),
    Undone("bob", "now", (2, 3)),
    Rebudgeted("bob", "now", 12),
    Moved("bob", "now", REF),
]


@pytest.mark.parametrize("event", EVERY_EVENT, ids=lambda event: type(event).__name__)
def test_events_survive_a_round_trip(event):
    assert decoded(encoded(event)) == event
    assert encoded(decoded(encoded(event))) == encoded(event)


def test_every_event_comes_back_from_the_store(where):
    store = Store.open(where, create=True)
    store.create("a", CREATED)
    assert store.append("a", EVERY_EVENT, after=1) == 1 + len(EVERY_EVENT)
    log, _ = store.read("a")
    assert [entry.event for entry in log] == [CREATED, *EVERY_EVENT]
    assert [entry.version for entry in log] == list(range(1, len(log) + 1))
    assert [entry.command for entry in log] == [1] + [2] * len(EVERY_EVENT)
    again, _ = Store.open(where).read("a")
    assert again == log


def test_news_are_read_from_where_one_stopped(where):
    store = Store.open(where, create=True)
    store.create("a", CREATED)
    _, tip = store.read("a")
    store.append("a", [Failed("bob", "now", "x")], after=1)
    news, _ = store.read("a", 1, tip)
    assert [entry.event for entry in news] == [Failed("bob", "now", "x")]
    with pytest.raises(StoreDamaged, match="Event 2"):
        store.read("a", 1, "f" * 64)


def test_a_stale_writer_is_refused_and_leaves_nothing(where):
    store = Store.open(where, create=True)
    store.create("a", CREATED)
    store.append("a", [Failed("bob", "now", "x")], after=1)
    with pytest.raises(StaleCampaign, match="has 2 events by now, and 1"):
        store.append("a", [Failed("bob", "now", "y")], after=1)
    assert len(store.read("a")[0]) == 2


def test_campaigns_do_not_mix_and_names_are_taken_once(where):
    store = Store.open(where, create=True)
    store.create("b", CREATED)
    store.create("a", CREATED)
    store.append("a", [Failed("bob", "now", "x")], after=1)
    assert [(info.name, info.version) for info in store.campaigns()] == [("a", 2), ("b", 1)]
    with pytest.raises(CampaignExists, match="choose another name"):
        store.create("a", CREATED)
    with pytest.raises(NoSuchCampaign, match="holds: a, b"):
        store.read("zzzz")
    with pytest.raises(NoSuchCampaign):
        store.append("zzzz", [], after=0)


def test_an_error_while_holding_records_nothing(where):
    store = Store.open(where, create=True)
    store.create("a", CREATED)

    def fails(held):
        held.append([Failed("bob", "now", "x")])
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        store.holding("a", fails)
    assert len(store.read("a")[0]) == 1


def test_two_writers_at_once_all_get_in_by_trying_again(where):
    store = Store.open(where, create=True)
    store.create("a", CREATED)
    stale = []

    def write(who):
        mine = Store.open(where)
        for place in range(10):
            while True:
                version = len(mine.read("a")[0])
                try:
                    mine.append("a", [Failed(who, "now", str(place))], after=version)
                    break
                except StaleCampaign:
                    stale.append(who)

    writers = [threading.Thread(target=write, args=(f"w{k}",)) for k in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    log, _ = store.read("a")
    written = [(entry.event.who, entry.event.item) for entry in log[1:]]
    assert sorted(written) == sorted((f"w{k}", str(p)) for k in range(4) for p in range(10))


def test_stores_may_be_opened_at_once_when_new(where):
    problems = []

    def begin(name):
        try:
            Store.open(where, create=True).create(name, CREATED)
        except Exception as problem:
            problems.append(problem)

    starters = [threading.Thread(target=begin, args=(f"c{k}",)) for k in range(6)]
    for one in starters:
        one.start()
    for one in starters:
        one.join()
    assert not problems
    assert len(Store.open(where).campaigns()) == 6


@pytest.mark.parametrize(
    "change",
    [
        lambda: sa.update(EVENTS).where(EVENTS.c.version == 2).values(body=encoded(EVERY_EVENT[4])),
        lambda: sa.update(EVENTS).where(EVENTS.c.version == 3).values(command=2),
        lambda: sa.delete(EVENTS).where(EVENTS.c.version == 2),
        lambda: sa.delete(EVENTS).where(EVENTS.c.version == 3),
    ],
    ids=["edited", "moved", "missing", "cut off"],
)
def test_a_log_that_was_tampered_with_is_noticed(where, change):
    store = Store.open(where, create=True)
    store.create("a", CREATED)
    store.append("a", [Told("bob", "now", "x", 1.0)], after=1)
    store.append("a", [Told("bob", "now", "y", 1.0)], after=2)
    with connected(store.engine, writes=True) as connection:
        connection.execute(change())
    with pytest.raises(StoreDamaged, match="backup"):
        store.read("a")


def test_a_store_of_a_newer_version_is_left_alone(where):
    store = Store.open(where, create=True)
    with connected(store.engine, writes=True) as connection:
        connection.execute(sa.text("UPDATE serendip_schema SET version_num = '9999'"))
    with pytest.raises(StoreFailed, match="newer serendip"):
        Store.open(where)


def test_opening_again_changes_nothing(where):
    first = Store.open(where, create=True)
    second = Store.open(where)
    with connected(second.engine, writes=False) as connection:
        found = connection.execute(sa.text("SELECT version_num FROM serendip_schema")).scalar()
    assert found == HEAD
    assert first.campaigns() == ()


# --- SQLite files --------------------------------------------------------------------------------


@pytest.fixture(name="file")
def _file(folder):
    path = folder / "serendip.db"
    store = Store.open(path, create=True)
    store.create("a", CREATED)
    store.append("a", [Told("bob", "now", f"item {place}", place / 7) for place in range(200)], 1)
    return path


def test_sqlite_is_durable(file):
    with sqlite3.connect(file) as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with connected(Store.open(file).engine, writes=False) as connection:
        pragmas = {
            name: connection.execute(sa.text(f"PRAGMA {name}")).scalar()
            for name in ("synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_copy_is_refused(file, share):
    copy = file.with_name("copy.db")
    shutil.copy(file, copy)
    os.truncate(copy, int(share * file.stat().st_size))
    with pytest.raises((StoreFailed, NoSuchCampaign)) as caught:
        Store.open(copy).read("a")
    assert "Traceback" not in str(caught.value)
    assert len(Store.open(file).read("a")[0]) == 201


def test_files_that_are_no_stores_are_refused(folder):
    (folder / "notes.db").write_text("not a database, but long enough to look at " * 40)
    with pytest.raises(StoreDamaged, match="not a store"):
        Store.open("notes.db")
    with sqlite3.connect("other.db") as plain:
        plain.execute("CREATE TABLE cats (name TEXT)")
    plain.close()
    with pytest.raises(StoreDamaged, match="something else"):
        Store.open("other.db")
    with pytest.raises(StoreFailed, match="folder"):
        Store.open(folder)
    with pytest.raises(NoSuchCampaign, match="serendip init"):
        Store.open("missing.db")
    with pytest.raises(StoreFailed, match="could not be opened"):
        Store.open("no/such/folder/x.db", create=True)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://u@h/d", "mysql"),
        ("sqlite://", "memory"),
        ("://", "URL"),
        ("postgresql://u:secret@nowhere.invalid:1/d", "nowhere.invalid"),
    ],
)
def test_bad_addresses_are_refused_without_showing_passwords(folder, url, words):
    with pytest.raises((InvalidInput, StoreFailed), match=words) as caught:
        Store.open(url)
    assert "secret" not in str(caught.value)


def test_text_that_is_none_in_an_old_log_is_written_out(where):
    """Bytes that no page or table can show were taken once; files are still found by them."""
    store = Store.open(where, create=True)
    odd = FileRef("/data/p\udcff.csv", "p\udcff.csv", "ab" * 32)
    settings = {"budget": 9, "label": "yi\udcffeld", "pool": "p\udcff.csv", "ignore": ["\ud83e"]}
    store.create("a", Created("ann\udcff", "now", settings, odd, 20))
    store.append("a", [Told("bo\x07b", "now", "x", 1.0), Told("🧪", "now", "y\n", 1.0)], after=1)
    created, told, fine = (entry.event for entry in store.read("a")[0])
    assert (created.who, told.who, fine.who, fine.item) == (r"ann\udcff", r"bo\x07b", "🧪", "y\n")
    assert created.settings["label"] == r"yi\udcffeld"
    assert list(created.settings["ignore"]) == [r"\ud83e"]
    assert (created.pool, created.settings["pool"]) == (odd, "p\udcff.csv")
