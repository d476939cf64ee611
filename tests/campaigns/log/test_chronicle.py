"""Commands recorded together, news taken in as they come, keys that make repeating safe."""

import random
import sqlite3
from contextlib import suppress

import pytest
import sqlalchemy as sa

from campaigns.screens import settings, write_pool
from serendip.campaigns import Campaign, Store
from serendip.campaigns.deeds import rebudgeted
from serendip.campaigns.errors import KeyTaken
from serendip.campaigns.intake.results import decide
from serendip.campaigns.log.chronicle import Answer, Chronicle, Command, record
from serendip.campaigns.log.engine import connected
from serendip.campaigns.log.events import Failed
from serendip.campaigns.log.requests import Request
from serendip.campaigns.log.schema import HEAD
from serendip.campaigns.log.state import Fold, replay
from serendip.core.errors import AlreadyLabelled, SerendipError


def told(campaign, results, key=None, correct=False):
    """A command that tells, as the server makes them."""
    outcomes = campaign.outcomes(results)

    def decision(found):
        made = decide(found.state, outcomes, "ann", "now", correct)
        return made.events, {"events": len(made.events), "repeats": list(made.repeats)}

    request = None if key is None else Request.of(key, "tell", outcomes, correct)
    return Command(decision, request)


@pytest.fixture(name="campaign")
def _campaign(where):
    write_pool(n=30)
    return Campaign.create(settings(budget=20), where)


def test_news_taken_in_one_by_one_give_what_a_replay_gives(folder):
    """The judge is the replay of the whole log, after every event."""
    write_pool(n=30)
    campaign = Campaign.create(settings(budget=25), "serendip.db")
    luck = random.Random(4)
    for turn in range(60):
        item = f"c{luck.randrange(30):03d}"
        deeds = {
            "ask": lambda: campaign.ask(1, retry_failed=True),
            "tell": lambda item=item, turn=turn: campaign.tell({item: turn / 60}, correct=True),
            "fail": lambda item=item: campaign.fail(item),
            "exclude": lambda item=item: campaign.exclude(item),
            "undo": lambda: campaign.undo(),
            "budget": lambda: campaign.rebudget(luck.randrange(20, 28)),
        }
        name = luck.choices(list(deeds), weights=[5, 5, 3, 1, 3, 1])[0]
        with suppress(SerendipError):  # many are refused; what matters is the log
            deeds[name]()
    log = campaign.log
    kinds = {type(entry.event).__name__ for entry in log}
    assert {"Asked", "Told", "Failed", "Undone", "Withdrawn", "Corrected"} <= kinds
    fold = Fold(log[:1])
    for size in range(2, len(log) + 1):
        fold = fold.after(log[:size], 1)
        assert fold.state() == replay(log[:size])
    in_threes = Fold(log[:1])
    for start in range(1, len(log), 3):
        part = log[: start + 3]
        in_threes = in_threes.after(part, len(part) - start)
    assert in_threes.state() == replay(log) == campaign.state


def test_commands_in_one_transaction_see_each_other_and_fail_alone(campaign):
    answers = campaign.record(
        lambda _: [
            told(campaign, {"c001": 0.5, "c002": 0.25}),
            told(campaign, {"c001": 0.75}),  # contradicts the first
            told(campaign, {"c003": 0.1, "c004": "failed"}),
            told(campaign, {"c002": 0.25}),  # repeats the first
        ]
    )
    assert answers[0] == Answer(3, {"events": 2, "repeats": []})
    assert isinstance(answers[1], AlreadyLabelled)
    assert answers[2] == Answer(5, {"events": 2, "repeats": []})
    assert answers[3] == Answer(5, {"events": 0, "repeats": ["c002"]})
    again = Campaign.open("screen", campaign.store)
    assert again.log == campaign.log
    assert [entry.command for entry in again.log] == [1, 2, 2, 4, 4]
    assert set(again.state.results) == {"c001", "c002", "c003"}


def test_an_unexpected_error_leaves_nothing_behind(campaign):
    def breaks(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        campaign.record(lambda _: [told(campaign, {"c001": 0.5}, "k"), Command(breaks)])
    assert len(Campaign.open("screen", campaign.store).log) == 1
    assert campaign.store.answered("screen", ["k"]) == {}
    assert campaign.state.results == {}


def test_a_repeated_key_gets_the_first_answer_and_changes_nothing(campaign, where):
    first = campaign.record(lambda _: [told(campaign, {"c001": 0.5}, "key-1")])
    campaign.tell({"c002": 0.5})
    other = Campaign.open("screen", where)  # another process, or after a restart
    again = other.record(lambda _: [told(other, {"c001": 0.5}, "key-1")])
    assert again == first == [Answer(2, {"events": 1, "repeats": []})]
    assert len(Campaign.open("screen", where).log) == 3
    assert set(other.store.answered("screen", ["key-1", "key-2"])) == {"key-1"}


def test_a_key_stands_for_one_command(campaign):
    campaign.record(lambda _: [told(campaign, {"c001": 0.5}, "key-1")])
    (answer,) = campaign.record(lambda _: [told(campaign, {"c002": 0.5}, "key-1")])
    assert isinstance(answer, KeyTaken)
    assert "new key" in str(answer)
    (answer,) = campaign.record(lambda _: [told(campaign, {"c001": 0.5}, "key-1", correct=True)])
    assert isinstance(answer, KeyTaken)
    assert len(campaign.log) == 2


def test_the_same_key_twice_in_one_transaction_counts_once(campaign):
    twice = [told(campaign, {"c001": 0.5}, "k"), told(campaign, {"c001": 0.5}, "k")]
    answers = campaign.record(lambda _: twice)
    assert answers[0] == answers[1]
    assert len(campaign.log) == 2


def test_a_refused_command_does_not_take_its_key(campaign):
    campaign.tell({"c001": 0.5})
    (answer,) = campaign.record(lambda _: [told(campaign, {"c001": 0.75}, "k")])
    assert isinstance(answer, AlreadyLabelled)
    (answer,) = campaign.record(lambda _: [told(campaign, {"c001": 0.75}, "k", correct=True)])
    assert isinstance(answer, Answer)
    assert campaign.state.results["c001"].value == 0.75


def test_keys_of_campaigns_do_not_mix(campaign, where):
    write_pool("other.csv", n=30)
    other = Campaign.create(settings(name="other", pool="other.csv", budget=20), where)
    campaign.record(lambda _: [told(campaign, {"c001": 0.5}, "k")])
    (answer,) = other.record(lambda _: [told(other, {"c002": 0.5}, "k")])
    assert answer.version == 2
    assert list(other.state.results) == ["c002"]


def test_commands_are_decided_on_what_others_wrote_meanwhile(campaign, where):
    Campaign.open("screen", where).rebudget(15)
    command = Command(lambda found: ([rebudgeted(found.state, 16, "ann", "now")], found.state))
    (answer,) = campaign.record(lambda _: [command])
    assert answer.outcome.budget == 15
    assert campaign.state.budget == 16


def test_a_chronicle_is_a_value(campaign):
    before = campaign.chronicle
    after, _ = record(
        campaign.store,
        "screen",
        before,
        lambda _: [Command(lambda found: ([Failed("ann", "now", "c001")], None))],
    )
    assert (len(before.log), len(after.log)) == (1, 2)
    assert before.state.failed == ()
    assert after.state.failed == ("c001",)
    assert Chronicle.read(campaign.store, "screen").state == after.state
    assert before.refreshed(campaign.store, "screen").state == after.state


def test_stores_from_before_keys_are_brought_up_to_date(where):
    write_pool(n=30)
    campaign = Campaign.create(settings(budget=20), where)
    campaign.tell({"c001": 0.5})
    with connected(campaign.store.engine, writes=True) as connection:  # as version 0001 was
        connection.execute(sa.text("DROP TABLE serendip_requests"))
        connection.execute(sa.text("UPDATE serendip_schema SET version_num = '0001'"))
    store = Store.open(where)
    with connected(store.engine, writes=False) as connection:
        found = connection.execute(sa.text("SELECT version_num FROM serendip_schema")).scalar()
    assert found == HEAD
    again = Campaign.open("screen", store)
    assert again.log == campaign.log
    again.record(lambda _: [told(again, {"c002": 0.5}, "k")])
    assert set(store.answered("screen", ["k"])) == {"k"}


def test_keys_and_events_go_to_the_disk_together(folder):
    """A trigger that refuses the key takes the events with it."""
    write_pool(n=30)
    campaign = Campaign.create(settings(budget=20), "serendip.db")
    with sqlite3.connect("serendip.db") as plain:
        plain.execute(
            "CREATE TRIGGER no BEFORE INSERT ON serendip_requests "
            "BEGIN SELECT RAISE(ABORT, 'no keys today'); END"
        )
    plain.close()
    with pytest.raises(Exception, match="no keys today"):
        campaign.record(lambda _: [told(campaign, {"c001": 0.5}, "k")])
    assert len(Campaign.open("screen").log) == 1
    assert len(campaign.log) == 1
