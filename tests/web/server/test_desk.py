"""Opened campaigns in the server: news of others, waiting writers, stores that were put back."""

import asyncio
import shutil
import threading
import time

import pytest

from campaigns.screens import settings, write_pool
from serendip.campaigns import Campaign, Store
from serendip.campaigns.errors import NoSuchCampaign
from serendip.campaigns.log.chronicle import Command
from serendip.campaigns.log.events import Failed
from serendip.core.errors import InvalidInput
from serendip.web.api.wording import in_words_of_the_api
from serendip.web.server.desk import Desk
from serendip.web.server.service import Campaigns
from serendip.web.server.settings import ServeSettings
from web.loops import run


@pytest.fixture(name="store")
def _store(where):
    write_pool(n=30)
    Campaign.create(settings(budget=20), where)
    store = Store.open(where, resident=True)
    yield store
    store.engine.dispose()


def failed(item):
    return Command(lambda found: ([Failed("ann", "now", item)], found.state.version))


def test_every_look_finds_what_others_wrote(store, where):
    desk = Desk(store, "screen")
    assert desk.chronicle().state.version == 1
    Campaign.open("screen", where).tell({"c001": 0.5})
    assert desk.chronicle(1).state.version == 1  # somebody who knows better need not ask
    assert desk.chronicle(2).state.version == 2
    Campaign.open("screen", where).tell({"c002": 0.5})
    (answer,) = desk.record([failed("c003")])
    assert (answer.version, answer.outcome) == (4, 3)
    assert desk.chronicle(4).state.failed == ("c003",)


def test_readers_do_not_wait_for_a_writer_that_waits(store, where):
    """Another process holds the campaign; results wait, looking does not."""
    desk, inside, leave = Desk(store, "screen"), threading.Event(), threading.Event()

    def hold(held):
        inside.set()
        leave.wait(60)

    holder = threading.Thread(target=lambda: Store.open(where).holding("screen", hold))
    holder.start()
    inside.wait(60)
    writer = threading.Thread(target=lambda: desk.record([failed("c003")]))
    writer.start()
    time.sleep(0.2)
    assert desk.chronicle().state.version == 1
    assert writer.is_alive()
    leave.set()
    writer.join(60)
    holder.join(60)
    assert desk.chronicle().state.version == 2


def test_a_store_that_was_put_back_is_read_again(folder):
    write_pool(n=30)
    Campaign.create(settings(budget=20), "serendip.db").tell({"c001": 0.5})
    shutil.copy("serendip.db", "backup.db")
    desk = Desk(Store.open("serendip.db"), "screen")
    desk.record([failed("c002"), failed("c003")])
    assert desk.chronicle().state.version == 4
    shutil.copy("backup.db", "serendip.db")  # nobody has it open: nothing else is beside it
    assert desk.chronicle().state.version == 2
    (answer,) = desk.record([failed("c004")])
    assert answer.version == 3
    shutil.copy("backup.db", "serendip.db")
    (answer,) = desk.record([failed("c005")])
    assert answer.version == 3
    assert Campaign.open("screen").state.failed == ("c005",)


def test_the_service_refuses_what_is_not_there_and_what_does_not_fit(folder):
    write_pool(n=30)
    Campaign.create(settings(budget=20), "serendip.db")

    async def main():
        service = Campaigns(ServeSettings(store="serendip.db"))
        try:
            for action in (service.read("no"), service.ask("no"), service.tell("no", {"a": 1})):
                with pytest.raises(NoSuchCampaign):
                    await action
            with pytest.raises(InvalidInput, match="tables"):
                await service.table("screen", "nosuch")
            mixed = await asyncio.gather(
                service.tell("screen", {"c001": 1.0}),
                service.tell("screen", {"nosuch": 1.0}),
                service.tell("screen", {"c002": "hot"}),
                service.tell("screen", {"c003": 3.0}),
                return_exceptions=True,
            )
            assert [type(one).__name__ for one in mixed] == [
                "Told", "InvalidInput", "InvalidInput", "Told",
            ]  # fmt: skip
            assert (await service.table("screen", "results"))["code"].tolist() == ["c001", "c003"]
            assert len(await service.table("screen", "events")) == 3
            (status,) = await service.overview()
            assert status.total == 4.0
        finally:
            service.close()

    run(main())


def test_many_campaigns_may_be_open_without_end(folder, monkeypatch):
    """Those used last stay open; the others are opened again when they are wanted."""
    from serendip.web.server import opened

    monkeypatch.setattr(opened, "_MOST", 2)
    write_pool(n=30)
    for place in range(4):
        Campaign.create(settings(name=f"c{place}", budget=20), "serendip.db")

    async def main():
        service = Campaigns(ServeSettings(store="serendip.db"))
        try:
            for place in (0, 1, 2, 3, 0):
                await service.tell(f"c{place}", {"c001": 1.0})
            return [one.measured for one in await service.overview()]
        finally:
            service.close()

    assert run(main()) == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("command", "api"),
    [
        ("name it as --id note or --ignore note.", "name it as id note or ignore note."),
        ("add --correct if the new one is right", "add correct if the new one is right"),
        ("with `serendip undo NAME --item a b`.", "with POST undo and item a b."),
        ("with the results so far as --prior-data.", "with the results so far as prior_data."),
        ("needs --rows and --columns, the two", "needs rows_column and columns_column, the two"),
        ("no candidate '--x'; a--b", "no candidate '--x'; a--b"),
    ],
)
def test_sentences_speak_of_fields(command, api):
    assert in_words_of_the_api(command) == api
