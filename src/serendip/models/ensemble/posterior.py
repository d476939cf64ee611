"""What forests, networks and bootstraps share: members that disagree, as one Gaussian process.

K members were each fitted to a part of the labels. With f̄(x) their mean and D_k(x) the departure
of member k from it, a draw is

    f(x) = ȳ + a(f̄(x) − ȳ) + c Σ_k z_k D_k(x) / √(K − 1) + s(wᵀb(x) / √d + u) / √(1 + t)

with standard normal z, w and u: its covariance is c² times that of the members, and there are as
many draws as one likes. The last term, in units of the spread s of labels, is what t labels leave
open where all members agree: a trend and a level. Slope a, spread c and the noise come from how
well members foretell labels that they have not seen (`calibration.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import generator
from serendip.core.arrays import Array, Floats
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import equal_weights
from serendip.models.ensemble.calibration import Calibration, Scale, Unseen
from serendip.models.ensemble.draws import EnsembleDraws, Featured
from serendip.models.ensemble.members import Ensemble, EnsembleMoments, Members, Nobody
from serendip.models.fitting import check_draws, check_one, check_seen, features, stacked
from serendip.models.lookahead import LinearLookahead, Outlook
from serendip.models.wide import linear_draws

Fitted = tuple[Members, int, Unseen]
"""Members, how many they are, and what they say of labels that they have not seen."""


class Fitter(Protocol):
    """Settings of a model that fits members."""

    @property
    def n_features(self) -> int:
        """How many there are."""
        ...

    def fit(self, x: Floats, y: Floats, scale: Scale, rng: Generator) -> "Fitted":
        """Members for at least two labels."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class EnsemblePosterior:
    """An ensemble fitted to all labels so far."""

    model: Fitter
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,)"""
    n_labels: int
    ensemble: Ensemble

    @classmethod
    def of(cls, model: Fitter, seen: Sequence[Observation], rng: Generator) -> "EnsemblePosterior":
        """One fit to all observations in their order."""
        check_seen(seen)
        generator("rng", rng)
        x, y = stacked(np.empty((0, model.n_features)), np.empty(0), seen)
        return cls(model, x, y, len(seen), _fitted(model, x, y, rng))

    def update(self, seen: Observation, rng: Generator) -> Self:
        """A fit anew: what came of the last one is not used."""
        check_one(seen)
        return self.update_all((seen,), rng)

    def update_all(self, seen: Sequence[Observation], rng: Generator) -> Self:
        """One fit, too."""
        generator("rng", rng)
        x, y = stacked(self.x, self.y, seen)
        ensemble = _fitted(self.model, x, y, rng)
        return replace(self, x=x, y=y, n_labels=self.n_labels + len(seen), ensemble=ensemble)

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.y

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        features(x, self.model.n_features, "the pool")

    def sample(self, size: int, rng: Generator) -> EnsembleDraws:
        """Fresh draws."""
        check_draws(size, rng)
        theta = self.ensemble.coefficients(size, rng)
        mean, covariance = self.ensemble.law
        likelihood = Gaussian(self.noise_variance)
        linear = linear_draws(theta, equal_weights(size), mean, covariance, likelihood)
        return EnsembleDraws(self.ensemble, linear)

    def moments(self) -> MomentsFn:
        """Exact mean and standard deviation of f."""
        return EnsembleMoments(self.ensemble)

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """As for linear functions of the features."""
        mean, covariance = self.ensemble.law
        there = self.ensemble(others.x)
        return Featured(
            self.ensemble, LinearLookahead(mean, covariance, there, self.noise_variance)
        )

    def held_out(self) -> HeldOut:
        """By members that have not seen label i; scales are those of all labels."""
        return self.ensemble.calibration.held_out

    @property
    def noise_variance(self) -> float:
        """(E σ)²."""
        return self.ensemble.calibration.noise_variance


def _fitted(model: Fitter, x: Floats, y: Floats, rng: Generator) -> Ensemble:
    scale = Scale.of(y)
    drift = scale.spread / np.sqrt(1.0 + len(y))
    members: Members = Nobody(scale.centre)
    n_members, unseen = 0, Unseen.of(np.zeros((len(y), 0)), np.zeros((len(y), 0), dtype=bool))
    if len(y) >= 2:
        members, n_members, unseen = model.fit(x, y, scale, rng)
    calibration = Calibration.of(x, y, unseen, scale)
    d, drift = x.shape[1], float(drift)
    return Ensemble(members, n_members + d + 2, scale, calibration, drift, d)
