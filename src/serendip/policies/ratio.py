"""What the information-directed policies share: regret, gain, and the pick by their ratio."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import number, whole
from serendip.core.arrays import Array
from serendip.core.bounds.ellipsoid import Ellipsoid
from serendip.core.bounds.screening import BoundFn, Sight, best_case
from serendip.core.data import Block, Choice, Optima, Scores, Summary, Tradeoff, settled
from serendip.core.errors import InvalidInput
from serendip.core.protocols import BlockFn, Pool
from serendip.core.reductions.folds import frontier, lowest
from serendip.core.reductions.mixture import log_ratio, two_point
from serendip.core.reductions.scanning import QuickFn, quick_of
from serendip.core.rng import priority


def check_power(power: float) -> None:
    """λ must be positive and finite."""
    if not number("power (the paper's λ)", power) > 0:
        raise InvalidInput(f"power (the paper's λ) must be a positive number; got {power}.")


def check_n_draws(n_draws: int) -> None:
    """One draw says nothing about spread."""
    whole("n_draws (the paper's M)", n_draws, 2)


@dataclass(frozen=True, slots=True)
class PeakTradeoff:
    """Δ(x) = E[max f] − f̄(x), the paper's instant regret, with the gain of the summary."""

    summary: BlockFn[Summary]
    best_mean: float
    size: float
    """E|max f|, beside which regrets are rounding."""

    @classmethod
    def of(cls, summary: BlockFn[Summary], best: Optima) -> "PeakTradeoff":
        """Against the best candidate of each draw."""
        return cls(summary, best.best_mean, best.size)

    def __call__(self, block: Block) -> Tradeoff:
        found = self.summary(block)
        regret = settled(self.best_mean - found.mean, self.size)
        return Tradeoff(regret, np.clip(found.gain, 0.0, None), found.mean)

    def bounded(self, around: Ellipsoid) -> "PeakBounds | None":
        """By the best the summary could be."""
        best = best_case(self.summary, around)
        return None if best is None else PeakBounds(best, self.best_mean, self.size)


@dataclass(frozen=True, slots=True)
class PeakBounds:
    """The least regret and the largest gain."""

    summary: BoundFn[Summary]
    best_mean: float
    size: float

    def __call__(self, sight: Sight) -> Tradeoff:
        found = self.summary(sight)
        regret = settled(self.best_mean - found.mean, self.size)
        return Tradeoff(regret, found.gain, found.mean)


@dataclass(frozen=True, slots=True)
class RatioScores:
    """λ log(Δ + η) − log g, then larger gain, then larger mean."""

    tradeoff: BlockFn[Tradeoff]
    power: float
    floor: float = 0.0
    """η"""

    def __call__(self, block: Block) -> Scores:
        return self.scores(self.tradeoff(block))

    def scores(self, found: Tradeoff) -> Scores:
        """Of this tradeoff."""
        score = log_ratio(found.regret + self.floor, found.gain, self.power)
        return Scores((score, -found.gain, -found.mean))

    def quick(self) -> "QuickScores | None":
        """That of the best tradeoff there could be."""
        return QuickScores.of(self.tradeoff, self.scores)

    def bounded(self, around: Ellipsoid) -> "RatioFloor | None":
        """The lowest the ratio could be."""
        best = best_case(self.tradeoff, around)
        return None if best is None else RatioFloor(best, self.power, self.floor)


@dataclass(frozen=True, slots=True)
class RatioFloor:
    """λ log(Δ + η) − log g at the least Δ and the largest g."""

    best: BoundFn[Tradeoff]
    power: float
    floor: float

    def __call__(self, sight: Sight) -> Scores:
        found = self.best(sight)
        return Scores((log_ratio(found.regret + self.floor, found.gain, self.power),))


@dataclass(frozen=True, slots=True)
class RegretScores:
    """Δ, then larger gain, then larger mean."""

    tradeoff: BlockFn[Tradeoff]

    def __call__(self, block: Block) -> Scores:
        return self.scores(self.tradeoff(block))

    def scores(self, found: Tradeoff) -> Scores:
        """Of this tradeoff."""
        return Scores((found.regret, -found.gain, -found.mean))

    def quick(self) -> "QuickScores | None":
        """That of the best tradeoff there could be."""
        return QuickScores.of(self.tradeoff, self.scores)


@dataclass(frozen=True, slots=True)
class MeanScores:
    """The highest mean."""

    tradeoff: BlockFn[Tradeoff]

    def __call__(self, block: Block) -> Scores:
        return self.scores(self.tradeoff(block))

    def scores(self, found: Tradeoff) -> Scores:
        """Of this tradeoff."""
        return Scores((-found.mean,))

    def quick(self) -> "QuickScores | None":
        """That of the best tradeoff there could be."""
        return QuickScores.of(self.tradeoff, self.scores)


@dataclass(frozen=True, slots=True)
class QuickScores:
    """The lowest that scores could be, by the best that the tradeoff could be."""

    best: QuickFn[Tradeoff]
    scores: Callable[[Tradeoff], Scores]

    @classmethod
    def of(
        cls, tradeoff: BlockFn[Tradeoff], scores: Callable[[Tradeoff], Scores]
    ) -> "QuickScores | None":
        """Where the tradeoff can be bounded."""
        best = quick_of(tradeoff)
        return None if best is None else cls(best, scores)

    def __call__(self, block: Block, matters: Callable[[Scores], Array]) -> Scores:
        return self.scores(self.best(block, lambda found: matters(self.scores(found))))


def choose_cheapest(pool: Pool, tradeoff: BlockFn[Tradeoff], rng: Generator) -> Choice:
    """The candidate with the lowest expected regret, whatever it would teach."""
    return _untaught(pool, RegretScores(tradeoff), tradeoff, rng)


def choose_highest(pool: Pool, tradeoff: BlockFn[Tradeoff], rng: Generator) -> Choice:
    """The candidate with the highest mean: the labels of several such add up to the most."""
    return _untaught(pool, MeanScores(tradeoff), tradeoff, rng)


def _untaught(
    pool: Pool, scores: BlockFn[Scores], tradeoff: BlockFn[Tradeoff], rng: Generator
) -> Choice:
    found = lowest(pool, scores, int(rng.integers(2**63 - 1)))
    return _explained(pool, found.item, tradeoff, 1.0)


def choose_by_ratio(
    pool: Pool,
    tradeoff: BlockFn[Tradeoff],
    power: float,
    randomised: bool,
    rng: Generator,
    floor: float = 0.0,
) -> Choice:
    """The candidate with the lowest (Δ + η)^λ / g, or one drawn from the best two-point mixture."""
    key = int(rng.integers(2**63 - 1))
    if randomised and power > 1:
        items, front = frontier(pool, tradeoff, key, floor)
        best = two_point(front.regret + floor, front.gain, power, priority(key, items))
        if np.isfinite(best.log_ratio):
            mixed = best.second if rng.random() < best.chance else best.first
            return _explained(pool, int(items[mixed]), tradeoff, power, mixed=best.log_ratio)
    # A regret of zero is to be had, nothing is to be learnt, or λ ≤ 1: no mixture can do better.
    found = lowest(pool, RatioScores(tradeoff, power, floor), key)
    return _explained(pool, found.item, tradeoff, power, floor)


def _explained(
    pool: Pool,
    item: int,
    tradeoff: BlockFn[Tradeoff],
    power: float,
    floor: float = 0.0,
    mixed: float | None = None,
) -> Choice:
    """The choice with its figures; computed alone, so that they do not depend on blocks either."""
    items = np.array([item])
    found = tradeoff(Block(items, pool.take(items)))
    alone = float(log_ratio(found.regret + floor, found.gain, power)[0])
    score = alone if mixed is None else mixed
    details = {
        "instant_regret": float(found.regret[0]),
        "gain": float(found.gain[0]),
        "mean": float(found.mean[0]),
        "ratio": float(np.exp(score)) if score < 700 else float("inf"),
    }
    return Choice(item, score, details)
