"""How a label scatters around its mean f(x): what the variance of a label is, and what it tells."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from serendip.core.arguments import number
from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput


class Likelihood(Protocol):
    """The law of Y given f(x)."""

    def label_variance(self, mean: Floats, variance: Floats) -> Floats:
        """Var(Y_x) when f(x) has this posterior mean and variance."""
        ...

    def log_density(self, y: float, value: Floats) -> Floats:
        """Log p(y | f(x) = value), up to a constant that does not depend on the value."""
        ...


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Y = f(x) + ε with ε ~ N(0, noise_variance)."""

    noise_variance: float

    def __post_init__(self) -> None:
        if not number("noise_variance", self.noise_variance) > 0:
            raise InvalidInput(
                f"noise_variance must be a positive number; got {self.noise_variance}."
            )

    def label_variance(self, mean: Floats, variance: Floats) -> Floats:
        """Var f(x) + σ²."""
        return variance + self.noise_variance

    def log_density(self, y: float, value: Floats) -> Floats:
        """−(y − f)² / 2σ²."""
        return np.asarray(-0.5 * (y - value) ** 2 / self.noise_variance)


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """Y is 1 with probability f(x), else 0."""

    def label_variance(self, mean: Floats, variance: Floats) -> Floats:
        """f̄(1 − f̄): the variance of a coin whose bias is itself uncertain."""
        clipped = np.clip(mean, 0.0, 1.0)
        return np.asarray(clipped * (1.0 - clipped))

    def log_density(self, y: float, value: Floats) -> Floats:
        """Log f for a hit, log(1 − f) for a miss."""
        if y not in (0.0, 1.0):
            raise InvalidInput(f"A binary label must be 0 or 1; got {y}.")
        chance = value if y == 1.0 else 1.0 - value
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.clip(chance, 0.0, 1.0)))
