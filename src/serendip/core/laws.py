"""What draws say of some candidates together, and how it moves with a label of one of them.

A path moves by its covariance with what was seen (Matheron's rule). With C the covariance, and y
the label of x,

    f ← f + K (y − f(x) − ε),   K = C[·, x] / Var(Y_x),   ε ~ N(0, Var(Y_x) − C[x, x]),
    m ← m + K (y − m(x)),       C ← C − K C[x, ·],

which for a Gaussian law is conditioning, and for any other the best that is linear in the label.
"""

from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from serendip.core.arrays import Floats
from serendip.core.data import Block
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import Draws


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The law of f at c candidates, under one part of a mixture."""

    weight: float
    """Of the part."""
    shares: Floats
    """(M,) of the draws within the part; they sum to one."""
    values: Floats
    """(M, c) draws."""
    mean: Floats
    """(c,)"""
    covariance: Floats
    """(c, c)"""
    likelihood: Likelihood

    @property
    def variance(self) -> Floats:
        """(c,)"""
        return np.clip(np.diag(self.covariance), 0.0, None)

    def told(self, place: int, label: float, rng: Generator) -> Self:
        """The law once the candidate at this place has this label."""
        variance = float(self.variance[place])
        known = self.likelihood.label_variance(self.mean[[place]], np.array([variance]))
        total = max(float(known[0]), variance)
        if not total > 0.0:  # it was known before
            return self
        scatter = np.sqrt(total - variance) * rng.standard_normal(len(self.values))
        row = self.covariance[place]
        move = row / total
        values = np.outer(label - self.values[:, place] - scatter, move)
        values += self.values
        covariance = np.outer(-row, move)
        covariance += self.covariance
        mean = self.mean + move * (label - self.mean[place])
        return replace(self, values=values, mean=mean, covariance=covariance)

    def without(self, place: int) -> Self:
        """The law of the other candidates."""
        return replace(
            self,
            values=np.delete(self.values, place, axis=1),
            mean=np.delete(self.mean, place),
            covariance=np.delete(np.delete(self.covariance, place, axis=0), place, axis=1),
        )


@runtime_checkable
class SupportsLaws(Draws, Protocol):
    """Draws that know their mean and covariance better than a sample of them does."""

    def laws(self, block: Block) -> tuple[Law, ...]:
        """The law at the candidates of a block in float64, one for each part; draws in order."""
        ...


def laws_of(draws: Draws, block: Block) -> tuple[Law, ...]:
    """The laws of these draws; the sample's own mean and covariance where they know no better."""
    if block.x.dtype == np.float32:
        block = Block(block.items, block.x.astype(np.float64))
    if isinstance(draws, SupportsLaws):
        return draws.laws(block)
    values = np.ascontiguousarray(np.asarray(draws.values(block), dtype=np.float64).T)
    mean = draws.weights @ values
    centred = values - mean
    covariance = (centred * draws.weights[:, None]).T @ centred
    return (Law(1.0, draws.weights, values, mean, covariance, draws.likelihood),)


def gaussian_shortfall(mean: Floats, variance: Floats) -> Floats:
    """E[D₊] of D ~ N(mean, variance): what f(x) is expected to fall short of the threshold.

    Two moments of D are known far better from M draws than the mean of its positive part, which
    for promising candidates rests on the few draws where D is positive.
    """
    deviation = np.sqrt(np.clip(variance, 1e-60, None))
    level = mean / deviation
    density = np.exp(-0.5 * level**2) / np.sqrt(2.0 * np.pi)
    return np.asarray(np.clip(deviation * density + mean * ndtr(level), 0.0, None))
