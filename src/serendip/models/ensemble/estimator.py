"""Any scikit-learn regressor or classifier as a model, by bootstrap.

The estimator is fitted anew to K bootstraps of the labels, and the fits are the members of an
ensemble (`posterior.py`, `chances.py`), calibrated by labels left out. A bootstrap that is too
small for the estimator, or shows a classifier one class only, becomes a constant drawn from what
its labels say: N(ȳ, s²/n), or Beta(½ + hits, ½ + misses).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import logit

from serendip.core.arguments import shown, whole_fields
from serendip.core.arrays import Array, Floats
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.rng import Purpose, stream
from serendip.models.ensemble.calibration import Scale, Unseen
from serendip.models.ensemble.chances import ChancePosterior
from serendip.models.ensemble.posterior import EnsemblePosterior, Fitted

_ENOUGH = 20
"""Labels to which an estimator must be able to fit."""
_GRAIN = 2.0**-30
"""Predictions are told apart in such steps, so that the company a row keeps does not show."""


@dataclass(frozen=True, slots=True)
class EstimatorModel:
    """A scikit-learn estimator with its settings, which are used as they are.

    A regressor takes any labels; a classifier takes labels 0 and 1, and draws are chances of 1.

    Attributes:
        estimator: What `sklearn.base.clone` can copy: a regressor, or a classifier with
            `predict_proba`.
        n_refits: K
    """

    estimator: Array
    n_features: int
    n_refits: int = 40

    def __post_init__(self) -> None:
        whole_fields(self, 1, "n_features")
        whole_fields(self, 10, "n_refits")
        from sklearn.base import BaseEstimator, is_classifier, is_regressor

        given = self.estimator
        fits = isinstance(given, BaseEstimator) and (is_classifier(given) or is_regressor(given))
        if not fits:
            raise InvalidInput(
                "estimator must be a scikit-learn regressor or classifier, with its settings; "
                f"got {shown(given)}."
            )
        if self.classifies and not hasattr(given, "predict_proba"):
            raise InvalidInput(
                f"{type(given).__name__} gives no chances; use a classifier with "
                "predict_proba, or wrap it in CalibratedClassifierCV."
            )

    @property
    def classifies(self) -> bool:
        """Whether the estimator is a classifier."""
        from sklearn.base import is_classifier

        return bool(is_classifier(self.estimator))

    def posterior(
        self, seen: Sequence[Observation], rng: Generator
    ) -> EnsemblePosterior | ChancePosterior:
        """The posterior given these observations, in their order."""
        kind = ChancePosterior if self.classifies else EnsemblePosterior
        return kind.of(self, seen, rng)

    def fit(self, x: Floats, y: Floats, scale: Scale, rng: Generator) -> Fitted:
        """Fits to bootstraps, and what they say of labels left out; logits of chances."""
        t = len(y)
        counts = rng.multinomial(t, np.full(t, 1.0 / t), size=self.n_refits)
        fits, failure = [], ""
        for count, seed in zip(counts, rng.integers(2**31, size=len(counts)).tolist(), strict=True):
            rows = np.repeat(np.arange(t), count)
            one, trouble = self._refit(x[rows], y[rows], x[:1], seed)
            level = self._level(y[rows], scale, stream(seed, Purpose.LEVEL))
            fits.append(level if one is None else one)
            failure = trouble or failure
        if t >= _ENOUGH and all(isinstance(one, Constant) for one in fits) and failure:
            raise SerendipError(
                f"{type(self.estimator).__name__} could not be fitted to any of {self.n_refits} "
                f"bootstraps of {t} labels; its last error was: {' '.join(failure.split())}"
            )
        members = Refits(tuple(fits), t if self.classifies else None, _GRAIN * scale.spread)
        return members, self.n_refits, Unseen.of(members.predictions(x), counts.T == 0)

    def _level(self, y: Floats, scale: Scale, rng: Generator) -> "Constant":
        """What stands in for a fit that cannot be had."""
        if self.classifies:
            return Constant(rng.beta(0.5 + y.sum(), 0.5 + (1.0 - y).sum()))
        return Constant(rng.normal(y.mean(), scale.spread / np.sqrt(len(y))))

    def _refit(self, x: Floats, y: Floats, probe: Floats, seed: int) -> tuple[Array | None, str]:
        """A fit that can predict; None where the labels are too few for it, with the reason."""
        from sklearn.base import clone

        if self.classifies and len(np.unique(y)) < 2:
            return None, ""
        fresh: Array = clone(self.estimator)
        states = [name for name in fresh.get_params() if f"__{name}".endswith("__random_state")]
        fresh.set_params(**dict.fromkeys(states, seed))
        try:
            with warnings.catch_warnings():
                # Fits to few labels warn, each one anew, of what the calibration takes care of.
                warnings.simplefilter("ignore")
                fresh.fit(x, y.astype(np.int64) if self.classifies else y)
                fresh.predict(probe)
        except ValueError as error:
            return None, str(error)
        return fresh, ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A fit that says the same everywhere."""

    level: float


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """The members: predictions, or logits of chances."""

    fits: tuple[Array, ...]
    n_labels: int | None
    """Of a classifier, whose chances are drawn to ½ as by one label more: no logit is infinite."""
    grain: float

    def predictions(self, x: Floats) -> Floats:
        """(b, K)"""
        from sklearn import config_context

        found = np.empty((len(x), len(self.fits)))
        if not len(x):
            return found
        with config_context(assume_finite=True):
            for k, one in enumerate(self.fits):
                if isinstance(one, Constant):
                    found[:, k] = one.level
                elif self.n_labels is None:
                    found[:, k] = np.ravel(one.predict(x))
                else:
                    found[:, k] = one.predict_proba(x)[:, 1]
        if self.n_labels is not None:
            inside = np.clip(found, 0.0, 1.0)
            found = logit((self.n_labels * inside + 0.5) / (self.n_labels + 1.0))
        return np.asarray(np.rint(found / self.grain) * self.grain)

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        found = self.predictions(x)
        mean = found.mean(axis=1)
        return mean, found - mean[:, None]

    def reach(self, x: Floats) -> float:
        """By predicting: nothing else bounds any estimator."""
        return 2.0 * float(np.abs(self.predictions(x)).max(initial=0.0))
