"""`serendip init`: a campaign begins."""

from pathlib import Path
from typing import Annotated, Any

import typer

from serendip.campaigns.spec import Settings
from serendip.cli.campaign_options import StoreOption, Who, allowed
from serendip.cli.setting_options import named, said, setting_options
from serendip.cli.show import show_progress


@setting_options(Settings, file=True)
def init(
    name: Annotated[
        str | None, typer.Argument(help="A name for the campaign, or a TOML file with settings.")
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Write campaign.toml, with every setting explained.")
    ] = False,
    store: StoreOption = None,
    who: Who = None,
    **given: Any,
) -> None:
    """Begin a campaign on a table of candidates."""
    if example:
        _write_example(Path(name or "campaign.toml"))
        return
    from serendip.campaigns.campaign import Campaign
    from serendip.campaigns.spec import read_toml
    from serendip.core.registry import is_path

    values: dict[str, Any] = {"name": name}
    if name is not None and name.lower().endswith(".toml"):
        values = read_toml(Path(name))
    values |= said(given)
    allow = allowed(*named(Settings, given))  # and not what a file of settings names
    with show_progress():
        campaign = Campaign.create(Settings.from_mapping(values), store, who, allow)
    settings, known = campaign.settings, len(campaign.state.known)
    typer.echo(
        f"Campaign {settings.name!r} began: {len(campaign.candidates.ids)} candidates, money for "
        f"{settings.budget} experiments, {settings.model} model, policy {settings.policy}."
    )
    if known:
        typer.echo(f"{known} labels are known already; they cost nothing.")
    for note in campaign.problem.notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Kept in {campaign.store}.")
    quoted = f"'{settings.name}'" if " " in settings.name else settings.name
    own = "".join(f" --allow {one}" for one in (settings.model, settings.policy) if is_path(one))
    count = min(settings.batch, settings.budget)
    typer.echo(f"Next: serendip ask {quoted} -n {count}{own} -o next.csv")


def _write_example(file: Path) -> None:
    from serendip.campaigns.example import example
    from serendip.campaigns.output.cells import check_place, write_text

    check_place(file, force=False)
    write_text(example(), file)
    typer.echo(f"Written: {file}. Edit it, then: serendip init {file}")
