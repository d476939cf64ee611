"""The loop: suggest, reveal, absorb. The only place it is written."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Floats
from serendip.core.data import Choice, Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.labels import Labels
from serendip.core.protocols import Model, Oracle, Policy, Pool, Posterior
from serendip.core.rng import stream
from serendip.trace import Step, Trace

P = TypeVar("P", bound=Posterior)

Watcher = Callable[[Posterior, Pool, Choice, int, Generator], dict[str, float]]
"""Looks at a step before its label is known, and returns figures to keep with it."""


def suggest(posterior: P, pool: Pool, policy: Policy[P], remaining: int, rng: Generator) -> Choice:
    """What to label next, with `remaining` labels to buy, this one included."""
    if remaining < 1:
        raise InvalidInput(f"The budget is spent: {remaining} labels remain.")
    if len(pool) == 0:
        raise InvalidInput("The pool is empty: every candidate has been labelled.")
    choice = policy.choose(posterior, pool, min(remaining, len(pool)), rng)
    if choice.item not in pool:
        raise SerendipError(f"The policy chose item {choice.item}, which is not in the pool.")
    return choice


def absorb(posterior: P, pool: Pool, seen: Observation, rng: Generator) -> tuple[P, Pool]:
    """Posterior and pool once an observation is taken in; each candidate can be labelled once."""
    smaller = pool.without(seen.item)
    return posterior.update(seen, rng), smaller


def play(
    pool: Pool,
    oracle: Oracle,
    model: Model[P],
    policy: Policy[P],
    horizon: int,
    seed: int,
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
        labels: Checks every label where given.
        watch: Adds figures to every step, such as `theory.RatioWatch`.
    """
    if not 1 <= horizon <= len(pool):
        raise InvalidInput(
            f"The budget must be between 1 and the {len(pool)} candidates of the pool; "
            f"got {horizon}."
        )
    posterior = model.posterior((), stream(seed, "prior"))
    steps: list[Step] = []
    for t in range(1, horizon + 1):
        remaining = horizon - t + 1
        choice = suggest(posterior, pool, policy, remaining, stream(seed, "policy", t))
        figures = dict(choice.details)
        if watch is not None:
            figures |= watch(posterior, pool, choice, remaining, stream(seed, "watch", t))
        seen = oracle.reveal(choice.item, stream(seed, "label", choice.item))
        if labels is not None:
            labels.encode(seen.label)
        posterior, pool = absorb(posterior, pool, seen, stream(seed, "update", t))
        steps.append(Step(t, choice.item, seen.label, figures))
    return Trace(tuple(steps), seed)


def expected_random_regret(truth: Floats, horizon: int) -> float:
    """E[R_T] of random choice: the sum of the T largest values less T times their mean."""
    largest = np.sort(truth)[::-1][:horizon]
    return float(largest.sum() - horizon * truth.mean())
