"""What is believed of every candidate, and of the pool as a whole."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from serendip.campaigns.analysis.limits import LimitedMoments
from serendip.campaigns.analysis.view import CampaignView
from serendip.core.arrays import Floats, Ints
from serendip.core.data import Block, HeldOut
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Bernoulli
from serendip.core.progress import counted, report
from serendip.core.protocols import (
    Draws,
    MomentsFn,
    Pool,
    Posterior,
    SupportsHeldOut,
    SupportsMoments,
    require,
)
from serendip.core.reductions.folds import contenders, leading
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

_PREDICTING = "predicting"
"""What is reported meanwhile."""


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
    report(_PREDICTING)
    with one_blas_thread():
        draws = view.posterior.sample(N_DRAWS, rng)
        moments = label_moments(view, draws)
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
        "expected": view.in_user_units(mean),
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
    blocks = [items[start : start + _ROWS] for start in range(0, len(items), _ROWS)]
    parts = [moments(view.block(blocks[place])) for place in counted(_PREDICTING, len(blocks))]
    mean, deviation = (np.concatenate(part) for part in zip(*parts, strict=True))
    return mean, deviation


def chances_of_top(view: CampaignView, draws: Draws, items: Ints) -> Floats:
    """(b,) the share of draws that hold a candidate among the k best left, k labels remaining.

    With no budget left the single best counts.
    """
    if len(view.pool) == 0:
        return np.zeros(len(items))
    found = contenders(view.pool, leading(view.pool, draws, max(1, free_labels(view))))
    place = np.minimum(np.searchsorted(found.items, items), len(found.items) - 1)
    return np.where(found.items[place] == items, np.minimum(found.share[place], 1.0), 0.0)


def free_labels(view: CampaignView) -> int:
    """Labels left for candidates that are not pending yet."""
    return max(0, min(view.remaining - len(view.pending), len(view.pool)))


def moments_of(posterior: Posterior, draws: Draws) -> MomentsFn:
    """Mean and standard deviation of f: the posterior's own, or those of the draws."""
    return posterior.moments() if isinstance(posterior, SupportsMoments) else SampledMoments(draws)


def label_moments(view: CampaignView, draws: Draws) -> MomentsFn:
    """Mean and standard deviation of f, no value of which lies outside the range of the labels."""
    moments, (low, high) = moments_of(view.posterior, draws), view.limits
    if view.bounds is None or isinstance(draws.likelihood, Bernoulli):  # chances are inside
        return moments
    return LimitedMoments(moments, low, high)


def label_scatter(draws: Draws, mean: Floats, deviation: Floats) -> Floats:
    """(b,) E[Var(Y_x | f)]: the part of a label's variance that knowing f would leave."""
    whole = draws.likelihood.label_variance(mean, deviation**2)
    return np.maximum(whole - deviation**2, 0.1 * whole)


def held_out(view: CampaignView) -> HeldOut:
    """Each result predicted from all other labels, in the user's units and the order told."""
    found = require(view.posterior, SupportsHeldOut, by=view).held_out()
    rows = range(len(view.measured)) if view.rows is None else view.rows
    places = np.array(rows, dtype=np.int64)
    width = view.labels.user_width(1.0)
    return HeldOut(
        view.in_user_units(found.mean[places]),
        width * found.deviation[places],
        found.log_density[places] - np.log(width),
    )


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


def whole_pool(pool: Pool, draws: Draws, moments: MomentsFn) -> Whole:
    """Sums over all candidates that can still be chosen."""
    return pool.fold(_WholeFold(draws, moments))


@dataclass(frozen=True, slots=True)
class _WholeFold:
    draws: Draws
    moments: MomentsFn

    def start(self) -> Whole:
        return Whole(0, 0.0, 0.0, 0.0)

    def step(self, state: Whole, block: Block) -> Whole:
        mean, deviation = self.moments(block)
        scatter = label_scatter(self.draws, mean, deviation)
        found = Whole(len(block), float(mean.sum()), float(mean @ mean), float(scatter.sum()))
        return self.merge(state, found)

    def merge(self, left: Whole, right: Whole) -> Whole:
        return Whole(
            left.count + right.count,
            left.mean + right.mean,
            left.square + right.square,
            left.scatter + right.scatter,
        )


def sums_of_draws(view: CampaignView, draws: Draws) -> Floats:
    """(M,) Σ f over the same candidates under each draw, no value outside the range of labels."""
    return view.pool.fold(_SumsFold(draws, *view.limits))


@dataclass(frozen=True, slots=True)
class _SumsFold:
    draws: Draws
    low: float
    high: float

    def start(self) -> Floats:
        return np.zeros(len(self.draws.weights))

    def step(self, state: Floats, block: Block) -> Floats:
        values = np.asarray(self.draws.values(block), dtype=np.float64)
        return self.merge(state, np.clip(values, self.low, self.high).sum(axis=0))

    def merge(self, left: Floats, right: Floats) -> Floats:
        return left + right
