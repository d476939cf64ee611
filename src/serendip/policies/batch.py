"""Several choices at once from any policy, by pretending.

After each choice the policy is told the label it expects, and chooses again: so a batch spreads
over what is promising instead of asking the same question many times.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from serendip.core.data import Block, Choice, Observation
from serendip.core.protocols import Policy, Pool, Posterior, SupportsMoments, require

P = TypeVar("P", bound=Posterior)


def choose_batch(
    policy: Policy[P],
    posterior: P,
    pool: Pool,
    remaining: int,
    count: int,
    streams: Callable[[int], Generator],
) -> tuple[Choice, ...]:
    """`count` different candidates.

    Args:
        policy: Whose choices they are.
        posterior: What is believed now.
        pool: What can be chosen.
        remaining: Labels left to buy, this batch included.
        count: Size of the batch.
        streams: The generator for the choice at each place of the batch, from 0.
    """
    chosen: list[Choice] = []
    for place in range(count):
        rng = streams(place)
        choice = policy.choose(posterior, pool, min(remaining - place, len(pool)), rng)
        chosen.append(choice)
        if place + 1 < count:
            posterior = posterior.update(pretended(posterior, pool, choice.item), rng)
            pool = pool.without(choice.item)
    return tuple(chosen)


def pretended(posterior: Posterior, pool: Pool, item: int) -> Observation:
    """The observation that would surprise least: the label is its expected value."""
    items = np.array([item])
    x = pool.take(items)
    mean, _ = require(posterior, SupportsMoments, by=choose_batch).moments()(Block(items, x))
    return Observation(item, x, mean)
