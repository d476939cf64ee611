"""How well parallel chains have mixed (rank-normalised split R̂, effective size); draws of them.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner (Bayesian Analysis, 2021). A series is
(S, M, q): S kept sweeps of M chains, of q quantities that mean the same in every chain.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Mixing:
    """What the kept sweeps say; R̂ near 1 and a large effective size are good news."""

    r_hat: Floats
    """(q,) rank-normalised split R̂, of location or scale; ∞ where chains differ and none moves."""
    effective_size: Floats
    """(q,) how many independent draws the kept ones are worth."""
    n_kept: int
    """S·M, how many draws were looked at."""

    @classmethod
    def of(cls, series: Floats) -> "Mixing":
        """Both figures for each quantity of a series (S, M, q), S ≥ 4."""
        halves = _split(series)
        bulk = _normalised(halves)
        spread = _normalised(np.abs(halves - np.median(halves, axis=(0, 1))))
        worst = np.maximum(_r_hat(bulk), _r_hat(spread))
        return cls(worst, _effective_size(bulk), int(series.shape[0] * series.shape[1]))

    @property
    def worst_r_hat(self) -> float:
        """Of the quantity that mixes worst."""
        return float(self.r_hat.max())

    @property
    def smallest_size(self) -> float:
        """Effective size of the quantity that has the least."""
        return float(self.effective_size.min())


def split_r_hat(series: Floats) -> Floats:
    """(q,) the classic split R̂ = √(var⁺ / W), without ranks.

    Each chain counts as two halves of length n; W is the mean variance within them,
    var⁺ = (n − 1)/n·W + (variance of their means).
    """
    return _r_hat(_split(series))


def effective_size(series: Floats) -> Floats:
    """(q,) S·M / (1 + 2Σρ_t), the sum cut by Geyer's initial monotone sequence."""
    return _effective_size(_split(series))


def _split(series: Floats) -> Floats:
    """(S // 2, 2M, q), the middle sweep dropped where S is odd."""
    if series.ndim != 3 or len(series) < 4 or 0 in series.shape:
        raise InvalidInput(
            "Mixing needs at least four kept sweeps as (sweeps, chains, quantities); "
            f"got shape {series.shape}. Run more sweeps first."
        )
    half = len(series) // 2
    return np.concatenate([series[:half], series[-half:]], axis=1)


def _normalised(series: Floats) -> Floats:
    """Normal scores of the ranks over all sweeps and chains."""
    from scipy.stats import rankdata  # slow to import, and rarely needed

    flat = series.reshape(-1, series.shape[2])
    scores = ndtri((rankdata(flat, axis=0) - 0.375) / (len(flat) + 0.25))
    return np.asarray(scores).reshape(series.shape)


def _r_hat(series: Floats) -> Floats:
    within = series.var(axis=0, ddof=1).mean(axis=0)
    total = _total_variance(series, within)
    ratio = np.full(within.shape, np.inf)
    np.divide(total, within, out=ratio, where=within > 0)
    return np.where(total > 0, np.sqrt(ratio), 1.0)


def _total_variance(series: Floats, within: Floats) -> Floats:
    length, n_chains = series.shape[:2]
    between = series.mean(axis=0).var(axis=0, ddof=1) if n_chains > 1 else np.zeros_like(within)
    return np.asarray(within * (length - 1) / length + between)


def _effective_size(series: Floats) -> Floats:
    length, n_chains = series.shape[:2]
    centred = series - series.mean(axis=0)
    lags = [
        (centred[: length - lag] * centred[lag:]).sum(axis=0).mean(axis=0) / length
        for lag in range(length)
    ]
    covariance = np.stack(lags)
    within = covariance[0] * length / (length - 1)
    total = _total_variance(series, within)
    share = np.divide(within - covariance, total, out=np.zeros_like(covariance), where=total > 0)
    correlation = 1.0 - share
    correlation[0] = 1.0
    even = length // 2 * 2
    pairs = correlation[:even:2] + correlation[1:even:2]
    kept = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(np.where(kept, pairs, 0.0), axis=0)
    size = length * n_chains
    # Antithetic chains may be worth more than their number; beyond size·log₁₀(size) it is noise.
    slowness = np.maximum(2.0 * monotone.sum(axis=0) - 1.0, 1.0 / np.log10(max(size, 10)))
    return np.asarray(np.where(total > 0, size / slowness, float(size)))


def chain_picks(size: int, n_chains: int, rng: Generator) -> Ints:
    """(size,) which chains draws are taken from: different ones, or all as often as can be."""
    rounds, rest = divmod(size, n_chains)
    chains = np.arange(n_chains)
    picks = [np.tile(chains, rounds), rng.choice(chains, size=rest, replace=False)]
    return np.concatenate(picks)
