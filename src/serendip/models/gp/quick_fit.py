"""One process beside some contenders in float32, with bounds on what that takes.

With H = Σ w E[s²] A⁻¹ over the noise ratios of a fit, H = LLᵀ, and k = k(x, X):

    Var f(x) = Σ w E[s²] (k(x, x) + 1) − |Lᵀ(k + 1)|²,
    C[x, x′] = Σ w E[s²] (k(x, x′) + 1) − (k + 1)ᵀ H (k(x′, X) + 1),

and the constants 1 are put in by themselves, as they would make k longer, and rounding larger. A
product with a column a is off by |δk|₁-like terms e |a|₁ + (t + 8) u |k||a|, e being what any entry
of k is off by (`single.py`); all bounds here are sums of such terms.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import eigh

from serendip.core.arrays import Array, Floats
from serendip.models.gp.path import Path
from serendip.models.gp.process import Fit, Seen
from serendip.models.gp.single import UNIT, Others, SinglePath, lengths, single

_BANDS = 5
"""Columns of a triangular factor are multiplied in so many bands, each without its zeros."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A product with k, its constant apart, and how far it may be off."""

    single: Array
    """(t, c) in float32"""
    constant: Floats
    """(c,) what the 1 in k + 1 adds."""
    totals: Floats
    """(c,) |a|₁"""
    sizes: Floats
    """(c,) |a|"""

    @classmethod
    def of(cls, a: Floats) -> "Columns":
        """Of (t, c)."""
        return cls(single(a), a.sum(axis=0), np.abs(a).sum(axis=0), np.linalg.norm(a, axis=0))


def _longest(form: Floats) -> float:
    """√λ, the largest eigenvalue."""
    last = len(form) - 1
    if last < 0:  # no label yet
        return 0.0
    (largest,) = eigh(form, eigvals_only=True, subset_by_index=[last, last], check_finite=False)
    return float(np.sqrt(max(largest, 0.0)))


def doubt_norm(doubt: Floats, values: Floats) -> float:
    """√Σ w a²"""
    return float(np.sqrt(doubt @ values**2))


@dataclass(frozen=True, slots=True, eq=False)
class QuickFit:
    """One fit, ready for products in float32."""

    fit: Fit
    labels: Others
    """X"""
    others: Others
    """X, and the contenders below."""
    features: Array
    """(F, t + c) φ of these."""
    longest: float
    """The largest |φ| of them."""
    path: SinglePath | None
    """A sum of paths, of one column."""
    level: float
    """Of that sum."""
    waves: float
    """How far its random features can take it, which are as long as the root of their weight."""
    total: float
    """Σ w E[s²]"""
    pull: Columns
    """To the means, (t, R)."""
    told: Columns
    """To what X says of the contenders, (t, c)."""
    bands: tuple[tuple[int, Array], ...]
    """L: from which row on, and some columns."""
    lift: Floats
    """(t,) Lᵀ1"""
    stretch: float
    """At least the largest singular value of L."""
    root: float
    """At least |L| as a long vector."""

    @classmethod
    def of(
        cls, fit: Fit, there: Seen, x: Floats, features: Floats, path: Path | None
    ) -> "QuickFit":
        """With these contenders and their features below those of X."""
        scale = fit.weights * fit.scales
        kept = scale @ (1.0 / (fit.sizes + fit.noise[:, None]))
        form = (fit.basis * kept) @ fit.basis.T
        try:
            factor = np.linalg.cholesky(form)
        except np.linalg.LinAlgError:
            factor = fit.basis * np.sqrt(kept)
        cuts = np.linspace(0, len(factor), min(_BANDS, len(factor)) + 1).astype(int).tolist()
        triangular = bool(np.all(np.triu(factor, 1) == 0.0))
        bands = tuple(
            (start if triangular else 0, factor[start if triangular else 0 :, start:stop])
            for start, stop in pairwise(cuts)
        )
        others = Others.of((fit.kernel,), np.concatenate([fit.x, x]))
        return cls(
            fit=fit,
            labels=others.first(len(fit.x)),
            others=others,
            features=single(np.ascontiguousarray(features.T)),
            longest=float(lengths(features).max(initial=0.0)),
            path=None if path is None else SinglePath.of(path, others),
            level=0.0 if path is None else float(path.level[0]),
            waves=0.0 if path is None else 1.001 * sum(map(_size, path.random)),
            total=float(scale.sum()),
            pull=Columns.of(fit.pull.T),
            told=Columns.of((fit.basis * kept) @ there.turned.T),
            bands=tuple((start, single(band)) for start, band in bands),
            lift=factor.sum(axis=0),
            stretch=1.001 * _longest(form),
            root=1.001 * float(np.linalg.norm(factor)),
        )

    def glance(self, x: Floats) -> "Glance":
        """Others, (b, d), by their kernel with X: of the sum of paths, what no wave says."""
        near = self.labels.near(self.fit.kernel, x, {})
        entry = np.full(len(x), self.labels.entry_error(self.fit.kernel, x))
        features = self._features(x)
        shared, shared_error = np.zeros(len(x)), np.zeros(len(x))
        if self.path is not None:
            exact, pull = self.path.ends
            shared = (features @ exact + near[:, : len(pull)] @ pull)[:, 0] + np.float64(self.level)
            longest = np.hypot(lengths(features), lengths(near))
            shared_error = self.path.error(longest, entry) + self.waves
        entry, _ = self._completed(near, features, entry)
        return self._glance(x, near, entry, shared, shared_error)

    def beside(self, x: Floats, doubt: Floats) -> "Beside":
        """Others, (b, d), beside these contenders, of whom each is in so much doubt."""
        t = len(self.fit.x)
        near = self.others.near(self.fit.kernel, x, {})
        entry = np.full(len(x), self.others.entry_error(self.fit.kernel, x))
        shared, shared_error = np.zeros(len(x)), np.zeros(len(x))
        if self.path is None:
            features = self._features(x)
        else:
            all_features, off = self.path.features(x, near[:, :t])
            shared = (all_features @ self.path.weights)[:, 0] + np.float64(self.level)
            shared_error = self.path.error(lengths(all_features), entry) + off
            features = all_features[:, : len(self.features)]
        entry, largest = self._completed(near, features, entry)
        glance = self._glance(x, near[:, :t], entry, shared, shared_error)
        covariance = near[:, t:] * np.float32(self.total)
        covariance -= glance.k @ self.told.single
        apart = self.total - self.told.constant
        covariance += apart.astype(np.float32)
        root = float(np.sqrt(doubt.sum()))
        totals, sizes = (doubt_norm(doubt, one) for one in (self.told.totals, self.told.sizes))
        error = entry * (self.total * root + totals) + 2.0 * (t + 8) * UNIT * glance.size * sizes
        error += 8.0 * UNIT * (self.total * root * largest + doubt_norm(doubt, apart))
        return Beside(glance, covariance, error)

    def _features(self, x: Floats) -> Array:
        """(b, F) φ of the exact terms in float32."""
        if len(self.features) == 0:
            return np.empty((len(x), 0), dtype=np.float32)
        return self.fit.kernel.features(x).astype(np.float32)

    def _completed(self, near: Array, features: Array, entry: Floats) -> tuple[Floats, Floats]:
        """The exact terms put in: how far entries may be off then, and the largest of each row."""
        largest = np.full(len(near), float(sum(weight for weight, _ in self.fit.kernel.sketched)))
        if len(self.features) == 0:
            return entry, largest
        reach = lengths(features) * self.longest
        near += features @ self.features[:, : near.shape[1]]
        entry = entry + UNIT * ((len(self.features) + 8) * reach + 2.0 * largest)
        return entry, largest + reach

    def _glance(
        self, x: Floats, k: Array, entry: Floats, shared: Floats, shared_error: Floats
    ) -> "Glance":
        size = lengths(k)
        means = (k @ self.pull.single).astype(np.float64) + self.pull.constant
        error = np.outer(entry, self.pull.totals)
        error += np.outer((len(self.fit.x) + 8) * UNIT * size, self.pull.sizes)
        prior = self.total * (self.fit.kernel.diagonal(x) + 1.0)
        return Glance(shared, shared_error, means, error, prior, k, entry, size)

    def variances(self, seen: "Glance") -> tuple[Floats, Floats]:
        """Within the fit, at least and at most."""
        found, first, t = np.zeros(len(seen.k)), 0, len(self.lift)
        for start, band in self.bands:
            part = seen.k[:, start:] @ band
            part += self.lift[first : first + band.shape[1]].astype(np.float32)
            found += np.einsum("bc,bc->b", part, part)
            first += band.shape[1]
        root = np.sqrt(found)
        error = seen.entry * (np.sqrt(t) * self.stretch)
        error += (t + 16) * UNIT * (seen.size * self.root + root)
        error += 4.0 * UNIT * float(np.linalg.norm(self.lift))
        least, most = np.clip(root - error, 0.0, None) ** 2, (root + error) ** 2
        return seen.prior - most, seen.prior - least


def _size(weights: Floats) -> float:
    return float(np.linalg.norm(weights))


@dataclass(frozen=True, slots=True, eq=False)
class Glance:
    """Some candidates as one fit sees them by the labels, and how far that may be off."""

    shared: Floats
    """(b,) the sum of paths"""
    shared_error: Floats
    means: Floats
    """(b, R)"""
    means_error: Floats
    prior: Floats
    """(b,) their variance before any label"""
    k: Array
    """(b, t) k(x, X)"""
    entry: Floats
    """(b,) how far any of these may be off"""
    size: Floats
    """(b,) |k|"""


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """Likewise with the contenders."""

    glance: Glance
    covariance: Array
    """(b, c) in float32; that of the means apart."""
    covariance_error: Floats
    """(b,) √Σ w δ² over the contenders"""
