"""What a campaign will have found when its budget is spent, and whether to go on.

Draws of the posterior are taken for the truth, one after another. Under a draw the labels still to
come sum to something between two extremes: A, what the best candidates by today's mean give, and B,
what someone who knew the draw would find. A few rehearsals, in which the posterior learns in four
stages, tell how far from A to B a campaign gets, λ; the forecast is A + λ(B − A) over all draws.
Random choice gets the mean of what is left, each time. All of it is one table, `_Sums`, from which
totals, what the next experiments bring and the advice are read. Where labels have a range, no value
of any draw lies outside it.
How far the interval about it reaches is in `interval.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.campaigns.analysis.advice import Prospects, advice
from serendip.campaigns.analysis.interval import AT_RANDOM, INTERVAL
from serendip.campaigns.analysis.predictions import (
    N_DRAWS,
    best_by_mean,
    held_out,
    label_moments,
    label_scatter,
    moments_of,
    sums_of_draws,
    whole_pool,
)
from serendip.campaigns.analysis.trust import trust_in_words
from serendip.campaigns.analysis.view import CampaignView
from serendip.core.arrays import Floats, Ints
from serendip.core.data import Block, Observation
from serendip.core.likelihood import Bernoulli
from serendip.core.progress import counted, report
from serendip.core.protocols import Draws, MomentsFn, Posterior, SupportsHeldOut
from serendip.core.reductions.folds import optima
from serendip.core.threads import one_blas_thread

Progress = Callable[[int, int], None]

_MORE = 10
_REHEARSALS, _STAGES = 12, 4
_LOOKING_AHEAD = "looking ahead"
"""What is reported meanwhile."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The total after each label from now on, in the user's units; entry 0 is now."""

    expected: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The total when the budget is spent, in the user's units."""

    expected_total: float
    low: float
    high: float
    level: float
    """The chance that the total lies between low and high."""
    total_so_far: float
    value_of_ten_more: float
    """What ten experiments beyond the budget are expected to add; fewer where fewer are left."""
    stop_advice: str
    random_total: float
    """The same total, were all that is not proposed yet picked at random from now on."""
    random_so_far: float
    """What as many results as there are would sum to, had they been picked at random, as believed
    now of all candidates that could have been chosen."""
    next_each: float
    """What each of the next ten experiments is expected to bring; of fewer where fewer are left."""
    random_each: float
    """What a candidate picked at random from those that are left is expected to bring."""
    path: Path
    trust: str = ""
    """Which model is trusted and why; empty where there is one only."""


def forecast(view: CampaignView, rng: Generator, progress: Progress | None = None) -> Forecast:
    """The expected total at the end of the budget, with an interval and advice.

    Args:
        view: The campaign now. Pending proposals count as chosen.
        rng: For the draws and the rehearsals.
        progress: Told how many rehearsals are done, and of how many.
    """
    report(_LOOKING_AHEAD)
    with one_blas_thread():
        return _forecast(view, rng, progress or (lambda done, total: None))


def _forecast(view: CampaignView, rng: Generator, progress: Progress) -> Forecast:
    pending = view.block(view.pending[: view.remaining])
    draws = view.posterior.sample(N_DRAWS, rng)
    moments = label_moments(view, draws)
    sums = _sums_of(view, pending, draws, moments)
    left = float(sums.expected[-1])
    if len(view.pool) > 0:
        whole = whole_pool(view.pool, draws, moments)
        left += whole.mean
        depth = min(view.remaining - len(pending), len(view.pool))
        deep = min(depth + _MORE, len(view.pool))
        steps = np.arange(deep + 1, dtype=np.float64)
        at_random = steps * (whole.mean / whole.count)
        if view.policy == "random":
            each = whole.scatter / whole.count + whole.spread * (1.0 - steps / whole.count)
            totals = steps[:, None] * (sums_of_draws(view, draws) / whole.count)
            chosen = _Sums(at_random, totals, steps * each, at_random)
        else:
            chosen = _learning(view, draws, moments, pending, depth, at_random, rng, progress)
        sums = sums.then(chosen)
    return _in_user_units(view, sums, draws, len(pending), left)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Running sums over the labels to come, after 0 … h of them."""

    expected: Floats
    """(h + 1,)"""
    totals: Floats
    """(h + 1, M) under each draw."""
    scatter: Floats
    """(h + 1,) Σσ²"""
    at_random: Floats
    """(h + 1,) expected where candidates are picked at random."""

    def then(self, others: "_Sums") -> "_Sums":
        """These labels first, then the others."""
        return _Sums(
            *(
                np.concatenate([mine, mine[-1] + theirs[1:]])
                for mine, theirs in (
                    (self.expected, others.expected),
                    (self.totals, others.totals),
                    (self.scatter, others.scatter),
                    (self.at_random, others.at_random),
                )
            )
        )


def _sums_of(view: CampaignView, block: Block, draws: Draws, moments: MomentsFn) -> _Sums:
    """Of these candidates, in this order, whoever picks the others."""
    mean, deviation = moments(block)
    values = np.clip(np.asarray(draws.values(block), dtype=np.float64), *view.limits)
    expected, scatter = _running(mean), _running(label_scatter(draws, mean, deviation))
    return _Sums(expected, _running(values), scatter, expected)


def _running(rows: Floats) -> Floats:
    """Sums of the first 0, 1, … rows."""
    return np.concatenate([np.zeros((1, *rows.shape[1:])), np.cumsum(rows, axis=0)])


def _learning(
    view: CampaignView,
    draws: Draws,
    moments: MomentsFn,
    pending: Block,
    depth: int,
    at_random: Floats,
    rng: Generator,
    progress: Progress,
) -> _Sums:
    """Sums of a policy that learns, over `depth` labels and ten more."""
    deep = len(at_random) - 1
    now = best_by_mean(view.pool, moments, deep)
    fixed = _sums_of(view, view.block(now), draws, moments)
    best = optima(view.pool, draws, deep)
    gap = _running(np.clip(best.values.T, *view.limits)) - fixed.totals
    reached = np.zeros(deep + 1)
    if depth > 0:
        candidates = view.block(np.union1d(now, best.items))
        rehearsal = _Rehearsal(draws, candidates, pending, depth, view.limits)
        chances, ends = draws.weights / draws.weights.sum(), rehearsal.ends
        runs = rng.choice(len(chances), size=_REHEARSALS, p=chances)
        played = []
        for place in counted(_LOOKING_AHEAD, len(runs)):
            progress(place, len(runs))
            played.append(rehearsal.play(view.posterior, int(runs[place]), rng))
        progress(len(runs), len(runs))
        found = np.array(played)
        beyond = (found - fixed.totals[np.ix_(ends, runs)].T).sum(axis=0)
        within = gap[np.ix_(ends, runs)].sum(axis=1)
        shares = np.divide(beyond, within, out=np.zeros_like(within), where=within > 1e-12)
        reached = np.interp(np.arange(deep + 1), ends, np.clip(shares, 0.0, 1.0))
    ahead = np.clip(gap @ draws.weights, 0.0, None)
    expected = _possible(fixed.expected + reached * ahead, *view.limits)
    return _Sums(expected, fixed.totals + reached[:, None] * gap, fixed.scatter, at_random)


def _possible(sums: Floats, low: float, high: float) -> Floats:
    """The same running sums, raised or lowered on the way so that each label lies within limits."""
    steps = np.arange(len(sums))
    if np.isfinite(high):
        ahead = np.maximum.accumulate((sums - steps * high)[::-1])[::-1]
        sums = np.minimum(ahead + steps * high, steps * high)
    if np.isfinite(low):
        ahead = np.minimum.accumulate((sums - steps * low)[::-1])[::-1]
        sums = np.maximum(ahead + steps * low, steps * low)
    return sums


@dataclass(frozen=True, slots=True)
class _Rehearsal:
    """The rest of the campaign with one draw for the truth, its labels bought in a few stages."""

    draws: Draws
    block: Block
    """What may be chosen: everything that is among the best under some draw or by its mean."""
    pending: Block
    """Labelled before the first choice."""
    depth: int
    limits: tuple[float, float]
    """The least and the largest label."""

    @property
    def ends(self) -> Ints:
        """How many labels are bought after each stage, from 0."""
        ends = np.linspace(0, self.depth, min(_STAGES, self.depth) + 1)
        return np.asarray(np.round(ends), dtype=np.int64)

    def play(self, posterior: Posterior, draw: int, rng: Generator) -> Floats:
        """Σ f of what was chosen, after each stage."""
        truth = self._truth(self.block, draw)
        if len(self.pending) > 0:
            posterior = self._told(posterior, self.pending, draw, rng)
        left, chosen, sums = np.arange(len(self.block)), np.empty(0, dtype=np.int64), [0.0]
        for size in np.diff(self.ends).tolist():
            if len(chosen) > 0:
                posterior = self._told(posterior, self._rows(chosen), draw, rng)
            mean = moments_of(posterior, self.draws)(self._rows(left))[0]
            order = np.argsort(-mean, kind="stable")
            chosen, left = left[order[:size]], np.sort(left[order[size:]])
            sums.append(float(truth[chosen].sum()))
        return np.cumsum(sums)

    def _rows(self, places: Ints) -> Block:
        return Block(self.block.items[places], self.block.x[places])

    def _truth(self, block: Block, draw: int) -> Floats:
        return np.clip(self.draws.refine(block.x, np.full(len(block), draw)), *self.limits)

    def _told(self, posterior: Posterior, block: Block, draw: int, rng: Generator) -> Posterior:
        truth, likelihood = self._truth(block, draw), self.draws.likelihood
        if isinstance(likelihood, Bernoulli):
            labels = (rng.random(len(truth)) < truth).astype(np.float64)
        else:
            width = np.sqrt(likelihood.label_variance(truth, np.zeros(len(truth))))
            noisy = truth + width * rng.standard_normal(len(truth))
            labels = np.clip(noisy, *self.limits)
        return posterior.update(Observation(int(block.items[0]), block.x, labels), rng)


def _inflation(view: CampaignView) -> float:
    """κ² of the interval; 1 where the model cannot tell."""
    if not (view.measured and isinstance(view.posterior, SupportsHeldOut)):
        return 1.0
    found = held_out(view)
    return INTERVAL.inflation(((view.measured_values - found.mean) / found.deviation) ** 2)


def _in_user_units(
    view: CampaignView, sums: _Sums, draws: Draws, n_pending: int, left: float
) -> Forecast:
    """What people read off the sums.

    Args:
        view: The campaign now.
        sums: To the end of the budget, and of ten more.
        draws: Behind them.
        n_pending: How many of the labels to come are proposed already.
        left: Σ f̄ of these and of all candidates that can still be chosen.
    """
    labels = view.labels
    steps = min(view.remaining, n_pending + len(view.pool))
    mean = sums.totals @ draws.weights
    variance = (sums.totals - mean[:, None]) ** 2 @ draws.weights
    interval = AT_RANDOM if view.policy == "random" else INTERVAL
    half = labels.user_width(1.0) * interval.half(_inflation(view), variance + sums.scatter)
    so_far, n = float(view.measured_values.sum()), len(view.measured)
    path = _within(view, so_far, sums.expected, half)
    at_random = _within(view, so_far, sums.at_random, half).expected
    n_left, n_next = n_pending + len(view.pool), min(_MORE, len(sums.expected) - 1)
    everyone = so_far + labels.offset * n_left + labels.factor * left
    n_random = len(sums.expected) - 1 - n_pending
    each = float(path.expected[n_next] - so_far) / max(1, n_next)
    others = float(at_random[-1] - at_random[n_pending])
    prospects = Prospects(
        n_next=n_next,
        each=each,
        give=float(half[n_next]) / max(1, n_next),
        at_random=others / n_random if n_random else each,
    )
    return Forecast(
        expected_total=float(path.expected[steps]),
        low=float(path.low[steps]),
        high=float(path.high[steps]),
        level=interval.level,
        total_so_far=so_far,
        value_of_ten_more=float(path.expected[-1] - path.expected[steps]),
        stop_advice=advice(view, prospects, spent=steps == 0),
        random_total=float(at_random[steps]),
        random_so_far=everyone * n / max(1, n + n_left),
        next_each=prospects.each,
        random_each=prospects.at_random,
        path=Path(*(one[: steps + 1] for one in (path.expected, path.low, path.high))),
        trust=trust_in_words(view.posterior),
    )


def _within(view: CampaignView, so_far: float, sums: Floats, half: Floats) -> Path:
    """Totals in the user's units, none that no labels within the range can sum to."""
    count = np.arange(len(sums))
    expected = so_far + view.labels.offset * count + view.labels.factor * sums
    low, high = expected - half, expected + half
    if view.bounds is None:
        return Path(expected, low, high)
    least, most = (so_far + count * one for one in view.bounds)
    expected = np.clip(expected, least, most)
    return Path(expected, np.maximum(low, least), np.minimum(high, most))
