"""A posterior over a few candidates, as a table: what a batch is chosen by after its first pick.

The model is fitted once and drawn from once. What it says of a shortlist is written down, draws
with mean and covariance of each part of a mixture, and a label that is only expected moves the
table (`core/laws.py`): hyper-parameters, weights, trees and means stay as they are, as such a label
tells nothing of them. What is known of who is good and who varies with whom is what changes.
"""

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import (
    LEVEL_DISCOUNT,
    Block,
    Contenders,
    Observation,
    Optima,
    Summary,
    Tradeoff,
    certain,
    settled,
)
from serendip.core.errors import SerendipError
from serendip.core.groups import Groups
from serendip.core.laws import Law, gaussian_shortfall
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import (
    Pool,
    Posterior,
    Reduction,
    SupportsScales,
    SupportsSeen,
    require,
)
from serendip.core.reductions.folds import everything

R = TypeVar("R")

_LEVEL_WITH = 1e-9
"""Relative difference of values that is none: copies of a candidate differ by rounding alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """A pool of the few that a table is about."""

    block: Block
    """Those left."""
    pool: Pool
    """What they were taken from."""

    def __len__(self) -> int:
        return len(self.block)

    def __contains__(self, item: int) -> bool:
        return bool(np.any(self.block.items == item))

    def take(self, items: Ints) -> Array:
        """(len(items), d) features, of any candidate of the pool."""
        if not np.isin(items, self.block.items).all():
            return self.pool.take(items)
        return np.asarray(self.block.x[np.searchsorted(self.block.items, items)])

    def without(self, item: int) -> Self:
        """The shortlist once this item has left it."""
        kept = self.block.items != item
        return replace(self, block=Block(self.block.items[kept], self.block.x[kept]))

    def fold(self, reduction: Reduction[R]) -> R:
        """In one block."""
        return reduction.step(reduction.start(), self.block)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The laws of some candidates."""

    items: Ints
    """(c,) increasing."""
    x: Array
    """(c, d) their features."""
    laws: tuple[Law, ...]
    likelihood: Likelihood
    """Of the whole mixture."""

    def places(self, items: Ints) -> Ints:
        """Where these items stand."""
        found = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        if not np.array_equal(self.items[found], items):
            raise SerendipError("A batch is chosen from a shortlist; other candidates were asked.")
        return found

    def told(self, item: int, label: float | None, rng: Generator) -> Self:
        """The table given a label, by default what each part expects; the item leaves it."""
        place = int(self.places(np.array([item]))[0])
        laws = tuple(
            law.told(place, float(law.mean[place]) if label is None else label, rng).without(place)
            for law in self.laws
        )
        items, x = np.delete(self.items, place), np.delete(self.x, place, axis=0)
        return replace(self, items=items, x=x, laws=laws)

    def moments(self) -> tuple[Floats, Floats]:
        """(c,) mean and variance over the mixture."""
        mean = sum_of((law.weight * law.mean for law in self.laws), len(self.items))
        spread = (law.weight * (law.variance + (law.mean - mean) ** 2) for law in self.laws)
        return mean, sum_of(spread, len(self.items))


def sum_of(parts: Any, size: int) -> Floats:
    """(size,) the sum of arrays."""
    return np.asarray(sum(parts, np.zeros(size)))


@dataclass(frozen=True, slots=True, eq=False)
class TabledPosterior:
    """What is believed of the candidates of a table."""

    source: Posterior
    """What it was written down from."""
    table: Table
    since: tuple[float, ...] = ()
    """Labels that were taken in since."""

    @property
    def n_labels(self) -> int:
        """How many candidates have a label, or are expected to have one."""
        return self.source.n_labels + len(self.since)

    @property
    def labels(self) -> Floats:
        """Those seen and those expected."""
        seen = require(self.source, SupportsSeen, by=self).labels
        return np.concatenate([seen, np.array(self.since)])

    @property
    def scales_known(self) -> bool:
        """As of the source."""
        return isinstance(self.source, SupportsScales) and self.source.scales_known

    def expecting(self, item: int, rng: Generator) -> Self:
        """Once this item is to be labelled, and will show what each part of the mixture expects."""
        place = self.table.places(np.array([item]))
        expected = sum(law.weight * float(law.mean[place[0]]) for law in self.table.laws)
        table = self.table.told(item, None, rng)
        return replace(self, table=table, since=(*self.since, expected))

    def update(self, seen: Observation, rng: Generator) -> Self:
        """The same once a label is known."""
        table = self.table.told(seen.item, seen.label, rng)
        return replace(self, table=table, since=(*self.since, seen.label))

    def sample(self, size: int, rng: Generator) -> "TabledDraws":
        """All draws of the table, however many are asked for; one alone is one of them."""
        if size > 1:
            return TabledDraws(self.table)
        laws = self.table.laws
        law = laws[rng.choice(len(laws), p=[one.weight for one in laws])]
        draw = rng.choice(len(law.values), p=law.shares)
        one = replace(law, weight=1.0, shares=np.ones(1), values=law.values[[draw]])
        return TabledDraws(replace(self.table, laws=(one,)))

    def moments(self) -> "TabledMoments":
        """Mean and standard deviation over the mixture."""
        mean, variance = self.table.moments()
        return TabledMoments(self.table, mean, np.sqrt(variance))


@dataclass(frozen=True, slots=True, eq=False)
class TabledMoments:
    """Mean and standard deviation, looked up."""

    table: Table
    mean: Floats
    deviation: Floats

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        places = self.table.places(block.items)
        return self.mean[places], self.deviation[places]


@dataclass(frozen=True, slots=True, eq=False)
class TabledDraws:
    """The draws of a table."""

    table: Table

    @property
    def weights(self) -> Floats:
        """(M,)"""
        return np.concatenate([law.weight * law.shares for law in self.table.laws])

    @property
    def likelihood(self) -> Likelihood:
        """That of the mixture."""
        return self.table.likelihood

    def values(self, block: Block) -> Array:
        """(b, M)"""
        places = self.table.places(block.items)
        return np.concatenate([law.values[:, places] for law in self.table.laws]).T

    def slack(self, block: Block) -> Floats:
        """Zero: a look-up does not round."""
        return np.zeros(len(self.weights))

    def refine(self, x: Array, draws: Ints) -> Floats:
        """As `values`, of the candidates with these features."""
        known = {row.tobytes(): place for place, row in enumerate(self.table.x)}
        places = np.array([known[row.tobytes()] for row in x], dtype=np.int64)
        values = np.concatenate([law.values for law in self.table.laws])
        return np.asarray(values[draws, places])

    def contended(self, pool: Pool, count: int) -> Contenders:
        """Who is among the `count` best of any draw; those level with the last of them are."""
        block = everything(pool)
        places, last = self.table.places(block.items), len(block) - min(count, len(block))
        share, thresholds = np.zeros(len(block)), []
        for law in self.table.laws:
            values = law.values if len(places) == len(self.table.items) else law.values[:, places]
            reached = np.partition(values, last, axis=1)[:, last]
            level = reached - _LEVEL_WITH * np.abs(reached)
            share += law.weight * (law.shares @ (values >= level[:, None]))
            thresholds.append(reached)
        kept = np.flatnonzero(share > 0.0)
        return Contenders(
            block.items[kept],
            block.x[kept],
            certain(share[kept]),
            np.concatenate(thresholds),
            self.weights,
        )

    def summary(self, best: Optima) -> "TabledSummary":
        """v(x) = Σ_a p_a (E[f(x) | X* = a] − f̄(x))² [ASD Alg. 2]."""
        values = np.concatenate([law.values for law in self.table.laws])
        mean, gain = Groups.of(best.peaks, best.weights).spread(values)
        gain = settled(gain, self.likelihood.label_variance(mean, gain))
        return TabledSummary(self.table, mean, gain)

    def tradeoff(self, contenders: Contenders) -> "TabledTradeoff":
        """Δ and g of each part as `LinearTradeoff` has them, by the covariance of the table."""
        size, first = len(self.table.items), 0
        regret, gain, mean = np.zeros(size), np.zeros(size), np.zeros(size)
        doubtful = contenders.doubt > 0.0
        rows, doubt = self.table.places(contenders.items[doubtful]), contenders.doubt[doubtful]
        for law in self.table.laws:
            thresholds = contenders.thresholds[first : first + len(law.values)]
            first += len(law.values)
            level = float(law.shares @ thresholds)
            apart = law.shares * (thresholds - level)
            level_variance, shared = float(apart @ (thresholds - level)), apart @ law.values
            variance = law.variance
            short = gaussian_shortfall(level - law.mean, level_variance - 2.0 * shared + variance)
            told = doubt @ (law.covariance[rows] - LEVEL_DISCOUNT * shared) ** 2
            label_variance = law.likelihood.label_variance(law.mean, variance)
            told = np.divide(told, label_variance, out=np.zeros(size), where=label_variance > 0)
            regret += law.weight * settled(short, float(np.hypot(level, np.sqrt(level_variance))))
            gain += law.weight * settled(told, float(doubt @ variance[rows]))
            mean += law.weight * law.mean
        return TabledTradeoff(self.table, regret, gain, mean)


@dataclass(frozen=True, slots=True, eq=False)
class TabledSummary:
    """Mean and v, looked up."""

    table: Table
    mean: Floats
    gain: Floats

    def __call__(self, block: Block) -> Summary:
        places = self.table.places(block.items)
        return Summary(self.mean[places], self.gain[places])


@dataclass(frozen=True, slots=True, eq=False)
class TabledTradeoff:
    """Δ, g and the mean, looked up."""

    table: Table
    regret: Floats
    gain: Floats
    mean: Floats

    def __call__(self, block: Block) -> Tradeoff:
        places = self.table.places(block.items)
        return Tradeoff(self.regret[places], self.gain[places], self.mean[places])
