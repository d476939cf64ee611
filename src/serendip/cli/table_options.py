"""Options that say what the columns of a table are, for campaigns and backtests alike."""

from pathlib import Path
from typing import Annotated

import typer

Id = Annotated[str | None, typer.Option(help="The column that names the candidates.")]
Features = Annotated[
    list[str] | None, typer.Option(help="A column to use; repeat for more. Default: all.")
]
Ignore = Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat for more.")]
Rows = Annotated[
    list[str] | None, typer.Option(help="Low rank: a column that names the rows; repeatable.")
]
MatrixColumns = Annotated[
    list[str] | None, typer.Option(help="Low rank: one that names the columns; repeatable.")
]
Rank = Annotated[
    int | None, typer.Option(min=1, help="Low rank: the most it may be. Default: inferred.")
]
Edges = Annotated[Path | None, typer.Option(help="Graph: a table with two columns of ids.")]
Nominal = Annotated[
    list[str] | None, typer.Option(help="A column of numbers that are names; repeat for more.")
]
Range = Annotated[
    tuple[float, float] | None, typer.Option(help="The smallest and largest label possible.")
]
Categories = Annotated[
    str | None, typer.Option(help="Labels in words, worst first: low,medium,high.")
]
Binary = Annotated[bool | None, typer.Option("--binary", help="Every label is 0 or 1.")]
