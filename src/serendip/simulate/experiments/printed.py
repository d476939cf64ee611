"""The paper's table of real reactions as printed, and which public pool each column is   [Table 1]

The printed column labels are permuted against the public data. Which column is which is known
exactly: UCB is deterministic, and with prior variance 1000, noise variance 1 and the horizons below
it has on the public data the regret that is printed, to the cent, in all 20 columns
(`tests/reproduction/test_table.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

HORIZONS: Mapping[str, int] = {"pndc": 17, "cncci": 67}
"""Labels behind the printed figures; the authors' code reads y[int(.2 · 330)], the 67th."""

POLICIES = ("random", "vids", "thompson", "ucb")
"""The rows; the paper's IDS is SampleVIDS, here `vids`."""

RUNS = 10
"""Runs behind a printed mean; UCB, which is deterministic, has one."""


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """One column of the table: mean regret and standard deviation over runs, by policy."""

    label: str
    """As printed."""
    means: tuple[float, float, float, float]
    """In the order of `POLICIES`."""
    deviations: tuple[float, float, float]
    """Of all but UCB, for which none is printed."""

    def mean(self, policy: str) -> float:
        """The printed mean regret."""
        return self.means[POLICIES.index(policy)]

    def deviation(self, policy: str) -> float:
        """The printed standard deviation; 0 for UCB."""
        return (*self.deviations, 0.0)[POLICIES.index(policy)]


TABLE: Mapping[str, Mapping[str, PrintedColumn]] = {
    "pndc": {
        "X2": PrintedColumn("X2", (8.77, 6.53, 7.64, 9.63), (1.44, 0.20, 1.11)),
        "X3": PrintedColumn("X15", (2.65, 1.09, 1.35, 2.03), (0.47, 0.03, 0.43)),
        "X4": PrintedColumn("X13", (4.44, 3.22, 4.79, 4.53), (0.43, 0.21, 1.17)),
        "X5": PrintedColumn("X4", (2.12, 1.56, 2.15, 2.58), (0.20, 0.06, 0.48)),
        "X6": PrintedColumn("X6", (4.96, 3.44, 4.07, 5.26), (0.72, 0.81, 1.30)),
        "X8": PrintedColumn("X14", (5.72, 4.94, 5.39, 5.86), (0.35, 0.07, 0.64)),
        "X11": PrintedColumn("X5", (1.70, 0.81, 1.22, 1.42), (0.15, 0.01, 0.38)),
        "X12": PrintedColumn("X3", (7.74, 5.70, 6.67, 7.66), (0.75, 0.52, 1.09)),
        "X13": PrintedColumn("X12", (5.27, 3.95, 4.42, 5.28), (0.92, 0.19, 0.90)),
        "X14": PrintedColumn("X8", (9.90, 9.35, 9.78, 10.43), (1.47, 0.96, 1.69)),
        "X15": PrintedColumn("X11", (7.15, 2.40, 2.90, 3.58), (1.21, 0.12, 1.76)),
    },
    "cncci": {
        "L1+B1": PrintedColumn("L1+B3", (19.84, 8.63, 10.61, 12.42), (0.81, 0.97, 0.99)),
        "L2+B1": PrintedColumn("L1+B1", (25.65, 15.55, 11.84, 13.63), (2.11, 1.52, 1.04)),
        "L3+B1": PrintedColumn("L4+B2", (28.78, 10.51, 12.68, 15.60), (2.59, 1.32, 2.33)),
        "L4+B1": PrintedColumn("L1+B2", (29.59, 10.76, 12.49, 17.41), (1.26, 0.51, 1.10)),
        "L1+B2": PrintedColumn("L4+B1", (15.96, 10.81, 10.39, 11.98), (0.83, 0.79, 0.81)),
        "L4+B2": PrintedColumn("L2+B1", (23.08, 7.90, 9.82, 10.08), (1.98, 0.28, 2.23)),
        "L1+B3": PrintedColumn("L3+B1", (19.90, 10.03, 11.58, 12.00), (1.19, 0.88, 4.31)),
        "L3+B3": PrintedColumn("L4+B3", (27.08, 9.44, 9.80, 12.32), (2.51, 0.52, 2.39)),
        "L4+B3": PrintedColumn("L3+B3", (29.03, 8.76, 12.44, 11.49), (2.22, 0.32, 7.39)),
    },
}
"""By public pool."""


def printed_mean(name: str, policy: str) -> float:
    """The mean of a printed row over the pools of a data set."""
    columns = TABLE[name].values()
    return sum(column.mean(policy) for column in columns) / len(columns)
