"""Why a candidate is proposed, in one line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from serendip.campaigns.analysis.predictions import N_DRAWS, free_labels, label_moments
from serendip.campaigns.analysis.view import CampaignView, percent, shown
from serendip.core.arrays import Floats, Ints
from serendip.core.data import Block, Choice, Contenders, Tradeoff
from serendip.core.protocols import BlockFn, Draws
from serendip.core.reductions.folds import contenders, leading
from serendip.core.threads import one_blas_thread
from serendip.models.graph.model import GraphPosterior
from serendip.models.registry import Input, takes

Kind = Literal["exploit", "explore", "both"]

_CHEAP = 0.25
"""A candidate with at most this share of regret exploits what is known."""
_TELLING = 0.5
"""A candidate with at least this share of information explores."""
_N_NEIGHBOURS = 3
_LARGE, _SAMPLE, _DOUBTFUL = 2**16, 20_000, 2048
"""Of more candidates, so many at random say what a pick usually costs; and they, with those that
are most in doubt, what the most is that one would tell. To compute both for all of a large pool
takes longer than the choice itself."""

_OPENINGS: dict[Kind, str] = {
    "exploit": "Exploit",
    "explore": "Explore",
    "both": "Exploit and explore",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """What speaks for one proposal, in the user's units."""

    item: int
    expected: float
    uncertainty: float
    """Standard deviation of what is expected, without the scatter of a single measurement."""
    chance_of_top: float
    """To be among the best of what remains, as many as labels remain."""
    kind: Kind
    regret_share: float
    """Expected regret, as a share of what a candidate picked at random would cost."""
    information_share: float
    """What its label would tell, as a share of the most that any candidate's would."""
    neighbours: tuple[tuple[str, float], ...]
    """Nearest measured candidates: id and value."""
    sentence: str


def reasons(view: CampaignView, choices: Sequence[Choice], rng: Generator) -> tuple[Reason, ...]:
    """One reason for each choice, from the same regret and information that budget-aware IDS uses.

    Args:
        view: The campaign now; the choices may be pending already or still in the pool.
        choices: What is, or will be, proposed.
        rng: For the draws.
    """
    if not choices:
        return ()
    items = np.array([choice.item for choice in choices], dtype=np.int64)
    block = view.block(items)
    with one_blas_thread():
        draws = view.posterior.sample(N_DRAWS, rng)
        mean, deviation = label_moments(view, draws)(block)
        chances, costs, gains = _standing(view, block, draws, rng)
    expected = view.in_user_units(mean)
    nearest = _neighbours(view, items)
    found = []
    for place, item in enumerate(items.tolist()):
        cost, gain = float(costs[place]), float(gains[place])
        facts = _Facts(
            float(expected[place]),
            view.labels.user_width(float(deviation[place])),
            float(chances[place]),
            _kind(cost, gain),
            cost,
            gain,
            nearest[place],
        )
        found.append(Reason(item, *facts, sentence=_sentence(facts, max(1, free_labels(view)))))
    return tuple(found)


class _Facts(NamedTuple):
    """A reason before it is put into words."""

    expected: float
    uncertainty: float
    chance_of_top: float
    kind: Kind
    regret_share: float
    information_share: float
    neighbours: tuple[tuple[str, float], ...]


def _sentence(facts: _Facts, count: int) -> str:
    place = "the best" if count == 1 else f"in the top {count}"
    words = (
        f"{_OPENINGS[facts.kind]}: expected {shown(facts.expected)} ± {shown(facts.uncertainty)}, "
        f"{percent(facts.chance_of_top)} chance of being {place} of what remains; "
        f"{percent(facts.regret_share)} of the regret of a random pick, "
        f"{percent(facts.information_share)} of the most information to be had"
    )
    if facts.neighbours:
        near = ", ".join(f"{name} ({shown(value)})" for name, value in facts.neighbours)
        words = f"{words}; nearest measured: {near}"
    return f"{words}."


def _kind(cost: float, gain: float) -> Kind:
    """Cheap exploits, telling explores; what is neither goes by the larger of the two merits."""
    cheap, telling = cost <= _CHEAP, gain >= _TELLING
    if cheap and telling:
        return "both"
    if cheap or telling:
        return "exploit" if cheap else "explore"
    return "exploit" if 1.0 - cost >= gain else "explore"


def _standing(
    view: CampaignView, block: Block, draws: Draws, rng: Generator
) -> tuple[Floats, Floats, Floats]:
    """Chance of the top, share of regret and share of information of some candidates."""
    n_items, n_draws = len(block), len(draws.weights)
    if len(view.pool) == 0:
        return np.ones(n_items), np.zeros(n_items), np.zeros(n_items)
    rivals = contenders(view.pool, leading(view.pool, draws, max(1, free_labels(view))))
    rows = np.repeat(np.arange(n_items), n_draws)
    values = draws.refine(block.x[rows], np.tile(np.arange(n_draws), n_items))
    in_top = values.reshape(n_items, n_draws) >= rivals.thresholds
    tradeoff = draws.tradeoff(rivals)
    own = tradeoff(block)
    if len(view.pool) <= _LARGE:
        levels = view.pool.fold(_LevelsFold(tradeoff))
    else:
        levels = _estimated(view, rivals, tradeoff, rng)
    usual = float(levels.regret / max(levels.count, 1))
    costs = own.regret / usual if usual > 0 else np.zeros(n_items)
    gains = own.gain / levels.gain if levels.gain > 0 else np.zeros(n_items)
    return (
        np.minimum(in_top @ draws.weights, 1.0),
        np.minimum(costs, 1.0),
        np.minimum(gains, 1.0),
    )


def _estimated(
    view: CampaignView, rivals: Contenders, tradeoff: BlockFn[Tradeoff], rng: Generator
) -> "_Levels":
    """The levels of a large pool, from some of it."""
    picked = np.unique(rng.integers(len(view.ids), size=_SAMPLE))
    some = np.array([item for item in picked.tolist() if item in view.pool], dtype=np.int64)
    doubtful = rivals.items[np.sort(np.argsort(-rivals.doubt, kind="stable")[:_DOUBTFUL])]
    fold = _LevelsFold(tradeoff)
    levels, most = (fold.step(fold.start(), view.block(items)) for items in (some, doubtful))
    return replace(levels, gain=max(levels.gain, most.gain))


@dataclass(frozen=True, slots=True)
class _Levels:
    """What regret and information of a pool are measured by."""

    count: int
    regret: Fraction | float
    """Summed over the pool, without rounding: the order of the sum changes nothing."""
    gain: float
    """The largest in the pool."""


@dataclass(frozen=True, slots=True)
class _LevelsFold:
    tradeoff: BlockFn[Tradeoff]

    def start(self) -> _Levels:
        return _Levels(0, Fraction(0), 0.0)

    def step(self, state: _Levels, block: Block) -> _Levels:
        found = self.tradeoff(block)
        total = float(found.regret.sum())
        regret = Fraction(total) if np.isfinite(total) else total
        return self.merge(state, _Levels(len(block), regret, float(found.gain.max(initial=0.0))))

    def merge(self, left: _Levels, right: _Levels) -> _Levels:
        return _Levels(
            left.count + right.count, left.regret + right.regret, max(left.gain, right.gain)
        )


# --- nearest measured candidates -----------------------------------------------------------------


def _neighbours(view: CampaignView, items: Ints) -> list[tuple[tuple[str, float], ...]]:
    """A few measured candidates near each item, with their values."""
    measured = view.measured_items
    if len(measured) == 0:
        return [()] * len(items)
    return [
        tuple((view.ids[measured[place]], view.measured[place].value) for place in places)
        for places in _nearest(view, items, measured)
    ]


def _nearest(view: CampaignView, items: Ints, measured: Ints) -> list[list[int]]:
    """Places among the measured: linked nodes, the same row or column, or the nearest features."""
    if isinstance(view.posterior, GraphPosterior):
        linked = view.posterior.closed[items][:, measured].toarray() > 0
        return [np.flatnonzero(row)[-_N_NEIGHBOURS:][::-1].tolist() for row in linked]
    x = np.concatenate([view.pool.take(items), view.pool.take(measured)])
    if takes(view.model) is Input.matrix:
        shared = (x[: len(items), None, :] == x[None, len(items) :, :]).any(axis=2)
        return [np.flatnonzero(row)[-_N_NEIGHBOURS:][::-1].tolist() for row in shared]
    x = np.asarray(x, dtype=np.float64)
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    here, there = x[: len(items)], x[len(items) :]
    return [
        np.argsort(((there - one) ** 2).sum(axis=1), kind="stable")[:_N_NEIGHBOURS].tolist()
        for one in here
    ]
