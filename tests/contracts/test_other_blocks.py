"""Draws and moments of a model refuse candidates that are not its own, in a sentence."""

import numpy as np
import pytest

from serendip.core.data import Block
from serendip.core.errors import InvalidInput
from serendip.core.protocols import SupportsMoments
from serendip.core.rng import stream
from worlds import PROBLEMS


def others(x):
    """Features that are not those of the pool: one too many, one too few, no whole numbers."""
    yield np.column_stack([x, x[:, :1]])
    yield x[:, :-1]
    if x.dtype.kind in "iu":
        yield x + 0.5
        yield x.astype(float)
        yield x + 10**6
        yield x - 10**6


@pytest.mark.parametrize("count", [0, 8])
@pytest.mark.parametrize("name", PROBLEMS)
def test_other_candidates_are_refused_in_a_sentence(name, count):
    problem = PROBLEMS[name]
    seen, pool = problem.observed(count)
    posterior = problem.model.posterior(seen, stream(0, "posterior"))
    found = [posterior.sample(3, stream(0, "draws")).values]
    if isinstance(posterior, SupportsMoments):
        found.append(posterior.moments())
    items = np.flatnonzero([item in pool for item in range(len(problem.world.pool))])[:3]
    x = np.asarray(pool.take(items))
    for call in found:
        call(Block(items, x))
        for wrong in others(x):
            with pytest.raises(InvalidInput, match=r"^The model .*the block .*\.$") as caught:
                call(Block(items, wrong))
            assert "\n" not in str(caught.value)
