"""Forms of `ids` on one Gaussian process of known settings: a run takes a second, not a minute.

    python benchmarks/bare.py                                  ids beside UCB, greedy and by means
    python benchmarks/bare.py --forms ids "ids eta=0.1" "ids beta=1 means=1" "ucb a=0.7"
    python benchmarks/bare.py --problems cncci10 drawn --repeats 10
    python benchmarks/bare.py --forms ids "rollout" "rollout width=1 guarded=ids"

The covariance of all candidates is held and brought up to date with every label, and so are M paths
of the process, so nothing is fitted. Names have effects of the sizes that fit the whole table best
(`told.py`); CNCCI has equal parts of a plane, a Matérn 5/2 and effects of components, PNDC of the
first two; `drawn` are truths from the process of deoxyfluorination. What is better here may not be
with `auto`, but what is not better here is hardly worth hours there. Regret, and the difference to
the first form in pairs, with standard errors over runs.

ids takes beta (what all have in common), power (λ), eta (η over the mean Δ of the k cheapest),
opening (0: none), a and b (λ grows from a·power to b·power over the budget) and means (1: Δ by
means, max(E f_(k), max E f) − E f(x)); ucb takes a. rollout plays each of the choices of greedy,
UCB and ids to the end of the budget, going on by mean + width · standard deviation, on the same
paths and noise for all, and leaves the choice of `guarded` (greedy or ids) only for one that is
better by two standard errors.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from serendip.compute.parallel import run_all
from serendip.models.gp.factors import factors_of
from serendip.models.gp.kernel_terms import Levels, Radial
from suite import BUDGETS, ROWS, tables
from told import told, with_error

DRAWS = 300
NOISE = 0.02
"""Over the variance of the labels, where no one has fitted it."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A pool, its process before any label, and what the labels will be."""

    covariance: np.ndarray
    noise: float
    mean: float
    y: np.ndarray
    budget: int


@dataclass(eq=False)
class Belief:
    """The process given the labels so far."""

    mean: np.ndarray
    covariance: np.ndarray
    paths: np.ndarray
    """(M, n)"""
    noise: float
    rng: np.random.Generator
    left: np.ndarray
    """(n,) whether a candidate can still be labelled."""

    @classmethod
    def before(cls, problem, rng):
        n = len(problem.y)
        root = np.linalg.cholesky(problem.covariance + 1e-8 * np.eye(n))
        paths = problem.mean + rng.standard_normal((DRAWS, n)) @ root.T
        mean, covariance = np.full(n, problem.mean), problem.covariance.copy()
        return cls(mean, covariance, paths, problem.noise, rng, np.ones(n, dtype=bool))

    def learn(self, item, label):
        """Every path is moved by what it foretold wrongly, noise included."""
        own = self.covariance[:, item].copy()
        size = own[item] + self.noise
        jitter = np.sqrt(self.noise) * self.rng.standard_normal(DRAWS)
        self.paths += np.outer((label - self.paths[:, item] - jitter) / size, own)
        self.mean += own * (label - self.mean[item]) / size
        self.covariance -= np.outer(own, own) / size
        self.left[item] = False


def ids(belief, k, budget, beta=0.5, power=2.0, eta=0.3, opening=1, a=1.0, b=1.0, means=0):
    rest = np.flatnonzero(belief.left)
    paths, seen = belief.paths[:, rest], budget - k
    level = np.partition(paths, len(rest) - k, axis=1)[:, len(rest) - k]
    delta = np.maximum(level[:, None] - paths, 0.0).mean(axis=0)
    if means:
        average = paths.mean(axis=0)
        delta = max(level.mean(), average.max()) - average
    if k == 1:
        return rest[np.argmin(delta)]
    share = (paths >= level[:, None]).mean(axis=0)
    doubtful = np.flatnonzero((share > 0) & (share < 1))
    common = (level - level.mean()) @ (paths - paths.mean(axis=0)) / DRAWS
    shared = belief.covariance[np.ix_(rest[doubtful], rest)] - beta * common
    doubt = (share * (1.0 - share))[doubtful]
    gain = doubt @ shared**2 / (np.diag(belief.covariance)[rest] + belief.noise)
    exponent = power * k / (k - 1) * (a + (b - a) * seen / budget)
    length = min(20, budget / 10)
    if opening and length >= 10:
        exponent *= min(1.0, (seen + 1) / length)
    floor = eta * np.sort(delta)[:k].mean()
    return rest[np.argmin(exponent * np.log(delta + floor + 1e-12) - np.log(gain + 1e-300))]


def ucb(belief, k, budget, a=1.0):
    rest = np.flatnonzero(belief.left)
    spread = np.sqrt(np.maximum(np.diag(belief.covariance)[rest], 0.0))
    return rest[np.argmax(belief.mean[rest] + a * spread)]


def greedy(belief, k, budget):
    return ucb(belief, k, budget, a=0.0)


def rollout(belief, k, budget, width=0.0, guarded="greedy", paths=32, errors=2.0):
    choices = [form(belief, k, budget) for form in (FORMS[guarded], greedy, ucb, ids)]
    choices = list(dict.fromkeys(int(item) for item in choices))
    if len(choices) == 1 or k == 1:
        return choices[0]
    gains = played_out(belief, choices, k, int(paths), width)
    gains = gains[1:] - gains[0]
    means, spreads = gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(paths)
    sure = np.where(means > errors * spreads, means, -np.inf)
    return choices[0] if np.isneginf(sure).all() else choices[1 + int(np.argmax(sure))]


def played_out(belief, choices, k, n_paths, width):
    """(choices, paths) sums of k values: first each of the choices, then by mean + width · sd."""
    rest, n_choices = np.flatnonzero(belief.left), len(choices)
    n, runs = len(rest), np.arange(n_choices * n_paths)
    picked = belief.rng.choice(DRAWS, n_paths, replace=False)
    truth = np.tile(belief.paths[np.ix_(picked, rest)], (n_choices, 1))
    noise = np.sqrt(belief.noise) * belief.rng.standard_normal((n_paths, n))
    labels = truth + np.tile(noise, (n_choices, 1))
    covariance = belief.covariance[np.ix_(rest, rest)]
    mean, variance = (
        np.tile(one, (len(runs), 1)) for one in (belief.mean[rest], covariance.diagonal())
    )
    left, totals = np.ones((len(runs), n), dtype=bool), np.zeros(len(runs))
    learnt = np.empty((len(runs), k, n))
    item = np.repeat(np.searchsorted(rest, choices), n_paths)
    for step in range(k):
        totals += truth[runs, item]
        left[runs, item] = False
        own = covariance[item]
        own = own - np.einsum("rs,rsn->rn", learnt[runs, :step, item], learnt[:, :step])
        size = np.maximum(variance[runs, item], 0.0) + belief.noise
        mean += own * ((labels[runs, item] - mean[runs, item]) / size)[:, None]
        learnt[:, step] = own / np.sqrt(size)[:, None]
        variance -= learnt[:, step] ** 2
        score = mean + width * np.sqrt(np.maximum(variance, 0.0))
        item = np.where(left, score, -np.inf).argmax(axis=1)
    return totals.reshape(n_choices, n_paths)


FORMS = {"ids": ids, "ucb": ucb, "greedy": greedy, "rollout": rollout}


def regret(task):
    problem, form, seed = task
    name, *settings = form.split()
    told_of = dict(one.split("=") for one in settings)
    told_of = {key: value if key == "guarded" else float(value) for key, value in told_of.items()}
    belief = Belief.before(problem, np.random.default_rng(seed))
    for left in range(problem.budget, 0, -1):
        item = FORMS[name](belief, left, problem.budget, **told_of)
        belief.learn(item, problem.y[item])
    labelled = problem.y[~belief.left].sum()
    return np.sort(problem.y)[-problem.budget :].sum() - labelled


def of_names(name):
    world, model, y = told(name)
    x = world.pool.take(np.arange(len(y)))
    covariance = (model.kernels[0].matrix(x, x) + 1.0) * y.var()
    return Problem(covariance, model.noise_ratios[0] * y.var(), y.mean(), y, BUDGETS[name])


def of_numbers(frame, budget, components):
    y, x = frame["y"].to_numpy(), frame.drop(columns="y").to_numpy(dtype=np.float64)
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-9)
    d = x.shape[1]
    parts = [x @ x.T / d, Radial(tuple(range(d)), np.sqrt(d), 2.5).matrix(x, x)]
    if components:
        made = [Levels.of(columns, x).features(x) for columns in factors_of(x)]
        parts.append(sum(one @ one.T for one in made) / len(made))
    covariance = (np.mean(parts, axis=0) + 1.0) * y.var()
    return Problem(covariance, NOISE * y.var(), y.mean(), y, budget)


def drawn(problem, seed):
    rng = np.random.default_rng([seed, 1])
    root = np.linalg.cholesky(problem.covariance + 1e-9 * np.eye(len(problem.y)))
    truth = problem.mean + root @ rng.standard_normal(len(problem.y))
    y = truth + np.sqrt(problem.noise) * rng.standard_normal(len(truth))
    return Problem(problem.covariance, problem.noise, problem.mean, y, problem.budget)


def played(name, seeds):
    """Problems with seeds."""
    if name == "drawn":
        process = of_names("deoxyfluorination")
        return [(drawn(process, seed), seed) for seed in seeds]
    if name in ROWS:
        problems = [of_names(name)]
    else:
        components = name.startswith("cncci")
        frames = tables(name).values()
        problems = [of_numbers(frame, BUDGETS[name], components) for frame in frames]
    return [(problem, seed) for problem in problems for seed in seeds]


def main():
    parser = argparse.ArgumentParser()
    every = (*ROWS, "drawn", "cncci46", "cncci10", "pndc")
    parser.add_argument("--problems", nargs="+", choices=every, default=list(every))
    usual = ["ids", "ids beta=1 means=1", "ucb", "greedy"]
    parser.add_argument("--forms", nargs="+", default=usual)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for name in options.problems:
        runs = played(name, range(options.first, options.first + options.repeats))
        base = None
        for form in options.forms:
            tasks = [(problem, form, seed) for problem, seed in runs]
            by_index = dict(run_all(regret, tasks, options.jobs))  # in whatever order they end
            found = np.array([by_index[index] for index in range(len(tasks))])
            base = found if base is None else base
            print(
                f"{name} {form}: {with_error(found)}, worst {found.max():.1f}, "
                f"in pairs {with_error(found - base)} ({len(found)})",
                flush=True,
            )


if __name__ == "__main__":
    main()
