"""GLM-UCB (Filippi et al., NeurIPS 2010), the baseline for logistic regression   [ASD §5.2]"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import number
from serendip.core.data import Choice
from serendip.core.errors import InvalidInput
from serendip.core.protocols import Pool, SupportsDesign
from serendip.policies.index import Optimism, choose_by


@dataclass(frozen=True, slots=True)
class GLMUCB:
    """argmax of μ(xᵀθ̂) + c √(2 log(t + 2)) ‖x‖_{V⁻¹} with V = XᵀX + I/σ_θ².

    Attributes:
        scale: c
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        if not number("scale", self.scale) >= 0:
            raise InvalidInput(f"scale must not be negative; got {self.scale}.")

    def choose(
        self, posterior: SupportsDesign, pool: Pool, remaining: int, rng: Generator
    ) -> Choice:
        """The most promising candidate, optimistically."""
        multiple = self.scale * float(np.sqrt(2.0 * np.log(posterior.n_labels + 2.0)))
        return choose_by(pool, posterior.design(), Optimism(multiple), rng)
