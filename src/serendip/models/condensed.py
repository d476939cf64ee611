"""Contenders too many to compute a covariance with each: some of them stand for all."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from serendip.core.arrays import Floats, Ints
from serendip.core.data import Contenders


@dataclass(frozen=True, slots=True, eq=False)
class Condensed:
    """The contenders to look at, taken at even steps of doubt where there are very many."""

    picked: Ints
    """(c,) their places among all contenders, increasing."""
    doubt: Floats
    """(c,) what each stands for; the sum is that of all."""
    items: Ints
    """All contenders."""
    surplus: Floats
    """What each of them has in doubt beyond its part in `doubt`: its own variance counts fully."""

    @classmethod
    def of(cls, contenders: Contenders, most: int) -> Self:
        """All of them, or so many that stand for all."""
        doubt = contenders.doubt
        if len(doubt) <= most:
            return cls(np.arange(len(doubt)), doubt, contenders.items, np.zeros(len(doubt)))
        reached = np.cumsum(doubt)
        step = reached[-1] / most
        picked, counts = np.unique(
            np.searchsorted(reached, (np.arange(most) + 0.5) * step), return_counts=True
        )
        picked = np.minimum(picked, len(doubt) - 1)
        shares = counts * step
        surplus = doubt.copy()
        surplus[picked] -= shares
        return cls(picked, shares, contenders.items, surplus)

    def own(self, items: Ints) -> Floats:
        """(b,) the surplus of these candidates; 0 where one is no contender."""
        place = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        return np.where(self.items[place] == items, self.surplus[place], 0.0)
