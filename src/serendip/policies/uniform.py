"""Random choice: what every policy is measured against."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.data import Block, Choice, Scores
from serendip.core.protocols import Pool, Posterior
from serendip.core.reductions.folds import lowest


@dataclass(frozen=True, slots=True)
class Uniform:
    """Any candidate, each with the same chance."""

    def choose(self, posterior: Posterior, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """All tie, and ties go by the hash of (key, item)."""
        found = lowest(pool, Indifferent(), int(rng.integers(2**63 - 1)))
        return Choice(found.item, 0.0)


@dataclass(frozen=True, slots=True)
class Indifferent:
    """The same score for every candidate."""

    def __call__(self, block: Block) -> Scores:
        return Scores((np.zeros(len(block)),))
