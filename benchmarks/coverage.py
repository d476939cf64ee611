"""How often an interval that should hold 80 % of labels does, on real tables.

    python benchmarks/coverage.py                        auto, ten repeats
    python benchmarks/coverage.py --models auto gp       which model
    python benchmarks/coverage.py --problems pndc --repeats 3 --first 100

A quarter, half and all of the budget's labels are picked at random, the model is fitted to them,
and the labels of all other candidates are compared with its intervals: mean ± 1.28 standard
deviations of a label. A problem of several pools counts by their mean. In per cent, mean ± standard
error over repeats; `promising` is the tenth of the candidates with the highest mean.
"""

import argparse

import numpy as np
import pandas as pd

from serendip.backtest_plans import planned
from serendip.core.folds import everything
from serendip.core.rng import stream
from serendip.parallel import run_all
from suite import BUDGETS, columns, tables

EIGHTY = 1.2816
"""Standard deviations on either side that hold 80 % of a Gaussian."""
SHARES = (0.25, 0.5, 1.0)


def covered(task):
    """The share of labels that lie in their intervals: of all candidates, and of the promising."""
    problem, pool_name, model, share, seed = task
    frame, budget = tables(problem)[pool_name], BUDGETS[problem]
    plan = planned(frame, "y", None, columns(problem, frame, model), False, budget, 1)
    pool, oracle, count = plan.world.pool, plan.world.oracle, max(2, round(share * budget))
    picked = stream(seed, "labels", pool_name).choice(len(pool), count, replace=False)
    seen = [oracle.reveal(int(item), stream(seed, "label", item)) for item in picked]
    posterior = plan.model.posterior(seen, stream(seed, "fit"))
    for item in picked:
        pool = pool.without(int(item))
    rest = everything(pool)
    mean, deviation = posterior.moments()(rest)
    width = EIGHTY * np.sqrt(deviation**2 + posterior.noise_variance)
    truth = np.array([oracle.reveal(int(i), stream(seed, "label", i)).y[0] for i in rest.items])
    inside = np.abs(truth - mean) <= width
    promising = mean >= np.quantile(mean, 0.9)
    return {
        "problem": problem,
        "model": model,
        "labels": count,
        "seed": seed,
        "all": 100.0 * inside.mean(),
        "promising": 100.0 * inside[promising].mean(),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    parser.add_argument("--models", nargs="+", default=["auto"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        (problem, pool, model, share, seed)
        for problem in options.problems
        for model in options.models
        for share in SHARES
        for seed in range(options.first, options.first + options.repeats)
        for pool in tables(problem)
    ]
    runs = pd.DataFrame([run for _, run in run_all(covered, tasks, options.jobs)])
    by = ["problem", "model", "labels"]
    means = runs.groupby([*by, "seed"], sort=False)[["all", "promising"]].mean()
    found = means.groupby(by, sort=False).agg(["mean", "sem"]).round(1)
    print(found.to_string())


if __name__ == "__main__":
    main()
