"""Results as typed: each is judged on its own, and agrees with what `tell` would do."""

import pandas as pd
import pytest

from campaigns.screens import settings, write_pool
from serendip.campaigns import Campaign
from serendip.campaigns.intake.entries import candidate_named, objections
from serendip.core.errors import InvalidInput


@pytest.fixture(name="campaign")
def _campaign(folder):
    write_pool()
    made = Campaign.create(settings(range=(-5, 5)), "s.db", "ann")
    made.tell({"c001": 1.5})
    return made


def judged(campaign, entries, correct=False):
    return objections(
        entries, campaign.settings, campaign.candidates, campaign.state, correct=correct
    )


ENTRIES = {
    "c002": "2,5",
    "c003": "about two",
    "c004": "99",
    "c005": "failed",
    "c006": "",
    "c001": "1.5",
    "c999": "1",
}


def test_only_what_cannot_be_recorded_is_objected_to(campaign):
    found = judged(campaign, ENTRIES)
    assert set(found) == {"c003", "c004", "c999"}
    assert "must be a number" in found["c003"].says
    assert "outside the declared range" in found["c004"].says


@pytest.mark.parametrize("item", ENTRIES)
@pytest.mark.parametrize("correct", [False, True])
def test_objections_agree_with_telling(campaign, item, correct):
    entry = {item: ENTRIES[item]}
    refused = bool(judged(campaign, entry, correct))
    try:
        campaign.tell(entry, correct)
        told = True
    except InvalidInput:
        told = False
    assert refused is not told


def test_a_contradiction_says_who_told_what_and_may_replace_it(campaign):
    found = judged(campaign, {"c001": "2"})["c001"]
    assert found.old == "1.5"
    assert "ann told 1.5" in found.says
    assert judged(campaign, {"c001": "2"}, correct=True) == {}
    failed = judged(campaign, {"c001": "failed"}, correct=True)["c001"]
    assert failed.old == ""
    assert "take that back first" in failed.says


def test_labels_from_before_stay(folder):
    write_pool()
    frame = pd.read_csv("pool.csv").assign(**{"yield": None})
    frame.loc[3, "yield"] = 0.7
    frame.to_csv("pool.csv", index=False)
    campaign = Campaign.create(settings(), "s.db")
    assert "cannot be changed" in judged(campaign, {"c003": "0.9"}, correct=True)["c003"].says
    assert judged(campaign, {"c003": "0.7"}) == {}


def test_candidates_are_found_or_guessed(campaign):
    assert candidate_named(" c007 ", campaign.candidates) == "c007"
    with pytest.raises(InvalidInput, match="Did you mean"):
        candidate_named("c07", campaign.candidates)
    with pytest.raises(InvalidInput, match="which candidate"):
        candidate_named("  ", campaign.candidates)
