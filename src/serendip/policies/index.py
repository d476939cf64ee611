"""Index policies: the candidate with the highest score, told from a mean and a deviation of each.

A policy of this kind is three lines: `choose_by(pool, posterior.moments(), score, rng)`, where
`score(mean, deviation)` takes two arrays (b,) and returns a third. A pool in one process takes any
function; one whose shards are other processes takes what pickle can send: a function at the top of
a module, with `functools.partial` for its settings, or a frozen dataclass with `__call__`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import shown
from serendip.core.arrays import Floats
from serendip.core.data import Block, Choice, Scores
from serendip.core.errors import InvalidInput
from serendip.core.protocols import MomentsFn, Pool
from serendip.core.reductions.folds import lowest

Score = Callable[[Floats, Floats], Floats]
"""Of mean and deviation (b,); the higher, the sooner."""


def choose_by(pool: Pool, moments: MomentsFn, score: Score, rng: Generator) -> Choice:
    """The candidate with the highest score; of several that tie, any, by a hash of their number.

    Args:
        pool: What can be chosen.
        moments: Mean and deviation of the candidates of a block: `posterior.moments()`, the band
            `posterior.confidence(δ)`, or `posterior.design()`.
        score: Of mean and deviation.
        rng: Of this choice.
    """
    if not callable(score):
        raise InvalidInput(f"score must be a function of mean and deviation; got {shown(score)}.")
    found = lowest(pool, IndexScores(moments, score), int(rng.integers(2**63 - 1)))
    items = np.array([found.item])
    mean, width = moments(Block(items, pool.take(items)))
    return Choice(found.item, found.score, {"mean": float(mean[0]), "width": float(width[0])})


@dataclass(frozen=True, slots=True)
class IndexScores:
    """−score(mean, deviation)."""

    moments: MomentsFn
    score: Score

    def __call__(self, block: Block) -> Scores:
        mean, deviation = self.moments(block)
        found = np.asarray(self.score(mean, deviation))
        if found.shape != mean.shape or found.dtype.kind not in "iuf":
            raise InvalidInput(
                f"A score must give one number for each of {len(mean)} candidates; "
                f"got {shown(found)}."
            )
        return Scores((-found,))


@dataclass(frozen=True, slots=True)
class Optimism:
    """mean + multiple · deviation, a form that a GPU knows, too (`compute/device/scores.py`)."""

    multiple: float

    def __call__(self, mean: Floats, deviation: Floats) -> Floats:
        return mean + self.multiple * deviation
