"""What a form says to replay."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from serendip.campaigns.intake.preview import settings_of
from serendip.core.errors import InvalidInput
from serendip.web.pages.beginning_form import Beginning
from serendip.web.pages.numbers import whole
from serendip.web.pages.wording import said
from serendip.web.server.answers import Reading
from serendip.web.server.replays import Replay

MOST_RUNS = 2000
"""Runs that one backtest may ask for on a page."""


def replay_of_table(form: Beginning, path: Path, policies: Sequence[str]) -> Replay | None:
    """What to replay of a table; None where `form.errors` or `form.misfits` say what is wrong."""
    roles = settings_of(form.roles, form.frame)
    if roles["label"] is None:
        form.errors[""] = "Choose the column that holds the results: make Result its role."
    numbers = _numbers(form.values, form.n_candidates, form.errors)
    found: dict[str, Any] = {}
    form.put_kind(found)
    kind: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    if form.errors or form.misfits:
        return None
    return Replay(
        label=roles["label"],
        table=path,
        policies=tuple(policies),
        model=form.values["model"] or None,
        id=roles["id"],
        ignore=roles["ignore"],
        nominal=roles["nominal"],
        missing=form.values["missing"] or "error",
        rows=roles["rows"],
        columns=roles["columns"],
        minimize=form.values["better"] == "smaller",
        **kind,
        **numbers,
    )


def replay_of_campaign(
    reading: Reading,
    values: Mapping[str, str],
    policies: Sequence[str],
    errors: dict[str, str],
) -> Replay | None:
    """What to replay of a campaign's own labels; None where `errors` say what is wrong."""
    n_labels = len(reading.state.results) + len(reading.state.known)
    numbers = _numbers(values, n_labels, errors)
    if errors:
        return None
    return Replay(
        campaign=reading.name,
        policies=tuple(policies),
        model=values.get("model") or None,
        **numbers,
    )


def _numbers(values: Mapping[str, str], most: int, errors: dict[str, str]) -> dict[str, Any]:
    found = {}
    for name in ("budget", "repeats", "batch"):
        try:
            found[name] = whole(values.get(name, ""), 1)
        except InvalidInput as problem:
            errors[name] = said(problem)
    if found.get("budget", 0) > most:
        errors["budget"] = f"There are {most:,} results to buy; make it {most:,} or fewer."
    if found.get("batch", 0) > found.get("budget", most):
        errors["batch"] = "A batch cannot be larger than the budget."
    if found.get("repeats", 0) > MOST_RUNS // 10:
        errors["repeats"] = f"At most {MOST_RUNS // 10} repeats, please."
    return found
