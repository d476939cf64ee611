"""What a simulator hands out."""

from dataclasses import dataclass

from serendip.core.arrays import Floats
from serendip.core.protocols import Oracle
from serendip.pools.dense import DensePool
from serendip.pools.streamed import StreamedPool


@dataclass(frozen=True, slots=True)
class World:
    """A problem to play, and the answer that only regret may look at.

    Attributes:
        truth: (n,) f_θ(x) of every candidate. No model ever sees it.
    """

    pool: DensePool | StreamedPool
    oracle: Oracle
    truth: Floats
