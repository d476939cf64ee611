"""Which columns matter, learnt from the labels: kernels with a relevance for every group.

    k(x, z) = a Σ_g p_g x_gᵀz_g / G + b κ(Σ_g q_g ‖x_g − z_g‖² / G),   κ Matérn 5/2

The logarithms of p_g and q_g are Gaussian around 0 with a common width, those of a, b and of the
noise ratio around fixed values; all are set to what is most probable given the labels. A narrow
width trusts the columns alike, a wide one lets few of them matter; the mixture weighs them. Since
a setting made to fit has an easy game, its evidence is corrected by Laplace's method with the
diagonal of the Fisher information F:

    log p(y) ≈ log p(y | settings) − ½ Σ_j z_j² − ½ Σ_j log(1 + width_j² F_j),  z in widths
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize

from serendip.core.arrays import Floats, Ints
from serendip.models.gp.kernel_terms import Linear, Radial, norms
from serendip.models.gp.kernels import Group, Kernel
from serendip.models.gp.process import Scale

_PLANE = 0.05
"""Where a is expected: planes reach far, so labels must ask for them. Those of names do not."""
_PLANE_OF_NAMES = 0.5
_BEND, _NOISE = 0.5, 0.05
"""Likewise b and the noise ratio."""
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
    x: Floats, labels: Floats, groups: Sequence[Group], widths: Sequence[float], scale: Scale
) -> tuple[tuple[Kernel, float], ...]:
    """A kernel for each width, with what its evidence must be corrected by.

    Args:
        x: (t, d) what has been labelled.
        labels: (t,) in units of their own size.
        groups: Columns that share a relevance, with their sizes.
        widths: Of the log relevances, increasing; each fit starts from the one before.
        scale: The prior of s².
    """
    if len(labels) < _FEWEST or not widths:
        return ()
    if len(labels) > _LABELS:
        ranks = np.argsort(labels, kind="stable")
        kept = np.sort(ranks[np.linspace(0, len(labels) - 1, _LABELS).round().astype(np.int64)])
        x, labels = x[kept], labels[kept]
    owners, sizes = np.empty(x.shape[1], dtype=np.int64), np.ones(x.shape[1])
    for place, group in enumerate(groups):
        owners[list(group.columns)] = place
        sizes[list(group.columns)] = group.sizes or 1.0
    plane = _PLANE_OF_NAMES if all(group.text for group in groups) else _PLANE
    settings, found = None, []
    for width in widths:
        surface = _Surface(x * sizes, labels, sizes, owners, len(groups), width, scale, plane)
        settings = surface.climbed(surface.centre if settings is None else settings)
        found.append((surface.kernel(settings), surface.correction(settings)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The covariance of the labels over s², and what it is made of."""

    p: Floats
    q: Floats
    line: float
    """a"""
    bend: float
    """b"""
    noise: float
    linear: Floats
    radial: Floats
    bent: Floats
    """The derivative of κ by the squared distance."""
    matrix: Floats
    """A"""


@dataclass(frozen=True, slots=True)
class _Surface:
    """The log posterior density of the settings (log p, log q, log a, log b, log noise)."""

    x: Floats
    labels: Floats
    sizes: Floats
    """(d,) what the columns were multiplied by."""
    owners: Ints
    """(d,) the group of each column."""
    n_groups: int
    width: float
    scale: Scale
    plane: float = _PLANE

    @property
    def centre(self) -> Floats:
        """Of the prior."""
        return np.asarray(np.r_[np.zeros(2 * self.n_groups), np.log((self.plane, _BEND, _NOISE))])

    @property
    def _prior(self) -> tuple[Floats, Floats]:
        return self.centre, np.r_[np.full(2 * self.n_groups, self.width), _WIDTHS]

    def correction(self, settings: Floats) -> float:
        """−½ Σ z² − ½ Σ log(1 + width² F), with F_j = ½ tr (A⁻¹ ∂_jA)²."""
        centre, width = self._prior
        away = (settings - centre) / width
        parts = self._parts(settings)
        inverse = _inverse(cho_factor(parts.matrix, lower=True)[0])
        products = (inverse @ slope for slope in self._slopes(parts))
        information = np.array([0.5 * np.sum(one * one.T) for one in products])
        return float(-0.5 * (away @ away) - 0.5 * np.log1p(width**2 * information).sum())

    def _slopes(self, parts: "_Parts") -> Iterator[Floats]:
        """(t, t) the derivative of A by each setting."""
        x, count = self.x, self.n_groups
        for group in range(count):
            own = x[:, self.owners == group]
            yield parts.line * parts.p[group] / count * (own @ own.T)
        for group in range(count):
            own = x[:, self.owners == group]
            lengths = norms(own)
            apart = lengths[:, None] + lengths - 2.0 * (own @ own.T)
            yield parts.bend * parts.q[group] / count * parts.bent * apart
        yield parts.line * parts.linear
        yield parts.bend * parts.radial
        yield parts.noise * np.eye(len(x))

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
        x, y, count, parts = self.x, self.labels, self.n_groups, self._parts(settings)
        factor = cho_factor(parts.matrix, lower=True)
        pull = cho_solve(factor, y)
        shape, rate = self.scale.shape + 0.5 * len(y), self.scale.rate + 0.5 * float(y @ pull)
        value = -float(np.log(np.diag(factor[0])).sum()) - shape * np.log(rate)
        inverse = _inverse(factor[0])
        slope = 0.5 * ((shape / rate) * np.outer(pull, pull) - inverse)
        bent = slope * parts.bent
        straight = np.einsum("ti,ti->i", x, slope @ x) * parts.line / count
        around = bent.sum(axis=1) @ x**2 - np.einsum("ti,ti->i", x, bent @ x)
        around *= 2.0 * parts.bend / count
        gradient = np.r_[
            np.bincount(self.owners, straight, count) * parts.p,
            np.bincount(self.owners, around, count) * parts.q,
            parts.line * np.sum(slope * parts.linear),
            parts.bend * np.sum(slope * parts.radial),
            parts.noise * np.trace(slope),
        ]
        centre, width = self._prior
        away = (settings - centre) / width
        return -value + 0.5 * float(away @ away), away / width - gradient

    def _parts(self, settings: Floats) -> "_Parts":
        sizes, count = np.exp(settings), self.n_groups
        p, q, (line, bend, noise) = sizes[:count], sizes[count : 2 * count], sizes[2 * count :]
        x = self.x
        linear = (x * p[self.owners]) @ x.T / count
        scaled = x * np.sqrt(q[self.owners] / count)
        lengths = norms(scaled)
        squared = np.maximum(lengths[:, None] + lengths - 2.0 * (scaled @ scaled.T), 0.0)
        root = np.sqrt(5.0 * squared)
        fade = np.exp(-root)
        radial = (1.0 + root + 5.0 / 3.0 * squared) * fade
        matrix = line * linear + bend * radial + 1.0
        matrix[np.diag_indices_from(matrix)] += noise + _JITTER
        bent = (-5.0 / 6.0) * (1.0 + root) * fade
        return _Parts(p, q, line, bend, noise, linear, radial, bent, matrix)

    def kernel(self, settings: Floats) -> Kernel:
        parts = self._parts(settings)
        columns = tuple(range(self.x.shape[1]))
        p, q = (own[self.owners] * self.sizes**2 for own in (parts.p, parts.q))
        straight = Linear(columns, self.n_groups, tuple(p.tolist()))
        length = float(np.sqrt(self.n_groups))
        around = Radial(columns, length, 2.5, tuple(q.tolist()))
        return Kernel(
            ((float(parts.line), straight),), ((float(parts.bend), around),), "columns that matter"
        )


def _inverse(factor: Floats) -> Floats:
    """A⁻¹ from the lower Cholesky factor."""
    found, _ = lapack.dpotri(factor, lower=1)
    return np.asarray(np.tril(found) + np.tril(found, -1).T)
