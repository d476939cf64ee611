"""`serendip reproduce table`: the paper's table of real reactions, column by column   [Table 1]

Ours are played as the authors' public code does: descriptors scaled to unit column norm, no
intercept, prior standard deviation 1, 1000 draws, regret against the recorded labels. The noise is
not printed; 0.1 on PNDC and 0.01 on CNCCI fit the printed IDS best; the public scripts have 1 and
0.01.
UCB has scales of its own: prior variance 1000, noise variance 1.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serendip.compute.engines import Engine
from serendip.core.errors import InvalidInput
from serendip.models.linear.model import LinearModel
from serendip.policies.greedy import Greedy
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import UCB
from serendip.policies.uniform import Uniform
from serendip.simulate.experiments.experiment import Experiment, Task, run_experiment
from serendip.simulate.experiments.printed import HORIZONS, POLICIES, RUNS, TABLE, PrintedColumn
from serendip.simulate.experiments.real import reactions

if TYPE_CHECKING:
    from pandas import DataFrame

FITTED: Mapping[str, float] = {"pndc": 0.1, "cncci": 0.01}
"""Noise standard deviations that fit the printed IDS best: of nine for PNDC (rms z 1.3)."""

TITLES = {"pndc": "PNDC, T = 17", "cncci": "CNCCI, T = 67"}

_UCB_PRIOR, _UCB_NOISE = 1000.0, 1.0
_CENT = 0.005 + 1e-9


@dataclass(frozen=True, slots=True)
class TableCell:
    """One figure of the paper beside ours."""

    data: str
    pool: str
    """In the public data."""
    column: PrintedColumn
    policy: str
    mean: float
    deviation: float
    """Over runs; 0 for UCB, which is deterministic."""

    @property
    def shown(self) -> tuple[str, ...]:
        """The printed mean and ours; where there are several runs their deviations, and z."""
        printed = self.column.mean(self.policy)
        if self.policy == "ucb":
            return f"{printed:.2f}", f"{self.mean:.2f}"
        spread = self.column.deviation(self.policy)
        ours = f"{self.mean:.2f} ({self.deviation:.2f})"
        return f"{printed:.2f} ({spread:.2f})", ours, f"{self.z:+.1f}"

    @property
    def z(self) -> float:
        """How far the printed mean lies from ours, in standard errors of the difference."""
        apart = self.column.mean(self.policy) - self.mean
        spread = math.hypot(self.column.deviation(self.policy), self.deviation)
        return apart / (spread / math.sqrt(RUNS)) if spread > 0 else math.copysign(math.inf, apart)

    @property
    def to_the_cent(self) -> bool:
        """Whether both agree as far as printed."""
        return abs(self.column.mean(self.policy) - self.mean) <= _CENT


def sampled_task(setting: str, seed: int) -> Task:
    """What random choice, SampleVIDS and Thompson sampling play: "data, noise: pool"."""
    variant, pool = setting.split(": ")
    name, noise = variant.split(", noise ")
    x, world = reactions(name, pool)
    model = LinearModel(x.shape[1], prior_variance=1.0, noise_variance=float(noise) ** 2)
    return Task(world, model, len(world.truth))


def ucb_task(setting: str, seed: int) -> Task:
    """What UCB plays: "data: pool"."""
    name, pool = setting.split(": ")
    x, world = reactions(name, pool)
    model = LinearModel(x.shape[1], prior_variance=_UCB_PRIOR, noise_variance=_UCB_NOISE)
    return Task(world, model, len(world.truth))


def table_experiments(noise: float | None = None) -> tuple[Experiment, Experiment]:
    """The table's runs: the sampled policies, and UCB.

    Args:
        noise: Standard deviation that the sampled policies' model has; by default as fitted.
    """
    if noise is not None and not (noise > 0 and math.isfinite(noise)):
        raise InvalidInput(f"noise must be a positive standard deviation; got {noise}.")
    sampled: dict[str, Any] = {
        "random": Uniform(), "vids": SampleVIDS(n_draws=1000), "thompson": Thompson(),
        "greedy": Greedy(),
    }  # fmt: skip
    levels = {name: noise or FITTED[name] for name in TABLE}
    pools = [(name, pool) for name in TABLE for pool in TABLE[name]]
    return (
        Experiment(
            name="table" if noise is None else f"table-noise-{noise:g}",
            title="The table of real reactions",
            parameter="pool",
            settings=tuple(f"{name}, noise {levels[name]}: {pool}" for name, pool in pools),
            task=sampled_task,
            policies=sampled,
            repeats=RUNS,
        ),
        Experiment(
            name="table-ucb",
            title="The table's row of UCB",
            parameter="pool",
            settings=tuple(f"{name}: {pool}" for name, pool in pools),
            task=ucb_task,
            policies={"ucb": UCB()},
            repeats=1,
        ),
    )


def play_table(
    folder: Path,
    jobs: int | None = 1,
    noise: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    engine: Engine | None = None,
) -> "DataFrame":
    """Every step of every run, to the last candidate."""
    import pandas as pd

    tables = [
        run_experiment(experiment, folder, jobs, progress=progress, engine=engine)
        for experiment in table_experiments(noise)
    ]
    return pd.concat(tables, ignore_index=True)


def by_pool(steps: "DataFrame") -> "DataFrame":
    """The steps of the table's runs with their data and pool in columns of their own."""
    parts = steps["setting"].str.split(": ", n=1)
    return steps.assign(data=parts.str[0].str.split(",").str[0], pool=parts.str[1])


def at_table_steps(steps: "DataFrame") -> "DataFrame":
    """Of the steps of the table's runs those after the last label that the table counts."""
    steps = by_pool(steps)
    return steps[steps["step"] == steps["data"].map(HORIZONS)]


def table_cells(regrets: "DataFrame") -> list[TableCell]:
    """Every cell of the table, pool by pool, the paper's figure and ours.

    Args:
        regrets: A row a run: data, pool, policy, regret.
    """
    grouped = regrets.groupby(["data", "pool", "policy"])["regret"]
    means, deviations = grouped.mean(), grouped.std().fillna(0.0)
    return [
        TableCell(name, pool, column, policy, float(means[key]), float(deviations[key]))
        for name, columns in TABLE.items()
        for pool, column in columns.items()
        for policy in POLICIES
        for key in [(name, pool, policy)]
    ]


def table_summary(cells: list[TableCell]) -> list[str]:
    """In words: how often UCB agrees, how far the other rows lie, who is lowest in how many."""
    ucb = [cell for cell in cells if cell.policy == "ucb"]
    lines = [f"UCB agrees to the cent in {sum(c.to_the_cent for c in ucb)} of {len(ucb)} pools."]
    for name in TABLE:
        mine = [cell for cell in cells if cell.data == name]
        sampled = [policy for policy in POLICIES if policy != "ucb"]
        apart = ", ".join(
            f"{policy} {_root_mean_square([c.z for c in mine if c.policy == policy]):.1f}"
            for policy in sampled
        )
        lines.append(f"{TITLES[name]}: root mean square z {apart}.")
        lowest, printed = _wins(mine, printed=False), _wins(mine, printed=True)
        lines.append(
            f"{TITLES[name]}: lowest mean of the four in {_counted(lowest)}; "
            f"as printed {_counted(printed)}."
        )
    return lines


def _root_mean_square(values: list[float]) -> float:
    return math.sqrt(sum(value**2 for value in values) / len(values))


def _wins(cells: list[TableCell], printed: bool) -> dict[str, int]:
    best: dict[str, tuple[float, str]] = {}
    for cell in cells:
        value = cell.column.mean(cell.policy) if printed else cell.mean
        best[cell.pool] = min(best.get(cell.pool, (math.inf, "")), (value, cell.policy))
    winners = [policy for _, policy in best.values()]
    return {policy: winners.count(policy) for policy in POLICIES if policy in winners}


def _counted(wins: dict[str, int]) -> str:
    return ", ".join(f"{policy} {count}" for policy, count in wins.items())
