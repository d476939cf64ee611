"""The regrets of one experiment as claims look at them: by setting and step, seeds × policies."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from serendip.simulate.experiments.catalogue import EXPERIMENTS
from serendip.simulate.experiments.results import Results

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class Regrets:
    """The regrets of an experiment; of real data means over the pools."""

    results: Results
    experiment: str
    only: tuple[str, ...] | None = None
    """The settings looked at; None for all."""

    @property
    def settings(self) -> tuple[str, ...]:
        """Those of the experiment; of real data the variants."""
        named = self.results.of(self.experiment)["setting"]
        found = dict.fromkeys(named.str.split(": ").str[0] if self._pooled else named)
        return tuple(one for one in found if self.only is None or one in self.only)

    def steps(self, setting: str) -> tuple[int, ...]:
        """The steps at which regret is kept."""
        return tuple(sorted({int(step) for step in self._rows(setting)["step"]}))

    def at(self, setting: str, step: int | None = None) -> "DataFrame":
        """Seeds × policies at a step, by default the last."""
        rows = self._rows(setting)
        rows = rows[rows["step"] == (rows["step"].max() if step is None else step)]
        if not self._pooled:
            return self._paired(rows)
        tables = [self._paired(mine) for _, mine in rows.groupby("setting", sort=False)]
        return sum(tables[1:], start=tables[0]) / len(tables)

    def pools(self, setting: str) -> "dict[str, DataFrame]":
        """Seeds × policies of each pool of a variant."""
        grouped = self._rows(setting).groupby("setting", sort=False)
        return {str(name).split(": ")[1]: self._paired(rows) for name, rows in grouped}

    def of_experiment(self, name: str) -> "Regrets":
        """The same of another experiment."""
        return Regrets(self.results, name, self.only)

    @property
    def _pooled(self) -> bool:
        return self.experiment == "table" or EXPERIMENTS[self.experiment].pooled

    def _rows(self, setting: str) -> "DataFrame":
        rows = self.results.of(self.experiment)
        if self._pooled:
            return rows[rows["setting"].str.startswith(f"{setting}: ")]
        return rows[rows["setting"] == setting]

    @staticmethod
    def _paired(rows: "DataFrame") -> "DataFrame":
        """By seed; what is deterministic was run once, and stands beside every seed."""
        table = rows.set_index("seed").drop(columns=["setting", "step"])
        once = [name for name in table.columns if table[name].count() == 1]
        table[once] = table[once].ffill().bfill()
        return table
