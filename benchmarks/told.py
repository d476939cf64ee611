"""What a policy could reach on a table of names with a model that was told how much names matter.

    python benchmarks/told.py                            ids, UCB and greedy, ten repeats
    python benchmarks/told.py --policies ids --repeats 3

A Gaussian process in which names, their pairs and their triples have effects of their own is given
the sizes of these effects and of the noise that fit the whole table best, which nobody knows before
it is measured. `auto` must learn all of it from its labels; regret far below this is not to be had
by a better guess of such sizes. Mean ± standard error over repeats.
"""

import argparse
from itertools import combinations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from serendip.compute.parallel import run_all
from serendip.core.reductions.folds import everything
from serendip.models.gp.kernel_terms import Levels
from serendip.models.gp.kernels import Kernel
from serendip.models.gp.model import GaussianProcessModel
from serendip.policies.registry import policy_named
from serendip.problems.framing import Columns
from serendip.problems.label_kinds import LabelKind
from serendip.simulate.backtests.plans import planned
from serendip.simulate.loop import play
from suite import BUDGETS, ROWS, tables

LEAST = 0.002
"""Of a size, over the variance of the labels."""


def effects(groups, x):
    """A term for each text, each pair and each triple of them."""
    subsets = [chosen for size in (1, 2, 3) for chosen in combinations(groups, size)]
    joined = [tuple(c for group in chosen for c in group.columns) for chosen in subsets]
    return [Levels.of(columns, x) for columns in joined]


def sizes_of(terms, x, y):
    """Those of the effects and of the noise under which the standardised labels are likeliest."""
    labels = (y - y.mean()) / y.std()
    features = [term.features(x) for term in terms]
    parts = np.stack([*(one @ one.T for one in features), np.eye(len(y))])

    def fall(logs):
        sizes = np.exp(logs)
        factor = cho_factor(np.tensordot(sizes, parts, axes=1) + 1.0, lower=True)
        pull, inverse = cho_solve(factor, labels), cho_solve(factor, np.eye(len(y)))
        value = 0.5 * labels @ pull + np.log(np.diag(factor[0])).sum()
        slope = 0.5 * (inverse - np.outer(pull, pull))
        return value, sizes * np.tensordot(parts, slope, axes=2)

    start, bounds = np.full(len(parts), np.log(0.1)), [(np.log(LEAST), 2.0)] * len(parts)
    found = np.exp(minimize(fall, start, jac=True, method="L-BFGS-B", bounds=bounds).x)
    return found[:-1], found[-1]


def told(problem):
    """The problem, and the model that knows its sizes."""
    frame = tables(problem)[problem]
    plan = planned(frame, "y", None, Columns(model="gp"), LabelKind(), BUDGETS[problem], 1)
    x, y = everything(plan.world.pool).x, frame["y"].to_numpy()
    terms = effects(plan.model.groups, x)
    sizes, noise = sizes_of(terms, x, y)
    kernel = Kernel(exact=tuple(zip(sizes.tolist(), terms, strict=True)), name="effects")
    model = GaussianProcessModel(
        x.shape[1], plan.model.groups, kernels=(kernel,), noise_ratios=(noise,), label_unit=1.0
    )
    return plan.world, model, y


def regret(task):
    (world, model, y), policy, budget, seed = task
    trace = play(world.pool, world.oracle, model, policy_named(policy), budget, seed)
    return np.sort(y)[-budget:].sum() - y[list(trace.items)].sum()


def with_error(runs):
    """Mean ± standard error."""
    error = runs.std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan
    return f"{runs.mean():.2f} ± {error:.2f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--policies", nargs="+", default=["ids", "ucb", "greedy"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.repeats)
    for problem in options.problems:
        problem_and_model = told(problem)
        for policy in options.policies:
            tasks = [(problem_and_model, policy, BUDGETS[problem], seed) for seed in seeds]
            runs = np.array([one for _, one in run_all(regret, tasks, options.jobs)])
            print(f"{problem} {policy}: {with_error(runs)} ({len(runs)})", flush=True)


if __name__ == "__main__":
    main()
