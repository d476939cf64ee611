"""A low-rank matrix seen entry by entry, by Gibbs sampling over its factors   [ASD §4.2, §5.2]

    y = u_iᵀv_j + ε,  ε ~ N(0, σ²),  u_i, v_j ~ N(0, σ₀²I) in ℝʳ
    u_i | V ~ N(Λ⁻¹ Σ_j v_j y_ij / σ², Λ⁻¹),  Λ = I/σ₀² + Σ_j v_j v_jᵀ / σ²,  likewise v_j | U

M chains run side by side, every step batched over them, and go on from where the last label left
them. Rows and columns that were never seen keep their prior. An unknown σ² ~ InvGamma is drawn
with the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import generator, number, positive, whole_fields
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import HeldOut, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.linalg import gaussian_draws
from serendip.core.progress import counted
from serendip.core.protocols import MomentsFn
from serendip.core.rng import Purpose, stream
from serendip.models.draws import FactorDraws, SampledMoments, equal_weights
from serendip.models.fitting import FITTING, check_draws, check_one, check_seen, places
from serendip.models.left_out import refitted
from serendip.models.mixing import Mixing, chain_picks

_N_UNSEEN = 16
"""How many unseen entries are watched for mixing, beside all seen ones."""


@dataclass(frozen=True, slots=True)
class NoisePrior:
    """σ² ~ InvGamma(shape, rate); made for labels of the size of those in [0, 1]."""

    shape: float = 1.5
    rate: float = 0.09

    def __post_init__(self) -> None:
        if not (number("shape", self.shape) > 0 and number("rate", self.rate) > 0):
            raise InvalidInput(
                f"shape and rate of the noise prior must be positive; "
                f"got {self.shape} and {self.rate}."
            )


@dataclass(frozen=True, slots=True)
class LowRankModel:
    """A matrix of known size and rank with Gaussian factors; candidates are (row, column).

    Attributes:
        factor_variance: σ₀²; an entry has prior variance rank·σ₀⁴.
        noise_variance: σ²; unknown where not given.
        n_chains: M, how many draws there are to sample from.
        sweeps: Gibbs sweeps per label.
    """

    n_rows: int
    n_columns: int
    rank: int
    factor_variance: float = 1.0
    noise_variance: float | None = None
    n_chains: int = 200
    sweeps: int = 6
    noise_prior: NoisePrior = NoisePrior()

    def __post_init__(self) -> None:
        whole_fields(self, 1, "n_rows", "n_columns", "rank", "n_chains", "sweeps")
        positive(factor_variance=self.factor_variance)
        if self.noise_variance is not None:
            positive(noise_variance=self.noise_variance)

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "LowRankPosterior":
        """The posterior given these observations; () gives exact draws from the prior."""
        check_seen(seen)
        generator("rng", rng)
        posterior = LowRankPosterior(
            model=self,
            entries=np.empty((0, 2), dtype=np.int64),
            y=np.empty(0),
            left=self._prior_factor(self.n_rows, rng),
            right=self._prior_factor(self.n_columns, rng),
            noise_variance=self._prior_noise(rng),
            history=np.empty((0, self.n_chains, 0)),
            n_labels=0,
        )
        for one in seen:
            posterior = posterior.update(one, rng)
        return posterior

    def _prior_factor(self, length: int, rng: Generator) -> Floats:
        normal = rng.standard_normal((self.n_chains, length, self.rank))
        return np.asarray(np.sqrt(self.factor_variance) * normal)

    def _prior_noise(self, rng: Generator) -> Floats:
        if self.noise_variance is not None:
            return np.full(self.n_chains, self.noise_variance)
        gammas = rng.standard_gamma(self.noise_prior.shape, size=self.n_chains)
        return np.asarray(self.noise_prior.rate / gammas)


@dataclass(frozen=True, slots=True, eq=False)
class LowRankPosterior:
    """A bag of M factor pairs, each the latest state of its chain."""

    model: LowRankModel
    entries: Ints
    """(t, 2) row and column of each label."""
    y: Floats
    """(t,) labels; (M, t) gives each chain its own, as the joint-distribution test does."""
    left: Floats
    """(M, n_rows, r) U"""
    right: Floats
    """(M, n_columns, r) V"""
    noise_variance: Floats
    """(M,) σ²"""
    history: Floats
    """(S, M, q) watched entries of U Vᵀ in the sweeps since the last label."""
    n_labels: int

    def update(self, seen: Observation, rng: Generator) -> Self:
        """A few sweeps with the new rows among the data, starting where the chains stand."""
        check_one(seen)
        generator("rng", rng)
        entries = self._places(seen.x, f"item {seen.item}")
        grown = replace(
            self,
            entries=np.concatenate([self.entries, entries]),
            y=np.concatenate([self.y, seen.y]),
            n_labels=self.n_labels + 1,
        )
        return grown.settle(self.model.sweeps, rng)

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.y

    @property
    def scales_known(self) -> bool:
        """Whether the noise was given, as the variance of the factors always is."""
        return self.model.noise_variance is not None

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        self._places(x, "the pool")

    def _places(self, x: Array, who: str) -> Ints:
        return places(x, (self.model.n_rows, self.model.n_columns), "row, column", who)

    def settle(self, n_sweeps: int, rng: Generator) -> Self:
        """The chains after more sweeps over the same labels, all of them kept for `mixing`."""
        model = self.model
        if len(self.entries) == 0:
            return replace(
                self,
                left=model._prior_factor(model.n_rows, rng),
                right=model._prior_factor(model.n_columns, rng),
                noise_variance=model._prior_noise(rng),
            )
        rows, row_of = np.unique(self.entries[:, 0], return_inverse=True)
        columns, column_of = np.unique(self.entries[:, 1], return_inverse=True)
        watched = _watched(row_of, column_of)
        some_left, some_right = self.left[:, rows], self.right[:, columns]
        noise, history = self.noise_variance, []
        for _ in counted(FITTING, n_sweeps):
            some_left = _factor(some_right, column_of, row_of, self.y, noise, model, rng)
            some_right = _factor(some_left, row_of, column_of, self.y, noise, model, rng)
            if model.noise_variance is None:
                misfit = self.y - _products(some_left, some_right, row_of, column_of)
                noise = _noise(misfit, model.noise_prior, rng)
            history.append(_products(some_left, some_right, *watched))
        left = model._prior_factor(model.n_rows, rng)
        right = model._prior_factor(model.n_columns, rng)
        left[:, rows], right[:, columns] = some_left, some_right
        return replace(
            self, left=left, right=right, noise_variance=noise, history=np.stack(history)
        )

    def sample(self, size: int, rng: Generator) -> FactorDraws:
        """States of different chains; where there are not so many, all equally often or nearly."""
        check_draws(size, rng)
        picks = chain_picks(size, len(self.left), rng)
        return self._draws(self.left[picks], self.right[picks])

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of u_iᵀv_j over all chains."""
        return SampledMoments(self._draws(self.left, self.right))

    def held_out(self) -> HeldOut:
        """By refits, whose chains begin afresh."""
        told = [
            Observation(place, self.entries[place : place + 1], self.y[place : place + 1])
            for place in range(len(self.y))
        ]
        return refitted(self.model, told, stream(0, Purpose.HELD_OUT))

    def _draws(self, left: Floats, right: Floats) -> FactorDraws:
        noise = Gaussian(float(self.noise_variance.mean()))
        return FactorDraws(left, right, equal_weights(len(left)), noise)

    def mixing(self) -> Mixing:
        """R̂ and effective size of entries of U Vᵀ over the sweeps since the last label.

        Factors may be rotated at will, their products may not; so the watched quantities are all
        seen entries and a few unseen ones between seen rows and columns. A handful of sweeps
        cannot show R̂ near 1: `posterior.settle(200, rng).mixing()` is the longer look.
        """
        return Mixing.of(self.history)


def _watched(row_of: Ints, column_of: Ints) -> tuple[Ints, Ints]:
    """Seen entries, then up to `_N_UNSEEN` others spread evenly over those that can be inferred."""
    shape = (int(row_of.max()) + 1, int(column_of.max()) + 1)
    seen = row_of * shape[1] + column_of
    others = np.setdiff1d(np.arange(shape[0] * shape[1]), seen)
    step = max(1, -(-len(others) // _N_UNSEEN))
    rows, columns = np.divmod(np.r_[np.unique(seen), others[::step]], shape[1])
    return rows, columns


def _products(left: Floats, right: Floats, rows: Ints, columns: Ints) -> Floats:
    """(M, e) u_iᵀv_j of these entries."""
    return np.asarray((left[:, rows] * right[:, columns]).sum(axis=2))


def _noise(misfit: Floats, prior: NoisePrior, rng: Generator) -> Floats:
    """(M,) σ² | U, V ~ InvGamma(shape + t/2, rate + Σ misfit²/2)."""
    gammas = rng.standard_gamma(prior.shape + 0.5 * misfit.shape[1], size=len(misfit))
    return np.asarray((prior.rate + 0.5 * (misfit**2).sum(axis=1)) / gammas)


def _factor(
    others: Floats,
    other_of: Ints,
    own_of: Ints,
    y: Floats,
    noise: Floats,
    model: LowRankModel,
    rng: Generator,
) -> Floats:
    """(M, a, r) one factor given the other (M, b, r).

    Sums over the labels of each of the a rows are products with a (t, a) table of zeros and ones.
    """
    rank, size = model.rank, int(own_of.max()) + 1
    belongs = (own_of[:, None] == np.arange(size)).astype(np.float64)
    facing = np.moveaxis(others[:, other_of], 2, 0)
    shift = (facing * y) @ belongs / noise[:, None]
    precision = np.empty((rank, rank, *shift.shape[1:]))
    for a in range(rank):
        for b in range(a + 1):
            precision[a, b] = (facing[a] * facing[b]) @ belongs / noise[:, None]
        precision[a, a] += 1.0 / model.factor_variance
    return np.moveaxis(gaussian_draws(precision, shift, rng.standard_normal(shift.shape)), 0, 2)
