"""Thompson sampling: one draw, its best candidate."""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.data import Choice
from serendip.core.protocols import Pool, Posterior
from serendip.core.reductions.folds import optima


@dataclass(frozen=True, slots=True)
class Thompson:
    """Take the candidate that is best under one draw from the posterior."""

    def choose(self, posterior: Posterior, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """argmax_x f₁(x)."""
        best = optima(pool, posterior.sample(1, rng))
        value = float(best.values[0, 0])
        return Choice(int(best.items[0, 0]), -value, {"drawn_value": value})
