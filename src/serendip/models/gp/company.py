"""What a mixture of processes says of some candidates together with any others."""

from dataclasses import dataclass

import numpy as np

from serendip.core.arrays import Floats
from serendip.models.gp.path import Path
from serendip.models.gp.process import Fit, Seen


@dataclass(frozen=True, slots=True)
class Company:
    """Some candidates, to ask how any others vary with them and with a sum of paths."""

    fits: tuple[Fit, ...]
    x: Floats
    """(c, d)"""
    features: tuple[Floats, ...]
    """φ of the rows of each fit and of these candidates, as each kernel has it."""
    seen: tuple[Seen, ...]
    """These candidates, as each fit sees them."""
    paths: dict[int, Path]
    """The sum, by the place of their fit."""

    @classmethod
    def of(
        cls, fits: tuple[Fit, ...], x: Floats, paths: dict[int, Path] | None = None
    ) -> "Company":
        """These candidates, (c, d)."""
        return cls(
            fits,
            x,
            tuple(fit.kernel.features(np.concatenate([fit.x, x])) for fit in fits),
            tuple(Seen.of(fit, x, fit.cross(x)) for fit in fits),
            paths or {},
        )

    def __call__(self, x: Floats) -> tuple[list[Seen], Floats, Floats]:
        """Others as each fit sees them, (b, c) their covariance with these, and (b,) the sum.

        C[x′, x] = Σ w (E[s²] (k(x′, x) + 1 − c(x′)ᵀA⁻¹c(x)) + (m(x′) − f̄(x′)) (m(x) − f̄(x)))
        """
        weights = np.concatenate([fit.weights for fit in self.fits])
        found, total, summed = [], np.zeros((len(x), len(self.x))), np.zeros(len(x))
        for place, (fit, other) in enumerate(zip(self.fits, self.seen, strict=True)):
            features = fit.kernel.features(x)
            prior = fit.kernel.near(x, np.concatenate([fit.x, self.x]))
            if path := self.paths.get(place):
                near = prior[:, : len(fit.x)]
                summed += path.departures_by(x, features, near)[:, 0] + path.level
            prior += features @ self.features[place].T
            prior += 1.0
            one = Seen.of(fit, x, prior[:, : len(fit.x)])
            scale = fit.weights * fit.scales
            kept = scale @ (1.0 / (fit.sizes + fit.noise[:, None]))
            total += float(scale.sum()) * prior[:, len(fit.x) :]
            total -= (one.turned * kept) @ other.turned.T
            found.append(one)
        here, there = (
            np.concatenate([one.means for one in side], axis=1) for side in (found, self.seen)
        )
        here, there = here - (here @ weights)[:, None], there - (there @ weights)[:, None]
        return found, total + (here * weights) @ there.T, summed
