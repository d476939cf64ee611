"""What the optimistic policies share: the highest mean plus a multiple of the width."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.data import Block, Choice, Scores
from serendip.core.protocols import MomentsFn, Pool
from serendip.core.reductions.folds import lowest


@dataclass(frozen=True, slots=True)
class Optimism:
    """−(mean + multiple · width)."""

    moments: MomentsFn
    multiple: float

    def __call__(self, block: Block) -> Scores:
        mean, width = self.moments(block)
        return Scores((-(mean + self.multiple * width),))


def choose_highest(pool: Pool, moments: MomentsFn, multiple: float, rng: Generator) -> Choice:
    """The candidate with the highest mean + multiple · width."""
    found = lowest(pool, Optimism(moments, multiple), int(rng.integers(2**63 - 1)))
    items = np.array([found.item])
    mean, width = moments(Block(items, pool.take(items)))
    return Choice(found.item, found.score, {"mean": float(mean[0]), "width": float(width[0])})
