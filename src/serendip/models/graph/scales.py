"""Unknown noise, mean and spread of the nodes of a graph: a grid over their ratio, the rest exact.

The formulae are those of `graph`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, logsumexp

from serendip.core.arguments import number, numbers
from serendip.core.arrays import Floats
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput
from serendip.models.label_scale import scale_of


@dataclass(frozen=True, slots=True)
class Looks:
    """All that was seen: how often each node, its mean, and how far looks were from it."""

    count: Floats
    """(n,)"""
    mean: Floats
    """(n,), 0 where there was no look."""
    within: float
    """Σ (y − ȳ)² over all looks."""

    def including(self, seen: Observation) -> "Looks":
        """With one observation more: each of its rows is one noisy look at one node."""
        nodes = np.asarray(seen.x)[:, 0].astype(np.int64)
        n = len(self.count)
        more = np.bincount(nodes, minlength=n).astype(np.float64)
        sums = np.bincount(nodes, weights=seen.y, minlength=n)
        fresh = np.divide(sums, more, out=np.zeros(n), where=more > 0)
        count = self.count + more
        share = np.divide(more, count, out=np.zeros(n), where=count > 0)
        step = fresh - self.mean
        apart = float(((seen.y - fresh[nodes]) ** 2).sum())
        between = float((self.count * share * step**2).sum())
        return Looks(count, self.mean + share * step, self.within + apart + between)

    def scale(self) -> tuple[float, float]:
        """Offset and unit of all labels."""
        total = max(1.0, float(self.count.sum()))
        centre = float(self.count @ self.mean) / total
        squares = self.within + float(self.count @ (self.mean - centre) ** 2)
        return scale_of(centre, float(np.sqrt(squares / total)), constant=True)


@dataclass(frozen=True, slots=True)
class GraphFit:
    """One point of the grid: τ² ~ InvGamma(shape, rate), m | τ² ~ N(centre, τ² / certainty)."""

    ratio: float
    shape: float
    rate: float
    centre: float
    certainty: float
    weight: float

    @property
    def scale(self) -> float:
        """E[τ²]."""
        return self.rate / (self.shape - 1.0)

    def shrinkage(self, looks: Looks) -> Floats:
        """(n,) r / (r + n): how far a node is drawn to m."""
        return np.asarray(self.ratio / (self.ratio + looks.count))


@dataclass(frozen=True, slots=True)
class GraphScales:
    """The grid and the prior that stand in for scales nobody told us."""

    noise_ratios: Sequence[float] = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    """r, the noise variance over that of the nodes."""
    shape: float = 1.5
    rate: float = 0.09

    def __post_init__(self) -> None:
        if min(numbers("noise_ratios", self.noise_ratios), default=0.0) <= 0:
            raise InvalidInput(f"noise_ratios must be positive; got {self.noise_ratios}.")
        if not (number("shape", self.shape) > 1 and number("rate", self.rate) > 0):
            raise InvalidInput(
                f"shape must exceed 1 and rate 0; got shape {self.shape} and rate {self.rate}."
            )

    def fits(self, looks: Looks, label_unit: float | None) -> tuple[GraphFit, ...]:
        """The grid with its weights; m and τ² are conjugate given r."""
        known = looks.count > 0
        count, total = looks.count[known], float(looks.count.sum())
        offset, unit = looks.scale() if label_unit is None else (0.0, label_unit)
        means, within = (looks.mean[known] - offset) / unit, looks.within / unit**2
        shape = self.shape + 0.5 * total
        fits, evidence = [], []
        for ratio in self.noise_ratios:
            width = 1.0 + ratio / count
            certainty = 1.0 + float((1.0 / width).sum())
            centre = float((means / width).sum()) / certainty
            misfit = float((means**2 / width).sum()) - certainty * centre**2 + within / ratio
            rate = self.rate + 0.5 * max(misfit, 0.0)
            evidence.append(
                -0.5 * float(np.log(width).sum())
                - 0.5 * (total - len(count)) * np.log(ratio)
                - 0.5 * np.log(certainty)
                + self.shape * np.log(self.rate)
                - shape * np.log(rate)
                + gammaln(shape)
                - gammaln(self.shape)
            )
            level = offset + unit * centre
            fits.append(GraphFit(ratio, shape, rate * unit**2, level, certainty, 0.0))
        weights = np.exp(np.array(evidence) - logsumexp(evidence))
        return tuple(replace(fit, weight=float(w)) for fit, w in zip(fits, weights, strict=True))


def node_moments(fits: tuple[GraphFit, ...], looks: Looks) -> tuple[Floats, Floats]:
    """(n,) mean and variance of every node over the mixture."""
    weights = np.array([fit.weight for fit in fits])
    means, variances = [], []
    for fit in fits:
        drawn = fit.shrinkage(looks)
        means.append(drawn * fit.centre + (1.0 - drawn) * looks.mean)
        variances.append(fit.scale * (drawn + drawn**2 / fit.certainty))
    mean = weights @ np.stack(means)
    return mean, weights @ (np.stack(variances) + (np.stack(means) - mean) ** 2)
