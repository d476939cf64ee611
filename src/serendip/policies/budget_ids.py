"""Budget-aware IDS, the default: regret and information about the k best, k labels being left.

With k labels left any of the k best is a find, so choosing x costs (f_(k) − f(x))₊, and what is
worth knowing is who belongs to the k best:

    Δ(x) = E[(f_(k) − f(x))₊],   g(x) = Σ_x′ p(1 − p) C[x′,x]² / Var(Y_x)

Summed over a run the first is the regret of the paper's eq. 1, exactly (docs/paper_notes.md).
"""

from dataclasses import dataclass

from numpy.random import Generator

from serendip.core.data import Choice
from serendip.core.folds import contenders, optima
from serendip.core.protocols import Pool, Posterior
from serendip.policies.ratio import check_n_draws, check_power, choose_by_ratio


@dataclass(frozen=True, slots=True)
class BudgetIDS:
    """Minimise Δ(x)^λ / g(x) against the remaining budget."""

    power: float = 2.0
    """λ"""
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
        return choose_by_ratio(pool, tradeoff, self.power, self.randomised, rng)
