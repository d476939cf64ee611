"""`serendip backup` and `restore`: a store in one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from serendip.cli.campaign_options import StoreOption

_SHOWN = 20


def backup(
    file: Annotated[Path, typer.Argument(help="The backup to write, a new file.")],
    store: StoreOption = None,
) -> None:
    """Copy the whole store into one file, while others use it; every hash is checked."""
    from serendip.campaigns.log.backup import back_up
    from serendip.campaigns.log.store import Store

    made = back_up(Store.open(store), file)
    typer.echo(f"Written: {file}, {made}.")
    if made.files:
        typer.echo("Pools are files of their own and not in it; keep copies of them, too:")
        _list([one.path for one in made.files])


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `serendip backup` wrote.")],
    store: StoreOption = None,
) -> None:
    """Put a backup into a store that is new or empty, SQLite or PostgreSQL."""
    from serendip.campaigns.log.backup import restore as restored
    from serendip.campaigns.pool_file import located

    place, made = restored(file, store)
    typer.echo(f"Restored into {place}: {made}.")
    missing = [one.path for one in made.files if located(one, place.folder) is None]
    if missing:
        typer.echo(
            "Pools that are not here; put them back, or say where they are with `serendip doctor "
            "NAME --pool FILE`:"
        )
        _list(missing)


def _list(paths: list[str]) -> None:
    for path in paths[:_SHOWN]:
        typer.echo(f"  {path}")
    if len(paths) > _SHOWN:
        typer.echo(f"  and {len(paths) - _SHOWN} more")
