"""`serendip pool`: candidates on disk, for pools that are too large for a table in memory."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from serendip.cli.show import Format

if TYPE_CHECKING:
    from serendip.problems.folders.manifest import Manifest

app = typer.Typer(
    name="pool",
    help="Pools on disk: import tables or molecules, combine reagents, look at what is there.",
    no_args_is_help=True,
)

Out = Annotated[Path, typer.Option("--out", help="The folder to make.")]
Ignore = Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat for more.")]


class Missing(StrEnum):
    """What to do about empty cells."""

    error = "error"
    impute = "impute"


class Kind(StrEnum):
    """How numbers are kept."""

    float32 = "float32"
    float64 = "float64"
    float16 = "float16"


class Scaling(StrEnum):
    """What is done to numbers."""

    standardise = "standardise"
    none = "none"


@app.command("import")
def import_pool(
    sources: Annotated[
        list[Path],
        typer.Argument(help="Parquet, CSV, .npy or .smi files of one kind, or folders of them."),
    ],
    out: Out,
    id: Annotated[str | None, typer.Option(help="The column that names the candidates.")] = None,
    label: Annotated[
        str | None, typer.Option(help="A column of labels to keep; empty cells have none.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to show beside the id; repeat for more.")
    ] = None,
    features: Annotated[
        list[str] | None, typer.Option(help="A column to use; repeat for more. Default: all.")
    ] = None,
    ignore: Ignore = None,
    dtype: Annotated[Kind, typer.Option(help="How numbers are kept.")] = Kind.float32,
    scaling: Annotated[
        Scaling, typer.Option(help="Standardise numbers, or leave them as they are.")
    ] = Scaling.standardise,
    missing: Annotated[
        Missing, typer.Option(help="Empty feature cells: an error, or filled in.")
    ] = Missing.error,
    bits: Annotated[
        int | None, typer.Option(help="Molecules: length of a fingerprint. Default: 2048.")
    ] = None,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Molecules: leave out lines that are none.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Molecules: processes; by default all cores.")
    ] = None,
) -> None:
    """Make a pool folder. Interrupted in any way, the same command continues."""
    from serendip.cli.show import progress_bar
    from serendip.problems.folders.importing import TableOptions, import_tables
    from serendip.problems.folders.molecules import MOLECULES, MoleculeOptions, import_molecules
    from serendip.problems.folders.sources import TABLES, files_of

    files = files_of(sources, (*TABLES, *MOLECULES))
    if files[0].suffix.lower() in MOLECULES:
        _refuse("tables", id=id, label=label, keep=keep, features=features, ignore=ignore)
        chosen = MoleculeOptions(2048 if bits is None else bits, skip_unreadable)
        manifest = import_molecules(sources, out, chosen, progress_bar, jobs)
    else:
        _refuse("molecules", bits=bits, skip_unreadable=skip_unreadable or None)
        columns = TableOptions(
            id=id,
            label=label,
            keep=tuple(keep or ()),
            features=tuple(features or ()),
            ignore=tuple(ignore or ()),
            dtype=dtype.value,
            scaling=scaling.value,
            missing=missing.value,
        )
        manifest = import_tables(sources, out, columns, progress_bar)
    _made(manifest, out)


@app.command("product")
def product(
    tables: Annotated[list[Path], typer.Argument(help="Two tables or more; one reagent a row.")],
    out: Out,
    id: Annotated[
        str | None, typer.Option(help="The column that names the reagents, in every table.")
    ] = None,
    ignore: Ignore = None,
    interactions: Annotated[
        bool, typer.Option("--interactions", help="Products of features are features, too.")
    ] = False,
) -> None:
    """Make a pool of all combinations, one row of each table; they are never written out."""
    from serendip.problems.folders.products import make_product

    manifest = make_product(tables, out, id=id, ignore=ignore or (), interactions=interactions)
    _made(manifest, out)


@app.command("info")
def info(
    folder: Annotated[Path, typer.Argument(help="A pool folder.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the checksums of all files.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.table,
) -> None:
    """What a pool folder holds, and whether its files are what they were."""
    import json

    from serendip.cli.show import progress_bar
    from serendip.problems.folders.opening import open_folder

    with progress_bar("checksums, MB") as progress:
        found = open_folder(folder, verify, progress)
    facts = _facts(found.manifest)
    facts["checked"] = "all checksums" if verify else "sizes, and checksums of what was touched"
    facts["first"] = found.names[0]
    if form is Format.json:
        lists = {
            "features": list(found.manifest.features),
            "notes": list(found.manifest.notes),
            "sources": [one.path for one in found.manifest.sources],
        }
        typer.echo(json.dumps({**facts, **lists}, indent=2))
    elif form is Format.csv:
        import csv
        import sys

        writer = csv.DictWriter(sys.stdout, list(facts), lineterminator="\n")
        writer.writeheader()
        writer.writerow(facts)
    else:
        for name, value in facts.items():
            typer.echo(f"{name:12} {value}")
        shown = found.manifest.features
        more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
        typer.echo(f"{'features':12} {', '.join(shown[:12])}{more}")
        for note in found.manifest.notes:
            typer.echo(f"Note: {note}")


def _refuse(kind: str, **options: object) -> None:
    """Refuses options that are for files of another kind."""
    from serendip.core.errors import InvalidInput

    given = next((name for name, value in options.items() if value), None)
    if given is not None:
        raise InvalidInput(f"--{given.replace('_', '-')} is for {kind}; leave it out.")


def _facts(manifest: "Manifest") -> dict[str, Any]:
    size = sum(file.size for file in manifest.files)
    return {
        "kind": manifest.kind,
        "candidates": manifest.n,
        "d": manifest.d,
        "dtype": manifest.dtype,
        "size_mb": round(size / 1e6, 3),
        "id": manifest.id,
        "label": manifest.label,
        "labelled": manifest.n_labels,
        "finite": manifest.finite,
    }


def _made(manifest: "Manifest", out: Path) -> None:
    size = sum(file.size for file in manifest.files)
    typer.echo(
        f"{out}: {manifest.n} candidates, {manifest.d} features, {size / 1e6:.1f} MB on disk."
    )
    for note in manifest.notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Next: serendip init NAME --pool {out} --label LABEL --budget N")
