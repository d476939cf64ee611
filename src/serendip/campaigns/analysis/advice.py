"""Whether to go on, in words, from the figures of a forecast and how uncertain they are."""

from dataclasses import dataclass

from serendip.campaigns.analysis.view import CampaignView, shown

_LIKE_CHANCE = 0.1
"""Of what results so far are above random ones: an edge of no more is hardly better than chance."""
_HALF = 0.5
"""Likewise: an edge that is surely below has passed its best."""
_FEW = 3
"""Labels that say little."""


@dataclass(frozen=True, slots=True)
class Prospects:
    """What experiments are expected to bring, in the user's units."""

    n_next: int
    """How many the next are: ten, or fewer where fewer are left."""
    each: float
    """What each of these is expected to bring."""
    give: float
    """Half of the interval about it."""
    at_random: float
    """What a candidate picked at random from those left would."""


def advice(view: CampaignView, ahead: Prospects, spent: bool) -> str:
    """The figures, and what they say.

    That the best are found, or that choosing is no better than chance, is said only where the whole
    interval says so; one label more or less should not turn it over.

    Args:
        view: The campaign now.
        ahead: From its forecast.
        spent: Whether the budget is.
    """
    if ahead.n_next == 0:
        return "Every candidate has been tried: there is nothing left to choose from."
    opening = "The budget is spent. " if spent else ""
    count = ahead.n_next
    coming = "One more experiment is" if count == 1 else f"The next {count} experiments are"
    facts = f"{opening}{coming} expected to bring {shown(ahead.each)} each"
    facts = f"{facts}, against {shown(ahead.at_random)} at random"
    if not view.posterior.n_labels:
        return f"{facts}. No result is in yet: this rests on the model's assumptions alone."
    so_far = float(view.measured_values.mean()) if view.measured else None
    if so_far is not None:
        facts = f"{facts} and {shown(so_far)} on average so far"
    if view.posterior.n_labels <= _FEW:
        return f"{facts}. With so few results this says little yet."
    return f"{facts}. {_verdict(view, ahead, so_far)}"


def _verdict(view: CampaignView, ahead: Prospects, so_far: float | None) -> str:
    sign = 1.0 if view.labels.factor > 0 else -1.0
    edge = sign * (ahead.each - ahead.at_random)
    past = 0.0 if so_far is None else sign * (so_far - ahead.at_random)
    sure = edge + ahead.give < _HALF * abs(past)
    if edge <= _LIKE_CHANCE * abs(past):
        if sure or view.policy == "random":
            return "That is hardly better than chance: consider stopping."
        return "Whether that is better than chance is not clear yet."
    if edge < _HALF * past:
        if sure:
            return "The best seem to be found: go on if such results are worth their cost."
        return "Whether the best are found is not clear yet."
    return "It pays to go on."
