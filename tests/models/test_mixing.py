import numpy as np
import pytest

from serendip.core.errors import InvalidInput
from serendip.models.mixing import Mixing, effective_size, split_r_hat


def _walk(slowness: float, n_sweeps: int, n_chains: int, n_quantities: int) -> np.ndarray:
    """Stationary AR(1) with unit variance."""
    rng = np.random.default_rng(3)
    series = rng.standard_normal((n_sweeps, n_chains, n_quantities))
    for t in range(1, n_sweeps):
        series[t] = slowness * series[t - 1] + np.sqrt(1 - slowness**2) * series[t]
    return series


def test_split_r_hat_by_hand() -> None:
    # Halves (0, 2), (1, 3), (4, 6), (5, 7): W = 2, means 1, 2, 5, 6 with variance 17/3.
    series = np.array([[0.0, 4.0], [2.0, 6.0], [1.0, 5.0], [3.0, 7.0]])[:, :, None]
    assert split_r_hat(series) == pytest.approx(np.sqrt((2 / 2 + 17 / 3) / 2))


def test_odd_length_drops_the_middle_sweep() -> None:
    series = _walk(0.0, 7, 3, 2)
    np.testing.assert_allclose(split_r_hat(series), split_r_hat(np.delete(series, 3, axis=0)))


def test_independent_draws_are_worth_their_number() -> None:
    series = _walk(0.0, 200, 10, 5)
    found = Mixing.of(series)
    assert found.worst_r_hat < 1.02
    assert found.n_kept == 2000
    np.testing.assert_allclose(found.effective_size, 2000, rtol=0.15)


@pytest.mark.parametrize("slowness", [0.5, 0.8])
def test_effective_size_of_a_slow_walk(slowness: float) -> None:
    found = effective_size(_walk(slowness, 1000, 20, 4))
    np.testing.assert_allclose(found, 20_000 * (1 - slowness) / (1 + slowness), rtol=0.15)


def test_chains_that_disagree_are_found_out() -> None:
    series = _walk(0.0, 100, 4, 2)
    series[:, 0, 0] += 5.0
    found = Mixing.of(series)
    assert found.r_hat[0] > 1.3
    assert found.r_hat[1] < 1.05
    assert found.effective_size[0] < 40
    assert found.smallest_size == found.effective_size[0]


def test_chains_of_different_width_are_found_out() -> None:
    series = _walk(0.0, 100, 4, 1)
    series[:, 0] *= 10.0
    assert split_r_hat(series) < 1.05
    assert Mixing.of(series).worst_r_hat > 1.1


def test_ranks_make_it_blind_to_monotone_maps() -> None:
    series = _walk(0.5, 50, 4, 3)
    np.testing.assert_allclose(
        Mixing.of(series).effective_size, Mixing.of(np.exp(3 * series)).effective_size
    )


def test_stuck_chains() -> None:
    apart = np.broadcast_to(np.arange(3.0)[None, :, None], (10, 3, 1))
    assert Mixing.of(apart).worst_r_hat == np.inf
    same = Mixing.of(np.ones((10, 3, 1)))
    assert same.worst_r_hat == 1.0
    assert np.isfinite(same.effective_size).all()


def test_a_single_chain_is_judged_by_its_halves() -> None:
    assert Mixing.of(_walk(0.0, 200, 1, 1)).worst_r_hat < 1.1


@pytest.mark.parametrize("shape", [(3, 5, 1), (10, 5), (10, 0, 1), (10, 5, 0)])
def test_too_little_to_judge(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="at least four kept sweeps"):
        Mixing.of(np.ones(shape))
