"""docs/data/reproduction.csv: the regret of every run behind the pages of results.

One row an experiment, setting, seed and step, one column a policy. Of the simulations regret is
kept at each quarter of the steps, of real data after the last label that the paper's table counts.
The head says of each experiment the command and the commit that its runs are from.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from serendip.core.errors import InvalidInput
from serendip.simulate.experiments.catalogue import EXPERIMENTS
from serendip.simulate.experiments.table import at_table_steps

if TYPE_CHECKING:
    from pandas import DataFrame

PLACE = Path("data") / "reproduction.csv"
"""Beside the documents."""

TABLE_RUNS = ("table", "table-ucb")
"""Folders of the runs of `serendip reproduce table`; one experiment, "table", in the results."""

_KEYS = ["experiment", "setting", "seed", "step"]
_BEST = "best"
"""Of real data, the largest sum of labels that there is."""
_POLICIES = (
    "ids", "vids", "thompson", "ucb", "oful", "glm-ucb", "ens", "greedy", "random",
)  # fmt: skip
_ORIGIN = "# from "
_HEAD = (
    "# Regret (eq. 1 of the paper) of every run behind reproduction.md and reproduction_table.md,\n"
    "# which `serendip reproduce report` writes from this file alone; a column a policy.\n"
)


@dataclass(frozen=True)
class Results:
    """The regret of runs, and where they come from."""

    rows: "DataFrame"
    """experiment, setting, seed, step and a column a policy, empty where it was not played."""
    origins: Mapping[str, str]
    """By experiment, the command and the commit."""

    @property
    def names(self) -> tuple[str, ...]:
        """The experiments, in the order of the catalogue."""
        found = set(self.rows["experiment"])
        return tuple(name for name in (*EXPERIMENTS, "table") if name in found)

    def of(self, name: str) -> "DataFrame":
        """The rows of an experiment, without policies that it does not have."""
        return self._parts[name] if name in self._parts else self.rows[:0]

    @cached_property
    def _parts(self) -> "dict[str, DataFrame]":
        parts = {}
        for name, mine in self.rows.groupby("experiment"):
            empty = [one for one in (_BEST, *_POLICIES) if mine[one].isna().all()]
            parts[str(name)] = mine.drop(columns=["experiment", *empty])
        return parts


def read_results(path: Path) -> Results:
    """What `write_results` wrote; nothing where there is no such file."""
    import pandas as pd

    if not path.exists():
        return Results(pd.DataFrame(columns=[*_KEYS, _BEST, *_POLICIES]), {})
    text = path.read_text(encoding="utf-8")
    origins = dict(
        line.removeprefix(_ORIGIN).split(": ", maxsplit=1)
        for line in text.splitlines()
        if line.startswith(_ORIGIN)
    )
    rows = pd.read_csv(StringIO(text), comment="#", dtype={"setting": str})
    missing = [key for key in (*_KEYS, _BEST, *_POLICIES) if key not in rows.columns]
    if missing:
        raise InvalidInput(f"{path} must have a column {missing[0]}; take the one of the project.")
    return Results(rows, origins)


def write_results(results: Results, path: Path) -> None:
    """Whole or not at all; hundredths of a cent, as the table is compared to the cent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    origins = [f"{_ORIGIN}{name}: {results.origins[name]}\n" for name in results.names]
    rows = results.rows.copy()
    for column in (_BEST, *_POLICIES):
        rows[column] = rows[column].map(_shown)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    body = rows.to_csv(index=False, lineterminator="\n")
    partial.write_text("".join([_HEAD, *origins, body]), encoding="utf-8")
    partial.replace(path)


def _shown(value: float) -> str:
    """Four places, without zeros at the end."""
    return "" if value != value else f"{value:.4f}".rstrip("0").rstrip(".")


def refresh_results(results: Results, runs: Path) -> Results:
    """The results with the rows of every experiment that has runs in a folder replaced."""
    import pandas as pd

    fresh, origins = [], dict(results.origins)
    for name in (*EXPERIMENTS, "table"):
        steps = kept_steps(name, runs)
        if steps is not None:
            fresh.append(_wide(name, steps))
            command = f"`serendip reproduce {name}`"
            origins[name] = f"{command}, commit {' and '.join(sorted(set(steps['commit'])))}"
    if not fresh:
        return results
    new = pd.concat(fresh, ignore_index=True)
    old = results.rows[~results.rows["experiment"].isin(new["experiment"])]
    order = {name: place for place, name in enumerate((*EXPERIMENTS, "table"))}
    both = pd.concat([one for one in (old, new) if len(one)], ignore_index=True)
    both = both.sort_values("experiment", key=lambda names: names.map(order), kind="stable")
    return Results(both[[*_KEYS, _BEST, *_POLICIES]].reset_index(drop=True), origins)


def kept_steps(name: str, runs: Path) -> "DataFrame | None":
    """Every step of an experiment's runs; None where it was not run."""
    import pandas as pd

    folders = TABLE_RUNS if name == "table" else (name,)
    paths = [runs / folder / "steps.parquet" for folder in folders]
    if not all(path.exists() for path in paths):
        return None
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def _wide(name: str, steps: "DataFrame") -> "DataFrame":
    """The rows that are kept of an experiment's runs."""
    if name == "table":
        steps = at_table_steps(steps)
        steps = steps.assign(setting=steps["data"] + ": " + steps["pool"])
    else:
        last = steps.groupby("setting")["step"].transform("max")
        quarters = steps["step"] * 4 % last < 4
        steps = steps[(steps["step"] == last) | (quarters & ~EXPERIMENTS[name].pooled)]
    order = {setting: place for place, setting in enumerate(dict.fromkeys(steps["setting"]))}
    wide = steps.pivot(index=["setting", "seed", "step"], columns="policy", values="regret")
    if name == "table" or EXPERIMENTS[name].pooled:
        best = steps.assign(best=steps["total"] + steps["regret"])
        wide[_BEST] = best.groupby(["setting", "seed", "step"])["best"].first()
    wide = wide.reset_index()
    wide = wide.sort_values("setting", key=lambda one: one.map(order), kind="stable")
    wide.insert(0, "experiment", name)
    return wide.reindex(columns=[*_KEYS, _BEST, *_POLICIES])
