"""Joint-distribution tests of the Gibbs samplers (Geweke, JASA 2004).

Draw parameters from the prior, then alternate: labels given parameters, parameters by one sweep
given labels. If the sweep leaves the posterior where it is, parameters keep their prior however
often this is repeated. Every chain gets labels of its own, so the chains are independent and their
final states, with the labels they last saw, are an exact sample of the joint distribution: compared
with a larger fresh one by two-sample Kolmogorov–Smirnov tests and by tests of the mean, two per
statistic.

False-alarm rate: 1e-3 for the whole file (Bonferroni over both tests of all statistics of all
cases). Seeds are fixed, so a pass stays a pass until the sampler changes.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator
from scipy.stats import ks_2samp, ttest_ind

from serendip.core.arrays import Floats
from serendip.core.rng import stream
from serendip.models.linear.sparse import SparseLinearModel, SparseLinearPosterior, SparsePriors
from serendip.models.matrix.low_rank import LowRankModel, LowRankPosterior, NoisePrior
from serendip.models.matrix.model import MatrixModel, MatrixPosterior
from serendip.models.matrix.sweeps import MatrixPriors

_FALSE_ALARM = 1e-3
_N_CASES = 11
_N_CHAINS = 10_000
_N_FRESH = 100_000
_ROUNDS = 40

_PRIORS = SparsePriors(
    expected_active=2.0, slab_shape=3.0, slab_rate=2.0, noise_shape=3.0, noise_rate=1.0
)


def _check(found: dict[str, Floats], expected: dict[str, Floats]) -> None:
    level = _FALSE_ALARM / (_N_CASES * 2 * len(found))
    for name, values in found.items():
        shape = ks_2samp(values, expected[name], method="asymp").pvalue
        mean = ttest_ind(values, expected[name], equal_var=False).pvalue
        assert min(shape, mean) > level, f"{name}: p = {shape:.1e} (shape), {mean:.1e} (mean)"


def _sparse_statistics(posterior: SparseLinearPosterior, rng: Generator) -> dict[str, Floats]:
    theta = posterior.chains.theta
    jitter = 1e-6 * rng.random(len(theta))  # zeros and counts have ties; the test wants none
    misfit = posterior.y - theta @ posterior.x.T
    found = {
        "theta_0": theta[:, 0] + jitter,
        "theta_last": theta[:, -1] + jitter,
        "active": (theta != 0).sum(axis=1) + jitter,
        "energy": np.log1p((theta**2).sum(axis=1)) + jitter,
        "twins": ((theta[:, 0] != 0) & (theta[:, 1] != 0)) + jitter,
        "fit": np.log1p(((theta @ posterior.x.T) ** 2).sum(axis=1)) + jitter,
        "misfit": (misfit**2).sum(axis=1) / posterior.chains.noise_variance,
        "labels in tune": np.arctan((posterior.y * (theta @ posterior.x.T)).sum(axis=1)) + jitter,
    }
    scales = posterior.chains._asdict()
    for name in ("inclusion", "slab_variance", "noise_variance"):
        if np.ptp(scales[name]) > 0:
            found[name] = np.log(scales[name])
    return found


def _sparse_labels(posterior: SparseLinearPosterior, rng: Generator) -> SparseLinearPosterior:
    mean = posterior.chains.theta @ posterior.x.T
    noise = np.sqrt(posterior.chains.noise_variance)[:, None] * rng.standard_normal(mean.shape)
    return replace(posterior, y=mean + noise)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("inclusion", "slab", "noise"),
    [(0.3, 1.5, 0.5), (0.3, 1.5, None), (None, 1.5, 0.5), (0.3, None, 0.5), (None, None, None)],
)
def test_sparse_sweeps_keep_the_joint_distribution(
    inclusion: float | None, slab: float | None, noise: float | None
) -> None:
    key = f"{inclusion}/{slab}/{noise}"
    model = SparseLinearModel(
        6, inclusion, slab, noise, n_chains=_N_CHAINS, sweeps=1, priors=_PRIORS
    )
    x = stream(1, "x", key).standard_normal((6, 6))
    x[:, 1] = x[:, 0] + 0.3 * x[:, 1]  # two features that can stand in for each other
    posterior = replace(model.posterior((), stream(1, "prior", key)), x=x)
    prior = replace(model, n_chains=_N_FRESH).posterior((), stream(2, "prior", key))
    fresh = _sparse_labels(replace(prior, x=x), stream(2, "label", key))
    for step in range(_ROUNDS):
        posterior = _sparse_labels(posterior, stream(1, "label", key, step))
        posterior = posterior.settle(1, stream(1, "sweep", key, step))
    _check(
        _sparse_statistics(posterior, stream(1, "jitter", key)),
        _sparse_statistics(fresh, stream(2, "jitter", key)),
    )


def _low_rank_statistics(posterior: LowRankPosterior) -> dict[str, Floats]:
    left, right = posterior.left, posterior.right
    products = np.einsum("mir,mjr->mij", left, right)
    misfit = posterior.y - products[:, *posterior.entries.T]
    found = {
        "u": left[:, 0, 0],
        "v": right[:, 0, -1],
        "left energy": (left**2).sum(axis=(1, 2)),
        "right energy": (right**2).sum(axis=(1, 2)),
        "row seen twice": (left[:, 0] ** 2).sum(axis=1),
        "seen": products[:, 0, 0],
        "unseen": products[:, 2, 1],
        "alignment": (left[:, 0] * left[:, 1]).sum(axis=1),
        "size": np.log((products**2).sum(axis=(1, 2))),
        "misfit": (misfit**2).sum(axis=1) / posterior.noise_variance,
    }
    if np.ptp(posterior.noise_variance) > 0:
        found["noise"] = np.log(posterior.noise_variance)
    return found


def _low_rank_labels(posterior: LowRankPosterior, rng: Generator) -> LowRankPosterior:
    rows, columns = posterior.entries.T
    mean = (posterior.left[:, rows] * posterior.right[:, columns]).sum(axis=2)
    noise = np.sqrt(posterior.noise_variance)[:, None] * rng.standard_normal(mean.shape)
    return replace(posterior, y=mean + noise)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("rank", "noise", "factor"), [(2, 0.5, 1.0), (2, None, 1.0), (3, None, 0.7)]
)
def test_low_rank_sweeps_keep_the_joint_distribution(
    rank: int, noise: float | None, factor: float
) -> None:
    key = f"{rank}/{noise}/{factor}"
    prior = NoisePrior(shape=3.0, rate=1.0)
    model = LowRankModel(4, 3, rank, factor, noise, _N_CHAINS, 1, prior)
    entries = np.array([[0, 0], [0, 1], [1, 0], [1, 2], [2, 2], [2, 0]])
    posterior = replace(model.posterior((), stream(1, "prior", key)), entries=entries)
    untouched = replace(model, n_chains=_N_FRESH).posterior((), stream(2, "prior", key))
    fresh = _low_rank_labels(replace(untouched, entries=entries), stream(2, "label", key))
    for step in range(_ROUNDS):
        posterior = _low_rank_labels(posterior, stream(1, "label", key, step))
        posterior = posterior.settle(1, stream(1, "sweep", key, step))
    _check(_low_rank_statistics(posterior), _low_rank_statistics(fresh))


def _matrix_statistics(posterior: MatrixPosterior) -> dict[str, Floats]:
    rows, columns = posterior.chains.rows, posterior.chains.columns
    left, right = posterior.sides[0].total(rows), posterior.sides[1].total(columns)
    table = left[0][:, None] + right[0] + np.einsum("kim,kjm->ijm", left[1:], right[1:])
    noise = posterior.chains.noise_variance
    misfit = posterior.y - table[posterior.entries[:, 0], posterior.entries[:, 1]]
    found = {
        "effect": left[0, 0],
        "factor": right[-1, 1],
        "seen": table[0, 0],
        "unseen": table[3, 1],
        "size": np.log((table**2).sum(axis=(0, 1))),
        "alignment": (left[:, 0] * left[:, 1]).sum(axis=0),
        "misfit": (misfit**2).sum(axis=0) / noise,
        "noise": np.log(noise),
    }
    for name, side in (("row", rows), ("column", columns)):
        for place, weights in enumerate(side.weights):
            scale = np.abs(side.stretch[place]) * np.sqrt(side.spread[place])
            found[f"{name} group {place}: weight"] = weights[0, 0]
            found[f"{name} group {place}: scales"] = np.log(scale[0]) - np.log(scale[-1])
            found[f"{name} group {place}: energy"] = np.log((weights**2).sum(axis=(0, 1)))
    return found


def _matrix_labels(posterior: MatrixPosterior, rng: Generator) -> MatrixPosterior:
    left = posterior.sides[0].total(posterior.chains.rows)[:, posterior.entries[:, 0]]
    right = posterior.sides[1].total(posterior.chains.columns)[:, posterior.entries[:, 1]]
    mean = left[0] + right[0] + (left[1:] * right[1:]).sum(axis=0)
    noise = np.sqrt(posterior.chains.noise_variance) * rng.standard_normal(mean.shape)
    return replace(posterior, y=mean + noise)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("rank", "row_groups", "column_groups"),
    [
        (2, (), ()),
        (2, (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])), ()),
        (1, (np.array([[1.0, 0.3], [-1.0, 0.5], [0.5, -1.0], [0.2, 0.1]]),), (np.arange(3) // 2,)),
    ],
)
def test_matrix_sweeps_keep_the_joint_distribution(
    rank: int, row_groups: tuple[Floats, ...], column_groups: tuple[Floats, ...]
) -> None:
    key = f"{rank}/{len(row_groups)}/{len(column_groups)}"
    priors = MatrixPriors(effect=0.8, factor=0.9, freedom=6.0, noise_shape=3.0, noise_rate=1.0)
    model = MatrixModel(
        4, 3, row_groups, column_groups, rank, _N_CHAINS, sweeps=1, label_unit=1.0, priors=priors
    )
    entries = np.array([[0, 0], [0, 1], [1, 0], [1, 2], [2, 2], [2, 0]])
    posterior = replace(model.posterior((), stream(1, "prior", key)), entries=entries)
    untouched = replace(model, n_chains=_N_FRESH).posterior((), stream(2, "prior", key))
    fresh = _matrix_labels(replace(untouched, entries=entries), stream(2, "label", key))
    for step in range(_ROUNDS):
        posterior = _matrix_labels(posterior, stream(1, "label", key, step))
        posterior = posterior.settle(1, stream(1, "sweep", key, step))
    _check(_matrix_statistics(posterior), _matrix_statistics(fresh))
