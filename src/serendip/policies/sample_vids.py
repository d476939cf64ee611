"""SampleVIDS: information-directed sampling with a sampled variance as the gain   [ASD Alg. 2]

The paper prints argmax of the ratio and leaves 1/M out of Δ; the ratio is minimised and Δ is a
mean (docs/paper_notes.md).
"""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.arguments import flag
from serendip.core.data import Choice
from serendip.core.protocols import Pool, Posterior
from serendip.core.reductions.folds import optima
from serendip.policies.ratio import PeakTradeoff, check_n_draws, check_power, choose_by_ratio


@dataclass(frozen=True, slots=True)
class SampleVIDS:
    """Minimise Δ(x)^λ / v(x).

    Attributes:
        power: λ
        n_draws: M
        randomised: Draw from the best two-point mixture instead of taking the best single
            candidate.
    """

    power: float = 2.0
    n_draws: int = 300
    randomised: bool = False

    def __post_init__(self) -> None:
        check_power(self.power)
        flag("randomised", self.randomised)
        check_n_draws(self.n_draws)

    def choose(self, posterior: Posterior, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """The candidate with the lowest information ratio."""
        draws = posterior.sample(self.n_draws, rng)
        best = optima(pool, draws)
        tradeoff = PeakTradeoff.of(draws.summary(best), best)
        return choose_by_ratio(pool, tradeoff, self.power, self.randomised, rng)
