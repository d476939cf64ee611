"""One decision step against n, d, M, beside the bare matrix product of the same size.

    python benchmarks/step.py            the sizes below
    python benchmarks/step.py --json     the two figures that have a bar, as JSON

The bare product is `X @ thetaᵀ` in float32, BLAS on all cores, its n × M result held in memory.
Times are the least of several runs; memory is the peak of a step beyond what was there before.
"""

import argparse
import json
import tracemalloc
from time import perf_counter

import numpy as np

from naive import naive_vids
from serendip.core.data import Observation
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.greedy import Greedy
from serendip.policies.sample_vids import SampleVIDS
from serendip.pools.dense import DensePool
from serendip.simulate.loop import suggest

SIZES = (
    (1_000, 20, 300),
    (10_000, 20, 300),
    (100_000, 20, 100),
    (100_000, 20, 300),
    (100_000, 20, 1000),
    (100_000, 100, 300),
    (1_000_000, 20, 300),
)
BAR, MEMORY_BAR = 3.0, 200e6
LABELS = 30


def least(work, runs):
    """The least of several wall times, in seconds."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def problem(n, d):
    """A float32 pool, thirty labels, and the posterior they leave."""
    rng = stream(0, "benchmark", n, d)
    x = rng.standard_normal((n, d), dtype=np.float32)
    theta = rng.standard_normal(d)
    pool = DensePool(x)
    seen = []
    for item in range(LABELS):
        label = x[item] @ theta + rng.standard_normal()
        seen.append(Observation(item, x[item : item + 1], np.array([label])))
        pool = pool.without(item)
    return pool, LinearModel(d, 1.0, 1.0).posterior(seen, rng)


def measure(n, d, n_draws, runs=7):
    """Seconds of the bare product and of a step of each policy, and the peak memory of a step."""
    pool, posterior = problem(n, d)
    theta = posterior.sample(n_draws, stream(0, "bare")).theta.astype(np.float32)
    figures = {"bare": least(lambda: pool.x @ theta.T, runs)}
    policies = {
        "vids": SampleVIDS(n_draws=n_draws),
        "ids": BudgetIDS(n_draws=n_draws),
        "greedy": Greedy(),
    }
    for name, policy in policies.items():

        def step(policy=policy):
            return suggest(posterior, pool, policy, 70, lambda _: stream(0, "step"))

        figures[name] = least(step, runs)
        tracemalloc.start()
        step()
        figures[f"{name} memory"] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return figures


def agrees_with_naive(n=2_000, d=20, n_draws=100):
    """Whether SampleVIDS takes what the obvious version takes, on the same draws."""
    pool, posterior = problem(n, d)
    left = np.arange(LABELS, n)
    values = pool.x[left].astype(np.float64) @ posterior.sample(n_draws, stream(0, "step")).theta.T
    policy = SampleVIDS(n_draws=n_draws)
    (choice,) = suggest(posterior, pool, policy, 70, lambda _: stream(0, "step"))
    return choice.item == left[naive_vids(values, 2.0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    if parser.parse_args().json:
        figures = measure(100_000, 20, 300, runs=15)
        ratio = figures["vids"] / figures["bare"]
        memory = figures["vids memory"]
        rows = {
            "vids step / bare product": {"value": ratio, "bar": BAR, "ok": ratio <= BAR},
            "vids step memory": {"value": memory, "bar": MEMORY_BAR, "ok": memory <= MEMORY_BAR},
        }
        print(json.dumps(rows))
        return
    print(f"the same choice as the naive version: {agrees_with_naive()}")
    print(
        f"{'n':>9} {'d':>4} {'M':>5} {'bare ms':>8} {'vids':>7} {'ids':>7} {'greedy':>7}  MB extra"
    )
    for n, d, n_draws in SIZES:
        figures = measure(n, d, n_draws)
        ratios = " ".join(
            f"{figures[name] / figures['bare']:6.2f}×" for name in ("vids", "ids", "greedy")
        )
        memory = max(figures[f"{name} memory"] for name in ("vids", "ids")) / 1e6
        print(f"{n:>9} {d:>4} {n_draws:>5} {1000 * figures['bare']:>8.2f} {ratios}  {memory:8.1f}")


if __name__ == "__main__":
    main()
