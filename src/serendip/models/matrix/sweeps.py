"""The Gibbs sweep over both sides of a table: rows given columns, columns given rows, the noise."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.core.linalg import gaussian_draws
from serendip.models.matrix.groups import members, times
from serendip.models.matrix.lines import LineChains, Lines

_N_UNSEEN = 16
"""How many unseen entries are watched for mixing, beside all seen ones."""


@dataclass(frozen=True, slots=True)
class MatrixPriors:
    """Scales are half-t; those of effects in labels of size ½, those of factors beside it."""

    effect: float = 0.15
    """A of a_i and b_j."""
    factor: float = 0.5
    """A of the first factor, on either side."""
    decay: float = 0.7
    """A of each factor over that of the one before."""
    freedom: float = 10.0
    """ν"""
    noise_shape: float = 1.0
    """σ² ~ InvGamma(shape, rate)"""
    noise_rate: float = 0.005

    def __post_init__(self) -> None:
        if not min(astuple(self)) > 0:
            raise InvalidInput(f"Every setting of the priors must be positive; got {self}.")

    def scales(self, max_rank: int) -> Floats:
        """(q,) A of the effect and of each factor."""
        return np.asarray(np.r_[self.effect, self.factor * self.decay ** np.arange(max_rank)])


class MatrixChains(NamedTuple):
    """Where M chains stand, labels being measured in their unit."""

    rows: LineChains
    columns: LineChains
    noise_variance: Floats
    """(M,) σ²"""


def prior_chains(
    sides: tuple[Lines, Lines], priors: MatrixPriors, n_chains: int, rng: Generator
) -> MatrixChains:
    """Exact draws."""
    rows, columns = (side.prior(n_chains, rng) for side in sides)
    return MatrixChains(rows, columns, _noise(priors, np.zeros((0, n_chains)), rng))


def _noise(priors: MatrixPriors, misfit: Floats, rng: Generator) -> Floats:
    """(M,) σ² ~ InvGamma(shape + t/2, rate + Σ misfit²/2) given misfit (t, M)."""
    gammas = rng.standard_gamma(priors.noise_shape + 0.5 * len(misfit), misfit.shape[1])
    return np.asarray((priors.noise_rate + 0.5 * (misfit**2).sum(axis=0)) / gammas)


def remeasured(chains: MatrixChains, ratio: float, shift: float) -> MatrixChains:
    """The same tables where labels are measured anew: each value times `ratio`, plus `shift`."""
    left, right = chains.rows, chains.columns
    factors = np.ones((len(right.stretch[0]), 1))
    factors[0] = ratio
    rows = LineChains(
        tuple(group * ratio for group in left.weights), left.stretch * ratio, left.spread
    )
    rows.weights[0][0] += shift
    columns = LineChains(
        tuple(group * factors[:, None] for group in right.weights),
        right.stretch * factors,
        right.spread,
    )
    return MatrixChains(rows, columns, chains.noise_variance * ratio**2)


def taken(chains: MatrixChains, part: Ints) -> MatrixChains:
    """Some of the chains."""
    rows, columns = (
        LineChains(
            tuple(np.ascontiguousarray(group[..., part]) for group in side.weights),
            side.stretch[..., part],
            side.spread[..., part],
        )
        for side in (chains.rows, chains.columns)
    )
    return MatrixChains(rows, columns, chains.noise_variance[part])


def joined(parts: Sequence[MatrixChains]) -> MatrixChains:
    """All of them again."""
    join = partial(np.concatenate, axis=-1)
    rows, columns = (
        LineChains(
            tuple(join(group) for group in zip(*(one.weights for one in side), strict=True)),
            join([one.stretch for one in side]),
            join([one.spread for one in side]),
        )
        for side in ([one.rows for one in parts], [one.columns for one in parts])
    )
    return MatrixChains(rows, columns, join([one.noise_variance for one in parts]))


@dataclass(slots=True, eq=False)
class Table:
    """Labels and the chains that explain them; changed in place."""

    sides: tuple[Lines, Lines]
    priors: MatrixPriors
    entries: tuple[Ints, Ints]
    """Rows and columns of the labels, (t,) each."""
    belongs: tuple[csr_array, csr_array]
    """(n, t) which labels a line has."""
    y: Floats
    """(t, 1), or (t, M) where every chain has its own."""
    chains: MatrixChains
    totals: list[Floats]
    """(q, n, M) of either side: effects and factors."""
    watched: tuple[Ints, Ints]

    @classmethod
    def of(
        cls,
        sides: tuple[Lines, Lines],
        priors: MatrixPriors,
        entries: Ints,
        y: Floats,
        chains: MatrixChains,
    ) -> "Table":
        """Chains as they stand, and labels y of entries (t, 2)."""
        totals = [sides[0].total(chains.rows), sides[1].total(chains.columns)]
        rows, columns = entries[:, 0], entries[:, 1]
        belongs = (members(rows, totals[0].shape[1]), members(columns, totals[1].shape[1]))
        watched = _watched(entries, (totals[0].shape[1], totals[1].shape[1]))
        return cls(sides, priors, (rows, columns), belongs, y, chains, totals, watched)

    def sweep(self, rng: Generator) -> Floats:
        """Everything once; (M, w) the watched entries after it."""
        rows = self.sides[0].sweep(self.chains.rows, *self._told(0), rng)
        self.totals[0] = self.sides[0].total(rows)
        columns = self.sides[1].sweep(self.chains.columns, *self._told(1), rng)
        self.totals[1] = self.sides[1].total(columns)
        noise = _noise(self.priors, self.y - self._values(*self.entries), rng)
        self.chains = MatrixChains(rows, columns, noise)
        return np.asarray(self._values(*self.watched).T)

    def _values(self, rows: Ints, columns: Ints) -> Floats:
        """(e, M) a_i + b_j + u_iᵀv_j of some entries."""
        left, right = self.totals[0][:, rows], self.totals[1][:, columns]
        return np.asarray(left[0] + right[0] + np.einsum("ktm,ktm->tm", left[1:], right[1:]))

    def _facing(self, side: int) -> tuple[Floats, Floats]:
        """What faces the lines of a side: (1, factors of the other side) and y less its effect."""
        facing = self.totals[1 - side][:, self.entries[1 - side]]
        target = self.y - facing[0]
        facing[0] = 1.0
        return facing, target

    def _told(self, side: int) -> tuple[Floats, Floats]:
        """Precision (q, q, n, M) and pull (q, n, M): what labels say of each line of a side."""
        facing, target = self._facing(side)
        belongs, q = self.belongs[side], len(facing)
        weighted = facing / self.chains.noise_variance
        pull = np.stack([belongs @ (part * target) for part in weighted])
        precision = np.empty((q, q, *pull.shape[1:]))
        for a in range(q):
            for b in range(a + 1):
                precision[a, b] = belongs @ (weighted[a] * facing[b])
                precision[b, a] = precision[a, b]
        return precision, pull

    def foretold(self) -> tuple[Floats, Floats]:
        """(t, M) mean and variance of y_ij given all other labels, and all of a chain but the own
        weights of row i and column j.

        Without y_ij nothing links the two: both are Gaussian given the other labels of their line,
        and a_i + b_j + u_iᵀv_j has a known mean and variance, taken for Gaussian.
        """
        (row, row_variance), (column, column_variance) = self._without(0), self._without(1)
        mean = row[0] + column[0] + np.einsum("ktm,ktm->tm", row[1:], column[1:])
        product = np.einsum("kltm,kltm->tm", row_variance[1:, 1:], column_variance[1:, 1:])
        variance = self.chains.noise_variance + product
        for spread, facing in ((row_variance, column.copy()), (column_variance, row.copy())):
            facing[0] = 1.0
            variance += np.einsum("ktm,kltm,ltm->tm", facing, spread, facing)
        return np.asarray(mean), np.asarray(variance)

    def _without(self, side: int) -> tuple[Floats, Floats]:
        """Mean (q, t, M) and covariance (q, q, t, M) of a label's line, given its other labels."""
        own = (self.chains.rows, self.chains.columns)[side]
        noise, lines = self.chains.noise_variance, self.entries[side]
        facing, target = self._facing(side)
        precision, pull = self._told(side)
        base = self.totals[side] - own.weights[-1]
        left = pull - times(precision, base)
        for place, width in enumerate(own.stretch[-1] ** 2 * own.spread[-1]):
            precision[place, place] += 1.0 / width
        covariance = np.empty_like(precision)
        for place in range(len(base)):
            unit = np.zeros_like(base)
            unit[place] = 1.0
            covariance[:, place] = gaussian_draws(precision, unit, np.zeros_like(base))
        mean, spread = (base + times(covariance, left))[:, lines], covariance[:, :, lines]
        # Taking one label out is a rank-one step, its leverage being h.
        reach = times(spread, facing)
        room = noise * np.maximum(1.0 - np.einsum("ktm,ktm->tm", facing, reach) / noise, 1e-9)
        misfit = target - np.einsum("ktm,ktm->tm", facing, mean)
        return mean - reach * (misfit / room), spread + reach[:, None] * (reach / room)


def _watched(entries: Ints, shape: tuple[int, int]) -> tuple[Ints, Ints]:
    """Seen entries, then up to `_N_UNSEEN` others spread evenly over the table."""
    seen = np.unique(entries[:, 0] * shape[1] + entries[:, 1])
    n_others = shape[0] * shape[1] - len(seen)
    places = np.unique(np.linspace(0, n_others - 1, min(_N_UNSEEN, n_others)).astype(np.int64))
    # The p-th unseen entry lies as many places further on as there are seen ones before it.
    others = places + np.searchsorted(seen - np.arange(len(seen)), places, side="right")
    rows, columns = np.divmod(np.r_[seen, others], shape[1])
    return rows, columns
