"""Randomness by address: the same key always opens the same stream."""

import hashlib
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from serendip.core.arguments import shown, whole
from serendip.core.arrays import Ints
from serendip.core.errors import InvalidInput

Key = int | str


class Purpose(StrEnum):
    """What a stream is for. The words are hashed: they stay as they are, whatever happens here.

    Another word is another stream, and so other proposals from the same log and the same seed.
    """

    # campaigns
    POSTERIOR = "posterior"
    ASK = "ask"
    REASONS = "reasons"
    PREDICT = "predict"
    FORECAST = "forecast"
    REPORT = "report"
    COURSE = "course"
    REGRET = "regret"
    FIT = "fit"
    MAP = "map"
    # the loop of simulations
    PRIOR = "prior"
    POLICY = "policy"
    WATCH = "watch"
    LABEL = "label"
    UPDATE = "update"
    # models and worlds
    LEVEL = "level"
    HELD_OUT = "held-out"
    MOMENTS = "moments"
    WORLD = "world"
    GRAPH = "graph"
    DEMO_YIELDS = "demo yields"


def stream(seed: int, *key: Key) -> np.random.Generator:
    """The generator at an address, such as `stream(seed, "label", item)`.

    Streams are addressed, not consumed: two rival policies that label the same item see the same
    noise, whatever else they drew before.

    Args:
        seed: Any whole number.
        key: Texts and whole numbers; those of NumPy open the same stream as Python's. What the
            library draws for itself begins with a `Purpose`.
    """
    parts = (whole("seed", seed), *(_part(part) for part in key))
    address = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    digest = hashlib.blake2b(address.encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))


def _part(part: object) -> Key:
    if isinstance(part, str):
        return str(part)
    if isinstance(part, float | np.floating):
        raise InvalidInput(f"An address is of texts and whole numbers; got {shown(part)}.")
    return whole("Each number of an address", part)


def priority(key: int, items: Sequence[int] | Ints) -> Ints:
    """A hash of (key, item) that decides ties: the lowest wins (splitmix64).

    It depends on neither the order of the items nor on how they were cut into blocks.
    """
    with np.errstate(over="ignore"):
        mixed = np.asarray(items).astype(np.uint64) + np.uint64(key % 2**63)
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(1)).astype(np.int64)
