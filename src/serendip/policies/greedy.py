"""Greedy: the candidate with the highest posterior mean. The paper leaves it out; we never do."""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.data import Choice
from serendip.core.protocols import Pool, Posterior, SupportsMoments, require
from serendip.policies.bands import choose_highest


@dataclass(frozen=True, slots=True)
class Greedy:
    """argmax of the posterior mean."""

    def choose(self, posterior: Posterior, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """The candidate that looks best now."""
        able = require(posterior, SupportsMoments, by=self)
        return choose_highest(pool, able.moments(), 0.0, rng)
