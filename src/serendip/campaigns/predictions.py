"""What is believed of every candidate, and of the pool as a whole."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from serendip.campaigns.view import CampaignView
from serendip.core.arrays import Floats, Ints
from serendip.core.data import Block
from serendip.core.errors import InvalidInput
from serendip.core.folds import contenders, optima
from serendip.core.protocols import Draws, MomentsFn, Pool, Posterior, SupportsMoments
from serendip.core.threads import one_blas_thread
from serendip.models.draws import SampledMoments

if TYPE_CHECKING:
    import pandas as pd

N_DRAWS = 400
"""Draws behind a chance or a forecast."""

_MOST_LISTED = 1_000_000
"""Candidates that are listed in one table."""

_ROWS = 65536
"""Candidates whose moments are computed at once."""


def predictions(
    view: CampaignView, rng: Generator, whole: Pool | None = None, top: int | None = None
) -> "pd.DataFrame":
    """The user's table with what is believed of each candidate, in the user's units and order.

    Besides all columns of the user: `id`, `state`, `expected` value, `uncertainty` (the standard
    deviation of what is expected, without the scatter of a single measurement), `chance_of_top`
    (the chance to be among the best of what remains, as many as labels remain; 0 for those that
    cannot be chosen), and the measured value under the name of the label.

    Args:
        view: The campaign now.
        rng: For the draws.
        whole: All candidates, labelled ones too; needed with `top`.
        top: Only so many, the best by what is expected of them, best first.
    """
    import pandas as pd

    if top is None and len(view.ids) > _MOST_LISTED:
        raise InvalidInput(
            f"A table of {len(view.ids)} candidates is too long; ask for the best with --top 1000."
        )
    with one_blas_thread():
        draws = view.posterior.sample(N_DRAWS, rng)
        moments = moments_of(view.posterior, draws)
        items = np.arange(len(view.ids), dtype=np.int64)
        if top is not None and whole is not None:
            items = best_by_mean(whole, moments, top)
        mean, deviation = _moments_of(view, moments, items)
        chances = chances_of_top(view, draws, items)
    labels = view.labels
    told = dict(zip(view.measured_items.tolist(), view.measured_values.tolist(), strict=True))
    measured = np.array([told.get(item, np.nan) for item in items.tolist()])
    ours = {
        "state": [view.state(item) for item in items.tolist()],
        "expected": labels.offset + labels.factor * mean,
        "uncertainty": labels.user_width(1.0) * deviation,
        "chance_of_top": chances,
    }
    theirs = view.candidates.rows(items).drop(columns=[view.label], errors="ignore")
    columns: dict[str, object] = {"id": [view.ids[item] for item in items.tolist()]}
    columns |= {_free(str(name), columns): theirs[name] for name in theirs if name != "id"}
    columns |= {_free(name, columns): values for name, values in ours.items()}
    columns[_free(view.label, columns)] = measured
    return pd.DataFrame(columns)


def _free(name: str, taken: dict[str, object]) -> str:
    """The name, with as many underscores as it takes to differ from the user's columns."""
    while name in taken:
        name = f"{name}_"
    return name


def _moments_of(view: CampaignView, moments: MomentsFn, items: Ints) -> tuple[Floats, Floats]:
    parts = [
        moments(view.block(items[start : start + _ROWS])) for start in range(0, len(items), _ROWS)
    ]
    mean, deviation = (np.concatenate(part) for part in zip(*parts, strict=True))
    return mean, deviation


def chances_of_top(view: CampaignView, draws: Draws, items: Ints) -> Floats:
    """(b,) the share of draws that hold a candidate among the k best left, k labels remaining.

    With no budget left the single best counts.
    """
    if len(view.pool) == 0:
        return np.zeros(len(items))
    found = contenders(view.pool, optima(view.pool, draws, max(1, free_labels(view))))
    place = np.minimum(np.searchsorted(found.items, items), len(found.items) - 1)
    return np.where(found.items[place] == items, np.minimum(found.share[place], 1.0), 0.0)


def free_labels(view: CampaignView) -> int:
    """Labels left for candidates that are not pending yet."""
    return max(0, min(view.remaining - len(view.pending), len(view.pool)))


def moments_of(posterior: Posterior, draws: Draws) -> MomentsFn:
    """Mean and standard deviation of f: the posterior's own, or those of the draws."""
    return posterior.moments() if isinstance(posterior, SupportsMoments) else SampledMoments(draws)


def label_scatter(draws: Draws, mean: Floats, deviation: Floats) -> Floats:
    """(b,) E[Var(Y_x | f)]: the part of a label's variance that knowing f would leave."""
    whole = draws.likelihood.label_variance(mean, deviation**2)
    return np.maximum(whole - deviation**2, 0.1 * whole)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What the labels so far would have been predicted as, each from the others."""

    expected: Floats
    """(t,) in the model's units."""
    deviation: Floats
    """(t,) standard deviation of the label about it."""
    seen: Floats
    """(t,) the labels, in the model's units."""

    @property
    def squared_errors(self) -> Floats:
        """(t,) over their variance, as estimated from the other labels too.

        A large error has widened the variance it is divided by; with z² from t labels,
        z²(t − 1)/(t − z²) undoes that.
        """
        count = len(self.seen)
        ratio = np.minimum(((self.seen - self.expected) / self.deviation) ** 2, 0.8 * count)
        return np.asarray(ratio * (count - 1) / (count - ratio))


def held_out(view: CampaignView, draws: Draws) -> HeldOut:
    """Each label predicted from the others, without refitting.

    Leaving a label out of a Gaussian posterior turns its residual e into e/(1 − h), and the
    variance of the label σ² into σ²/(1 − h), where h = Var f(x)/σ² is its pull on its own
    prediction; exact where scales are known. Pulls above 0.9 count as 0.9.
    """
    mean, deviation = moments_of(view.posterior, draws)(view.block(view.measured_items))
    scatter = np.maximum(label_scatter(draws, mean, deviation), 1e-300)
    left = 1.0 - np.minimum(deviation**2 / scatter, 0.9)
    seen = (view.measured_values - view.labels.offset) / view.labels.factor
    return HeldOut(seen - (seen - mean) / left, np.sqrt(scatter / left), seen)


# --- folds over the pool -------------------------------------------------------------------------


def best_by_mean(pool: Pool, moments: MomentsFn, count: int) -> Ints:
    """The candidates of highest mean, best first."""
    return pool.fold(_BestFold(moments, count))[0]


_Ranked = tuple[Ints, Floats]


@dataclass(frozen=True, slots=True)
class _BestFold:
    moments: MomentsFn
    count: int

    def start(self) -> _Ranked:
        return np.empty(0, dtype=np.int64), np.empty(0)

    def step(self, state: _Ranked, block: Block) -> _Ranked:
        return self.merge(state, (block.items, self.moments(block)[0]))

    def merge(self, left: _Ranked, right: _Ranked) -> _Ranked:
        items = np.concatenate([left[0], right[0]])
        means = np.concatenate([left[1], right[1]])
        best = np.lexsort((items, -means))[: self.count]
        return items[best], means[best]


@dataclass(frozen=True, slots=True)
class Whole:
    """The pool as a whole: how many, and sums over all of them."""

    count: int
    values: Floats
    """(M,) Σ f under each draw."""
    clipped: float
    """Σ f̄, each kept between the least and the largest label seen: models extrapolate."""
    mean: float
    """Σ f̄"""
    square: float
    """Σ f̄²"""
    scatter: float
    """Σ σ²"""

    @property
    def spread(self) -> float:
        """The variance of f̄ over the pool."""
        return max(0.0, self.square / self.count - (self.mean / self.count) ** 2)


def whole_pool(view: CampaignView, draws: Draws, moments: MomentsFn) -> Whole:
    """Sums over all candidates that can still be chosen."""
    seen = (view.measured_values - view.labels.offset) / view.labels.factor
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (-np.inf, np.inf)
    return view.pool.fold(_WholeFold(draws, moments, low, high))


@dataclass(frozen=True, slots=True)
class _WholeFold:
    draws: Draws
    moments: MomentsFn
    low: float
    high: float

    def start(self) -> Whole:
        return Whole(0, np.zeros(len(self.draws.weights)), 0.0, 0.0, 0.0, 0.0)

    def step(self, state: Whole, block: Block) -> Whole:
        mean, deviation = self.moments(block)
        found = Whole(
            len(block),
            np.asarray(self.draws.values(block), dtype=np.float64).sum(axis=0),
            float(np.clip(mean, self.low, self.high).sum()),
            float(mean.sum()),
            float(mean @ mean),
            float(label_scatter(self.draws, mean, deviation).sum()),
        )
        return self.merge(state, found)

    def merge(self, left: Whole, right: Whole) -> Whole:
        return Whole(
            left.count + right.count,
            left.values + right.values,
            left.clipped + right.clipped,
            left.mean + right.mean,
            left.square + right.square,
            left.scatter + right.scatter,
        )
