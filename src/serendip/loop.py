"""The loop: suggest, reveal, absorb. The only place it is written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Floats
from serendip.core.data import Choice, Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.labels import Labels
from serendip.core.protocols import Model, Oracle, Policy, Pool, Posterior
from serendip.core.rng import Purpose, stream
from serendip.core.threads import one_blas_thread
from serendip.policies.batch import choose_batch
from serendip.pools.bounded import bounded
from serendip.trace import Step, Trace

P = TypeVar("P", bound=Posterior)

Watcher = Callable[[Posterior, Pool, Choice, int, Generator], dict[str, float]]
"""Looks at a step before its label is known, and returns figures to keep with it."""


def suggest(
    posterior: P,
    pool: Pool,
    policy: Policy[P],
    remaining: int,
    streams: Callable[[int], Generator],
    count: int = 1,
) -> tuple[Choice, ...]:
    """What to label next, with `remaining` labels to buy, these included.

    Args:
        posterior: What is believed now.
        pool: What can be chosen.
        policy: Who chooses.
        remaining: Labels left.
        streams: The generator of each place of the batch, from 0.
        count: How many to label at once; at most what remains and what the pool holds.
    """
    if remaining < 1:
        raise InvalidInput(f"The budget is spent: {remaining} labels remain.")
    if len(pool) == 0:
        raise InvalidInput("The pool is empty: every candidate has been labelled.")
    left = min(remaining, len(pool))
    if not 1 <= count <= left:
        raise InvalidInput(f"A batch must be between 1 and {left}, what is left; got {count}.")
    with one_blas_thread():
        choices = choose_batch(policy, posterior, bounded(pool), remaining, count, streams)
    items = [choice.item for choice in choices]
    if len(set(items)) < len(items) or any(item not in pool for item in items):
        raise SerendipError(f"The policy chose {items}, which are not {count} items of the pool.")
    return choices


def absorb(posterior: P, pool: Pool, seen: Observation, rng: Generator) -> tuple[P, Pool]:
    """Posterior and pool once an observation is taken in; each candidate can be labelled once."""
    smaller = pool.without(seen.item)
    with one_blas_thread():
        return posterior.update(seen, rng), smaller


def play(
    pool: Pool,
    oracle: Oracle,
    model: Model[P],
    policy: Policy[P],
    horizon: int,
    seed: int,
    batch: int = 1,
    labels: Labels | None = None,
    watch: Watcher | None = None,
) -> Trace:
    """Spend a budget of `horizon` labels and tell what happened.

    Randomness is addressed by (seed, purpose, step or item), so rival policies played with the same
    seed see the same label for the same item.

    Args:
        pool: The candidates.
        oracle: Who labels them.
        model: What is believed before the first label.
        policy: What to label next.
        horizon: T, the number of labels.
        seed: Of all randomness.
        batch: How many are chosen before any of their labels is known.
        labels: Checks every label where given.
        watch: Adds figures to every step, such as `theory.RatioWatch`.
    """
    if not 1 <= horizon <= len(pool):
        raise InvalidInput(
            f"The budget must be between 1 and the {len(pool)} candidates of the pool; "
            f"got {horizon}."
        )
    if batch < 1:
        raise InvalidInput(f"A batch has at least one candidate; got {batch}.")
    posterior = model.posterior((), stream(seed, Purpose.PRIOR))
    pool = bounded(pool)
    steps: list[Step] = []
    while len(steps) < horizon:
        t = len(steps) + 1
        remaining = horizon - t + 1
        streams = _Addressed(seed, Purpose.POLICY, t)
        choices = suggest(posterior, pool, policy, remaining, streams, min(batch, remaining))
        for place, choice in enumerate(choices):
            figures = dict(choice.details)
            if watch is not None:
                rng = stream(seed, Purpose.WATCH, t + place)
                figures |= watch(posterior, pool, choice, remaining - place, rng)
            seen = oracle.reveal(choice.item, stream(seed, Purpose.LABEL, choice.item))
            if labels is not None:
                labels.encode(seen.label)
            posterior, pool = absorb(posterior, pool, seen, stream(seed, Purpose.UPDATE, t + place))
            steps.append(Step(t + place, choice.item, seen.label, figures))
    return Trace(tuple(steps), seed)


@dataclass(frozen=True, slots=True)
class _Addressed:
    """The streams of consecutive steps."""

    seed: int
    purpose: Purpose
    first: int

    def __call__(self, place: int) -> Generator:
        return stream(self.seed, self.purpose, self.first + place)


def expected_random_regret(truth: Floats, horizon: int) -> float:
    """E[R_T] of random choice: the sum of the T largest values less T times their mean."""
    largest = np.sort(truth)[::-1][:horizon]
    return float(largest.sum() - horizon * truth.mean())
