"""`serendip demo`: a whole campaign on a bundled pool, then every policy on the same."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from serendip.core.arrays import Floats

_STORE = "demo.db"


def demo(
    out: Annotated[Path, typer.Option(help="Where the store, tables, figure and reports go.")] = (
        Path("demo-output")
    ),
    budget: Annotated[int, typer.Option(min=2, max=300, help="Experiments to pay for.")] = 40,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each policy.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default all cores.")
    ] = None,
) -> None:
    """Screen 320 made-up reactions: a campaign as in a lab, then a comparison of policies."""
    typer.echo("A campaign as in a lab, then every policy on the same screen: half a minute.")
    from serendip.core.errors import InvalidInput
    from serendip.core.threads import n_cores
    from serendip.simulate.environments.demo import demo_pool, demo_yields

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidInput(f"{out} cannot be made a folder: {problem.strerror}.") from None
    # Nothing of the user's is ever overwritten: an earlier demo is known by its store.
    if any(out.iterdir()) and not (out / _STORE).exists():
        raise InvalidInput(f"{out} holds other files; name an empty folder with --out.")
    yields = demo_yields(demo_pool(), seed)
    _campaign(out, yields, budget, seed)
    _comparison(out, yields, budget, repeats, seed, jobs or n_cores())


def _campaign(out: Path, yields: "Floats", budget: int, seed: int) -> None:
    """Five batches: ask for candidates, measure, tell; then look ahead and write a report."""
    from serendip.campaigns.campaign import Campaign
    from serendip.campaigns.output.cells import write_table, write_text
    from serendip.simulate.environments.demo import demo_pool

    pool = demo_pool()
    for old in (*out.glob(f"{_STORE}*"), *out.glob("batch-*.csv")):
        old.unlink()
    pool.to_csv(out / "reactions.csv", index=False)
    truth = dict(zip(pool["id"], yields.tolist(), strict=True))
    typer.echo(f"{len(pool)} reaction conditions, money for {budget} experiments. Which ones?")
    campaign = Campaign.create(
        {
            "name": "demo",
            "pool": out / "reactions.csv",
            "label": "yield",
            "id": "id",
            "budget": budget,
            "range": [0, 100],
            "seed": seed,
        },
        out / _STORE,
    )
    n_batches = min(5, budget)
    for batch in range(1, n_batches + 1):
        left = campaign.state.free
        table = campaign.ask(left if batch == n_batches else budget // n_batches)
        if batch == 1:
            typer.echo(f"First proposal: {table['id'][0]}. {table['reason'][0]}")
        table["yield"] = [truth[name] for name in table["id"]]
        write_table(table, out / f"batch-{batch}.csv")
        campaign.tell(out / f"batch-{batch}.csv")
        status, future = campaign.status(), campaign.forecast()
        typer.echo(
            f"After {status.measured} experiments: {status.total:.0f} in all, best "
            f"{status.best:.1f}. At the end {future.expected_total:.0f} are expected, "
            f"{future.low:.0f} to {future.high:.0f}."
        )
    total = campaign.status().total or 0.0
    expected = budget * float(yields.mean())
    typer.echo(
        f"Found {total:.0f}, {total / expected:.2f} times what random choice is expected to find."
    )
    write_text(campaign.report(), out / "campaign.html")
    typer.echo(f"Written: {out / 'campaign.html'}, {out / _STORE}")
    typer.echo(f"Look at it: serendip status demo --store {out / _STORE}\n")


def _policies() -> list[str]:
    """All that every model serves but random choice: what it is expected to find is known."""
    from serendip.policies.registry import POLICIES, Role
    from serendip.policies.serving import serves_all

    players = [one for one in POLICIES.values() if one.role is not Role.chance]
    return [one.name for one in players if serves_all(one.make())]


def _comparison(
    out: Path, yields: "Floats", budget: int, repeats: int, seed: int, jobs: int
) -> None:
    """Every policy on the same pool, several times."""
    from serendip.cli.show import print_table, progress_bar
    from serendip.simulate.backtests.backtest import backtest
    from serendip.simulate.backtests.files import difference_rows, summary_rows, write_backtest
    from serendip.simulate.environments.demo import demo_pool

    table = demo_pool()
    table["yield"] = yields
    typer.echo(f"The same screen with every policy, {repeats} times each, and random choice.")
    with progress_bar("demo") as progress:
        result = backtest(
            table,
            "yield",
            id="id",
            budget=budget,
            policies=_policies(),
            repeats=repeats,
            seed=seed,
            jobs=jobs,
            progress=progress,
        )
    print_table(*summary_rows(result), title="Sum of yields found, and regret against the best")
    title = f"Regret less that of {result.baseline}, with 95 % intervals"
    print_table(*difference_rows(result), title=title)
    gain = max(row["total"] for row in result.summary.to_dict("records")) / result.random_total
    typer.echo(f"The best policy found {gain:.2f} times what random choice is expected to find.")
    for path in write_backtest(result, "demo pool", "yield", out):
        typer.echo(f"Written: {path}")
