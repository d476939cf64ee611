import numpy as np
import pytest

from serendip.core.linalg import gaussian_draws


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_gaussian_solves_the_normal_equations(rank: int) -> None:
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((7, rank, rank + 2))
    precision = roots @ roots.swapaxes(1, 2)
    shift, normal = rng.standard_normal((7, rank)), rng.standard_normal((7, rank))
    stacked = np.moveaxis(precision, 0, 2)
    mean = gaussian_draws(stacked, shift.T, np.zeros((rank, 7))).T
    np.testing.assert_allclose(mean, np.linalg.solve(precision, shift[:, :, None])[:, :, 0])
    # L⁻ᵀz has squared length zᵀz in the metric of Λ.
    spread = gaussian_draws(stacked, np.zeros((rank, 7)), normal.T).T
    length = np.einsum("ba,bac,bc->b", spread, precision, spread)
    np.testing.assert_allclose(length, (normal**2).sum(axis=1))
