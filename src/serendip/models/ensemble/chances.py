"""An ensemble whose members give chances of a hit: what ensembles are, on the scale of logits.

    P(y = 1 | x) = f(x) = 1 / (1 + exp(−g(x))),  g an ensemble (`posterior.py`) of members' logits

Slope a and spread c are averaged over a grid weighted by how well members foretell labels that they
have not seen: P(y_i = 1) = E[f] with g ~ N(ḡ₋ᵢ + a(m_i − ḡ₋ᵢ), c²v_i + τ_i²), ḡ₋ᵢ the logit of the
share of hits among the other labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.special import expit, log_expit, logit, logsumexp

from serendip.core.arguments import generator
from serendip.core.arrays import Array, Floats
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Bernoulli
from serendip.core.protocols import MomentsFn
from serendip.models.draws import LogisticDraws, equal_weights
from serendip.models.ensemble.calibration import (
    SLOPES,
    SPREADS,
    Calibration,
    Scale,
    Unseen,
    bounded,
)
from serendip.models.ensemble.draws import EnsembleDraws
from serendip.models.ensemble.members import Ensemble, Members, Nobody
from serendip.models.ensemble.posterior import Fitter
from serendip.models.fitting import check_draws, check_one, check_seen, features, stacked
from serendip.models.left_out import coins
from serendip.models.sigmoid import sigmoid_moments

_GRID = np.array(list(product(SLOPES, SPREADS)))
_SPREAD = 1.5
"""s, the standard deviation of logits before any label."""


@dataclass(frozen=True, slots=True, eq=False)
class ChancePosterior:
    """An ensemble of chances fitted to all labels so far."""

    model: Fitter
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,) zeros and ones."""
    n_labels: int
    ensemble: Ensemble
    """Of logits."""

    @classmethod
    def of(cls, model: Fitter, seen: Sequence[Observation], rng: Generator) -> "ChancePosterior":
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
        return EnsembleDraws(self.ensemble, LogisticDraws(theta, equal_weights(size), Bernoulli()))

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of f, over the Gaussian of g."""
        return ChanceMoments(self.ensemble)

    def held_out(self) -> HeldOut:
        """By members that have not seen label i."""
        return self.ensemble.calibration.held_out


@dataclass(frozen=True, slots=True, eq=False)
class ChanceMoments:
    """Mean and standard deviation of f(x)."""

    ensemble: Ensemble

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        level, spread = self.ensemble.moments()(block)
        return sigmoid_moments(level, spread)


def _fitted(model: Fitter, x: Floats, y: Floats, rng: Generator) -> Ensemble:
    wrong = (y != 0.0) & (y != 1.0)
    if wrong.any():
        raise InvalidInput(
            f"A classifier needs labels 0 and 1; got {y[wrong][0]:g}. "
            "Use a regressor for other labels."
        )
    scale = Scale(float(_share(y.sum(), len(y))), _SPREAD)
    members: Members = Nobody(scale.centre)
    n_members, unseen = 0, Unseen.of(np.zeros((len(y), 0)), np.zeros((len(y), 0), dtype=bool))
    if len(y) >= 2:
        members, n_members, unseen = model.fit(x, y, scale, rng)
    drift = _SPREAD / np.sqrt(1.0 + len(y))
    calibration = _calibrated(x, y, unseen)
    d, drift = x.shape[1], float(drift)
    return Ensemble(members, n_members + d + 2, scale, calibration, drift, d)


def _share(hits: Floats | float, n_labels: int) -> Floats:
    """The logit of a share of hits, with half a label of either kind added."""
    return np.asarray(logit((hits + 0.5) / (n_labels + 1.0)))


def _calibrated(x: Floats, y: Floats, unseen: Unseen) -> Calibration:
    """Weights of the grid by the labels; each is foretold with the weights of all others."""
    usable = unseen.count >= 2
    if len(y) < 3 or not usable.any():
        return Calibration(1.0, 1.0, 0.0, coins(y, np.full(len(y), 0.5)))
    others = _share(y.sum() - y, len(y) - 1)
    slope, spread = (column[:, None] for column in _GRID.T)
    drift = _SPREAD**2 * (np.mean(bounded(x) ** 2, axis=1) + 1.0) / (1.0 + len(y))
    mean = others + slope * (unseen.mean - others)
    variance = spread * unseen.variance + drift
    # The mean of a sigmoid over a Gaussian, after MacKay (1992).
    score = mean / np.sqrt(1.0 + np.pi / 8.0 * variance)
    density = log_expit((2.0 * y - 1.0) * score)
    density[:, ~usable] = 0.0
    total = density.sum(axis=1) - 2.0 * (_GRID[:, 0] - 1.0) ** 2
    weights = np.exp(total - logsumexp(total))
    without = total[:, None] - density
    shares = np.exp(without - logsumexp(without, axis=0))
    chance = (shares * expit(score)).sum(axis=0)
    return Calibration(
        slope=float(weights @ _GRID[:, 0]),
        spread_variance=float(weights @ _GRID[:, 1]),
        noise_variance=0.0,
        held_out=coins(y, np.where(usable, chance, expit(others))),
    )
