"""Budget-aware IDS, the default: regret and information about the k best, k labels being left.

With k labels left any of the k best is a find, so choosing x costs (f_(k) − f(x))₊, and what is
worth knowing is who belongs to the k best:

    Δ(x) = E[(f_(k) − f(x))₊],   g(x) = Σ_x′ p(1 − p) Cov(f(x′) − βf_(k), f(x))² / Var(Y_x)

Summed over a run the first is the regret of the paper's eq. 1, exactly (docs/paper_notes.md). In
the second, β = ½ discounts what all candidates have in common: how good they are on the whole says
nothing about who is among the best, but a model that must learn its scales needs it too. With
β = 0 and with β = 1 the regret was larger on one table or another (docs/policies.md).

What is learnt now can serve the k − 1 labels after this one and no more. So the exponent grows as
the budget runs out, λ_k = λ k / (k − 1), and the last label goes to the lowest regret.
"""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.data import Choice
from serendip.core.folds import contenders, optima
from serendip.core.protocols import Pool, Posterior
from serendip.policies.ratio import (
    check_n_draws,
    check_power,
    choose_by_ratio,
    choose_cheapest,
)


@dataclass(frozen=True, slots=True)
class BudgetIDS:
    """Minimise Δ(x)^λₖ / g(x) against the remaining budget."""

    power: float = 2.0
    """λ, what the exponent is while the budget is large."""
    n_draws: int = 300
    """M; 30 or fewer are biased."""
    randomised: bool = False
    """Draw from the best two-point mixture instead of taking the best single candidate."""

    def __post_init__(self) -> None:
        check_power(self.power)
        check_n_draws(self.n_draws)

    def choose(self, posterior: Posterior, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """The candidate with the lowest information ratio against the budget."""
        draws = posterior.sample(self.n_draws, rng)
        doubtful = contenders(pool, optima(pool, draws, remaining))
        tradeoff = draws.tradeoff(doubtful)
        left = min(remaining, len(pool))
        if left == 1:
            return choose_cheapest(pool, tradeoff, rng)
        power = self.power * left / (left - 1)
        return choose_by_ratio(pool, tradeoff, power, self.randomised, rng)
