"""ENS, efficient non-myopic search (Jiang et al., ICML 2017), and its regression form   [ASD App.]

    score(x) = f̄(x) + E_y[ sum of the k − 1 largest means of the others after seeing y at x ]

Binary labels: the expectation is over a hit and a miss. Gaussian labels: over ten outcomes
(`models/lookahead.py`). The cost grows with the square of the pool, so this is a policy for
thousands, not millions: an ask takes six seconds at 10⁴ candidates.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Floats
from serendip.core.data import Block, Choice, Scores
from serendip.core.errors import InvalidInput
from serendip.core.protocols import BlockFn, Pool, SupportsLookahead
from serendip.core.reductions.folds import everything, lowest

_PAIRS = 2**17
"""Candidates × others looked at together, in which time and memory are least."""
_AT_MOST = 50_000
"""Candidates; with so many an ask takes minutes."""


@dataclass(frozen=True, slots=True)
class ENS:
    """Take what is best if all later choices were made at once after this label."""

    def choose(
        self, posterior: SupportsLookahead, pool: Pool, remaining: int, rng: Generator
    ) -> Choice:
        """Argmax of what this label and the k − 1 after it are expected to bring."""
        if len(pool) > _AT_MOST:
            raise InvalidInput(
                f"ENS compares each candidate with every other and takes {_AT_MOST:,} at most; "
                f"this pool has {len(pool):,}. Use ids, or a smaller pool."
            )
        others = everything(pool)
        future = FutureSum(posterior.lookahead(others), others.items, min(remaining, len(pool)) - 1)
        found = lowest(pool, future, int(rng.integers(2**63 - 1)))
        return Choice(found.item, found.score, {"expected_total": -found.score})


@dataclass(frozen=True, slots=True)
class FutureSum:
    """−(f̄(x) + Σ_q P(q) · sum of the k − 1 largest means of the others after outcome q)."""

    lookahead: BlockFn[tuple[Floats, Floats, Floats]]
    items: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    """(n,) the others, x among them."""
    depth: int
    """k − 1"""

    def __call__(self, block: Block) -> Scores:
        rows = max(1, _PAIRS // len(self.items))
        totals = [
            self._totals(Block(block.items[start : start + rows], block.x[start : start + rows]))
            for start in range(0, len(block), rows)
        ]
        return Scores((-np.concatenate(totals),))

    def _totals(self, block: Block) -> Floats:
        mean, chances, after = self.lookahead(block)
        if self.depth == 0:
            return mean
        own = np.searchsorted(self.items, block.items)
        after[np.arange(len(block)), :, own] = -np.inf
        n_others = after.shape[2]
        after.partition(n_others - self.depth, axis=2)
        largest = after[:, :, n_others - self.depth :].sum(axis=2)
        return np.asarray(mean + np.einsum("bq,bq->b", chances, largest))
