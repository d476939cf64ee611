"""`serendip status`, `predict`, `report`, `export`, `list` and `doctor`: looking at campaigns."""

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from serendip.cli.campaign_options import (
    Allow,
    Force,
    Form,
    Name,
    Out,
    StoreOption,
    Who,
    allowed,
    emit,
    say,
)
from serendip.cli.show import Format, show_progress

if TYPE_CHECKING:
    import pandas as pd

    from serendip.campaigns.campaign import Campaign


_AHEAD = (
    "expected_total",
    "low",
    "high",
    "level",
    "total_so_far",
    "value_of_ten_more",
    "random_total",
    "random_so_far",
    "next_each",
    "random_each",
    "stop_advice",
    "trust",
)


class What(StrEnum):
    """Which table to export."""

    results = "results"
    pending = "pending"
    predictions = "predictions"
    events = "events"


def status(
    name: Name,
    forecast: Annotated[
        bool, typer.Option("--forecast/--no-forecast", help="Look ahead, which takes a moment.")
    ] = True,
    allow: Allow = None,
    form: Form = Format.table,
    store: StoreOption = None,
) -> None:
    """Where a campaign stands, and what the rest of the budget should bring."""
    from serendip.campaigns.campaign import Campaign

    campaign = Campaign.open(name, store, allow=allowed(*(allow or ())))
    found = asdict(campaign.status())
    if form is Format.table:
        _print_now(campaign, found)
    ahead = _ahead(campaign) if forecast else {}
    if form is Format.json:
        told = {**found, "forecast": ahead} if ahead else found
        typer.echo(json.dumps(told, indent=2, default=str))
    elif form is Format.csv:
        import pandas as pd

        flat = {**found, **{f"forecast: {key}": value for key, value in ahead.items()}}
        emit(pd.DataFrame([flat]), form)
    elif ahead:
        _print_ahead(ahead)


def _ahead(campaign: "Campaign") -> dict[str, object]:
    from serendip.core.errors import NotAvailable

    try:
        with show_progress():
            future = campaign.forecast()
    except NotAvailable as problem:
        say(str(problem))
        return {}
    return {name: getattr(future, name) for name in _AHEAD}


def _print_now(campaign: "Campaign", found: dict[str, object]) -> None:
    """What needs no model, before one is fitted."""
    from serendip.campaigns.pool_file import model_on_disk

    state = campaign.state
    typer.echo(f"{campaign.name}: {found['candidates']} candidates in {found['pool']}")
    if said := model_on_disk(campaign.settings.model, state.pool, campaign.store.folder):
        typer.echo(said)
    typer.echo(
        f"Experiments: {state.spent} of {state.budget} spent ({found['measured']} measured, "
        f"{found['failed']} failed), {found['pending']} pending, {found['excluded']} excluded, "
        f"{found['known']} known before"
    )
    if state.results:
        total = "too large to add up" if found["total"] is None else f"{found['total']:.6g}"
        typer.echo(
            f"Sum of {found['label']}: {total}; best {found['best']:.6g} ({found['best_item']})"
        )
    typer.echo(f"Last: {found['last']}")
    sys.stdout.flush()


def _print_ahead(ahead: dict[str, object]) -> None:
    typer.echo(
        f"At the end of the budget: {ahead['expected_total']:.4g} expected, "
        f"{ahead['low']:.4g} to {ahead['high']:.4g} in {ahead['level']:.0%} of cases; "
        f"random choice from now on {ahead['random_total']:.4g}"
    )
    typer.echo(f"Ten more experiments would add {ahead['value_of_ten_more']:.4g}.")
    typer.echo(str(ahead["stop_advice"]))
    if ahead["trust"]:
        typer.echo(str(ahead["trust"]))


def predict(
    name: Name,
    output: Out = None,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Only the best so many, by expected value.")
    ] = None,
    allow: Allow = None,
    force: Force = False,
    form: Form = Format.table,
    store: StoreOption = None,
) -> None:
    """Every candidate with its expected value, uncertainty and chance of being at the top."""
    from serendip.campaigns.campaign import Campaign

    campaign = Campaign.open(name, store, allow=allowed(*(allow or ())))
    _check(campaign, output, force)
    most = 20 if top is None and form is Format.table and not output else top
    with show_progress():
        table = campaign.predict(most)
    shown = [table.columns[0], "state", "expected", "uncertainty"]
    shown += [column for column in table.columns if str(column).startswith("chance")]
    _show(table, output, form, shown)


def report(
    name: Name,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The HTML file. Default: NAME.html.")
    ] = None,
    allow: Allow = None,
    force: Force = False,
    store: StoreOption = None,
) -> None:
    """A page with plots that needs nothing else: progress, forecast, proposals, the log."""
    from serendip.campaigns.campaign import Campaign
    from serendip.campaigns.output.cells import check_place, write_text

    campaign = Campaign.open(name, store, allow=allowed(*(allow or ())))
    file = output or Path(f"{name}.html")
    check_place(file, force or output is None, campaign.own_files)
    with show_progress():
        write_text(campaign.report(), file)
    typer.echo(f"Written: {file}")


def export(
    name: Name,
    what: Annotated[What, typer.Option("--what", help="Which table.")] = What.results,
    output: Out = None,
    allow: Allow = None,
    force: Force = False,
    form: Form = Format.csv,
    store: StoreOption = None,
) -> None:
    """Results, pending proposals, predictions or the whole log as a table."""
    from serendip.campaigns.campaign import Campaign

    campaign = Campaign.open(name, store, allow=allowed(*(allow or ())))
    _check(campaign, output, force)
    with show_progress():
        table = campaign.export(what.value)
    _show(table, output, form)


def list_campaigns(form: Form = Format.table, store: StoreOption = None) -> None:
    """Every campaign of the store."""
    import pandas as pd

    from serendip.campaigns.campaign import Campaign
    from serendip.campaigns.log.store import Store

    place = Store.open(store)
    rows = []
    for info in place.campaigns():
        found = asdict(Campaign(place, info.name).status())
        kept = ("name", "label", "candidates", "budget", "measured", "failed", "pending", "best")
        rows.append({key: found[key] for key in kept})
    if not rows and form is Format.table:
        typer.echo(f"{place} holds no campaign yet; `serendip init` begins one.")
        return
    emit(pd.DataFrame(rows), form, title=str(place))


def doctor(
    name: Annotated[str | None, typer.Argument(help="One campaign. Default: all.")] = None,
    pool: Annotated[
        Path | None, typer.Option("--pool", help="Where the pool file of the campaign is now.")
    ] = None,
    form: Form = Format.table,
    store: StoreOption = None,
    who: Who = None,
) -> None:
    """Check store, log, pool and environment; exit code 1 where something needs repair."""
    import pandas as pd

    from serendip.campaigns.doctor import examine
    from serendip.core.errors import InvalidInput

    if pool is not None:
        from serendip.campaigns.campaign import Campaign

        if name is None:
            raise InvalidInput("--pool needs the name of the campaign whose pool it is.")
        Campaign.open(name, store, who).move_pool(pool)
    with show_progress():
        findings = examine(store, name)
    if form is Format.table:
        for one in findings:
            typer.echo(f"{one.state:8} {one.check}: {one.detail}")
    else:
        emit(pd.DataFrame([asdict(one) for one in findings]), form)
    if any(one.state == "problem" for one in findings):
        raise typer.Exit(1)


def _check(campaign: "Campaign", output: Path | None, force: bool) -> None:
    from serendip.campaigns.output.cells import check_free

    if output is not None:
        check_free(output, force, campaign.own_files)


def _show(
    table: "pd.DataFrame", output: Path | None, form: Format, shown: list[str] | None = None
) -> None:
    from serendip.campaigns.output.cells import write_table

    if output is None:
        emit(table, form, shown)
        return
    write_table(table, output)
    typer.echo(f"Written: {output}, {len(table)} rows.")
