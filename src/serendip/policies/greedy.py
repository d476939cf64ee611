"""Greedy: the candidate with the highest posterior mean. The paper leaves it out; we never do."""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.data import Choice
from serendip.core.protocols import Pool, SupportsMoments
from serendip.policies.index import Optimism, choose_by


@dataclass(frozen=True, slots=True)
class Greedy:
    """argmax of the posterior mean."""

    def choose(
        self, posterior: SupportsMoments, pool: Pool, remaining: int, rng: Generator
    ) -> Choice:
        """The candidate that looks best now."""
        return choose_by(pool, posterior.moments(), Optimism(0.0), rng)
