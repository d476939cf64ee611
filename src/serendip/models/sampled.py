"""Models of which only draws are known, as functions: all else follows from the values of these.

A model of one's own is a dataclass with `n_features` and two methods:

    def posterior(self, seen, rng):
        return SampledPosterior.of(self, seen)

    def draws(self, x, y, size, rng):  # given labels y (t,) at features x (t, d)
        return ValueDraws.equal(function, Gaussian(noise_variance), size)

where `function` takes features (b, d) and returns the values of `size` functions, (b, size). A pool
in one process takes any function; one whose shards are other processes takes what pickle can send:
a function at the top of a module, with `functools.partial` for its arrays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import shown
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, HeldOut, Observation, Optima, Summary, Tradeoff
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.core.rng import Purpose, stream
from serendip.models.draws import (
    SampledMoments,
    distinct,
    equal_weights,
    grouped_summary,
    sampled_tradeoff,
)
from serendip.models.fitting import (
    check_draws,
    check_one,
    check_seen,
    check_width,
    features,
    stacked,
)
from serendip.models.left_out import refitted
from serendip.models.lookahead import Outlook, SampledLookahead

_MANY = 1000
"""Draws that moments are taken over."""
_BITS = 30
"""Of a value that are kept, so that the company of a row, which may change the last bits of a
product, does not show."""
_ROWS = 2048
"""Rows refined at once."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueDraws:
    """M functions of which no more is known than their values.

    Attributes:
        function: Features (b, d) in float64 to values (b, M).
        likelihood: How labels scatter around the functions.
        weights: (M,) of the functions, summing to one.
        n_features: d; where it is given, blocks of other features are refused.
    """

    function: Callable[[Floats], Floats]
    likelihood: Likelihood
    weights: Floats
    n_features: int | None = None

    @classmethod
    def equal(
        cls, function: Callable[[Floats], Floats], likelihood: Likelihood, size: int
    ) -> "ValueDraws":
        """So many functions that count alike."""
        return cls(function, likelihood, equal_weights(size))

    def values(self, block: Block) -> Array:
        """(b, M) in float64, to 30 bits of each value, or of the noise where that is larger."""
        if self.n_features is not None:
            check_width(block.x, self.n_features)
        return self._rounded(np.asarray(block.x, dtype=np.float64))

    def _rounded(self, x: Floats) -> Floats:
        found = np.asarray(self.function(x))
        if found.shape != (len(x), len(self.weights)) or found.dtype.kind not in "iuf":
            raise InvalidInput(
                f"The function of draws must give {len(x)} × {len(self.weights)} numbers, a row a "
                f"candidate and a column a draw; got {shown(found)}."
            )
        noise = float(self.likelihood.label_variance(np.full(1, 0.5), np.zeros(1))[0])
        _, exponent = np.frexp(np.maximum(np.abs(found), np.sqrt(noise)))
        return np.asarray(np.ldexp(np.rint(np.ldexp(found, _BITS - exponent)), exponent - _BITS))

    def slack(self, block: Block) -> Floats:
        """Zero: `values` are what `refine` returns."""
        return np.zeros(len(self.weights))

    def refine(self, x: Array, draws: Ints) -> Floats:
        """As `values`; rows that repeat, one after the other, are computed once."""
        rows, place = distinct(np.asarray(x, dtype=np.float64))
        found = np.empty(len(place))
        for start in range(0, len(rows), _ROWS):
            inside = slice(*np.searchsorted(place, (start, start + _ROWS)))
            values = self._rounded(rows[start : start + _ROWS])
            found[inside] = values[place[inside] - start, draws[inside]]
        return found

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """From the values."""
        return grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """From the values."""
        return sampled_tradeoff(self, contenders)


class Sampler(Protocol):
    """What a model must say itself."""

    @property
    def n_features(self) -> int:
        """How many there are."""
        ...

    def draws(self, x: Floats, y: Floats, size: int, rng: Generator) -> ValueDraws:
        """Functions drawn given labels y (t,) at features x (t, d); t may be 0."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SampledPosterior:
    """All labels so far, and a model that draws functions given these.

    Attributes:
        model: Who draws.
        x: (t, d) what has been labelled.
        labels: (t,) in the order seen.
        n_labels: How many candidates have been labelled.
        scales_known: Whether the model was told its noise and its prior, and learns neither.
    """

    model: Sampler
    x: Floats
    labels: Floats
    n_labels: int
    scales_known: bool

    @classmethod
    def of(
        cls, model: Sampler, seen: Sequence[Observation], scales_known: bool = False
    ) -> "SampledPosterior":
        """The posterior given these observations."""
        check_seen(seen)
        x, y = stacked(np.empty((0, model.n_features)), np.empty(0), seen)
        return cls(model, x, y, len(seen), scales_known)

    def update(self, seen: Observation, rng: Generator) -> Self:
        """One more label: nothing is drawn before somebody asks."""
        check_one(seen)
        x, y = stacked(self.x, self.labels, (seen,))
        return replace(self, x=x, labels=y, n_labels=self.n_labels + 1)

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        features(x, self.model.n_features, "the pool")

    def sample(self, size: int, rng: Generator) -> ValueDraws:
        """As the model draws them."""
        check_draws(size, rng)
        found = self.model.draws(self.x, self.labels, size, rng)
        return replace(found, n_features=self.model.n_features)

    def _many(self) -> ValueDraws:
        """Always the same, so that what is said of the same labels is."""
        return self.sample(_MANY, stream(0, Purpose.MOMENTS))

    def moments(self) -> MomentsFn:
        """Mean and standard deviation over a thousand draws."""
        return SampledMoments(self._many())

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """By as many draws."""
        return SampledLookahead.of(self._many(), others)

    def held_out(self) -> HeldOut:
        """By refits."""
        seen = (Observation(0, self.x, self.labels),) if len(self.labels) else ()
        return refitted(_Again(self.model), seen, stream(0, Purpose.HELD_OUT))

    @property
    def noise_variance(self) -> float:
        """σ_ε² as the draws have it; nothing where labels are coins."""
        likelihood = self.sample(1, stream(0, Purpose.MOMENTS)).likelihood
        return float(likelihood.label_variance(np.zeros(1), np.zeros(1))[0])


@dataclass(frozen=True, slots=True)
class _Again:
    """The same model, for other labels."""

    model: Sampler

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> SampledPosterior:
        return SampledPosterior.of(self.model, seen)
