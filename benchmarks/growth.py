"""How the time and the memory of one ask grow: with candidates, features, draws and labels.

    python benchmarks/growth.py                      a table, and docs/figures/growth.png
    python benchmarks/growth.py --quick --out FILE   every line at small sizes

An ask is the posterior made afresh from all labels and one choice by `ids`, on two cores. Each runs
in a process of its own; memory is what it held at its peak beyond what it held with the pool made.
One size changes at a time, the others stay at n = 10⁵, d = 32, M = 300 and 100 labels.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("linear", "logistic", "gp", "forest")
USUAL = {"n": 100_000, "d": 32, "draws": 300, "labels": 100}
RANGES = {
    "n": (1_000, 10_000, 100_000, 1_000_000),
    "d": (8, 32, 128),
    "draws": (100, 300, 1000),
    "labels": (20, 100, 500, 2_000, 10_000),
}
QUICK = ({"n": 500, "d": 4, "draws": 20, "labels": 10}, {"n": (500, 1_000), "labels": (10, 20)})
TITLES = {"n": "candidates", "d": "features", "draws": "draws", "labels": "labels"}


def ask(model, n, d, draws, labels):
    """Seconds and bytes of one ask."""
    import numpy as np

    from scale import forget_peak, held
    from serendip.core.data import Observation
    from serendip.core.rng import stream
    from serendip.core.threads import one_blas_thread
    from serendip.models.gp.kernels import single_columns
    from serendip.models.registry import MODELS as ENTRIES
    from serendip.models.table_models import Features
    from serendip.policies.budget_ids import BudgetIDS
    from serendip.pools.dense import DensePool
    from serendip.simulate.loop import suggest

    rng = stream(0, "growth")
    x = rng.standard_normal((n, d), dtype=np.float32)
    if not ENTRIES[model].own_constant:
        x[:, -1] = 1.0
    truth = x[:labels] @ rng.standard_normal(d) / np.sqrt(d) + np.sin(2.0 * x[:labels, 0])
    y = truth + 0.1 * rng.standard_normal(labels)
    y = (y > 0).astype(float) if model == "logistic" else y
    seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(labels)]
    pool = DensePool(x, removed=np.arange(labels))

    made = ENTRIES[model].make(Features(d, single_columns(d)))

    def step():
        with one_blas_thread():
            posterior = made.posterior(seen, stream(0, "fit"))
        suggest(posterior, pool, BudgetIDS(n_draws=draws), 100, lambda _: stream(0, "ask"))

    before = held("VmRSS")
    forget_peak()
    start = perf_counter()
    step()
    taken = perf_counter() - start
    if taken < 5.0:  # what is imported on first use is not what is measured
        start = perf_counter()
        step()
        taken = min(taken, perf_counter() - start)
    return taken, held("VmHWM") - before


def measured(model, size):
    """As `ask`, in a process of its own."""
    told = subprocess.run(
        [sys.executable, __file__, "--one", json.dumps([model, size])],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(told.stdout)


def drawn(found, ranges, out):
    """Time above, memory below, a column for each size that changes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(ranges), figsize=(3.0 * len(ranges), 5.2), sharex="col", sharey="row"
    )
    for column, (what, values) in enumerate(ranges.items()):
        for row, (place, unit) in enumerate(((0, 1.0), (1, 1e6))):
            axis = axes[row][column]
            for model in MODELS:
                points = [found[model, what, value][place] / unit for value in values]
                axis.plot(values, points, marker="o", markersize=4, label=model)
            axis.set(xscale="log", yscale="log")
            axis.set_xticks(values, [f"{value:,}" for value in values])
            axis.minorticks_off()
            axis.grid(alpha=0.3)
        axes[1][column].set_xlabel(TITLES[what])
    axes[0][0].set_ylabel("seconds of one ask")
    axes[1][0].set_ylabel("MB beyond the pool")
    axes[0][0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(out, dpi=130)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "figures" / "growth.png")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.one:
        model, size = json.loads(told.one)
        print(json.dumps(ask(model, **size)))
        return
    usual, ranges = QUICK if told.quick else (USUAL, RANGES)
    found, known = {}, {}
    print(f"{'model':<9} {'n':>9} {'d':>4} {'draws':>5} {'labels':>6} {'seconds':>8} {'MB':>7}")
    for model in MODELS:
        for what, values in ranges.items():
            for value in values:
                size = usual | {what: value}
                key = (model, *size.values())
                if key not in known:
                    known[key] = measured(model, size)
                    n, d, draws, labels = size.values()
                    seconds, memory = known[key]
                    print(
                        f"{model:<9} {n:>9} {d:>4} {draws:>5} {labels:>6} "
                        f"{seconds:>8.2f} {memory / 1e6:>7.0f}",
                        flush=True,
                    )
                found[model, what, value] = known[key]
    drawn(found, ranges, told.out)


if __name__ == "__main__":
    main()
