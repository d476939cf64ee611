"""`serendip init`, `ask`, `tell`, `undo` and `budget`: the loop of a campaign."""

from pathlib import Path
from typing import Annotated, Any

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
from serendip.cli.engine_options import Address, PoolEngine, ScanWith, Shards
from serendip.cli.show import Format, show_progress


def ask(
    name: Name,
    count: Annotated[
        int | None, typer.Option("-n", "--count", help="How many. Default: the campaign's batch.")
    ] = None,
    output: Out = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="Show again what waits for a result; propose nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Failed candidates may be proposed again.")
    ] = False,
    engine: ScanWith = PoolEngine.threads,
    shards: Shards = None,
    address: Address = None,
    allow: Allow = None,
    force: Force = False,
    form: Form = Format.table,
    store: StoreOption = None,
    who: Who = None,
) -> None:
    """Propose what to measure next; the file is for the results, too."""
    from serendip.campaigns.campaign import Campaign
    from serendip.campaigns.output.cells import check_free, write_table
    from serendip.compute.engines import Engine
    from serendip.core.errors import InvalidInput

    where = Engine(engine.value, shards, address)
    campaign = Campaign.open(name, store, who, allowed(*(allow or ())))
    if output is not None:
        check_free(output, force, campaign.own_files)
    with show_progress():
        table = campaign.pending() if pending else campaign.ask(count, retry_failed, where)
    wanted = campaign.settings.batch if count is None else count
    if not pending and len(table) < wanted:
        say(f"Only {len(table)} could be proposed: no more is left of the budget or the pool.")
    if output is not None:
        try:
            write_table(table, output)
        except InvalidInput as problem:
            raise InvalidInput(
                f"{problem} The proposals are recorded: `serendip ask {name} --pending` shows them."
            ) from None
    if output is None or form is not Format.table:
        emit(table, form, [table.columns[0], "expected", "uncertainty", "chance_of_top"])
        if form is Format.table:
            for row in table.to_dict("records"):
                typer.echo(f"{row[table.columns[0]]}: {row['reason']}")
            typer.echo(f"Results: serendip tell {name} --item ID --value NUMBER")
    else:
        typer.echo(f"Written: {output}, {len(table)} proposals.")
        typer.echo(
            f"Fill in the column {campaign.settings.label!r} (or write failed or excluded), "
            f"then: serendip tell {name} {output}"
        )


def tell(
    name: Name,
    results: Annotated[
        Path | None, typer.Argument(help="A table with ids and labels, such as ask wrote.")
    ] = None,
    item: Annotated[str | None, typer.Option("--item", help="One candidate.")] = None,
    value: Annotated[str | None, typer.Option("--value", help="Its label.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Its experiment failed.")] = False,
    exclude: Annotated[bool, typer.Option("--exclude", help="Never propose it again.")] = False,
    correct: Annotated[
        bool, typer.Option("--correct", help="Replace labels that were told before.")
    ] = False,
    store: StoreOption = None,
    who: Who = None,
) -> None:
    """Record results: a file, or one candidate. An empty label in a file means: not yet."""
    from serendip.campaigns.campaign import Campaign
    from serendip.core.errors import InvalidInput

    said = sum((value is not None, failed, exclude))
    if (results is None) == (item is None) or (item is not None) != (said == 1) or said > 1:
        raise InvalidInput(
            "Tell either a file of results, or --item ID with one of --value, --failed and "
            "--exclude."
        )
    if value is not None and not value.strip():
        raise InvalidInput("--value is empty; give the label.")
    campaign = Campaign.open(name, store, who)
    with show_progress():
        if item is not None:
            word = "failed" if failed else "excluded" if exclude else value
            decision = campaign.tell({item: word}, correct)
        else:
            assert results is not None  # checked above
            decision = campaign.tell(results, correct)
    _confirm(campaign, decision)


def _confirm(campaign: Any, decision: Any) -> None:
    from collections import Counter

    from serendip.campaigns.log.events import Corrected, Excluded, Failed, Told

    kinds = Counter(type(event) for event in decision.events)
    words = {Told: "measured", Failed: "failed", Excluded: "excluded", Corrected: "changed"}
    parts = [f"{kinds[kind]} {word}" for kind, word in words.items() if kinds[kind]]
    typer.echo(f"Recorded: {', '.join(parts) or 'nothing new'}.")
    if decision.repeats:
        typer.echo(f"Told before, unchanged: {', '.join(decision.repeats[:8])}.")
    if decision.unproposed:
        typer.echo(f"Not proposed by the campaign: {', '.join(decision.unproposed[:8])}.")
    state = campaign.state
    typer.echo(f"Experiments: {state.spent} of {state.budget} spent, {len(state.pending)} pending.")


def undo(
    name: Name,
    item: Annotated[
        str | None, typer.Option("--item", help="Take back the last that happened to this one.")
    ] = None,
    event: Annotated[int | None, typer.Option("--event", help="Take back this event.")] = None,
    store: StoreOption = None,
    who: Who = None,
) -> None:
    """Take back the last command; it stays in the log and no longer counts."""
    from serendip.campaigns.campaign import Campaign
    from serendip.core.errors import InvalidInput

    if item is not None and event is not None:
        raise InvalidInput("Give --item or --event, not both.")
    campaign = Campaign.open(name, store, who)
    for words in campaign.undo(item, event):
        typer.echo(f"Taken back: {words}")


def budget(
    name: Name,
    experiments: Annotated[int, typer.Argument(help="Experiments there is money for, in all.")],
    store: StoreOption = None,
    who: Who = None,
) -> None:
    """Change how many experiments there is money for."""
    from serendip.campaigns.campaign import Campaign

    campaign = Campaign.open(name, store, who)
    campaign.rebudget(experiments)
    state = campaign.state
    typer.echo(f"The budget is {state.budget} experiments, of which {state.remaining} remain.")
