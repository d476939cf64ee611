"""Options that say where a command computes."""

from enum import StrEnum
from typing import Annotated

import typer


class PoolEngine(StrEnum):
    """Where the pool is scanned."""

    threads = "threads"
    processes = "processes"
    ray = "ray"
    gpu = "gpu"


class RunEngine(StrEnum):
    """Where runs are played."""

    processes = "processes"
    ray = "ray"


ScanWith = Annotated[
    PoolEngine,
    typer.Option(
        "--engine",
        help="Who computes; the proposals are the same. ray: a cluster. gpu: an NVIDIA GPU.",
    ),
]
PlayWith = Annotated[
    RunEngine, typer.Option("--engine", help="Where runs are played: here, or on a Ray cluster.")
]
Shards = Annotated[
    int | None,
    typer.Option("--shards", min=1, help="Parts of the pool. Default: one a core."),
]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Of the Ray cluster, HOST:PORT. Default: this machine's."),
]
