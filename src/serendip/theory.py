"""The paper's theory as functions of your own problem   [ASD §3–4, App. G]

Information ratios of distributions, of choices and of whole runs; entropies of the best candidates;
the printed regret bounds; coherence; and how exploratory a pool is. The numbers of a graph are in
`serendip.graph_numbers`.

The bounds hide universal constants (the paper's ≲): each function returns the printed expression,
which says how regret grows, not how large it is. Where the printed expression and its proof part,
the docstring says so in a line and docs/theory.md says more.
"""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.special import entr, gammaln, logsumexp

from serendip.core.arrays import Floats
from serendip.core.data import Block, Choice, Optima, Tradeoff
from serendip.core.errors import InvalidInput
from serendip.core.folds import frontier, optima
from serendip.core.groups import Groups
from serendip.core.mixture import log_ratio, two_point
from serendip.core.protocols import BlockFn, Pool, Posterior, SupportsInformation, require
from serendip.policies.ratio import PeakTradeoff, check_n_draws, check_power
from serendip.trace import Trace

# --- information ratios --------------------------------------------------------------------------


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
    pi, delta, info = (np.asarray(part, dtype=np.float64) for part in (chances, regret, gain))
    if not (pi.ndim == 1 and len(pi) and pi.shape == delta.shape == info.shape):
        raise InvalidInput(
            "chances, regret and gain must be vectors of one length, an entry per candidate; "
            f"got shapes {pi.shape}, {delta.shape} and {info.shape}."
        )
    for name, part in (("chances", pi), ("regret", delta), ("gain", info)):
        if not (np.isfinite(part).all() and part.min() >= 0):
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
    tradeoff, _ = _exact(posterior, pool, remaining, ordered)
    return _item_ratio(pool, item, tradeoff, power)


def _sampled(
    posterior: Posterior, pool: Pool, n_draws: int, rng: Generator
) -> tuple[PeakTradeoff, Optima]:
    draws = posterior.sample(n_draws, rng)
    best = optima(pool, draws)
    return PeakTradeoff(draws.summary(best), best.best_mean), best


def _exact(
    posterior: SupportsInformation, pool: Pool, remaining: int, ordered: bool
) -> tuple[PeakTradeoff, Optima]:
    best = optima(pool, posterior.atoms(), remaining)
    return PeakTradeoff(posterior.information(best, ordered), best.best_mean), best


def _item_ratio(pool: Pool, item: int, tradeoff: BlockFn[Tradeoff], power: float) -> ItemRatio:
    if item not in pool:
        raise InvalidInput(f"Item {item} is not in the pool; ask for one that is still unlabelled.")
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
    ratios = trace.figure(name)
    if np.isnan(ratios).any():
        raise InvalidInput(
            f"The run has no figure {name!r} at every step. Play it with a RatioWatch."
        )
    return np.asarray(np.maximum.accumulate(ratios))


# --- entropy of the best candidates --------------------------------------------------------------


def tuple_entropy_bound(n_candidates: int, horizon: int) -> float:
    """log(n! / (n−T)!), in nats: H(X*₁…X*_T) when nothing is known of the problem.

    It is the log of the number of ordered T-tuples, about T log n.
    """
    _check_horizon(n_candidates, horizon)
    return float(gammaln(n_candidates + 1) - gammaln(n_candidates - horizon + 1))


def linear_entropy_bound(n_candidates: int, dimension: int, horizon: int) -> float:
    """A bound on H(X*₁…X*_T) for linear f, or for an increasing link of one, about 2d log n nats.

    θ matters only through the signs of θᵀ(xᵢ − xⱼ). N = n(n−1)/2 hyperplanes through the origin cut
    ℝᵈ into at most 2 Σ_{i<d} C(N−1, i) cells, and in a cell the order of the candidates is fixed.
    Holds for every prior without ties; not in the paper, which takes the entropy of θ instead.
    """
    _positive_integers(dimension=dimension)
    tuples = tuple_entropy_bound(n_candidates, horizon)
    others = n_candidates * (n_candidates - 1) // 2 - 1
    if others < 1:
        return tuples
    i = np.arange(min(dimension, others + 1))
    log_binomials = gammaln(others + 1) - gammaln(i + 1) - gammaln(others - i + 1)
    return float(min(tuples, np.log(2.0) + logsumexp(log_binomials)))


def optima_entropy(best: Optima, ordered: bool = True) -> float:
    """Entropy, in nats, of X*₁…X*ₖ under the weights of the draws.

    Exact where the draws are all atoms of a finite model. From M draws it is at most log M and, on
    average, too low.
    """
    targets = best.items if ordered else np.sort(best.items, axis=1)
    return float(entr(Groups.of(targets, best.weights).masses).sum())


def exact_entropy(
    posterior: SupportsInformation, pool: Pool, horizon: int, ordered: bool = True
) -> float:
    """H(X*₁…X*_T) over a finite parameter set, in nats."""
    _check_horizon(len(pool), horizon)
    return optima_entropy(optima(pool, posterior.atoms(), horizon), ordered)


def _check_horizon(n_candidates: int, horizon: int) -> None:
    _positive_integers(n_candidates=n_candidates, horizon=horizon)
    if horizon > n_candidates:
        raise InvalidInput(
            f"A budget of {horizon} labels needs as many candidates; there are {n_candidates}."
        )


# --- the paper's bounds --------------------------------------------------------------------------


def generic_bound(worst_ratio: float, entropy: float, horizon: int, power: float = 2.0) -> float:
    """(Ψ_{*,λ} H T^{λ−1})^{1/λ}, Lemma 1.

    The paper writes ≲; its proof hides no constant. The proof uses Jensen's inequality and so needs
    λ ≥ 1, and it uses nothing of IDS but the bound on the ratio: it serves any policy.

    Args:
        worst_ratio: Ψ_{*,λ}, a bound on the ratio at every step of every run.
        entropy: H(X*₁…X*_T) in nats.
        horizon: T.
        power: λ ≥ 1.
    """
    _non_negative(worst_ratio=worst_ratio, entropy=entropy)
    _positive_integers(horizon=horizon)
    if not (np.isfinite(power) and power >= 1):
        raise InvalidInput(f"Lemma 1 needs a power (λ) of at least 1; got {power}.")
    return float((worst_ratio * entropy * horizon ** (power - 1.0)) ** (1.0 / power))


def glm_ratio_bound(dimension: int, slope: float) -> float:
    """L_μ d / 2 for Ψ_{*,2}, Theorem 1; its proof gives L_μ² d / 2."""
    _positive_integers(dimension=dimension)
    _positive(slope=slope)
    return slope * dimension / 2.0


def glm_bound(dimension: int, slope: float, entropy: float, horizon: int) -> float:
    """√(d H L_μ T), Theorem 1, up to a constant; for labels in [0, 1].

    Args:
        dimension: d.
        slope: L_μ, the largest derivative of the link: 1 for linear, 1/4 for logistic.
        entropy: H(X*₁…X*_T) in nats.
        horizon: T.
    """
    _non_negative(entropy=entropy)
    _positive_integers(horizon=horizon)
    return float(np.sqrt(2.0 * glm_ratio_bound(dimension, slope) * entropy * horizon))


def low_rank_value_bound(gamma: float, rank: int, top_singular_value: float, size: float) -> float:
    """B = γ r^{3/2} d̄ / m, Remark 1.

    It bounds |M_ij| when γ is `Coherence.standard_gamma`; with the γ of the printed assumption it
    may fail to. For an m₁ × m₂ matrix give `size` as √(m₁m₂).
    """
    _positive_integers(rank=rank)
    _positive(gamma=gamma, top_singular_value=top_singular_value, size=size)
    return float(gamma * rank**1.5 * top_singular_value / size)


def low_rank_ratio_bound(value_bound: float, rank: int, gamma: float) -> float:
    """4B(B² + 1) r³ γ² for Ψ_{*,3}, Theorem 2, up to a constant (its proof leads to 54, not 4)."""
    _positive_integers(rank=rank)
    _positive(value_bound=value_bound, gamma=gamma)
    return 4.0 * value_bound * (value_bound**2 + 1.0) * rank**3 * gamma**2


def low_rank_bound(
    value_bound: float, rank: int, gamma: float, entropy: float, horizon: int
) -> float:
    """(4B(B² + 1) r³ γ² H T²)^{1/3}, Theorem 2, up to a constant.

    Args:
        value_bound: B, see `low_rank_value_bound`.
        rank: r.
        gamma: γ, see `coherence`.
        entropy: The paper's H(M); Lemma 1 asks for H(X*₁…X*_T), which is what to give here.
        horizon: T.
    """
    return generic_bound(low_rank_ratio_bound(value_bound, rank, gamma), entropy, horizon, 3.0)


def graph_bound(
    value_bound: float, independent_set: float, clique_cover: float, horizon: int
) -> float:
    """min{(B C_T(G) T)^{2/3}, (χ(G) T)^{1/2}}, Theorem 3, up to a constant.

    The printed expression has no entropy, which Lemma 1 would put in both terms; to keep it, use
    `generic_bound` with power 3 and B·C_T, or with power 2 and χ. Give upper bounds where a number
    is only known within bounds.

    Args:
        value_bound: B.
        independent_set: C_T(G), see `graph_numbers.lasting_independent_set`.
        clique_cover: χ(G), see `graph_numbers.clique_cover_number`.
        horizon: T.
    """
    _positive(value_bound=value_bound, independent_set=independent_set, clique_cover=clique_cover)
    _positive_integers(horizon=horizon)
    explored = (value_bound * independent_set * horizon) ** (2.0 / 3.0)
    return float(min(explored, np.sqrt(clique_cover * horizon)))


def sparse_bound(
    sparsity: int, dimension: int, n_candidates: int, horizon: int, constant: float = 1.0
) -> float:
    """(s² T² min(log n, 2s log(C d √T / s)))^{1/3}, appendix on sparse models, up to a constant.

    For λ = 3 and a pool that stays exploratory (see `exploration`). log n bounds the entropy of the
    best candidate alone, which is what the linear-bandit theorem it comes from needs.

    Args:
        sparsity: s, the non-zero coefficients.
        dimension: d ≥ s.
        n_candidates: n ≥ 2.
        horizon: T.
        constant: C, which the paper leaves open.
    """
    _positive_integers(sparsity=sparsity, dimension=dimension, horizon=horizon)
    _positive_integers(n_candidates=n_candidates)
    _positive(constant=constant)
    inner = constant * dimension * np.sqrt(horizon) / sparsity
    if sparsity > dimension or n_candidates < 2 or inner <= 1:
        raise InvalidInput(
            "The sparse bound needs s ≤ d, at least two candidates and C d √T / s > 1; got "
            f"s = {sparsity}, d = {dimension}, n = {n_candidates}, C d √T / s = {inner:g}."
        )
    entropy = min(np.log(n_candidates), 2.0 * sparsity * np.log(inner))
    return float((sparsity**2 * horizon**2 * entropy) ** (1.0 / 3.0))


def structural_ratio_bound(regret_bound: float, phi: float) -> float:
    """2B/φ for Ψ_{*,3}, Proposition 2, up to a constant: its proof gives 27B/(4φ).

    Minimising (Δ + pB)³ / (pφΔ²) over p gives p = Δ/2B and 27B/(4φ).
    """
    _positive(regret_bound=regret_bound, phi=phi)
    return 2.0 * regret_bound / phi


def structural_bound(regret_bound: float, phi: float, entropy: float, horizon: int) -> float:
    """(B T H / φ)^{2/3}, Proposition 2, up to a constant.

    With the ratio bound, Lemma 1 gives (2B H T² / φ)^{1/3} instead, see `generic_bound`; the
    printed exponents of B, H and 1/φ are twice as large.

    Args:
        regret_bound: B, a bound on every instant regret.
        phi: φ such that some policy μ has gᵀμ ≥ φ (Δᵀπ_TS)² at every step.
        entropy: H(θ), or H(X*₁…X*_T), in nats.
        horizon: T.
    """
    _positive(regret_bound=regret_bound, phi=phi)
    _non_negative(entropy=entropy)
    _positive_integers(horizon=horizon)
    return float((regret_bound * horizon * entropy / phi) ** (2.0 / 3.0))


# --- coherence -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Coherence:
    """How the row and column spaces of a matrix lie to the standard basis   [ASD §4.2]"""

    rows: Floats
    """(m₁,) μᵢ(U) = ‖P_U eᵢ‖²; they sum to the rank."""
    columns: Floats
    """(m₂,) μⱼ(V) = ‖P_V eⱼ‖²."""
    rank: int
    """Numerical rank."""
    top_singular_value: float
    """d̄"""

    @property
    def gamma(self) -> float:
        """The smallest γ with max μ ≤ √(γr/m) on both sides, the assumption as printed."""
        sides = (len(side) * side.max() ** 2 for side in (self.rows, self.columns))
        return float(max(sides) / self.rank)

    @property
    def standard_gamma(self) -> float:
        """The smallest γ with max μ ≤ γr/m on both sides, what the rest of the paper uses; ≥ 1."""
        sides = (len(side) * side.max() for side in (self.rows, self.columns))
        return float(max(sides) / self.rank)


def subspace_coherence(basis: npt.ArrayLike) -> Floats:
    """(m,) μᵢ(U) = ‖P_U eᵢ‖² of the span of the columns of an (m, r) array, orthonormal or not."""
    left, _, _, rank = _svd(basis)
    return _squares(left[:, :rank])


def coherence(matrix: npt.ArrayLike) -> Coherence:
    """Coherence of both singular subspaces, by SVD with the numerical rank."""
    left, sizes, right, rank = _svd(matrix)
    return Coherence(_squares(left[:, :rank]), _squares(right[:rank].T), rank, float(sizes[0]))


def _svd(matrix: npt.ArrayLike) -> tuple[Floats, Floats, Floats, int]:
    table = _table(matrix)
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    rank = int((sizes > sizes[0] * max(table.shape) * np.finfo(np.float64).eps).sum())
    if rank == 0:
        raise InvalidInput("Coherence needs a matrix that is not zero.")
    return left, sizes, right, rank


def _squares(rows: Floats) -> Floats:
    return np.asarray(np.einsum("nd,nd->n", rows, rows))


# --- exploratory pools ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Exploration:
    """Bounds on C_min, each with the witness that proves it."""

    lower: float
    """λ_min(Σ π(x) x xᵀ) of `chances`."""
    upper: float
    """max_x xᵀZx for a Z ⪰ 0 of trace one."""
    chances: Floats
    """(n,) the distribution that attains `lower`."""


def exploration(x: npt.ArrayLike, tolerance: float = 1e-3, time_limit: float = 10.0) -> Exploration:
    """C_min(S) = max_π λ_min(E_{x~π}[x xᵀ]), the E-optimal design, with a certified gap.

    For any Z ⪰ 0 of trace one, λ_min(M) ≤ ⟨Z, M⟩ ≤ max_x xᵀZx. An interior-point method on a
    working set of candidates yields both a design and such a Z, the latter checked against the
    whole pool; candidates that Z reaches beyond the set join it.

    Args:
        x: (n, d) the pool.
        tolerance: Stop once upper − lower is this share of upper.
        time_limit: Seconds; past it the bounds are as wide as they then are.
    """
    table = _table(x)
    _positive(tolerance=tolerance, time_limit=time_limit)
    deadline = time.monotonic() + time_limit
    scale = float(_squares(table).max()) or 1.0
    table = table / np.sqrt(scale)
    n, d = table.shape
    work = np.union1d(np.linspace(0, n - 1, min(n, 300)), np.argsort(-_squares(table))[:100])
    work = work.astype(np.int64)
    chances = np.full(n, 1.0 / n)
    eigenvalues, basis = np.linalg.eigh((table.T * chances) @ table)
    lower = max(0.0, float(eigenvalues[0]))
    upper = min(1.0 / d, float(((table @ basis[:, 0]) ** 2).max()))
    before = np.empty(0, dtype=np.int64)
    while upper > max(1e-12, lower / (1.0 - tolerance)) and not np.array_equal(work, before):
        rows = table[work]
        share, level, barrier = np.full(len(work), 1.0 / len(work)), -1.0 / d, 1.0
        reach = np.empty(0)
        while barrier * (len(work) + d) > 0.2 * tolerance * upper:
            share, level = _centred(rows, share, level, barrier)
            barrier *= 0.2
            moment = (rows.T * share) @ rows
            found = float(np.linalg.eigvalsh(moment)[0])
            if found > lower:
                lower, chances = found, np.zeros(n)
                chances[work] = share
            values, vectors = np.linalg.eigh(moment - level * np.eye(d))
            dual = 1.0 / values / np.sum(1.0 / values)
            reach = np.asarray((table @ vectors) ** 2 @ dual)
            upper = min(upper, float(reach.max()))
            if time.monotonic() > deadline:
                return Exploration(lower * scale, upper * scale, chances)
            if reach.max() > 1.02 * reach[work].max() and barrier * len(work) < 0.01 * upper:
                break
        before, kept = work, work[share > 1e-3 / len(work)]
        work = np.union1d(kept, np.argsort(-reach)[:150])
    return Exploration(lower * scale, upper * scale, chances)


def _centred(rows: Floats, share: Floats, level: float, barrier: float) -> tuple[Floats, float]:
    """The maximiser of level/barrier + log det(M(share) − level·I) + Σ log share, by Newton."""
    n, d = rows.shape
    diagonal = np.arange(n)
    for _ in range(50):
        slack = (rows.T * share) @ rows - level * np.eye(d)
        solved = np.linalg.solve(slack, rows.T)
        cross = rows @ solved
        values = np.linalg.eigvalsh(slack)
        slope = np.r_[cross[diagonal, diagonal] + 1.0 / share, 1.0 / barrier - (1 / values).sum()]
        system = np.zeros((n + 2, n + 2))
        system[:n, :n] = cross**2
        system[diagonal, diagonal] += share**-2.0
        system[:n, n] = system[n, :n] = -np.einsum("dn,dn->n", solved, solved)
        system[n, n] = (values**-2.0).sum()
        system[:n, n + 1] = system[n + 1, :n] = 1.0
        step = np.linalg.solve(system, np.r_[slope, 0.0])[: n + 1]
        decrement = max(0.0, float(step @ slope))
        # A damped step stays inside the domain: the barrier is self-concordant.
        size = 1.0 / (1.0 + np.sqrt(decrement)) if decrement > 0.1 else 1.0
        share, level = share + size * step[:n], level + size * float(step[n])
        if decrement < 1e-4:
            break
    return share / share.sum(), level


# --- checks --------------------------------------------------------------------------------------


def _table(values: npt.ArrayLike) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
        raise InvalidInput(
            f"Expected a table of finite numbers with rows; got shape {table.shape}."
        )
    return table


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise InvalidInput(f"{name} must be a positive number; got {value}.")


def _non_negative(**values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value >= 0):
            raise InvalidInput(f"{name} must be a number that is not negative; got {value}.")


def _positive_integers(**values: int) -> None:
    for name, value in values.items():
        if value < 1 or value != int(value):
            raise InvalidInput(f"{name} must be a whole number, at least 1; got {value}.")
