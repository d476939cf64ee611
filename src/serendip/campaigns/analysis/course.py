"""The course of a campaign: what each batch cost and told, and how much may have been missed.

At each batch the posterior of that moment is made again from the log, and the information ratio
Ψ = Δ²/g of its first proposal is taken from draws, beside that of Thompson sampling and the least
there was. The information g, in nats, is at least v/(2s²), s² the variance of the label, and at
least 2v for labels in [0, 1]; the larger of the two is used. With the largest ratio so far, Lemma 1
bounds the regret of t labels by √(Ψ_* H t), where H bounds the entropy of who the best are. The
bound is on the average over what could be true, and far above what happens.   [ASD §3]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.campaigns.analysis.predictions import N_DRAWS, moments_of
from serendip.campaigns.analysis.view import CampaignView
from serendip.campaigns.log.events import Asked, Entry
from serendip.campaigns.log.state import State, replay
from serendip.campaigns.problem import Problem
from serendip.core.arrays import Floats, Ints
from serendip.core.data import Choice
from serendip.core.progress import counted
from serendip.core.reductions.folds import optima
from serendip.core.rng import Purpose, stream
from serendip.core.threads import one_blas_thread
from serendip.theory import RatioWatch, generic_bound, linear_entropy_bound, tuple_entropy_bound

_RATIOS = ("information_ratio", "thompson_ratio", "least_ratio")
_BATCHES = 16
"""Batches that are looked at; of more, as many spread evenly."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """One entry a batch, in the user's units."""

    labels: Ints
    """(b,) results that were in when the batch was asked for."""
    ratio: Floats
    """(b,) Ψ of the first proposal; NaN while nothing tells how large labels are."""
    thompson: Floats
    """(b,) Ψ of Thompson sampling."""
    least: Floats
    """(b,) the least Ψ of any choice, drawn ones included."""
    after: Ints
    """(b,) results that were in when the next batch was asked for, or are now."""
    bound: Floats
    """(b,) on the regret then; NaN where nothing came in since."""
    regret: Floats
    """(t + 1,) after each result: what the best as many would have brought, less what was found,
    as believed now."""


def course(problem: Problem, log: Sequence[Entry], name: str) -> Course:
    """Ratios and bounds at each batch, and the regret so far.

    Args:
        problem: Pool and model.
        log: All that happened.
        name: The campaign's name.
    """
    asked = _spread([at for at, entry in enumerate(log) if isinstance(entry.event, Asked)])
    figures, labels = [], []
    now = replay(log)
    for place in counted("looking back", len(asked)):
        at = asked[place]
        before, event = replay(log[:at]), log[at].event
        assert isinstance(event, Asked)  # chosen above
        first = problem.candidates.places[event.proposals[0].item]
        view = problem.view(before, name)
        if first not in view.pool:  # it had failed, and was asked for again
            continue
        rng = stream(problem.settings.seed, Purpose.COURSE, before.version)
        with one_blas_thread():
            watch = RatioWatch(n_draws=N_DRAWS)
            found = watch(view.posterior, view.pool, Choice(first, 0.0), max(1, before.free), rng)
            nats = _per_nat(problem, view, first, rng)
        figures.append({name: nats * found[name] for name in _RATIOS})
        labels.append(len(before.results))
    return _in_user_units(problem, now, figures, np.array(labels, dtype=np.int64))


def _per_nat(problem: Problem, view: CampaignView, item: int, rng: Generator) -> float:
    """The gain v over the least information it stands for."""
    draws = view.posterior.sample(N_DRAWS, rng)
    mean, deviation = moments_of(view.posterior, draws)(view.block(np.array([item])))
    gaussian = 2.0 * float(draws.likelihood.label_variance(mean, deviation**2)[0])
    settings = problem.settings
    bounded = settings.range is not None or bool(settings.categories) or settings.binary
    if not bounded and view.posterior.n_labels == 0:
        return np.nan
    return min(gaussian, 0.5) if bounded else gaussian


def _spread(places: Sequence[int]) -> list[int]:
    if len(places) <= _BATCHES:
        return list(places)
    chosen = np.unique(np.linspace(0, len(places) - 1, _BATCHES).round().astype(int))
    return [places[at] for at in chosen]


def _in_user_units(
    problem: Problem, now: State, figures: Sequence[dict[str, float]], labels: Ints
) -> Course:
    width = problem.labels.user_width(1.0)
    ratio, thompson, least = (
        np.array([figure[name] for figure in figures], dtype=np.float64) for name in _RATIOS
    )
    worst = np.maximum.accumulate(np.where(np.isfinite(ratio), ratio, 0.0)) if len(ratio) else ratio
    entropy = _entropy(problem, now.budget)
    after = np.append(labels, len(now.results))[1:]
    bound = [
        width * generic_bound(float(one), entropy, int(end)) if one > 0 and end > begin else np.nan
        for one, begin, end in zip(worst, labels, after, strict=True)
    ]
    return Course(
        labels=labels,
        ratio=width**2 * ratio,
        thompson=width**2 * thompson,
        least=width**2 * least,
        after=after,
        bound=np.array(bound, dtype=np.float64),
        regret=_regret(problem, now),
    )


def _entropy(problem: Problem, budget: int) -> float:
    n = len(problem.candidates.ids)
    horizon = min(budget, n)
    if problem.linear:
        return linear_entropy_bound(n, problem.n_features, horizon)
    return tuple_entropy_bound(n, horizon)


def _regret(problem: Problem, now: State) -> Floats:
    """What the best would have summed to under today's belief, less what was found."""
    found = np.array([problem.labels.internal(one.value) for one in now.results.values()])
    if len(found) == 0:
        return np.zeros(1)
    pool = problem.pool(now.known)
    rng = stream(problem.settings.seed, Purpose.REGRET, now.version)
    with one_blas_thread():
        draws = problem.posterior(now).sample(N_DRAWS, rng)
        best = optima(pool, draws, len(found))
    values = np.clip(best.values, *problem.labels.limits(problem.settings.bounds))
    top = np.cumsum(draws.weights @ values)
    missed = np.maximum(top - np.cumsum(found), 0.0)
    return np.concatenate([[0.0], problem.labels.user_width(1.0) * missed])
