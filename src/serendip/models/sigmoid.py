"""Mean and standard deviation of a chance μ(z) = 1 / (1 + e^{−z}) whose logit z is Gaussian.

The logistic curve is a mixture of normal ones: μ(z) = E[Φ(z / 2K)], where K has the law of
Kolmogorov and Smirnov (Andrews and Mallows, J. R. Stat. Soc. B 36, 1974). A normal curve under a
Gaussian has a closed form, and so, for z ~ N(m, s²) and with a = 1/2K, b = a / √(1 + a²s²),

    E[μ(z)] = E[Φ(bm)],   E[μ(z)²] = E[μ(z)] − E[μ′(z)] = E[μ(z)] − E[b φ(bm)],

whatever s is. The expectation over K is a sum over equal steps of log K. Where s is small the
second is a small difference of large numbers, and Gauss–Hermite nodes are as good instead.
"""

import numpy as np
from scipy.special import expit, ndtr

from serendip.core.arrays import Floats

_NODES, _RAW = np.polynomial.hermite_e.hermegauss(15)
_MASSES = _RAW / _RAW.sum()
_NARROW = 1.25
"""The largest s for which these nodes serve."""


def _kolmogorov(step: float, low: float, high: float) -> tuple[Floats, Floats]:
    """Values of 1/2K at equal steps of log K, and their masses."""
    values = np.exp(np.arange(low, high, step))
    order = np.arange(1, 41)[:, None]
    signs = np.where(order % 2 == 1, 1.0, -1.0)
    density = (signs * order**2 * np.exp(-2.0 * order**2 * values**2)).sum(axis=0)
    masses = 8.0 * values**2 * density
    return 0.5 / values, masses / masses.sum()


_SCALES, _SHARES = _kolmogorov(0.2, -1.4, 1.3)
"""Fourteen of them; the sum is within 1e-7 of μ everywhere."""


def sigmoid_moments(level: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of μ(z), z ~ N(level, spread²), within 1e-6 and 2e-5.

    Args:
        level: (n,) means of the logits.
        spread: (n,) their standard deviations.
    """
    mean, deviation = np.empty(level.shape), np.empty(level.shape)
    narrow = spread <= _NARROW
    chances = expit(level[narrow, None] + spread[narrow, None] * _NODES)
    mean[narrow] = chances @ _MASSES
    deviation[narrow] = np.sqrt((chances - mean[narrow, None]) ** 2 @ _MASSES)
    wide = ~narrow
    slopes = _SCALES / np.sqrt(1.0 + (_SCALES * spread[wide, None]) ** 2)
    score = slopes * level[wide, None]
    normal = np.exp(-0.5 * score**2) / np.sqrt(2.0 * np.pi)
    # Symmetric about ½: the smaller tail is exact, so the larger one is taken from it.
    tail = ndtr(-np.abs(score)) @ _SHARES
    mean[wide] = np.where(level[wide] < 0, tail, 1.0 - tail)
    variance = tail * (1.0 - tail) - (slopes * normal) @ _SHARES
    deviation[wide] = np.sqrt(np.clip(variance, 0.0, None))
    return mean, deviation
