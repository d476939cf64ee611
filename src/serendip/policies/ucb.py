"""UCB with a fixed multiple of the posterior standard deviation, and OFUL with theory's width."""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.arguments import number
from serendip.core.data import Choice
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Pool, SupportsConfidence, SupportsMoments
from serendip.policies.index import Optimism, choose_by


@dataclass(frozen=True, slots=True)
class UCB:
    """argmax of mean + width · standard deviation.

    Attributes:
        width: a, in posterior standard deviations.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        if not number("width", self.width) >= 0:
            raise InvalidInput(f"width must not be negative; got {self.width}.")

    def choose(
        self, posterior: SupportsMoments, pool: Pool, remaining: int, rng: Generator
    ) -> Choice:
        """The most promising candidate, optimistically."""
        return choose_by(pool, posterior.moments(), Optimism(self.width), rng)


@dataclass(frozen=True, slots=True)
class OFUL:
    """argmax of the upper end of a band that holds everywhere and always (Abbasi-Yadkori 2011).

    Attributes:
        failure: δ, the chance that the band fails.
    """

    failure: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < number("failure", self.failure) < 1:
            raise InvalidInput(f"failure must lie between 0 and 1; got {self.failure}.")

    def choose(
        self, posterior: SupportsConfidence, pool: Pool, remaining: int, rng: Generator
    ) -> Choice:
        """The most promising candidate, as optimistic as theory asks."""
        return choose_by(pool, posterior.confidence(self.failure), Optimism(1.0), rng)
