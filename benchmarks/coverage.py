"""How often an interval that should hold 80 % of labels does, on real tables.

    python benchmarks/coverage.py                        auto, ten repeats
    python benchmarks/coverage.py --models auto gp       which model
    python benchmarks/coverage.py --chosen-by ids        labels that a policy chose
    python benchmarks/coverage.py --problems pndc --repeats 3 --first 100

A quarter, half and all of the budget's labels are picked at random, or by a policy with `auto`; the
model is fitted to them, and the labels of all other candidates are compared with its intervals:
mean ± 1.28 standard deviations of a label. A problem of several pools counts by their mean. In per
cent, mean ± standard error over repeats; `promising` is the tenth of the candidates with the
highest mean. `rmse` and `density` (mean logarithm, no label below −5) are of all of them.
"""

import argparse

import numpy as np
import pandas as pd

from serendip.compute.parallel import run_all
from serendip.core.reductions.folds import everything
from serendip.core.rng import stream
from serendip.simulate.backtests.backtest import backtest
from serendip.simulate.backtests.plans import planned
from suite import BUDGETS, columns, tables

EIGHTY = 1.2816
"""Standard deviations on either side that hold 80 % of a Gaussian."""
MEASURED = tuple(problem for problem in BUDGETS if problem != "citeseerx")
"""Those whose labels are measured; an interval of labels that are 0 or 1 says little."""
SHARES = (0.25, 0.5, 1.0)
FLOOR = -5.0
"""No label counts for less than this log density: one surprise shall not decide."""


def picks(frame, problem, pool_name, policy, seed):
    """What is labelled, in order."""
    budget = BUDGETS[problem]
    if policy is None:
        return stream(seed, "labels", pool_name).permutation(len(frame))[:budget]
    played = backtest(
        frame, "y", budget=budget, policies=[policy], columns=columns(problem, frame, "auto"),
        seed=seed, repeats=1, jobs=1,
    )  # fmt: skip
    return played.steps["item"].to_numpy()


def compared(task):
    """How the models foretell what has not been labelled, at each share of the budget."""
    problem, pool_name, models, policy, seed = task
    frame, budget = tables(problem)[pool_name], BUDGETS[problem]
    order = picks(frame, problem, pool_name, policy, seed)
    found = []
    for model in models:
        plan = planned(frame, "y", None, columns(problem, frame, model), False, budget, 1)
        for share in SHARES:
            picked = order[: max(2, round(share * budget))]
            seen = [plan.world.oracle.reveal(int(i), stream(seed, "label", i)) for i in picked]
            posterior = plan.model.posterior(seen, stream(seed, "fit"))
            pool = plan.world.pool
            for item in picked:
                pool = pool.without(int(item))
            rest = everything(pool)
            about = judged(posterior, rest, frame["y"].to_numpy()[rest.items])
            found.append({"problem": problem, "model": model, "labels": len(picked), **about})
    return found


def judged(posterior, rest, truth):
    mean, deviation = posterior.moments()(rest)
    variance = deviation**2 + posterior.noise_variance
    inside = np.abs(truth - mean) <= EIGHTY * np.sqrt(variance)
    density = -0.5 * ((truth - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
    return {
        "all": 100.0 * inside.mean(),
        "promising": 100.0 * inside[mean >= np.quantile(mean, 0.9)].mean(),
        "rmse": np.sqrt(np.mean((truth - mean) ** 2)),
        "density": np.maximum(density, FLOOR).mean(),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", nargs="+", choices=MEASURED, default=list(MEASURED))
    parser.add_argument("--models", nargs="+", default=["auto"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--chosen-by", help="a policy; random labels by default")
    options = parser.parse_args()
    tasks = [
        (problem, pool, options.models, options.chosen_by, seed)
        for problem in options.problems
        for seed in range(options.first, options.first + options.repeats)
        for pool in tables(problem)
    ]
    runs = pd.DataFrame(
        {**run, "seed": tasks[index][-1]}
        for index, found in run_all(compared, tasks, options.jobs)
        for run in found
    )
    by = ["problem", "model", "labels"]
    means = runs.groupby([*by, "seed"], sort=False)[["all", "promising", "rmse", "density"]].mean()
    print(means.groupby(by, sort=False).agg(["mean", "sem"]).round(3).to_string())


if __name__ == "__main__":
    main()
