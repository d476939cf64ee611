"""Exact information-directed sampling   [ASD Alg. 1]

The best distribution over candidates for (Δᵀπ)^λ / gᵀπ, with the exact mutual information. The
paper prints argmax; the ratio is minimised (docs/paper_notes.md).
"""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.arguments import flag
from serendip.core.data import Choice
from serendip.core.protocols import Pool, SupportsInformation
from serendip.core.reductions.folds import optima
from serendip.policies.ratio import PeakTradeoff, check_power, choose_by_ratio


@dataclass(frozen=True, slots=True)
class IDS:
    """Sample from the minimiser of the information ratio.

    Attributes:
        power: λ
        ordered: Information about the ordered tuple X*₁…X*ₖ, as in the paper; or about the set
            alone.
    """

    power: float = 2.0
    ordered: bool = True

    def __post_init__(self) -> None:
        check_power(self.power)
        flag("ordered", self.ordered)

    def choose(
        self, posterior: SupportsInformation, pool: Pool, remaining: int, rng: Generator
    ) -> Choice:
        """A candidate drawn from the best distribution, which has at most two."""
        best = optima(pool, posterior.atoms(), remaining)
        tradeoff = PeakTradeoff.of(posterior.information(best, self.ordered), best)
        return choose_by_ratio(pool, tradeoff, self.power, True, rng)
