"""Several choices at once from any policy: what was chosen before is expected to show its mean.

The first choice is the policy's own. Then the model is drawn from once, and a shortlist is written
down as a table (`tabled.py`): of more than 512 candidates (or twice the batch, or twice the budget)
those that most draws hold among their k best. The policy goes on choosing from the table, which
each choice moves with the label that is expected of it. A budget of more than 512 labels (or twice
the batch) counts as so many. What was proposed before and has no label yet, is taken in in the same
way before the first choice. Of more than 2,000 candidates the first choice, too, comes from such a
shortlist, so that the pool is walked once.

The model itself is told expected labels, by `update`, and the policy chooses anew,

- while fewer than 24 labels are known or expected and at most 2,000 candidates are left: scales and
  kernels are then guesses, and what they become by such labels spreads a first batch better
  (docs/policies.md). Not where scales are given;
- for policies that ask a posterior for more than draws and moments, and for posteriors whose labels
  come with those of neighbours.

Chance spreads the choices of Thompson sampling and of random choice: each is made anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Ints
from serendip.core.data import Block, Choice, Observation
from serendip.core.laws import SupportsLaws, laws_of
from serendip.core.progress import counted, counting
from serendip.core.protocols import (
    BatchPolicy,
    Draws,
    Policy,
    Pool,
    Posterior,
    SupportsImprovement,
    SupportsMoments,
    SupportsNeighbours,
    SupportsScales,
    SupportsSeen,
    capability_of,
    require,
    update_all,
)
from serendip.core.reductions.folds import everything, leading
from serendip.core.rng import priority
from serendip.policies.serving import check_policy
from serendip.policies.started import Started
from serendip.policies.tabled import Shortlist, Table, TabledPosterior
from serendip.policies.thompson import Thompson
from serendip.policies.uniform import Uniform

P = TypeVar("P", bound=Posterior)

_TABLED = (Posterior, SupportsMoments, SupportsSeen, SupportsImprovement, SupportsScales)
"""What a table can tell."""

Streams = Callable[[int], Generator]

_EARLY = 24
"""Labels, known or expected, up to which the model of a small pool is told what is expected."""
_SMALL = 2000
"""Candidates up to which a pool is small."""
_LEVEL = 512
"""Labels left that a table looks at, and candidates that it holds at least."""
_DRAWS = 300
"""Draws of a table; of a law that is known by them alone, `_SAMPLED`."""
_SAMPLED = 1000
CHOOSING = "choosing candidates"
"""What is reported of a batch."""


def choose_batch(
    policy: Policy[P],
    posterior: P,
    pool: Pool,
    remaining: int,
    count: int,
    streams: Streams,
    pending: Sequence[int] = (),
) -> tuple[Choice, ...]:
    """`count` different candidates.

    Args:
        policy: Whose choices they are.
        posterior: What is believed now.
        pool: What can be chosen.
        remaining: Labels left to buy, this batch included.
        count: Size of the batch.
        streams: The generator for the choice at each place of the batch, from 0.
        pending: Items outside the pool whose labels are on their way.
    """
    if isinstance(policy, Started):
        return _started(policy, posterior, pool, remaining, count, streams, pending)
    remaining = min(remaining, len(pool))
    if isinstance(policy, Thompson | Uniform):
        return _anew(policy, posterior, pool, remaining, count, streams)
    if count == 1 and not pending:
        return (policy.choose(posterior, pool, remaining, streams(0)),)
    n_told = _told(policy, posterior, pool, len(pending) + count)
    if n_told and pending:
        guesses = [pretended(posterior, pool, item) for item in pending[:n_told]]
        posterior, pending = update_all(posterior, guesses, streams(0)), pending[n_told:]
        n_told -= len(guesses)
    chosen: list[Choice] = []
    with counting(CHOOSING, count if n_told else 0) as tell:
        for place in range(min(n_told, count)):
            rng = streams(place)
            chosen.append(policy.choose(posterior, pool, remaining - place, rng))
            if place + 1 < count:
                guess = pretended(posterior, pool, chosen[-1].item)
                posterior, pool = posterior.update(guess, rng), pool.without(guess.item)
            tell(1)
        if (done := len(chosen)) < count:
            left, rest = remaining - done, _Shifted(streams, done)
            chosen += _at_once(policy, posterior, pool, left, count - done, rest, pending)
    return tuple(chosen)


def _told(policy: Policy[Any], posterior: Posterior, pool: Pool, count: int) -> int:
    """Of how many, pending candidates first, the model itself is told what is expected."""
    if isinstance(posterior, SupportsNeighbours) or capability_of(policy) not in _TABLED:
        return count
    known = isinstance(posterior, SupportsScales) and posterior.scales_known
    return 0 if known or len(pool) > _SMALL else min(max(_EARLY - posterior.n_labels, 0), count)


@dataclass(frozen=True, slots=True)
class _Shifted:
    """The streams of a batch from some place on."""

    streams: Streams
    first: int

    def __call__(self, place: int) -> Generator:
        return self.streams(self.first + place)


def _at_once(
    policy: Policy[Any],
    posterior: Posterior,
    pool: Pool,
    remaining: int,
    count: int,
    streams: Streams,
    pending: Sequence[int],
) -> list[Choice]:
    """The first by the policy from the model, the others from the table of a shortlist."""
    rng, chosen = streams(0), list[Choice]()
    near = min(remaining, max(_LEVEL, 2 * count))
    if len(pool) > _SMALL:
        pool, remaining = shortlist(posterior.sample(_DRAWS, rng), pool, near, rng), near
    if not pending:
        chosen.append(_pick(policy, posterior, pool, remaining, remaining - count, rng))
        if count == 1:
            return chosen
    outside = [*pending, *(one.item for one in chosen)]
    believed, few = tabled(posterior, _without(pool, chosen), near, outside, rng)
    for place in counted(CHOOSING, count, len(chosen)):
        if place > 0:
            rng = streams(place)
        choice = _pick(policy, believed, few, near - place, near - count, rng)
        chosen.append(choice)
        if place + 1 < count:
            believed, few = believed.expecting(choice.item, rng), few.without(choice.item)
    return chosen


def _without(pool: Pool, chosen: Sequence[Choice]) -> Pool:
    return reduce(lambda left, choice: left.without(choice.item), chosen, pool)


def tabled(
    posterior: Posterior,
    pool: Pool,
    near: int,
    outside: Sequence[int],
    rng: Generator,
) -> tuple[TabledPosterior, Shortlist]:
    """The shortlist, and what is believed of it once some others are to be labelled.

    Args:
        posterior: What is believed now.
        pool: What can be chosen.
        near: Labels left to look at.
        outside: Items outside the pool whose labels are on their way.
        rng: For draws, ties and what these labels leave open.
    """
    draws = posterior.sample(_DRAWS, rng)
    if not isinstance(draws, SupportsLaws):
        draws = posterior.sample(_SAMPLED, rng)
    few = shortlist(draws, pool, near, rng)
    items = np.concatenate([few.block.items, np.array(outside, dtype=np.int64)])
    order = np.argsort(items)
    x = np.concatenate([few.block.x, pool.take(items[len(few) :])])[order]
    laws = laws_of(draws, Block(items[order], x))
    believed = TabledPosterior(posterior, Table(items[order], x, laws, draws.likelihood))
    for item in outside:
        believed = believed.expecting(item, rng)
    return believed, few


def shortlist(draws: Draws, pool: Pool, near: int, rng: Generator) -> Shortlist:
    """Those that most draws hold among their `near` best; ties go by the hash of (key, item)."""
    key, size = int(rng.integers(2**63 - 1)), max(_LEVEL, 2 * near)
    if len(pool) <= size:
        return Shortlist(everything(pool), pool)
    best = leading(pool, draws, near)
    items, place = np.unique(best.items, return_inverse=True)
    share = np.bincount(np.ravel(place), np.repeat(best.weights, best.items.shape[1]))
    first = np.lexsort((priority(key, items), -share))[:size]
    found: Ints = np.sort(items[first])
    return Shortlist(Block(found, pool.take(found)), pool)


def _pick(
    policy: Policy[Any],
    posterior: Posterior,
    pool: Pool,
    remaining: int,
    later: int,
    rng: Generator,
) -> Choice:
    """One choice, with `later` labels to buy once the batch is known."""
    if isinstance(policy, BatchPolicy):
        return policy.choose_in_batch(posterior, pool, remaining, later, rng)
    return policy.choose(posterior, pool, min(remaining, len(pool)), rng)


def _anew(
    policy: Policy[P], posterior: P, pool: Pool, remaining: int, count: int, streams: Streams
) -> tuple[Choice, ...]:
    """Each as if it were the first, from what is left."""
    chosen: list[Choice] = []
    for place in counted(CHOOSING, count):
        chosen.append(policy.choose(posterior, pool, remaining - place, streams(place)))
        pool = pool.without(chosen[-1].item)
    return tuple(chosen)


def _started(
    policy: Started,
    posterior: Any,
    pool: Pool,
    remaining: int,
    count: int,
    streams: Streams,
    pending: Sequence[int],
) -> tuple[Choice, ...]:
    """Those at random that are due, then those of the policy, which knows of the former."""
    check_policy(policy.policy, posterior)  # before the first label: not after some are spent
    due = min(max(policy.labels - posterior.n_labels - len(pending), 0), count)
    chosen = _anew(Uniform(), posterior, pool, remaining, due, streams)
    if due == count:
        return chosen
    rest = choose_batch(
        policy.policy,
        posterior,
        _without(pool, chosen),
        remaining - due,
        count - due,
        _Shifted(streams, due),
        [*pending, *(choice.item for choice in chosen)],
    )
    return (*chosen, *rest)


def pretended(posterior: Posterior, pool: Pool, item: int) -> Observation:
    """The observation that would surprise least: the label is its expected value."""
    items = np.array([item])
    x = pool.take(items)
    mean, _ = require(posterior, SupportsMoments, by=choose_batch).moments()(Block(items, x))
    return Observation(item, x, mean)
