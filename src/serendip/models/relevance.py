"""Which columns matter, learnt from the labels: kernels with a relevance for every group.

    k(x, z) = a Σ_g p_g x_gᵀz_g / G + b κ(Σ_g q_g ‖x_g − z_g‖² / G),   κ Matérn 5/2

The logarithms of p_g and q_g are Gaussian around 0 with a common width, those of a, b and of the
noise ratio around fixed values; all are set to what is most probable given the labels. A narrow
width trusts the columns alike, a wide one lets few of them matter; the mixture weighs them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize

from serendip.core.arrays import Floats, Ints
from serendip.models.kernel_terms import Linear, Radial, norms
from serendip.models.kernels import Group, Kernel

_CENTRES = (np.log(0.5), np.log(0.5), np.log(0.05))
"""Of log a, log b and the log noise ratio."""
_WIDTHS = (1.0, 1.0, 1.5)
_BOUNDS = ((-5.0, 3.0), (-5.0, 3.0), (-7.0, 2.0))
_REACH = (-8.0, 4.0)
"""Bounds of the log relevances."""

_LABELS = 128
"""Labels that relevances are learnt from; of more, so many at even ranks are taken."""
_STEPS = 30
"""Of the optimiser, for each width."""
_FEWEST = 3
"""Labels below which nothing can be learnt."""
_JITTER = 1e-6


def learnt_kernels(
    x: Floats, labels: Floats, groups: Sequence[Group], widths: Sequence[float], scale: "Scale"
) -> tuple[tuple[Kernel, float], ...]:
    """A kernel for each width, with the log prior density of its settings (0 at its peak).

    Args:
        x: (t, d) what has been labelled.
        labels: (t,) in units of their own size.
        groups: Columns that share a relevance.
        widths: Of the log relevances, increasing; each fit starts from the one before.
        scale: The prior of s².
    """
    if len(labels) < _FEWEST or not widths:
        return ()
    if len(labels) > _LABELS:
        ranks = np.argsort(labels, kind="stable")
        kept = np.sort(ranks[np.linspace(0, len(labels) - 1, _LABELS).round().astype(np.int64)])
        x, labels = x[kept], labels[kept]
    owners = np.empty(x.shape[1], dtype=np.int64)
    for place, group in enumerate(groups):
        owners[list(group.columns)] = place
    settings = np.r_[np.zeros(2 * len(groups)), _CENTRES]
    found = []
    for width in widths:
        surface = _Surface(x, labels, owners, len(groups), width, scale)
        settings = surface.climbed(settings)
        found.append((surface.kernel(settings), surface.log_prior(settings)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Scale:
    """s² ~ InvGamma(shape, rate)."""

    shape: float
    rate: float


@dataclass(frozen=True, slots=True)
class _Surface:
    """The log posterior density of the settings (log p, log q, log a, log b, log noise)."""

    x: Floats
    labels: Floats
    owners: Ints
    """(d,) the group of each column."""
    n_groups: int
    width: float
    scale: Scale

    @property
    def _prior(self) -> tuple[Floats, Floats]:
        count = 2 * self.n_groups
        return np.r_[np.zeros(count), _CENTRES], np.r_[np.full(count, self.width), _WIDTHS]

    def log_prior(self, settings: Floats) -> float:
        centre, width = self._prior
        return float(-0.5 * np.sum(((settings - centre) / width) ** 2))

    def climbed(self, start: Floats) -> Floats:
        bounds = [_REACH] * (2 * self.n_groups) + list(_BOUNDS)
        found = minimize(
            self._fall,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": _STEPS},
        )
        return np.asarray(found.x)

    def _fall(self, settings: Floats) -> tuple[float, Floats]:
        """Minus the log posterior density, s² integrated out, and its gradient.

        With A the covariance over s² and α = A⁻¹y, every derivative is Σ G ∘ ∂A with
        G = ½((shape′/rate′) ααᵀ − A⁻¹).
        """
        x, y, count = self.x, self.labels, self.n_groups
        p, q, (line, bend, noise) = self._split(settings)
        linear = (x * p[self.owners]) @ x.T / count
        scaled = x * np.sqrt(q[self.owners] / count)
        lengths = norms(scaled)
        squared = np.maximum(lengths[:, None] + lengths - 2.0 * (scaled @ scaled.T), 0.0)
        root = np.sqrt(5.0 * squared)
        fade = np.exp(-root)
        radial = (1.0 + root + 5.0 / 3.0 * squared) * fade
        matrix = line * linear + bend * radial + 1.0
        matrix[np.diag_indices_from(matrix)] += noise + _JITTER
        factor = cho_factor(matrix, lower=True)
        pull = cho_solve(factor, y)
        shape, rate = self.scale.shape + 0.5 * len(y), self.scale.rate + 0.5 * float(y @ pull)
        value = -float(np.log(np.diag(factor[0])).sum()) - shape * np.log(rate)
        inverse = _inverse(factor[0])
        slope = 0.5 * ((shape / rate) * np.outer(pull, pull) - inverse)
        bent = slope * (-5.0 / 6.0) * (1.0 + root) * fade
        straight = np.einsum("ti,ti->i", x, slope @ x) * line / count
        around = 2.0 * bend / count
        around = around * (bent.sum(axis=1) @ x**2 - np.einsum("ti,ti->i", x, bent @ x))
        gradient = np.r_[
            np.bincount(self.owners, straight, count) * p,
            np.bincount(self.owners, around, count) * q,
            line * np.sum(slope * linear),
            bend * np.sum(slope * radial),
            noise * np.trace(slope),
        ]
        centre, width = self._prior
        away = (settings - centre) / width
        return -value + 0.5 * float(away @ away), away / width - gradient

    def _split(self, settings: Floats) -> tuple[Floats, Floats, Floats]:
        sizes, count = np.exp(settings), self.n_groups
        return sizes[:count], sizes[count : 2 * count], sizes[2 * count :]

    def kernel(self, settings: Floats) -> Kernel:
        p, q, (line, bend, _) = self._split(settings)
        columns = tuple(range(self.x.shape[1]))
        straight = Linear(columns, self.n_groups, tuple(p[self.owners].tolist()))
        length = float(np.sqrt(self.n_groups))
        around = Radial(columns, length, 2.5, tuple(q[self.owners].tolist()))
        return Kernel(((float(line), straight),), ((float(bend), around),), "columns that matter")


def _inverse(factor: Floats) -> Floats:
    """A⁻¹ from the lower Cholesky factor."""
    found, _ = lapack.dpotri(factor, lower=1)
    return np.asarray(np.tril(found) + np.tril(found, -1).T)
