"""A function drawn from one process, which can be evaluated anywhere."""

from dataclasses import dataclass

import numpy as np

from serendip.core.arrays import Floats
from serendip.models.gp.kernel_terms import Sketch
from serendip.models.gp.kernels import Kernel


@dataclass(frozen=True, slots=True)
class Path:
    """The draws that picked one kernel: f_i(x) = φ(x)ᵀv_i + ψ(x)ᵀw_i + k(x, X)u_i + level_i.

    φ are the features of the exact terms, ψ the sketches of the others, which alone have k.
    """

    draws: slice
    """Which draws they are."""
    fit: int
    """The place of the kernel among those of the posterior."""
    kernel: Kernel
    x: Floats
    """(t, d) X; here and below t and X may be those of the inducing points."""
    sketches: tuple[Sketch, ...]
    level: Floats
    """(m,)"""
    exact: Floats
    """(F, m) v"""
    random: tuple[Floats, ...]
    """each (F, m), w"""
    pull: Floats
    """(t, m) u"""

    @property
    def size(self) -> Floats:
        """(m,) a scale for the values of each draw, its level apart."""
        parts = (self.exact, *self.random, self.pull)
        return np.asarray(sum(np.abs(part).sum(axis=0) for part in parts))

    def departures(self, x: Floats) -> Floats:
        """(b, m) values less the level."""
        return self.departures_by(x, self.kernel.features(x), self.kernel.near(x, self.x))

    def departures_by(self, x: Floats, features: Floats, near: Floats) -> Floats:
        """(b, m) the same, given φ(x) and k(x, X)."""
        found = features @ self.exact
        for sketch, weights in zip(self.sketches, self.random, strict=True):
            found += sketch(x) @ weights
        return found + near @ self.pull if self.sketches else found

    def averaged(self, weights: Floats) -> "Path":
        """Σ weights_i f_i as one path."""
        return Path(
            slice(0, 1),
            self.fit,
            self.kernel,
            self.x,
            self.sketches,
            (self.level @ weights)[None],
            (self.exact @ weights)[:, None],
            tuple((part @ weights)[:, None] for part in self.random),
            (self.pull @ weights)[:, None],
        )
