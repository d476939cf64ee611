"""One ask with `auto` against the labels seen and the candidates left.

    python benchmarks/auto.py            a table over labels and pools
    python benchmarks/auto.py --json     the three figures that have a bar, in seconds
    python benchmarks/auto.py --quick    one small size

An ask is what a user waits for: the posterior made afresh from all labels, then the choice of one
candidate by `ids`. Features are standard normal; the labels are a plane, a wave and noise.
"""

import argparse
import json
from time import perf_counter

import numpy as np

from serendip.core.data import Observation
from serendip.core.rng import stream
from serendip.core.threads import one_blas_thread
from serendip.models.gp.kernels import single_columns
from serendip.models.table_models import Features, auto_model
from serendip.policies.registry import policy_named
from serendip.pools.dense import DensePool
from serendip.simulate.loop import suggest

BARS = {(330, 46, 66): 1.0, (10_000, 59, 200): 5.0, (100_000, 59, 500): 60.0}
MORE = ((330, 46, 20), (3_300, 46, 66), (10_000, 59, 50), (10_000, 59, 500), (100_000, 59, 200))


def problem(n, d, n_labels):
    rng = stream(0, "auto", n, d, n_labels)
    x = rng.standard_normal((n, d))
    plane = x @ rng.standard_normal(d) / np.sqrt(d)
    y = 0.5 + 0.15 * plane + 0.1 * np.sin(2.0 * x[:, 0]) + 0.03 * rng.standard_normal(n)
    seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(n_labels)]
    return DensePool(x, removed=np.arange(n_labels)), seen


def ask(n, d, n_labels):
    """Seconds for the posterior and for the choice."""
    pool, seen = problem(n, d, n_labels)
    model = auto_model(Features(d, single_columns(d)))
    start = perf_counter()
    with one_blas_thread():  # as campaigns do: matrices of so few labels do not pay for more
        posterior = model.posterior(seen, stream(0, "posterior"))
    fitted = perf_counter()
    suggest(posterior, pool, policy_named("ids"), 100, lambda _: stream(0, "step"))
    return fitted - start, perf_counter() - fitted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    ask(100, 5, 10)  # what is imported on first use is not what is measured
    if options.json:
        found = {size: sum(ask(*size)) for size in BARS}
        report = {
            f"n = {n}, {t} labels": {
                "value": found[n, d, t],
                "bar": bar,
                "ok": found[n, d, t] <= bar,
            }
            for (n, d, t), bar in BARS.items()
        }
        print(json.dumps(report, indent=2, ensure_ascii=False))
        return
    sizes = ((330, 46, 20),) if options.quick else sorted((*BARS, *MORE))
    print(f"{'candidates':>10} {'features':>8} {'labels':>6} {'fit s':>8} {'choose s':>8}")
    for n, d, t in sizes:
        fit, choose = ask(n, d, t)
        print(f"{n:>10} {d:>8} {t:>6} {fit:8.2f} {choose:8.2f}")


if __name__ == "__main__":
    main()
