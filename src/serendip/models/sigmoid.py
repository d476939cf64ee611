"""Mean and standard deviation of a chance μ(z) = 1 / (1 + e^{−z}) whose logit z is Gaussian.

The logistic curve is a mixture of normal ones: μ(z) = Σ_k p_k Φ(a_k z), within 2e-9 with eight of
them (Monahan and Stefanski, in Balakrishnan, Handbook of the Logistic Distribution, 1992). A normal
curve under a Gaussian has a closed form, and so, for z ~ N(m, s²) and b = a / √(1 + a²s²),

    E[μ(z)] = Σ p Φ(bm),   E[μ(z)²] = E[μ(z)] − E[μ′(z)] = E[μ(z)] − Σ p b φ(bm),

whatever s is. Where s is small the second is a small difference of large numbers, and Gauss–Hermite
nodes are as good instead.
"""

import numpy as np
from scipy.special import expit, ndtr

from serendip.core.arrays import Floats

_NODES, _RAW = np.polynomial.hermite_e.hermegauss(15)
_MASSES = _RAW / _RAW.sum()
_NARROW = 1.25
"""The largest s for which these nodes serve."""


_SHARES = np.array([
    0.003246343272134, 0.051517477033972, 0.195077912673858, 0.315569823632818,
    0.274149576158423, 0.131076880695470, 0.027912418727972, 0.001449567805354,
])  # fmt: skip
_SCALES = np.array([
    1.365340806296348, 1.059523971016916, 0.830791313765644, 0.650732166639391,
    0.508135425366489, 0.396313345166341, 0.308904252267995, 0.238212616409306,
])  # fmt: skip
"""p and a"""


def sigmoid_moments(level: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of μ(z), z ~ N(level, spread²), within 1e-6 and 2e-5.

    Args:
        level: (n,) means of the logits.
        spread: (n,) their standard deviations.
    """
    mean, deviation = np.empty(level.shape), np.empty(level.shape)
    narrow = spread <= _NARROW
    if narrow.any():
        chances = expit(level[narrow, None] + spread[narrow, None] * _NODES)
        mean[narrow] = chances @ _MASSES
        chances -= mean[narrow, None]
        deviation[narrow] = np.sqrt(np.square(chances, out=chances) @ _MASSES)
    if not narrow.all():
        wide = ~narrow
        mean[wide], deviation[wide] = _wide(level[wide], spread[wide])
    return mean, deviation


def _wide(level: Floats, spread: Floats) -> tuple[Floats, Floats]:
    slopes = 1.0 / np.sqrt(_SCALES**-2.0 + np.square(spread)[:, None])
    score = slopes * -np.abs(level)[:, None]
    density = np.exp(-0.5 * np.square(score))
    density *= slopes
    # Symmetric about ½: the smaller tail is exact, so the larger one is taken from it.
    tail = ndtr(score) @ _SHARES
    variance = tail * (1.0 - tail) - density @ _SHARES / np.sqrt(2.0 * np.pi)
    mean = np.where(level < 0, tail, 1.0 - tail)
    return mean, np.sqrt(np.clip(variance, 0.0, None))
