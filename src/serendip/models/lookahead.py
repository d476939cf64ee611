"""How the means of others would move with one label, which is what ENS looks at.

Each answers with the mean of the candidates of a block, the chances of some outcomes of their
labels, and the means of the others after each outcome. Means move by their covariance with the
candidate, z standard deviations of a Gaussian label from what was expected:

    m′ = m + C[:, x] z / √(C[x, x] + σ²)

What ENS takes the expectation of, a sum of the largest of such means, is piecewise linear in z. So
z is taken at its mean within each of ten bins, which is exact where no bin has a kink inside; at
the same accuracy Gauss–Hermite takes half as many points again, for its errors do not stay local.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from serendip.core.arrays import Floats
from serendip.core.data import Block
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, Draws
from serendip.models.gp.company import Company
from serendip.models.gp.process import pooled
from serendip.models.wide import Spanned


def _binned(edges: Floats) -> tuple[Floats, Floats]:
    """The mean of a standard Gaussian within each bin, and the mass of the bin."""
    masses = np.diff(ndtr(edges), prepend=0.0, append=1.0)
    density = np.exp(-0.5 * edges**2) / np.sqrt(2.0 * np.pi)
    return -np.diff(density, prepend=0.0, append=0.0) / masses, masses


NODES, MASSES = _binned(np.linspace(-2.4, 2.4, 9))
"""Where a Gaussian label is looked at, in standard deviations, and how likely it is there."""

Outlook = tuple[Floats, Floats, Floats]
"""(b,) means, (b, q) chances and (b, q, n) means of the others after each outcome."""


def _moved(mean: Floats, variance: Floats, others: Floats, covariance: Floats) -> Outlook:
    """The outlook by moments.

    Args:
        mean: (b,)
        variance: (b,) of the labels.
        others: (n,) means.
        covariance: (b, n)
    """
    shift = covariance / np.sqrt(variance)[:, None]
    after = np.multiply(shift[:, None, :], NODES[:, None])
    after += others
    return mean, np.tile(MASSES, (len(mean), 1)), after


@dataclass(frozen=True, slots=True)
class LinearLookahead:
    """f(x) = xᵀθ, θ ~ N(mean, covariance)."""

    mean: Floats
    covariance: Floats | Spanned
    others: Floats
    """(n, d)"""
    noise_variance: float

    def __call__(self, block: Block) -> Outlook:
        x = np.asarray(block.x, dtype=np.float64)
        reach = x @ self.covariance
        variance = np.clip(np.einsum("bd,bd->b", reach, x), 0.0, None) + self.noise_variance
        return _moved(x @ self.mean, variance, self.others @ self.mean, reach @ self.others.T)


@dataclass(frozen=True, slots=True)
class ProcessLookahead:
    """A mixture of Gaussian processes, by its mean and covariance."""

    others: Company
    noise_variance: float

    def __call__(self, block: Block) -> Outlook:
        fits = self.others.fits
        found, covariance, _ = self.others(np.asarray(block.x, dtype=np.float64))
        mean, variance = pooled(fits, found)
        label_variance = variance + self.noise_variance
        return _moved(mean, label_variance, pooled(fits, self.others.seen)[0], covariance)


@dataclass(frozen=True, slots=True)
class SampledLookahead:
    """Any draws: by their moments for Gaussian labels; exact given the draws for binary ones."""

    draws: Draws
    others: Floats
    """(n, M) their values."""

    @classmethod
    def of(cls, draws: Draws, others: Block) -> "SampledLookahead":
        """With the values of these others."""
        return cls(draws, np.asarray(draws.values(others), dtype=np.float64))

    def __call__(self, block: Block) -> Outlook:
        here, weights = np.asarray(self.draws.values(block), dtype=np.float64), self.draws.weights
        mean, means = here @ weights, self.others @ weights
        if isinstance(self.draws.likelihood, Gaussian):
            centred = here - mean[:, None]
            variance = self.draws.likelihood.label_variance(mean, centred**2 @ weights)
            return _moved(mean, variance, means, (centred * weights) @ self.others.T)
        chances = np.stack([1.0 - mean, mean], axis=1)
        joint = np.stack([(1.0 - here) * weights, here * weights], axis=1) @ self.others.T
        return mean, chances, joint / np.where(chances > 0, chances, 1.0)[:, :, None]


@dataclass(frozen=True, slots=True)
class MixedLookahead:
    """A mixture, whose weights move with a binary label by Bayes' rule.

    Gaussian labels are so many standard deviations from what each part expects, and leave the
    weights as they are.
    """

    parts: tuple[BlockFn[Outlook], ...]
    weights: Floats

    def __call__(self, block: Block) -> Outlook:
        found = [part(block) for part in self.parts]
        pairs = list(zip(self.weights, found, strict=True))
        mean = np.asarray(sum(weight * one[0] for weight, one in pairs))
        chances = np.asarray(sum(weight * one[1] for weight, one in pairs))
        after = np.asarray(sum((weight * one[1])[:, :, None] * one[2] for weight, one in pairs))
        return mean, chances, after / np.maximum(chances, 1e-300)[:, :, None]
