"""Many asks at once: disjoint shares, races, repetitions, and what is left."""

import threading
from collections import Counter

import pytest

from campaigns.screens import settings, write_pool
from serendip.campaigns import Campaign, asking
from serendip.campaigns.asking import Ask, ask_all
from serendip.campaigns.errors import KeyTaken, NothingLeft, StaleCampaign
from serendip.campaigns.log.chronicle import Answer
from serendip.campaigns.log.events import Asked
from serendip.campaigns.log.requests import Request
from serendip.core.errors import InvalidInput


@pytest.fixture(name="campaign")
def _campaign(folder):
    write_pool(n=30)
    return Campaign.create(settings(budget=12), "serendip.db")


def proposed(campaign):
    events = [entry.event for entry in Campaign.open("screen", campaign.store).log]
    return [one.item for event in events if isinstance(event, Asked) for one in event.proposals]


def test_each_ask_gets_its_own_and_is_a_command_of_its_own(campaign):
    answers = ask_all(campaign, [Ask("ann", 2), Ask("bob", 1), Ask("eve", 3)])
    assert [len(one.outcome) for one in answers] == [2, 1, 3]
    items = [item for one in answers for item in one.outcome]
    assert len(set(items)) == 6
    assert items == proposed(campaign) == list(campaign.state.pending)
    assert [(e.command, e.event.who) for e in campaign.log[1:]] == [
        (2, "ann"),
        (3, "bob"),
        (4, "eve"),
    ]
    assert campaign.proposed(answers[1].version)["code"].tolist() == answers[1].outcome
    campaign.undo()  # the last command alone
    assert list(campaign.state.pending) == items[:3]


def test_together_they_get_what_one_ask_would_have_got(folder):
    for name in ("one", "many"):
        write_pool(f"{name}.csv", n=30)
        Campaign.create(settings(name=name, pool=f"{name}.csv", budget=12), "serendip.db")
    one, many = Campaign.open("one"), Campaign.open("many")
    together = ask_all(many, [Ask("ann", 2), Ask("bob", 2)])
    alone = one.ask(4)["code"].tolist()
    assert [item for answer in together for item in answer.outcome] == alone


def test_fewer_come_where_less_is_left_and_the_last_get_nothing(campaign):
    answers = ask_all(campaign, [Ask("ann", 10), Ask("bob", 5), Ask("eve", 1)])
    assert [len(one.outcome) for one in answers[:2]] == [10, 2]
    assert isinstance(answers[2], NothingLeft)
    assert "pending" in str(answers[2])


def test_failed_candidates_come_again_only_to_those_who_ask(campaign):
    campaign.rebudget(30)
    first = campaign.ask(2)["code"].tolist()
    for item in first:
        campaign.fail(item)
    campaign.tell({f"c{k:03d}": 1.0 for k in range(30) if f"c{k:03d}" not in first})
    campaign.rebudget(32)
    plain, again = ask_all(campaign, [Ask("ann", 2), Ask("bob", 2, retry_failed=True)])
    assert isinstance(plain, NothingLeft)
    assert sorted(again.outcome) == sorted(first)


def test_results_of_others_do_not_make_an_ask_start_again(campaign, monkeypatch):
    """What was computed stands as long as all of it is free."""
    waiting = campaign.ask(2)["code"].tolist()
    plain, rounds = asking.proposals, []

    def slow(*args):
        rounds.append(1)
        made = plain(*args)
        Campaign.open("screen").tell({waiting[len(rounds) - 1]: 0.5})
        return made

    monkeypatch.setattr(asking, "proposals", slow)
    (answer,) = ask_all(campaign, [Ask("ann", 3)])
    assert len(rounds) == 1
    assert len(answer.outcome) == 3
    kinds = [type(entry.event).__name__ for entry in campaign.log]
    assert kinds == ["Created", "Asked", "Told", "Asked"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_candidate_that_was_taken_meanwhile_is_not_proposed_twice(campaign, monkeypatch, times):
    """An ask that was overtaken computes again; in the end the others wait for it."""
    plain, rounds = asking.proposals, []

    def overtaken(*args):
        rounds.append(1)
        if len(rounds) <= times:
            monkeypatch.setattr(asking, "proposals", plain)
            Campaign.open("screen").ask(2)
            monkeypatch.setattr(asking, "proposals", overtaken)
        return plain(*args)

    monkeypatch.setattr(asking, "proposals", overtaken)
    (answer,) = ask_all(campaign, [Ask("ann", 3)])
    assert len(rounds) == times + 1
    assert len(answer.outcome) == 3
    items = proposed(campaign)
    assert len(items) == len(set(items)) == 3 + 2 * times


def test_who_would_exceed_the_budget_after_a_race_computes_again(campaign, monkeypatch):
    plain, rounds = asking.proposals, []

    def raced(*args):
        rounds.append(1)
        if len(rounds) == 1:
            Campaign.open("screen").rebudget(4)
        return plain(*args)

    monkeypatch.setattr(asking, "proposals", raced)
    (answer,) = ask_all(campaign, [Ask("ann", 8)])
    assert len(rounds) == 2
    assert len(answer.outcome) == 4


def test_repeated_asks_get_what_they_got(campaign):
    request = Request.of("k1", "ask", 2, False)
    first, other = ask_all(campaign, [Ask("ann", 2, request=request), Ask("bob", 1)])
    again, more = ask_all(campaign, [Ask("ann", 2, request=request), Ask("bob", 1)])
    assert again == first
    assert not set(more.outcome) & {*first.outcome, *other.outcome}
    assert len(proposed(campaign)) == 4
    (wrong,) = ask_all(campaign, [Ask("ann", 1, request=Request.of("k1", "ask", 1, False))])
    assert isinstance(wrong, KeyTaken)


def test_the_same_key_twice_at_once_is_one_ask(campaign):
    request = Request.of("k1", "ask", 12, False)
    answers = ask_all(campaign, [Ask("ann", 12, request=request)] * 2)
    assert answers[0] == answers[1]
    assert isinstance(answers[0], Answer)
    assert len(proposed(campaign)) == 12


def test_a_repetition_is_answered_though_nothing_is_left(campaign):
    request = Request.of("k1", "ask", 12, False)
    (first,) = ask_all(campaign, [Ask("ann", 12, request=request)])
    answers = ask_all(campaign, [Ask("bob", 1), Ask("ann", 12, request=request)])
    assert isinstance(answers[0], NothingLeft)
    assert answers[1] == first


def test_a_repetition_that_another_process_records_meanwhile_is_no_accident(campaign, monkeypatch):
    """Its share is not needed any more; who has none then is told to ask again."""
    request = Request.of("k1", "ask", 6, False)
    real = campaign.store.answered
    monkeypatch.setattr(type(campaign.store), "answered", lambda *_: {})
    ask_all(Campaign.open("screen"), [Ask("ann", 6, request=request)])
    with pytest.raises(StaleCampaign, match="ask again"):
        ask_all(campaign, [Ask("ann", 6, request=request), Ask("bob", 6), Ask("eve", 1)])
    monkeypatch.setattr(type(campaign.store), "answered", lambda _, *args: real(*args))
    answers = ask_all(campaign, [Ask("ann", 6, request=request), Ask("bob", 6), Ask("eve", 1)])
    assert [type(one).__name__ for one in answers] == ["Answer", "Answer", "NothingLeft"]
    assert len(proposed(campaign)) == 12


def test_asking_for_nothing_is_refused():
    with pytest.raises(InvalidInput, match="at least one"):
        Ask("ann", 0)


def test_threads_that_ask_at_once_share_nothing(where):
    write_pool(n=60)
    Campaign.create(settings(budget=50), where)
    got, problems = [], []

    def work(who):
        try:
            mine = Campaign.open("screen", where, who)
            for _ in range(3):
                got.extend(mine.ask(2)["code"].tolist())
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(f"w{k}",)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not problems
    assert len(got) == 24
    assert max(Counter(got).values()) == 1
