"""Coherence of a matrix, which the low-rank bound needs   [ASD §4.2]"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.theory.arguments import as_table, squares


@dataclass(frozen=True, slots=True, eq=False)
class Coherence:
    """How the row and column spaces of a matrix lie to the standard basis   [ASD §4.2]"""

    rows: Floats
    """(m₁,) μᵢ(U) = ‖P_U eᵢ‖²; they sum to the rank."""
    columns: Floats
    """(m₂,) μⱼ(V) = ‖P_V eⱼ‖²."""
    rank: int
    """Numerical rank."""
    top_singular_value: float
    """d̄"""

    @property
    def gamma(self) -> float:
        """The smallest γ with max μ ≤ √(γr/m) on both sides, the assumption as printed."""
        sides = (len(side) * side.max() ** 2 for side in (self.rows, self.columns))
        return float(max(sides) / self.rank)

    @property
    def standard_gamma(self) -> float:
        """The smallest γ with max μ ≤ γr/m on both sides, what the rest of the paper uses; ≥ 1."""
        sides = (len(side) * side.max() for side in (self.rows, self.columns))
        return float(max(sides) / self.rank)


def subspace_coherence(basis: npt.ArrayLike) -> Floats:
    """(m,) μᵢ(U) = ‖P_U eᵢ‖² of the span of the columns of an (m, r) array, orthonormal or not."""
    left, _, _, rank = _svd(basis)
    return squares(left[:, :rank])


def coherence(matrix: npt.ArrayLike) -> Coherence:
    """Coherence of both singular subspaces, by SVD with the numerical rank."""
    left, sizes, right, rank = _svd(matrix)
    return Coherence(squares(left[:, :rank]), squares(right[:rank].T), rank, float(sizes[0]))


def _svd(matrix: npt.ArrayLike) -> tuple[Floats, Floats, Floats, int]:
    table = as_table(matrix)
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    rank = int((sizes > sizes[0] * max(table.shape) * np.finfo(np.float64).eps).sum())
    if rank == 0:
        raise InvalidInput("Coherence needs a matrix that is not zero.")
    return left, sizes, right, rank
