"""How far an ensemble can be trusted, judged by labels that its members have not seen.

    y_i ~ N(ȳ₋ᵢ + a(m_i − ȳ₋ᵢ), c²v_i + τ_i² + σ²),   m_i, v_i over the members without label i

with τ_i² = s²(mean b(x_i)² + 1) / (1 + t) what t labels of spread s leave open even where all
members agree. Slope a, spread c and noise σ² are
averaged over a grid, each point weighted by the product of these densities.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import HeldOut
from serendip.models.label_scale import label_scale

SLOPES = (0.4, 0.7, 1.0, 1.3, 1.7)
"""a: below 1 where members follow noise, above it where they are too timid."""
SPREADS = (0.03, 0.1, 0.3, 0.6, 1.0, 1.6)
"""c²"""
NOISES = (0.001, 0.004, 0.015, 0.06, 0.2, 0.5, 1.0)
"""σ² in units of the variance of labels."""
_GRID = np.array(list(product(SLOPES, SPREADS, NOISES)))
_USUAL_SPREAD = 0.3
"""Spread of yields, in the unit that `label_scale` gives: that of labels of which there are few."""


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """What the members say of each label that they have not seen."""

    count: Ints
    """(t,) how many have not seen it."""
    mean: Floats
    """(t,) m; any number where nobody is left."""
    variance: Floats
    """(t,) v; any number where fewer than two are left."""

    @classmethod
    def of(cls, predictions: Floats, unseen: Array, jitter: Floats | None = None) -> "Unseen":
        """From all members, of whom some have seen a label.

        Args:
            predictions: (t, K)
            unseen: (t, K), whether member k has not seen label i.
            jitter: (t, K) by which members differ beyond their predictions.
        """
        count = unseen.sum(axis=1)
        mean = np.where(unseen, predictions, 0.0).sum(axis=1) / np.maximum(count, 1)
        extra = 0.0 if jitter is None else jitter
        apart = np.where(unseen, predictions + extra - mean[:, None], 0.0)
        return cls(count, mean, (apart**2).sum(axis=1) / np.maximum(count - 1, 1))


@dataclass(frozen=True, slots=True)
class Scale:
    """Level and spread of the labels, with two labels' worth of the usual spread added."""

    centre: float
    spread: float

    @classmethod
    def of(cls, y: Floats) -> "Scale":
        """From (t,) labels; before the first they are taken for yields in [0, 1]."""
        if not len(y):
            return cls(0.0, 2.0 * _USUAL_SPREAD)
        _, unit = label_scale(y, constant=True, unit=None)
        centre = float(y.mean())
        squares = float(np.sum((y - centre) ** 2)) + 2.0 * (_USUAL_SPREAD * unit) ** 2
        return cls(centre, float(np.sqrt(squares / (len(y) + 2.0))))


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Slope, spread and noise that suit unseen labels, and how well these were foretold."""

    slope: float
    spread_variance: float
    """(E c)²: between the mean and the median of c², as suits an interval."""
    noise_variance: float
    """(E σ)²"""
    held_out: HeldOut
    """By members that have not seen the label."""

    @classmethod
    def of(cls, x: Floats, y: Floats, unseen: Unseen, scale: Scale) -> "Calibration":
        """Weights of the grid by the labels; each is foretold with the weights of all others."""
        usable = unseen.count >= 2
        if len(y) < 3 or not usable.any():
            return cls(1.0, 1.0, 0.1 * scale.spread**2, _by_prior(y))
        others = (y.sum() - y) / (len(y) - 1)
        slope, spread, noise = (column[:, None] for column in _GRID.T)
        drift = scale.spread**2 * (np.mean(bounded(x) ** 2, axis=1) + 1.0) / (1.0 + len(y))
        variance = spread * unseen.variance + noise * scale.spread**2 + drift
        error = y - others - slope * (unseen.mean - others)
        density = -0.5 * (error**2 / variance + np.log(2.0 * np.pi * variance))
        density[:, ~usable] = 0.0
        total = density.sum(axis=1) - 2.0 * (_GRID[:, 0] - 1.0) ** 2
        weights = np.exp(total - logsumexp(total))
        without = total[:, None] - density
        level = logsumexp(without, axis=0)
        held_out = logsumexp(without + density, axis=0) - level
        shares = np.exp(without - level)
        mean = (shares * (y - error)).sum(axis=0)
        squares = (shares * (variance + (y - error - mean) ** 2)).sum(axis=0)
        plain = _by_prior(y)
        return cls(
            slope=float(weights @ _GRID[:, 0]),
            spread_variance=float(weights @ np.sqrt(_GRID[:, 1])) ** 2,
            noise_variance=(float(weights @ np.sqrt(_GRID[:, 2])) * scale.spread) ** 2,
            held_out=HeldOut(
                np.where(usable, mean, plain.mean),
                np.where(usable, np.sqrt(squares), plain.deviation),
                np.where(usable, held_out, plain.log_density),
            ),
        )


def bounded(x: Floats) -> Floats:
    """b(x) = x / (1 + |x|/3): features as a trend sees them, none beyond 3 whatever their unit."""
    return np.asarray(x / (1.0 + np.abs(x) / 3.0))


def _by_prior(y: Floats) -> HeldOut:
    """A t with three degrees of freedom, as wide as labels are large."""
    offset, unit = label_scale(y, constant=True, unit=None)
    width = 0.36 * unit
    constant = gammaln(2.0) - gammaln(1.5) - 0.5 * np.log(3.0 * np.pi) - np.log(width)
    density = np.asarray(constant - 2.0 * np.log1p(((y - offset) / width) ** 2 / 3.0))
    return HeldOut(np.full(len(y), offset), np.full(len(y), np.sqrt(3.0) * width), density)
