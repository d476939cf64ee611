"""What is said of a forecast: a verdict only where the whole interval says the same."""

from dataclasses import replace

import pytest

from campaigns.analysis.test_view import small_view
from serendip.campaigns.analysis.advice import Prospects, advice
from serendip.campaigns.analysis.view import LabelMap

CHANCE = "That is hardly better than chance: consider stopping."
MAYBE_CHANCE = "Whether that is better than chance is not clear yet."
FOUND = "The best seem to be found: go on if such results are worth their cost."
MAYBE_FOUND = "Whether the best are found is not clear yet."
ON = "It pays to go on."


def verdict(view, edge, give):
    """What is said where results so far are 1 above random ones, and those to come `edge`."""
    sign = 1.0 if view.labels.factor > 0 else -1.0
    at_random = float(view.measured_values.mean()) - sign
    ahead = Prospects(n_next=10, each=at_random + sign * edge, give=give, at_random=at_random)
    return advice(view, ahead, spent=False).rpartition("so far. ")[2]


@pytest.mark.parametrize("labels", [LabelMap(), LabelMap(0.0, -1.0)], ids=["larger", "smaller"])
@pytest.mark.parametrize(
    ("edge", "give", "said"),
    [
        (0.05, 0.1, CHANCE),
        (0.05, 0.44, CHANCE),
        (0.05, 0.46, MAYBE_CHANCE),
        (-0.5, 0.9, CHANCE),
        (-0.5, 1.1, MAYBE_CHANCE),
        (0.3, 0.1, FOUND),
        (0.3, 0.3, MAYBE_FOUND),
        (0.49, 0.1, MAYBE_FOUND),
        (0.51, 0.0, ON),
        (0.9, 5.0, ON),
    ],
)
def test_a_verdict_needs_the_whole_interval(labels, edge, give, said):
    assert verdict(small_view(labels=labels), edge, give) == said


def test_of_random_choice_it_is_certain_that_it_is_no_better_than_chance():
    assert verdict(small_view(policy="random"), 0.0, 5.0) == CHANCE


def test_figures_are_said_first_and_of_few_results_nothing_more():
    ahead = Prospects(n_next=1, each=2.5, give=0.1, at_random=1.0)
    view = small_view()
    found = advice(view, ahead, spent=True)
    facts = "One more experiment is expected to bring 2.5 each, against 1 at random"
    assert found.startswith(f"The budget is spent. {facts} and ")
    few = replace(view, posterior=replace(view.posterior, n_labels=3))
    assert advice(few, ahead, spent=False).endswith("With so few results this says little yet.")
    nothing = Prospects(n_next=0, each=0.0, give=0.0, at_random=0.0)
    assert "nothing left to choose from" in advice(view, nothing, spent=False)
