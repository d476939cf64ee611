"""An experiment: settings × policies × seeds, in parallel, kept on disk, continued if stopped."""

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.compute.engines import Engine
from serendip.compute.parallel import run_all
from serendip.core.protocols import Model, Policy
from serendip.simulate.environments.world import World
from serendip.simulate.experiments.commit import played_at
from serendip.simulate.experiments.provenance import Unknown, provenance
from serendip.simulate.loop import play
from serendip.simulate.trace import budget_regret

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class Task:
    """What one run plays."""

    world: World
    model: Model[Any]
    horizon: int


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure or table of the paper."""

    name: str
    title: str
    parameter: str
    """What the settings vary, as the axis of the summary says it: d, σ², …"""
    settings: tuple[float | str, ...]
    task: Callable[[Any, int], Task]
    """(setting, seed) → what to play; with several jobs a function of a module, so that it can
    travel."""
    policies: Mapping[str, Policy[Any]]
    repeats: int = 20
    quick_repeats: int = 4
    quick_settings: tuple[float | str, ...] | None = None
    pooled: bool = False
    """Whether settings read "variant: pool" and are reported as means over the pools."""
    claim: str = ""
    """What the paper says comes out."""


@dataclass(frozen=True, slots=True)
class _OtherHorizon:
    """A task that goes on for longer, or stops earlier."""

    task: Callable[[Any, int], Task]
    horizon: int

    def __call__(self, setting: Any, seed: int) -> Task:
        task = self.task(setting, seed)
        return replace(task, horizon=min(self.horizon, len(task.world.truth)))


def with_horizon(experiment: Experiment, horizon: int) -> Experiment:
    """The same experiment over another number of labels, at most all there are.

    It has a name of its own, so that its runs stand beside those of the paper's horizon.
    """
    return replace(
        experiment,
        name=f"{experiment.name}-T{horizon}",
        title=f"{experiment.title}, T = {horizon}",
        task=_OtherHorizon(experiment.task, horizon),
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """One run."""

    experiment: Experiment
    setting: float | str
    policy: str
    seed: int

    def key(self, provenance: str) -> str:
        """Names everything the result depends on, so that a kept result is never the wrong one.

        Args:
            provenance: Of the task and the policy.
        """
        described = (self.experiment.name, str(self.setting), self.policy, self.seed, provenance)
        return hashlib.blake2b(json.dumps(described).encode(), digest_size=12).hexdigest()


def _provenances(experiment: Experiment) -> dict[str, str]:
    """By policy, where the results come from; without those of which that cannot be known."""
    found = {}
    for name, policy in experiment.policies.items():
        try:
            found[name] = provenance(experiment.task, policy)
        except Unknown as problem:
            warnings.warn(
                f"Runs of {experiment.name!r} with policy {name!r} are not kept, and are run anew "
                f"each time, for nobody can know when this changes: {problem}.",
                stacklevel=3,
            )
    return found


def cells_of(
    experiment: Experiment, repeats: int, settings: Sequence[float | str], first_seed: int
) -> list[Cell]:
    """Every run of an experiment; policies with the same seed face the same world."""
    return [
        Cell(experiment, setting, policy, seed)
        for seed in range(first_seed, first_seed + repeats)
        for setting in settings
        for policy in experiment.policies
    ]


def run_cell(cell: Cell) -> "DataFrame":
    """The tidy table of one run."""
    experiment = cell.experiment
    task = experiment.task(cell.setting, cell.seed)
    world, policy = task.world, experiment.policies[cell.policy]
    start = perf_counter()
    trace = play(world.pool, world.oracle, task.model, policy, task.horizon, cell.seed)
    seconds = (perf_counter() - start) / task.horizon
    frame = trace.frame(
        truth=world.truth, experiment=experiment.name, setting=cell.setting, policy=cell.policy
    )
    frame["setting"] = frame["setting"].astype(str)
    frame["budget_regret"] = budget_regret(trace.items, world.truth)
    frame["seconds"] = seconds
    frame["commit"] = played_at()
    kept = ["experiment", "setting", "policy", "seed", "step", "item", "label", "total"]
    return frame[[*kept, "regret", "budget_regret", "seconds", "commit"]]


def run_experiment(
    experiment: Experiment,
    folder: Path,
    jobs: int | None = 1,
    repeats: int | None = None,
    quick: bool = False,
    first_seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    engine: Engine | None = None,
) -> "DataFrame":
    """The tidy table of all runs; finished ones are read back from `folder`, the rest are run.

    Each run is kept as soon as it ends, so a run that was killed continues where it stopped and
    ends with the same table. A run is read back only where nothing it depends on has changed: see
    `provenance`.
    """
    import pandas as pd

    settings = experiment.settings
    if quick and experiment.quick_settings is not None:
        settings = experiment.quick_settings
    count = repeats or (experiment.quick_repeats if quick else experiment.repeats)
    cells = cells_of(experiment, count, settings, first_seed)
    kept = folder / experiment.name / "runs"
    kept.mkdir(parents=True, exist_ok=True)
    known = _provenances(experiment)
    places = {
        index: kept / f"{cell.key(known[cell.policy])}.parquet"
        for index, cell in enumerate(cells)
        if cell.policy in known
    }
    tables: dict[int, DataFrame] = {}
    missing: list[int] = []
    for index in range(len(cells)):
        found = _read_back(places[index]) if index in places else None
        if found is None:
            missing.append(index)
        else:
            tables[index] = found
    if progress is not None:
        progress(len(tables), len(cells))
    for done, table in run_all(run_cell, [cells[index] for index in missing], jobs, engine):
        index = missing[done]
        if index in places:
            _keep(table, places[index])
        tables[index] = table
        if progress is not None:
            progress(len(tables), len(cells))
    whole = pd.concat([tables[index] for index in range(len(cells))], ignore_index=True)
    _keep(whole, folder / experiment.name / "steps.parquet")
    return whole


def _keep(table: "DataFrame", path: Path) -> None:
    """Whole or not at all: a run that is killed here leaves no half a file."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    table.to_parquet(partial, index=False)
    partial.replace(path)


def _read_back(path: Path) -> "DataFrame | None":
    if not path.exists():
        return None
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except (OSError, ValueError):
        return None  # damaged: it is run again


def over_pools(steps: "DataFrame") -> "DataFrame":
    """Means over the pools of each variant, run by run and step by step."""
    variant = steps["setting"].str.split(": ", n=1).str[0]
    keys = ["experiment", "setting", "policy", "seed", "step"]
    figures = ["regret", "budget_regret", "total", "seconds"]
    return steps.assign(setting=variant).groupby(keys, sort=False)[figures].mean().reset_index()


def final_regrets(steps: "DataFrame") -> "DataFrame":
    """One row a run: setting, policy, seed, regret, total."""
    last = steps.groupby(["setting", "policy", "seed"], sort=False, as_index=False).last()
    return last[["setting", "policy", "seed", "regret", "total", "seconds"]]


def summarise(steps: "DataFrame") -> "DataFrame":
    """One row per setting and policy: mean regret with its standard error, over seeds."""
    final = final_regrets(steps)
    grouped = final.groupby(["setting", "policy"], sort=False)
    table = grouped["regret"].agg(["mean", "std", "count"]).reset_index()
    table["se"] = table["std"] / np.sqrt(table["count"])
    table["total"] = grouped["total"].mean().to_numpy()
    table["seconds_per_ask"] = grouped["seconds"].mean().to_numpy()
    return table.rename(columns={"mean": "regret", "count": "runs"}).drop(columns="std")


def paired(steps: "DataFrame", setting: str, policy: str, rival: str) -> tuple[float, float]:
    """Mean and standard error of regret(policy) − regret(rival), seed by seed."""
    final = final_regrets(steps)
    here = final[final["setting"] == setting]
    wide = here.pivot(index="seed", columns="policy", values="regret")
    difference = (wide[policy] - wide[rival]).dropna()
    return float(difference.mean()), float(difference.std() / np.sqrt(len(difference)))
