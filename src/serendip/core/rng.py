"""Randomness by address: the same key always opens the same stream."""

import hashlib
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from serendip.core.arrays import Ints

Key = int | str


class Purpose(StrEnum):
    """What a stream is for. The words are hashed: they stay as they are, whatever happens here.

    Another word is another stream, and so other proposals from the same log and the same seed.
    """

    # campaigns
    POSTERIOR = "posterior"
    PRETEND = "pretend"
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
    WORLD = "world"
    GRAPH = "graph"
    DEMO_YIELDS = "demo yields"


def stream(seed: int, purpose: Purpose, *key: Key) -> np.random.Generator:
    """The generator at an address, such as `stream(seed, Purpose.LABEL, item)`.

    Streams are addressed, not consumed: two rival policies that label the same item see the same
    noise, whatever else they drew before.
    """
    parts = (int(seed), purpose, *key)
    kinds = ("str" if isinstance(part, str) else type(part).__name__ for part in parts)
    address = "\x1f".join(f"{kind}:{part}" for kind, part in zip(kinds, parts, strict=True))
    digest = hashlib.blake2b(address.encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))


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
