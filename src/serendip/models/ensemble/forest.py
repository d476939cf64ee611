"""Random forests as draws: trees on bootstraps of the labels, calibrated by labels left out.

Each tree splits at random thresholds, the best of several (Geurts et al. 2006), and its leaves
shrink their mean towards that of the tree, as if they held κ labels more:

    μ_l = (Σ y + κ ȳ) / (n + κ),   member k at x: μ_l + e_l,  e_l ~ N(0, r² / (n + κ)),

r² being the mean squared error for labels left out. So members differ even where all their leaves
hold the same labels, and two candidates are correlated as often as they share a leaf.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import number, whole_fields
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput
from serendip.models.ensemble.calibration import Scale, Unseen
from serendip.models.ensemble.posterior import EnsemblePosterior, Fitted

_PRIOR_LABELS = 0.1
"""κ"""
_STEPS = 2.0**24
"""Of the range of the labels, as trees see them."""


@dataclass(frozen=True, slots=True)
class ForestModel:
    """A forest that needs no settings but the number of features.

    Attributes:
        n_trees: K
        share: Of the features, looked at in each split.
    """

    n_features: int
    n_trees: int = 100
    share: float = 0.7

    def __post_init__(self) -> None:
        whole_fields(self, 1, "n_features")
        whole_fields(self, 20, "n_trees")
        if not 0 < number("share", self.share) <= 1:
            raise InvalidInput(f"share must be above 0 and at most 1; got {self.share}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> EnsemblePosterior:
        """The posterior given these observations, in their order."""
        return EnsemblePosterior.of(self, seen, rng)

    def fit(self, x: Floats, y: Floats, scale: Scale, rng: Generator) -> Fitted:
        """Trees on bootstraps, and what they say of labels left out."""
        t = len(y)
        counts = rng.multinomial(t, np.full(t, 1.0 / t), size=self.n_trees)
        trees = _grown(_single(x), _graded(y), counts, self.share, rng)
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        leaves = _leaves(trees, starts, x)
        size = np.bincount(leaves.ravel(), counts.T.ravel(), starts[-1])
        total = np.bincount(leaves.ravel(), (counts.T * y[:, None]).ravel(), starts[-1])
        own = np.repeat(counts @ y / t, np.diff(starts))
        mean = (total + _PRIOR_LABELS * own) / (size + _PRIOR_LABELS)
        unseen = counts.T == 0
        plain = Unseen.of(mean[leaves], unseen)
        met = plain.count > 0
        error = float(np.mean((y - plain.mean)[met] ** 2)) if met.any() else scale.spread**2
        width = np.sqrt(error / (size + _PRIOR_LABELS))
        jitter = width * rng.standard_normal(starts[-1])
        grown = Trees(tuple(trees), starts[:-1], mean, jitter)
        return grown, self.n_trees, Unseen.of(mean[leaves], unseen, jitter[leaves])


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """The members: where a candidate falls in each tree, and the value there."""

    trees: tuple[Array, ...]
    starts: Ints
    """(K,) where the nodes of each tree begin in the tables."""
    mean: Floats
    """(nodes,) μ"""
    jitter: Floats
    """(nodes,) e"""
    grain: float = 0.0

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        leaves = _leaves(self.trees, self.starts, x)
        found = self.mean[leaves]
        mean = found.mean(axis=1)
        return mean, found - mean[:, None] + self.jitter[leaves]

    def reach(self, x: Floats) -> float:
        """By the largest values of the tables."""
        return float(2.0 * np.abs(self.mean).max() + np.abs(self.jitter).max())


def _leaves(trees: Sequence[Array], starts: Ints, x: Floats) -> Ints:
    """(b, K) the node that each row falls into, numbered through all trees."""
    small = _single(x)
    found = np.empty((len(x), len(trees)), dtype=np.int64)
    for k, tree in enumerate(trees):
        found[:, k] = tree.apply(small)
    return found + starts[: len(trees)]


def _graded(y: Floats) -> Floats:
    """Labels in steps of their range: splits that are equally good are told apart by rounding.

    So the unit of the labels does not decide; only where trees split depends on what is returned.
    """
    low, high = float(y.min()), float(y.max())
    return np.rint((y - low) / ((high - low) or 1.0) * _STEPS)


def _single(x: Floats) -> Array:
    """In the precision that trees compare in; larger numbers count as the largest."""
    limit = float(np.finfo(np.float32).max)
    return np.ascontiguousarray(np.clip(x, -limit, limit), dtype=np.float32)


def _grown(x: Array, y: Floats, counts: Ints, share: float, rng: Generator) -> list[Array]:
    """One tree a row of counts, which say how often it sees each label."""
    from sklearn import config_context  # slow to import, and needed by this model alone
    from sklearn.tree import ExtraTreeRegressor

    seeds, chance = rng.integers(2**31, size=len(counts)).tolist(), np.random.RandomState(0)
    trees, everybody = list[Array](), np.arange(len(y))
    with config_context(skip_parameter_validation=True, assume_finite=True):
        for seed, count in zip(seeds, counts, strict=True):
            # Rows that repeat give the trees that weights would, and these take longer to check.
            rows = np.repeat(everybody, count)
            chance.seed(seed)
            tree = ExtraTreeRegressor(max_features=share, random_state=chance)
            trees.append(tree.fit(x[rows], y[rows], check_input=False).tree_)
    return trees
