"""Commands sent again: the same command has the same digest, and what was taken back is redone."""

import hashlib
import json

import pytest

from campaigns.screens import settings, write_pool
from serendip.campaigns.asking import Ask, ask_all
from serendip.campaigns.campaign import Campaign
from serendip.campaigns.deeds import rebudgeted
from serendip.campaigns.errors import KeyTaken
from serendip.campaigns.intake.results import Outcome, decide
from serendip.campaigns.log.chronicle import Answer, Command, one_of
from serendip.campaigns.log.events import KnownLabel
from serendip.campaigns.log.requests import Request
from serendip.campaigns.log.store import Remembered

OUTCOMES = (
    Outcome("c001", 1.5),
    Outcome("c'2", None, where='row 3 of "a"'),
    Outcome("c003", None, excluded=True),
    Outcome("Ω", -2.0, side=(KnownLabel("c005", 1.0),)),
    Outcome("c004", 1e-300, side=(KnownLabel("c006", 0.1), KnownLabel("c007", 0.0))),
)
CANONICAL = (
    '{"command":"tell","correct":true,"results":[["c001",1.5],["c\'2","failed"],'
    '["c003","excluded"],["\\u03a9",-2.0,[["c005",1.0]]],'
    '["c004",1e-300,[["c006",0.1],["c007",0.0]]]]}'
)
FIRST_RULE = "b7545be9083d402967311fa529467f340b377c48c7be9fddc3c3eacd975b1536"
"""What the code of the first stores made of these outcomes."""


def told(campaign, results, key, correct=False):
    outcomes = campaign.outcomes(results)

    def decision(found):
        made = decide(found.state, outcomes, "ann", "now", correct)
        return made.events, {"measured": len(made.events), "repeats": list(made.repeats)}

    return Command(decision, Request.of(key, "tell", outcomes, correct))


def send(campaign, *arguments, **more):
    return one_of(campaign.record(lambda _: [told(campaign, *arguments, **more)]))


@pytest.fixture(name="campaign")
def _campaign(where):
    write_pool(n=30)
    return Campaign.create(settings(budget=20, model="linear"), where)


def test_a_digest_is_of_canonical_json_and_has_a_number():
    wanted = "2:" + hashlib.sha256(CANONICAL.encode()).hexdigest()
    assert Request.of("k", "tell", OUTCOMES, True).digest == wanted
    assert Request.of("k", "tell", list(OUTCOMES), True).digest == wanted
    budget = json.dumps({"budget": 9, "command": "budget"}, separators=(",", ":"))
    wanted = "2:" + hashlib.sha256(budget.encode()).hexdigest()
    assert Request.of("k", "budget", 9).digest == wanted


def test_where_a_result_was_written_is_no_part_of_the_command():
    mine, theirs = (Outcome("c001", 1.5, where=f"row {row}") for row in (2, 9))
    digests = {Request.of("k", "tell", (one,), False).digest for one in (mine, theirs)}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("command", "said", "digest"),
    [
        ("tell", (OUTCOMES, True), FIRST_RULE),
        ("ask", (4, False), "1afd5bc8e67dbf02a0b09572813d26d16a78b409407064dad4150546c7e3915f"),
        ("undo", (None, 7), "2cb16280da5842bc6887f918c91d29a553beec3c7d31454545d44402cb9c0822"),
        ("budget", (12,), "8355e4b5540f57b04914b53634699702560441cdcaca18825e18a85c461d9c5c"),
    ],
)
def test_digests_of_the_first_rule_are_still_understood(command, said, digest):
    Request.of("k", command, *said).check(Remembered(digest, 2, None))
    other = Request.of("k", "budget", 13)
    with pytest.raises(KeyTaken, match="another request"):
        other.check(Remembered(digest, 2, None))


def test_a_tell_that_was_undone_is_no_repeat(campaign, where):
    first = send(campaign, {"c001": 0.5}, "k")
    assert first == Answer(2, {"measured": 1, "repeats": []})
    assert send(campaign, {"c001": 0.5}, "k") == first
    campaign.undo()
    assert "c001" not in campaign.state.results
    again = send(campaign, {"c001": 0.5}, "k")
    assert again == Answer(4, {"measured": 1, "repeats": []})
    assert campaign.state.results["c001"].value == 0.5
    other = Campaign.open("screen", where)  # remembered, in the place of the first
    assert send(other, {"c001": 0.5}, "k") == again
    assert len(other.log) == 4
    with pytest.raises(KeyTaken):
        send(other, {"c001": 0.75}, "k")


def test_of_a_tell_undone_in_part_the_rest_is_told_again(campaign):
    both = {"c001": 0.5, "c002": 0.25}
    send(campaign, both, "k")
    campaign.undo(item="c002")
    again = send(campaign, both, "k")
    assert again.outcome == {"measured": 1, "repeats": ["c001"]}
    assert set(campaign.state.results) == {"c001", "c002"}
    campaign.undo(item="c001")  # which the second time had only repeated
    assert send(campaign, both, "k").outcome == {"measured": 1, "repeats": ["c002"]}
    assert set(campaign.state.results) == {"c001", "c002"}


def test_a_tell_that_only_repeated_is_told_once_the_first_is_undone(campaign):
    campaign.tell({"c001": 0.5})
    campaign.tell({"c009": 0.1})
    assert send(campaign, {"c001": 0.5}, "k").outcome == {"measured": 0, "repeats": ["c001"]}
    assert send(campaign, {"c001": 0.5}, "k").outcome == {"measured": 0, "repeats": ["c001"]}
    campaign.undo(item="c001")
    assert send(campaign, {"c001": 0.5}, "k").outcome == {"measured": 1, "repeats": []}
    assert campaign.state.results["c001"].value == 0.5


def test_a_correction_by_others_does_not_make_it_new(campaign):
    first = send(campaign, {"c001": 0.5}, "k")
    campaign.tell({"c001": 0.75}, correct=True)
    assert send(campaign, {"c001": 0.5}, "k") == first
    assert campaign.state.results["c001"].value == 0.75


def test_both_in_one_transaction(campaign):
    """Told, taken back and told again before anything is written."""
    from serendip.campaigns.undoing import taken_back

    def back(found):
        events, words = taken_back(found.log, found.state, "ann", "now")
        return events, list(words)

    tell = told(campaign, {"c001": 0.5}, "k")
    answers = campaign.record(lambda _: [tell, Command(back), tell, tell])
    assert [one.version for one in answers] == [2, 3, 4, 4]
    assert campaign.store.answered("screen", ["k"])["k"].version == 4


def test_an_undo_is_never_new(campaign):
    campaign.tell({"c001": 0.5})
    campaign.tell({"c002": 0.5})
    from serendip.campaigns.undoing import taken_back

    def back(found):
        events, words = taken_back(found.log, found.state, "ann", "now")
        return events, list(words)

    command = Command(back, Request.of("k", "undo", None, None))
    first = one_of(campaign.record(lambda _: [command]))
    assert one_of(campaign.record(lambda _: [command])) == first
    assert set(campaign.state.results) == {"c001"}


def test_a_budget_that_was_undone_is_given_again(campaign):
    command = Command(
        lambda found: ([rebudgeted(found.state, 25, "ann", "now")], None),
        Request.of("k", "budget", 25),
    )
    campaign.record(lambda _: [command])
    campaign.undo()
    assert campaign.state.budget == 20
    campaign.record(lambda _: [command])
    assert campaign.state.budget == 25
    campaign.record(lambda _: [command])
    assert len(campaign.log) == 4


def test_an_ask_that_was_taken_back_is_asked_again(campaign):
    ask = Ask("ann", 3, request=Request.of("k", "ask", 3, False))
    first = one_of(ask_all(campaign, [ask]))
    assert one_of(ask_all(campaign, [ask])) == first
    campaign.undo(item=first.outcome[0])
    assert one_of(ask_all(campaign, [ask])) == first  # two of the three still wait
    campaign.tell({first.outcome[1]: 0.5})
    campaign.undo(item=first.outcome[2])
    assert one_of(ask_all(campaign, [ask])) == first  # one was measured
    campaign.undo(item=first.outcome[1])  # which now waits
    assert one_of(ask_all(campaign, [ask])) == first
    campaign.undo(item=first.outcome[1])
    assert not campaign.state.pending
    again = one_of(ask_all(campaign, [ask]))
    assert again.version == len(campaign.log) > first.version
    assert list(campaign.state.pending) == again.outcome
    assert len(again.outcome) == 3
    assert one_of(ask_all(campaign, [ask])) == again
