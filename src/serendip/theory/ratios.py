"""The information ratio Ψ_{t,λ}: of a distribution, a choice, every step of a run   [ASD §3]"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from serendip.core.arguments import able, flag, floats, generator, instance, whole
from serendip.core.arrays import Floats
from serendip.core.data import Block, Choice, Optima, Tradeoff
from serendip.core.errors import InvalidInput
from serendip.core.groups import Groups
from serendip.core.protocols import BlockFn, Pool, Posterior, SupportsInformation, require
from serendip.core.reductions.folds import frontier, optima
from serendip.core.reductions.mixture import log_ratio, two_point
from serendip.policies.ratio import PeakTradeoff, check_n_draws, check_power
from serendip.simulate.trace import Trace


def information_ratio(
    chances: npt.ArrayLike, regret: npt.ArrayLike, gain: npt.ArrayLike, power: float = 2.0
) -> float:
    """Ψ_λ(π) = (Δᵀπ)^λ / gᵀπ of a distribution over candidates   [ASD §3]

    Zero where the expected regret is zero; infinite where something is lost and nothing learnt.

    Args:
        chances: (n,) π, non-negative and summing to one.
        regret: (n,) Δ(x) ≥ 0.
        gain: (n,) g(x) or v(x) ≥ 0.
        power: λ > 0.
    """
    check_power(power)
    pi, delta, info = (
        floats(name, part)
        for name, part in (("chances", chances), ("regret", regret), ("gain", gain))
    )
    if not (pi.ndim == 1 and len(pi) and pi.shape == delta.shape == info.shape):
        raise InvalidInput(
            "chances, regret and gain must be vectors of one length, an entry per candidate; "
            f"got shapes {pi.shape}, {delta.shape} and {info.shape}."
        )
    for name, part in (("chances", pi), ("regret", delta), ("gain", info)):
        if part.min() < 0:
            raise InvalidInput(f"{name} must be finite and non-negative; got {part.min()}.")
    if abs(pi.sum() - 1.0) > 1e-9:
        raise InvalidInput(f"chances must sum to one; they sum to {pi.sum()}. Divide by the sum.")
    return _ratio(float(pi @ delta), float(pi @ info), power)


def _ratio(regret: float, gain: float, power: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(log_ratio(np.array([regret]), np.array([gain]), power))[0])


@dataclass(frozen=True, slots=True)
class ItemRatio:
    """What one candidate costs now, what it tells, and the ratio of the two."""

    instant_regret: float
    """Δ(x)"""
    gain: float
    """v(x), or the exact I(X*₁…X*ₖ; Y_x)."""
    power: float
    """λ"""

    @property
    def ratio(self) -> float:
        """Δ(x)^λ / gain."""
        return _ratio(self.instant_regret, self.gain, self.power)


def sampled_ratio(
    posterior: Posterior,
    pool: Pool,
    item: int,
    rng: Generator,
    power: float = 2.0,
    n_draws: int = 300,
) -> ItemRatio:
    """The ratio of a candidate from draws, with Δ and v as SampleVIDS has them   [ASD Alg. 2]"""
    check_power(power)
    check_n_draws(n_draws)
    generator("rng", rng)
    able("posterior", posterior, ("sample",), "model.posterior((), stream(0))")
    _check_item(pool, item)
    tradeoff, _ = _sampled(posterior, pool, n_draws, rng)
    return _item_ratio(pool, item, tradeoff, power)


def exact_ratio(
    posterior: SupportsInformation,
    pool: Pool,
    item: int,
    remaining: int,
    power: float = 2.0,
    ordered: bool = True,
) -> ItemRatio:
    """The ratio of a candidate with the exact g(x) = I(X*₁…X*ₖ; Y_x)   [ASD Alg. 1]

    Args:
        posterior: Over a finite parameter set.
        pool: The candidates that are left.
        item: One of them.
        remaining: k, the labels still to buy.
        power: λ.
        ordered: Information about the ordered tuple, as Lemma 1 needs; or about the set alone.
    """
    check_power(power)
    remaining = whole("remaining", remaining, 1)
    flag("ordered", ordered)
    able("posterior", posterior, ("atoms", "information"), "FiniteModel(…).posterior((), rng)")
    _check_item(pool, item)
    tradeoff, _ = _exact(posterior, pool, remaining, ordered)
    return _item_ratio(pool, item, tradeoff, power)


def _sampled(
    posterior: Posterior, pool: Pool, n_draws: int, rng: Generator
) -> tuple[PeakTradeoff, Optima]:
    draws = posterior.sample(n_draws, rng)
    best = optima(pool, draws)
    return PeakTradeoff.of(draws.summary(best), best), best


def _exact(
    posterior: SupportsInformation, pool: Pool, remaining: int, ordered: bool
) -> tuple[PeakTradeoff, Optima]:
    best = optima(pool, posterior.atoms(), remaining)
    return PeakTradeoff.of(posterior.information(best, ordered), best), best


def _check_item(pool: Pool, item: int) -> None:
    able("pool", pool, ("take", "fold"), "DensePool(x)")
    if whole("item", item) not in pool:
        raise InvalidInput(f"Item {item} is not in the pool; ask for one that is still unlabelled.")


def _item_ratio(pool: Pool, item: int, tradeoff: BlockFn[Tradeoff], power: float) -> ItemRatio:
    items = np.array([item])
    found = tradeoff(Block(items, pool.take(items)))
    return ItemRatio(float(found.regret[0]), float(found.gain[0]), power)


def _figures(
    pool: Pool, item: int, tradeoff: BlockFn[Tradeoff], best: Optima, power: float
) -> dict[str, float]:
    """The ratios of the choice, of Thompson sampling and of the best mixture."""
    chosen = _item_ratio(pool, item, tradeoff, power)
    groups = Groups.of(best.peaks, best.weights)
    peaks = best.peaks[groups.order[groups.starts]]
    at_peaks = tradeoff(Block(peaks, pool.take(peaks)))
    thompson = _ratio(
        float(groups.masses @ at_peaks.regret), float(groups.masses @ at_peaks.gain), power
    )
    _, front = frontier(pool, tradeoff)
    with np.errstate(over="ignore"):
        least = float(np.exp(two_point(front.regret, front.gain, power).log_ratio))
    return {
        "information_ratio": chosen.ratio,
        "least_ratio": least,
        "thompson_ratio": thompson,
        "watched_regret": chosen.instant_regret,
        "watched_gain": chosen.gain,
    }


@dataclass(frozen=True, slots=True)
class RatioWatch:
    """Adds the information ratios of each step to a run of any policy; for `play(watch=…)`.

    Figures: `information_ratio` of the item chosen, `thompson_ratio` of Thompson sampling there,
    `least_ratio` of the best distribution there, and `watched_regret`, `watched_gain`, the Δ and v
    of the item. The draws are the watcher's own, so the policy's choices stay as they were.

    For a policy that draws its choice, `information_ratio` is that of the item that came up, not
    that of the distribution.
    """

    power: float = 2.0
    """λ"""
    n_draws: int = 300
    """M"""

    def __post_init__(self) -> None:
        check_power(self.power)
        check_n_draws(self.n_draws)

    def __call__(
        self, posterior: Posterior, pool: Pool, choice: Choice, remaining: int, rng: Generator
    ) -> dict[str, float]:
        tradeoff, best = _sampled(posterior, pool, self.n_draws, rng)
        return _figures(pool, choice.item, tradeoff, best, self.power)


@dataclass(frozen=True, slots=True)
class ExactRatioWatch:
    """As `RatioWatch`, with exact masses and exact information; needs a finite parameter set."""

    power: float = 2.0
    """λ"""
    ordered: bool = True
    """Information about the ordered tuple X*₁…X*ₖ, or about the set alone."""

    def __post_init__(self) -> None:
        check_power(self.power)
        flag("ordered", self.ordered)

    def __call__(
        self, posterior: Posterior, pool: Pool, choice: Choice, remaining: int, rng: Generator
    ) -> dict[str, float]:
        exact = require(posterior, SupportsInformation, by=self)
        tradeoff, best = _exact(exact, pool, remaining, self.ordered)
        return _figures(pool, choice.item, tradeoff, best, self.power)


def worst_ratio(trace: Trace, name: str = "information_ratio") -> Floats:
    """(T,) running maximum of a ratio over a watched run.

    Its last entry is the largest ratio this run met. Lemma 1 asks for a Ψ_* that holds in every
    run, so one run, or many, can only show that Ψ_* is at least this large.
    """
    instance("trace", trace, Trace, "what play returns")
    ratios = trace.figure(name) if all(name in step.figures for step in trace.steps) else None
    if ratios is None or not len(ratios) or np.isnan(ratios).any():
        raise InvalidInput(
            f"The run has no figure {name!r} at every step. Play it with a RatioWatch."
        )
    return np.asarray(np.maximum.accumulate(ratios))
