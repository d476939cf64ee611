"""What a form says to replay."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from serendip.campaigns.intake.preview import settings_of
from serendip.core.settings import Section, Setting
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.pages.beginning_form import Beginning
from serendip.web.pages.setting_form import form_settings, given_settings
from serendip.web.server.answers import Reading
from serendip.web.server.replays import Replay


def campaign_fields() -> tuple[Setting, ...]:
    """The settings that are left where a campaign has said what its table is."""
    said = (Section.labels, Section.columns, Section.shapes)
    return tuple(one for one in form_settings(BacktestSettings) if one.about.section not in said)


def replay_of_table(
    form: Beginning, path: Path, others: Mapping[str, Path], policies: Sequence[str]
) -> Replay | None:
    """What to replay of a table; None where `form.errors` or `form.misfits` say what is wrong.

    Args:
        form: As it was sent.
        path: The table.
        others: Further tables by their settings.
        policies: Those that were ticked.
    """
    found: dict[str, Any] = settings_of(form.roles, form.frame)
    del found["smiles"]
    if found["label"] is None:
        form.errors[""] = "Choose the column that holds the results: make Result its role."
    found |= given_settings(form.fields, form.values, form.errors)
    _check_numbers(found, form.n_candidates, form.errors)
    form.put_kind(found)
    if form.errors or form.misfits:
        return None
    found |= {**others, "policies": list(policies)}
    return Replay(BacktestSettings.from_mapping(found), path)


def replay_of_campaign(
    reading: Reading,
    values: Mapping[str, str],
    policies: Sequence[str],
    errors: dict[str, str],
) -> Replay | None:
    """What to replay of a campaign's own labels; None where `errors` say what is wrong."""
    found = given_settings(campaign_fields(), values, errors)
    _check_numbers(found, len(reading.state.results) + len(reading.state.known), errors)
    if errors:
        return None
    found |= {"label": reading.settings.label, "policies": list(policies)}
    return Replay(BacktestSettings.from_mapping(found), reading.name)


def _check_numbers(found: Mapping[str, Any], most: int, errors: dict[str, str]) -> None:
    if found.get("budget", 0) > most:
        errors["budget"] = f"There are {most:,} results to buy; make it {most:,} or fewer."
    if found.get("batch", 0) > found.get("budget", most):
        errors["batch"] = "A batch cannot be larger than the budget."
