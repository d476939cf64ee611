"""What the other labels say of each label: closed forms, importance weights, honest refits."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, logsumexp

from serendip.core.arrays import Array, Floats
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.likelihood import Bernoulli, Likelihood
from serendip.core.protocols import Model, SupportsMoments

_FOLDS = 20
"""Refits at most; with more labels than that, several are left out at once."""
_LOG_TAU = float(np.log(2.0 * np.pi))


# --- closed forms --------------------------------------------------------------------------------


def inverses(features: Floats, y: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """K⁻¹y and diag K⁻¹, (…, R, t) each, of K = FFᵀ + rI at each noise r, for many F at once.

    From the singular vectors of F, as sums of positive terms: nothing cancels where a label decides
    its own prediction almost alone.

    Args:
        features: (…, t, q) F.
        y: (t,)
        noise: (…, R) r.
    """
    basis, sizes, _ = np.linalg.svd(features, full_matrices=False)
    return spectral_inverses(basis, sizes**2, y, noise)


def spectral_inverses(
    basis: Floats, sizes: Floats, y: Floats, noise: Floats
) -> tuple[Floats, Floats]:
    """The same of K = P diag(μ) Pᵀ + rI.

    Args:
        basis: (…, t, q) P, whose columns are orthonormal.
        sizes: (…, q) μ.
        y: (t,)
        noise: (…, R) r.
    """
    across = basis.swapaxes(-1, -2)
    spread = 1.0 / (sizes[..., None, :] + noise[..., None])
    turned = (y @ basis)[..., None, :]
    pull, precision = (spread * turned) @ across, spread @ across**2
    if sizes.shape[-1] < len(y):  # some of ℝᵗ is out of reach of P, and has the noise alone
        outside = y - turned @ across
        outside -= outside @ basis @ across
        beyond = np.clip(1.0 - (across**2).sum(axis=-2), 0.0, None)[..., None, :]
        pull, precision = pull + outside / noise[..., None], precision + beyond / noise[..., None]
    return pull, precision


def gaussian_held_out(y: Floats, pull: Floats, precision: Floats) -> HeldOut:
    """Of y ~ N(0, K): y_i | y_−i ~ N(y_i − α_i/d_i, 1/d_i) with α = K⁻¹y and d = diag K⁻¹."""
    error = pull / precision
    density = 0.5 * (np.log(precision) - _LOG_TAU - precision * error**2)
    return HeldOut(y - error, 1.0 / np.sqrt(precision), np.asarray(density))


def student_held_out(
    y: Floats, pull: Floats, precision: Floats, rates: Floats, shape: float, weights: Floats
) -> HeldOut:
    """Of a mixture of y ~ N(0, s²K_r) with s² ~ InvGamma, all parts given all labels.

    Part r predicts a t distribution around y_i − α_i/d_i from s² ~ InvGamma(shape − ½, rate −
    ½α_i²/d_i). Without y_i its weight would have been w/p(y_i | y_−i) but for a factor.

    Args:
        y: (t,) from where labels are measured.
        pull: (R, t) α = K⁻¹y.
        precision: (R, t) d = diag K⁻¹.
        rates: (R,) given all labels.
        shape: Likewise.
        weights: (R,) likewise.
    """
    surprise = 0.5 * pull**2 / precision
    rest, before = rates[:, None], shape - 0.5
    rest = np.maximum(rest - surprise, 1e-12 * rest)
    logs = (
        gammaln(before + 0.5)
        - gammaln(before)
        + 0.5 * np.log(precision / (2.0 * np.pi * rest))
        - (before + 0.5) * np.log1p(surprise / rest)
    )
    with np.errstate(divide="ignore"):
        without = np.log(weights)[:, None] - logs
    total = logsumexp(without, axis=0)
    shares = np.exp(without - total)
    return _pooled(y - pull / precision, rest / (before - 1.0) / precision, shares, -total)


def mixed(parts: Sequence[HeldOut], weights: Floats) -> HeldOut:
    """Σ_j w_j p_j(y_i | y_−i), the weights as they are."""
    logs = np.stack([part.log_density for part in parts])
    with np.errstate(divide="ignore"):
        density = np.logaddexp.reduce(logs + np.log(weights)[:, None], axis=0)
    means = np.stack([part.mean for part in parts])
    variances = np.stack([part.deviation**2 for part in parts])
    shares = np.broadcast_to(weights[:, None], means.shape)
    return _pooled(means, variances, shares, np.asarray(density))


def _pooled(means: Floats, variances: Floats, shares: Floats, density: Floats) -> HeldOut:
    """Of parts (R, t) with shares that sum to one for each label."""
    mean = (shares * means).sum(axis=0)
    variance = (shares * (variances + (means - mean) ** 2)).sum(axis=0)
    return HeldOut(mean, np.sqrt(variance), density)


# --- importance weights --------------------------------------------------------------------------


def left_out(log_densities: Floats) -> Floats:
    """(t,) log p(y_i | the other labels), by truncated importance sampling.

    Args:
        log_densities: (t, S) log p(y_i | draw s); parameters that y_i alone decides should have
            been integrated out, or the weights are of little use.
    """
    weights = _weights(log_densities)
    return np.asarray(logsumexp(weights + log_densities, axis=1) - logsumexp(weights, axis=1))


def reweighted(y: Floats, means: Floats, variances: Floats) -> HeldOut:
    """From draws that have seen all labels, each saying N(mean, variance) of label i.

    Args:
        y: (t,) or (t, 1).
        means: (t, S) given draw s; parameters that y_i alone decides should have been integrated
            out, or the weights are of little use.
        variances: (t, S) likewise, noise included.
    """
    y = y[:, None] if y.ndim == 1 else y
    logs = -0.5 * (np.log(variances) + _LOG_TAU + (y - means) ** 2 / variances)
    weights = _weights(logs)
    shares = np.exp(weights - logsumexp(weights, axis=1, keepdims=True))
    return _pooled(means.T, variances.T, shares.T, left_out(logs))


def _weights(log_densities: Floats) -> Floats:
    """(t, S) log of what a draw from the posterior of all labels counts for in that of all but y_i.

    It is 1 / p(y_i | draw). Weights beyond S^¾ times their median are cut to that: the cut goes
    away as draws become many, and until then no single draw decides (Ionides 2008 cuts by the
    mean).
    """
    weights = -log_densities
    weights -= np.median(weights, axis=1, keepdims=True)
    return np.asarray(np.minimum(weights, 0.75 * np.log(weights.shape[1])))


# --- refits --------------------------------------------------------------------------------------


def refitted(
    model: Model[SupportsMoments],
    seen: Sequence[Observation],
    rng: Generator,
    folds: int = _FOLDS,
) -> HeldOut:
    """Every label predicted by a fit that has not seen it.

    Rows of one observation are left out apart, as they are by the closed forms. With more labels
    than folds, those that are as many places apart as there are folds are left out together.
    """
    rows = [
        replace(one, x=one.x[j : j + 1], y=one.y[j : j + 1])
        for one in seen
        for j in range(len(one.y))
    ]
    found = HeldOut(*(np.empty(len(rows)) for _ in range(3)))
    for fold in range(min(folds, len(rows))):
        out = np.arange(fold, len(rows), folds)
        kept = [row for place, row in enumerate(rows) if place % folds != fold]
        posterior = model.posterior(kept, rng)
        x: Array = np.concatenate([rows[place].x for place in out])
        likelihood = posterior.sample(1, rng).likelihood
        mean, deviation = posterior.moments()(Block(out, x))
        y = np.array([rows[place].label for place in out])
        part = _of_labels(y, mean, deviation, likelihood)
        found.mean[out], found.deviation[out] = part.mean, part.deviation
        found.log_density[out] = part.log_density
    return found


def _of_labels(y: Floats, mean: Floats, deviation: Floats, likelihood: Likelihood) -> HeldOut:
    """Labels whose f has this mean and standard deviation."""
    variance = likelihood.label_variance(mean, deviation**2)
    if isinstance(likelihood, Bernoulli):
        return coins(y, mean)
    density = -0.5 * (np.log(variance) + _LOG_TAU + (y - mean) ** 2 / variance)
    return HeldOut(mean, np.sqrt(variance), np.asarray(density))


def coins(y: Floats, chance: Floats) -> HeldOut:
    """Labels that are 1 with this chance; a label between 0 and 1 counts for as much of each."""
    inside = np.clip(chance, 1e-15, 1.0 - 1e-15)
    density = y * np.log(inside) + (1.0 - y) * np.log1p(-inside)
    return HeldOut(inside, np.sqrt(inside * (1.0 - inside)), np.asarray(density))
