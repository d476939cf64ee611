"""`serendip demo`: a whole simulated campaign with every policy, on a bundled pool."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Where the figure, steps and report go.")] = Path(
        "demo-output"
    ),
    budget: Annotated[int, typer.Option(min=1, max=320, help="Experiments to pay for.")] = 40,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each policy.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default all cores.")
    ] = None,
) -> None:
    """Screen 320 made-up reactions with every policy, and compare what they find."""
    from serendip.backtest_files import difference_rows, summary_rows, write_backtest
    from serendip.backtests import backtest
    from serendip.cli.show import print_table, progress_bar
    from serendip.core.threads import n_cores
    from serendip.environments.demo import demo_pool, demo_yields

    table = demo_pool()
    table["yield"] = demo_yields(table, seed)
    typer.echo(
        f"{len(table)} reaction conditions, money for {budget} experiments. Which ones?\n"
        f"The yields are simulated; each policy is run {repeats} times and sees only what it buys."
    )
    with progress_bar("demo") as progress:
        result = backtest(
            table,
            "yield",
            id="id",
            budget=budget,
            repeats=repeats,
            seed=seed,
            jobs=jobs or n_cores(),
            progress=progress,
        )
    print_table(*summary_rows(result), title="Sum of yields found, and regret against the best")
    title = f"Regret less that of {result.baseline}, with 95 % intervals"
    print_table(*difference_rows(result), title=title)
    gain = max(row["total"] for row in result.summary.to_dict("records")) / result.random_total
    typer.echo(f"The best policy found {gain:.2f} times what random choice is expected to find.")
    for path in write_backtest(result, "demo pool", "yield", out):
        typer.echo(f"Written: {path}")
