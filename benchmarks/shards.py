"""One decision step in one process, in local processes and in Ray actors.

    python benchmarks/shards.py [--json] [--n 1000000] [--d 64] [--draws 300] [--shards 2]
    python benchmarks/shards.py --engines processes        without Ray

A step is one choice of budget-aware IDS with 70 labels left, on a float32 pool after thirty labels,
by turns on each engine; times are the least of several. All must choose the same candidate with the
same score, or the script fails. Starting the workers is timed once, apart from the steps.
"""

import argparse
import json
import os
import sys
from contextlib import ExitStack
from time import perf_counter

import numpy as np

from serendip import Engine, sharded_pool
from serendip.core.rng import stream
from serendip.policies.budget_ids import BudgetIDS
from serendip.simulate.loop import suggest
from step import LABELS, problem


def timed(work):
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def measure(n, d, n_draws, n_shards, engines, runs):
    """Seconds of a step and of the start of each engine."""
    pool, posterior = problem(n, d)
    policy = BudgetIDS(n_draws=n_draws)

    def step(one):
        return suggest(posterior, one, policy, 70, lambda _: stream(0, "step"))

    figures, pools = {}, {"one process": pool}
    with ExitStack() as stack:
        for name in engines:
            engine = Engine(name, shards=n_shards)
            seconds, cut = timed(lambda e=engine: stack.enter_context(sharded_pool(pool.x, e)))
            figures[f"start of {name}, seconds"] = seconds
            for item in range(LABELS):
                cut = cut.without(item)
            pools[name] = cut
        times = {name: [] for name in (*pools, "one thread")}
        chosen = set()
        for _ in range(runs):
            for name, one in pools.items():
                seconds, choice = timed(lambda one=one: step(one))
                times[name].append(seconds)
                chosen.add((choice[0].item, choice[0].score))
            told = os.environ.get("SERENDIP_THREADS")
            os.environ["SERENDIP_THREADS"] = "1"
            times["one thread"].append(timed(lambda: step(pool))[0])
            os.environ.pop("SERENDIP_THREADS")
            if told is not None:
                os.environ["SERENDIP_THREADS"] = told
    if len(chosen) > 1:
        sys.exit(f"The engines disagree: {chosen}")
    base = min(times["one process"])
    figures |= {f"step of {name}, seconds": min(seconds) for name, seconds in times.items()}
    figures |= {
        f"step of {name} / one process": min(seconds) / base
        for name, seconds in times.items()
        if name != "one process"
    }
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=64)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--engines", nargs="*", default=["processes", "ray"])
    told = parser.parse_args()
    figures = measure(told.n, told.d, told.draws, told.shards, told.engines, told.runs)
    if told.json:
        print(json.dumps({name: float(np.round(value, 4)) for name, value in figures.items()}))
        return
    print(f"n = {told.n}, d = {told.d}, M = {told.draws}, {told.shards} shards, the same choice")
    for name, value in figures.items():
        print(f"{name:40} {value:8.3f}")


if __name__ == "__main__":
    main()
