"""What the authors' public code does and the paper does not say, beside what the paper says.

    python benchmarks/authors_code.py linear             d = 20, T = 100, seeds 0–19
    python benchmarks/authors_code.py logistic           the same
    python benchmarks/authors_code.py graph              random and star graphs, N = 300, T = 50
    python benchmarks/authors_code.py logistic --repeats 4 --first 100

Each departure is played on the worlds of `serendip reproduce`, with the same labels, so that
differences are paired by seed. `regret` is the paper's eq. 1; `realised` is what the authors' code
counts: the sum of the T largest labels of the whole pool, noise and all, less that of the labels
got. Mean ± standard error. Departures: docs/paper_notes.md.
"""

import argparse
from collections import defaultdict
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit

from serendip.core.data import Choice
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.reductions.folds import everything
from serendip.core.rng import Purpose, stream
from serendip.models.draws import LinearDraws, LogisticDraws, TableDraws, equal_weights
from serendip.models.graph.model import GraphDraws, GraphModel
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel, LinearMoments
from serendip.policies.glm_ucb import GLMUCB
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.started import Started
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import OFUL, UCB
from serendip.policies.uniform import Uniform
from serendip.simulate.experiments import graph, linear, logistic
from serendip.simulate.loop import play

D = 20


@dataclass(frozen=True)
class Redrawn:
    """A model with draws of another law; all else is as it was."""

    model: object
    law: object
    """(posterior, size, rng) → draws"""

    def posterior(self, seen, rng):
        return RedrawnPosterior(self.model.posterior(seen, rng), self.law)


@dataclass(frozen=True)
class RedrawnPosterior:
    """Another's posterior, but for its draws."""

    posterior: object
    law: object

    @property
    def n_labels(self):
        return self.posterior.n_labels

    def update(self, seen, rng):
        return RedrawnPosterior(self.posterior.update(seen, rng), self.law)

    def sample(self, size, rng):
        return self.law(self.posterior, size, rng)


def with_hessian(posterior, size, rng):
    """θ ~ N(θ̂, H): the curvature as the covariance, which should be its inverse."""
    normal = rng.standard_normal((size, len(posterior.mode)))
    theta = posterior.mode + normal @ posterior.precision.factor.T
    return LogisticDraws(theta, equal_weights(size), Bernoulli())


def without_root(posterior, size, rng):
    """Nodes with the posterior variance as their standard deviation."""
    normal = rng.standard_normal((size, len(posterior.mean)))
    table = posterior.mean + posterior.variance * normal
    noise = Gaussian(posterior.noise_variance)
    return GraphDraws(TableDraws(table, equal_weights(size), noise), posterior)


@dataclass(frozen=True)
class LinearisedIDS:
    """The code's IDS for logistic regression: groups, regret and gain by the means of θ."""

    n_draws: int = 1000

    def choose(self, posterior, pool, remaining, rng):
        theta, left = posterior.sample(self.n_draws, rng).theta, everything(pool)
        best = np.argmax(left.x @ theta.T, axis=0)
        peaks, group, counts = np.unique(best, return_inverse=True, return_counts=True)
        means = np.zeros((len(peaks), theta.shape[1]))
        np.add.at(means, group, theta)
        means /= counts[:, None]
        shares, centre = counts / len(theta), theta.mean(axis=0)
        spread = (left.x @ (means - centre).T) ** 2 @ shares
        chance = expit(left.x @ centre)
        top = shares @ expit(np.einsum("ad,ad->a", left.x[peaks], means))
        gain = (spread + 1e-6) * (chance * (1.0 - chance)) ** 2
        score = (top - chance) ** 2 / gain
        place = int(np.argmin(score))
        return Choice(int(left.items[place]), float(score[place]))


@dataclass(frozen=True)
class Ridge:
    """The code's "GLM-UCB": least squares on the labels, a band that grows with t.

    θ̂ = V⁻¹Xᵀy with V = I + XᵀX, width 1 + √(d log(1 + t/d)); the first d + 1 labels, chosen at
    random, have noise N(0, 1) added to them.
    """

    n_features: int

    def posterior(self, seen, rng):
        d = self.n_features
        return RidgePosterior(np.eye(d), np.zeros(d), 0)


@dataclass(frozen=True)
class RidgePosterior:
    """V, Xᵀy and t."""

    gram: np.ndarray
    moment: np.ndarray
    n_labels: int

    def update(self, seen, rng):
        x, label = seen.x[0], seen.label
        if self.n_labels <= len(x):
            label += rng.standard_normal()
        return RidgePosterior(
            self.gram + np.outer(x, x), self.moment + x * label, self.n_labels + 1
        )

    def moments(self):
        d, inverse = len(self.moment), np.linalg.inv(self.gram)
        width = 1.0 + np.sqrt(d * np.log1p(self.n_labels / d))
        return LinearMoments(inverse @ self.moment, inverse, float(width))

    def sample(self, size, rng):
        mean, inverse = np.linalg.solve(self.gram, self.moment), np.linalg.inv(self.gram)
        theta = rng.multivariate_normal(mean, inverse, size=size)
        return LinearDraws(theta, equal_weights(size), mean, inverse, Gaussian(1.0))


def linear_rivals(seed):
    """UCB as the text calls it, from the literature, and as coded: scales of its own."""
    task = linear.printed_task(D, seed)
    coded = LinearModel(D, prior_variance=1000.0, noise_variance=1.0)
    return task, {
        "oful": (task.model, OFUL()),
        "ucb": (task.model, UCB()),
        "ucb, prior 1000 and noise 1": (coded, UCB()),
        "thompson": (task.model, Thompson()),
        "vids": (task.model, linear.PRINTED.policies["vids"]),
        "random": (task.model, Uniform()),
    }


def logistic_rivals(seed):
    """What is said and what is done, by name: (task, model, policy)."""
    task = logistic.task(D, seed)
    model = LogisticModel(D, prior_variance=1.0)
    wide = Redrawn(model, with_hessian)
    return task, {
        "thompson": (model, Thompson()),
        "thompson, covariance H": (wide, Thompson()),
        "vids": (model, SampleVIDS()),
        "vids, covariance H": (wide, SampleVIDS()),
        "linearised vids": (model, LinearisedIDS()),
        "linearised vids, covariance H": (wide, LinearisedIDS()),
        "glm-ucb": (model, GLMUCB()),
        "linear ucb, d + 1 random": (Ridge(D), Started(UCB(), D + 1)),
        "random": (model, Uniform()),
    }


def graph_rivals(task, noise, seed):
    """The variant's model, and the posterior as coded: both scales read as variances, no root."""
    task = task(noise, seed)
    narrow = GraphModel(task.model.adjacency, prior_variance=10.0, noise_variance=noise)
    coded = Redrawn(narrow, without_root)
    vids = SampleVIDS(power=3.0, n_draws=100)
    return task, {
        "thompson": (task.model, Thompson()),
        "thompson, as coded": (coded, Thompson()),
        "thompson, node variance 10": (narrow, Thompson()),
        "vids": (task.model, vids),
        "vids, as coded": (coded, vids),
        "vids, node variance 10": (narrow, vids),
        "random": (task.model, Uniform()),
    }


def regrets(world, trace):
    """Of the paper, and of the authors' code."""
    horizon, pool = len(trace.items), np.arange(len(world.truth))
    labels = [world.oracle.reveal(i, stream(trace.seed, Purpose.LABEL, i)).label for i in pool]
    return [
        np.sort(values)[-horizon:].sum() - values[trace.items].sum()
        for values in (world.truth, np.array(labels))
    ]


def measure(title, rivals, seeds):
    """One table: each by itself, and less the one it departs from."""
    found = defaultdict(list)
    for seed in seeds:
        task, played = rivals(seed)
        for name, (model, policy) in played.items():
            trace = play(task.world.pool, task.world.oracle, model, policy, task.horizon, seed)
            found[name].append(regrets(task.world, trace))
    print(f"{title}, seeds {seeds[0]}–{seeds[-1]}")
    for name, runs in found.items():
        base = name.split(",")[0].replace("linear ucb", "glm-ucb")
        row = [said(figures) for figures in np.transpose(runs)]
        apart = np.array(runs)[:, 0] - np.array(found[base])[:, 0]
        row.append("" if base == name else f"{said(apart, '+')} against {base}")
        print(f"  {name:30s} regret {row[0]:16s} realised {row[1]:16s} {row[2]}", flush=True)


def said(values, sign=""):
    return f"{values.mean():{sign}.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("linear", "logistic", "graph"))
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.repeats)
    if options.what != "graph":
        rivals = linear_rivals if options.what == "linear" else logistic_rivals
        measure(f"{options.what}, d = {D}", rivals, seeds)
        return
    for experiment in (graph.RANDOM_AUTHORS, graph.STAR_AUTHORS):
        for noise in experiment.settings:
            rivals = partial(graph_rivals, experiment.task, noise)
            measure(f"{experiment.name}, σ = {noise}", rivals, seeds)


if __name__ == "__main__":
    main()
