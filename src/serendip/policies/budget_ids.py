"""Budget-aware IDS, the default: regret and information about the k best, k labels being left.

With k labels left any of the k best is a find, so choosing x costs (f_(k) − f(x))₊, and what is
worth knowing is who belongs to the k best:

    Δ(x) = E[(f_(k) − f(x))₊],   g(x) = Σ_x′ p(1 − p) Cov(f(x′) − βf_(k), f(x))² / Var(Y_x)

Summed over a run the first is the regret of the paper's eq. 1, exactly (docs/paper_notes.md). In
the second, β = ½ discounts what all candidates have in common: how good they are on the whole says
nothing about who is among the best, but a model that must learn its scales needs it too. With
β = 0, as graphs have it, and with β = 1 the regret was larger on one table or another
(docs/policies.md).

What is learnt now can serve the k − 1 labels after this one and no more. So the exponent grows as
the budget runs out, λ_k = λ k / (k − 1), and the last label goes to the lowest regret. In a batch
it serves the labels after the batch: with j of those, λ_k = λ k / j, and of the last batch all
labels go to the highest means.

A model that infers its scales from the labels is sure too soon of what is good enough, and two
things hold `ids` back unless the posterior says that its scales were given (`SupportsScales`):

- Over the first tenth of the budget, `opening` = 20 labels at most, the exponent grows from nearly
  nothing, λ_k (t + 1) / min(20, T/10); but not where that would be fewer than ten labels, which
  cost more than they teach.
- Candidates that seem sure of their place do not come first, for they stay where they are, and what
  seems sure may not be: to every Δ is added η, `floor` = 0.3 times the mean Δ of the k cheapest,
  what a label must be expected to cost anyway. Among candidates that cost less than that, the more
  informative comes first.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import flag, non_negative, whole_fields
from serendip.core.data import Block, Choice, Contenders, Tradeoff
from serendip.core.protocols import BlockFn, Pool, Posterior, SupportsScales
from serendip.core.reductions.cheapest import least_regrets
from serendip.core.reductions.folds import contended
from serendip.policies.ratio import (
    check_n_draws,
    check_power,
    choose_by_ratio,
    choose_cheapest,
    choose_highest,
)

_TENTH, _FEWEST = 0.1, 10
"""Share of the budget at most, and labels at least, until λ counts fully."""
_LIKELY = 2048
"""Contenders among which the cheapest are looked for, at least."""


@dataclass(frozen=True, slots=True)
class BudgetIDS:
    """Minimise (Δ(x) + η)^λₖ / g(x) against the remaining budget.

    Attributes:
        power: λ, what the exponent is while the budget is large.
        n_draws: M; 30 or fewer are biased.
        randomised: Draw from the best two-point mixture instead of taking the best single
            candidate.
        opening: Labels at most until λ counts fully, where the model infers its scales; 0 for at
            once.
        floor: η over the mean Δ of the k cheapest, where the model infers its scales.
    """

    power: float = 2.0
    n_draws: int = 300
    randomised: bool = False
    opening: int = 20
    floor: float = 0.3

    def __post_init__(self) -> None:
        check_power(self.power)
        flag("randomised", self.randomised)
        whole_fields(self, 0, "opening")
        non_negative(floor=self.floor)
        check_n_draws(self.n_draws)

    def choose(self, posterior: Posterior, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """The candidate with the lowest information ratio against the budget."""
        later = min(remaining, len(pool)) - 1
        return self._choose(posterior, pool, remaining, later, choose_cheapest, rng)

    def choose_in_batch(
        self, posterior: Posterior, pool: Pool, remaining: int, later: int, rng: Generator
    ) -> Choice:
        """The same where only the last `later` labels are bought with this one known."""
        return self._choose(posterior, pool, remaining, later, choose_highest, rng)

    def _choose(
        self,
        posterior: Posterior,
        pool: Pool,
        remaining: int,
        later: int,
        choose_last: Callable[[Pool, BlockFn[Tradeoff], Generator], Choice],
        rng: Generator,
    ) -> Choice:
        draws = posterior.sample(self.n_draws, rng)
        left = min(remaining, len(pool))
        doubtful = contended(pool, draws, left)
        tradeoff = draws.tradeoff(doubtful)
        if later == 0:
            return choose_last(pool, tradeoff, rng)
        power, floor = self.power * left / later, 0.0
        if not (isinstance(posterior, SupportsScales) and posterior.scales_known):
            power *= _share(self.opening, posterior.n_labels, remaining)
            if self.floor:
                floor = self.floor * _expected(tradeoff, doubtful, left)
        return choose_by_ratio(pool, tradeoff, power, self.randomised, rng, floor)


def _share(longest: int, seen: int, remaining: int) -> float:
    """How far λ counts, with so many labels seen and as many left."""
    opening = min(longest, _TENTH * (seen + remaining))
    return 1.0 if opening < _FEWEST or seen + 1 >= opening else (seen + 1) / opening


def _expected(tradeoff: BlockFn[Tradeoff], doubtful: Contenders, count: int) -> float:
    """The mean Δ of the k cheapest, looked for among the contenders; of many, the likeliest."""
    likely = np.sort(np.argsort(-doubtful.share, kind="stable")[: max(2 * count, _LIKELY)])
    block = Block(doubtful.items[likely], doubtful.x[likely])
    return float(least_regrets(tradeoff, block, count).mean())
