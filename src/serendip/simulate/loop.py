"""The loop: suggest, reveal, absorb. The only place it is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import able, instance, number, shown, whole
from serendip.core.arrays import Array, Floats
from serendip.core.data import Block, Choice, Observation
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.labels import Labels
from serendip.core.protocols import (
    Model,
    Oracle,
    Policy,
    Pool,
    Posterior,
    SupportsCheck,
    update_all,
)
from serendip.core.rng import Purpose, stream
from serendip.core.threads import one_blas_thread
from serendip.policies.batch import choose_batch
from serendip.policies.serving import check_policy
from serendip.pools.screening.bounded import bounded
from serendip.simulate.trace import Step, Trace

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
    pending: Sequence[int] = (),
) -> tuple[Choice, ...]:
    """What to label next, with `remaining` labels to buy, these included.

    Args:
        posterior: What is believed now.
        pool: What can be chosen.
        policy: Who chooses.
        remaining: Labels left.
        streams: The generator of each place of the batch, from 0.
        count: How many to label at once; at most what remains and what the pool holds.
        pending: Items outside the pool that were chosen before and have no label yet.
    """
    able("posterior", posterior, ("sample", "update"), "model.posterior((), stream(0))")
    able("pool", pool, ("take", "fold", "without"), "DensePool(x)")
    able("policy", policy, ("choose",), "BudgetIDS()")
    if not callable(streams):
        raise InvalidInput(
            "streams must be a function from a place of the batch to a generator, such as "
            f"lambda place: stream(0, place); got {shown(streams)}."
        )
    remaining, count = whole("remaining", remaining), whole("count", count)
    if remaining < 1:
        raise InvalidInput(f"The budget is spent: {remaining} labels remain.")
    if len(pool) == 0:
        raise InvalidInput("The pool is empty: every candidate has been labelled.")
    left = min(remaining, len(pool))
    if not 1 <= count <= left:
        raise InvalidInput(f"A batch must be between 1 and {left}, what is left; got {count}.")
    pending = [whole("Each of pending", item, 0) for item in pending]
    if inside := [item for item in pending if item in pool]:
        raise InvalidInput(f"Pending items must have left the pool; {inside[0]} is still in it.")
    _check_fit(posterior, pool)
    check_policy(policy, posterior)
    return _suggested(posterior, pool, policy, remaining, streams, count, pending)


def _suggested(
    posterior: P,
    pool: Pool,
    policy: Policy[P],
    remaining: int,
    streams: Callable[[int], Generator],
    count: int,
    pending: Sequence[int] = (),
) -> tuple[Choice, ...]:
    """The same once all arguments are known to fit."""
    with one_blas_thread():
        walked = bounded(pool)
        choices = choose_batch(policy, posterior, walked, remaining, count, streams, pending)
    for choice in choices:
        instance("What the policy returns", choice, Choice, "a Choice(item, score)")
    items = [choice.item for choice in choices]
    if len(set(items)) < len(items) or any(item not in pool for item in items):
        raise SerendipError(f"The policy chose {items}, which are not {count} items of the pool.")
    return choices


def _check_fit(posterior: Posterior, pool: Pool) -> None:
    """One row is looked at, and where rows are numbers of something, how far they reach."""
    if not isinstance(posterior, SupportsCheck):
        return
    x = np.asarray(pool.take(np.zeros(1, dtype=np.int64)))
    if x.dtype.kind in "iu" and x.shape[1] <= 2:
        x = pool.fold(_Extent())
    posterior.check(x)


@dataclass(frozen=True, slots=True)
class _Extent:
    """The least and the largest of every column, one row each."""

    def start(self) -> Array:
        return ()

    def step(self, state: Array, block: Block) -> Array:
        return self.merge(state, np.stack([block.x.min(axis=0), block.x.max(axis=0)]))

    def merge(self, left: Array, right: Array) -> Array:
        if len(left) == 0 or len(right) == 0:
            return left if len(right) == 0 else right
        both = np.concatenate([left, right])
        return np.stack([both.min(axis=0), both.max(axis=0)])


def absorb(posterior: P, pool: Pool, seen: Observation, rng: Generator) -> tuple[P, Pool]:
    """Posterior and pool once an observation is taken in; each candidate can be labelled once."""
    smaller = pool.without(seen.item)
    with one_blas_thread():
        return posterior.update(seen, rng), smaller


def play(
    pool: Pool,
    oracle: Oracle | Callable[[int], float],
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
        oracle: Who labels them; or a function from the number of a candidate to its label.
        model: What is believed before the first label.
        policy: What to label next.
        horizon: T, the number of labels.
        seed: Of all randomness.
        batch: How many are chosen before any of their labels is known.
        labels: Checks every label where given.
        watch: Adds figures to every step, such as `theory.RatioWatch`.
    """
    able("pool", pool, ("take", "fold", "without"), "DensePool(x)")
    answers = _oracle(oracle, pool)
    able("model", model, ("posterior",), "LinearModel(3)")
    able("policy", policy, ("choose",), "BudgetIDS()")
    if labels is not None:
        able("labels", labels, ("encode", "decode"), "Continuous(0, 100)")
    if watch is not None and not callable(watch):
        raise InvalidInput(f"watch must be a function, such as RatioWatch(); got {shown(watch)}.")
    horizon, seed = whole("horizon", horizon), whole("seed", seed)
    if not 1 <= horizon <= len(pool):
        raise InvalidInput(
            f"The budget must be between 1 and the {len(pool)} candidates of the pool; "
            f"got {horizon}."
        )
    batch = whole("batch", batch, 1)
    posterior = model.posterior((), stream(seed, Purpose.PRIOR))
    _check_fit(posterior, pool)
    pool = bounded(pool)
    steps: list[Step] = []
    able_kind: type | None = None
    while len(steps) < horizon:
        t = len(steps) + 1
        if type(posterior) is not able_kind:  # a look at what an object offers takes its time
            check_policy(policy, posterior)
            able_kind = type(posterior)
        remaining = horizon - t + 1
        streams = _Addressed(seed, Purpose.POLICY, t)
        choices = _suggested(posterior, pool, policy, remaining, streams, min(batch, remaining))
        told: list[Observation] = []
        for place, choice in enumerate(choices):
            figures = dict(choice.details)
            if watch is not None:
                rng = stream(seed, Purpose.WATCH, t + place)
                figures |= watch(posterior, pool, choice, remaining - place, rng)
            seen = answers.reveal(choice.item, stream(seed, Purpose.LABEL, choice.item))
            instance("What the oracle returns", seen, Observation, "an Observation(item, x, y)")
            if seen.item != choice.item:
                raise InvalidInput(
                    f"The oracle was asked to label item {choice.item} and labelled {seen.item}."
                )
            if labels is not None:
                labels.encode(seen.label)
            told.append(seen)
            pool = pool.without(seen.item)
            steps.append(Step(t + place, choice.item, seen.label, figures))
        with one_blas_thread():
            posterior = update_all(posterior, told, stream(seed, Purpose.UPDATE, len(steps)))
    return Trace(tuple(steps), seed)


def _oracle(given: object, pool: Pool) -> Oracle:
    """As it is, or a function as an oracle."""
    if callable(given) and not isinstance(given, type) and not hasattr(given, "reveal"):
        return FunctionOracle(pool, cast("Callable[[int], float]", given))
    able("oracle", given, ("reveal",), "world.oracle, or a function from an item to its label")
    return cast(Oracle, given)


@dataclass(frozen=True, slots=True, eq=False)
class FunctionOracle:
    """A function from the number of a candidate to its label."""

    pool: Pool
    label: Callable[[int], float]

    def reveal(self, item: int, rng: Generator) -> Observation:
        """What the function returns; the generator is not used."""
        label = number(f"The label of item {item}", self.label(item))
        return Observation(item, self.pool.take(np.array([item])), np.array([label]))


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
