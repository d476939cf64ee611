"""Entropies of X*, and the regret bounds of the paper as functions   [ASD §3–4, App.]"""

import numpy as np
from scipy.special import entr, gammaln, logsumexp

from serendip.core.arguments import able, counts, flag, instance, non_negative, number, positive
from serendip.core.data import Optima
from serendip.core.errors import InvalidInput
from serendip.core.groups import Groups
from serendip.core.protocols import Pool, SupportsInformation
from serendip.core.reductions.folds import optima


def tuple_entropy_bound(n_candidates: int, horizon: int) -> float:
    """log(n! / (n−T)!), in nats: H(X*₁…X*_T) when nothing is known of the problem.

    It is the log of the number of ordered T-tuples, about T log n.
    """
    n_candidates, horizon = _checked_horizon(n_candidates, horizon)
    return float(gammaln(n_candidates + 1) - gammaln(n_candidates - horizon + 1))


def linear_entropy_bound(n_candidates: int, dimension: int, horizon: int) -> float:
    """A bound on H(X*₁…X*_T) for linear f, or for an increasing link of one, about 2d log n nats.

    θ matters only through the signs of θᵀ(xᵢ − xⱼ). N = n(n−1)/2 hyperplanes through the origin cut
    ℝᵈ into at most 2 Σ_{i<d} C(N−1, i) cells, and in a cell the order of the candidates is fixed.
    Holds for every prior without ties; not in the paper, which takes the entropy of θ instead.
    """
    (dimension,) = counts(dimension=dimension)
    n_candidates, horizon = _checked_horizon(n_candidates, horizon)
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
    instance("best", best, Optima, "what optima(pool, draws, k) returns")
    flag("ordered", ordered)
    targets = best.items if ordered else np.sort(best.items, axis=1)
    return float(entr(Groups.of(targets, best.weights).masses).sum())


def exact_entropy(
    posterior: SupportsInformation, pool: Pool, horizon: int, ordered: bool = True
) -> float:
    """H(X*₁…X*_T) over a finite parameter set, in nats."""
    able("posterior", posterior, ("atoms",), "FiniteModel(…).posterior((), rng)")
    able("pool", pool, ("take", "fold"), "DensePool(x)")
    _, horizon = _checked_horizon(len(pool), horizon)
    return optima_entropy(optima(pool, posterior.atoms(), horizon), ordered)


def _checked_horizon(n_candidates: int, horizon: int) -> tuple[int, int]:
    n_candidates, horizon = counts(n_candidates=n_candidates, horizon=horizon)
    if horizon > n_candidates:
        raise InvalidInput(
            f"A budget of {horizon} labels needs as many candidates; there are {n_candidates}."
        )
    return n_candidates, horizon


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
    non_negative(worst_ratio=worst_ratio, entropy=entropy)
    (horizon,) = counts(horizon=horizon)
    if not number("power (the paper's λ)", power) >= 1:
        raise InvalidInput(f"Lemma 1 needs a power (λ) of at least 1; got {power}.")
    return float((worst_ratio * entropy * horizon ** (power - 1.0)) ** (1.0 / power))


def glm_ratio_bound(dimension: int, slope: float) -> float:
    """L_μ d / 2 for Ψ_{*,2}, Theorem 1; its proof gives L_μ² d / 2."""
    (dimension,) = counts(dimension=dimension)
    positive(slope=slope)
    return slope * dimension / 2.0


def glm_bound(dimension: int, slope: float, entropy: float, horizon: int) -> float:
    """√(d H L_μ T), Theorem 1, up to a constant; for labels in [0, 1].

    Args:
        dimension: d.
        slope: L_μ, the largest derivative of the link: 1 for linear, 1/4 for logistic.
        entropy: H(X*₁…X*_T) in nats.
        horizon: T.
    """
    non_negative(entropy=entropy)
    (horizon,) = counts(horizon=horizon)
    return float(np.sqrt(2.0 * glm_ratio_bound(dimension, slope) * entropy * horizon))


def low_rank_value_bound(gamma: float, rank: int, top_singular_value: float, size: float) -> float:
    """B = γ r^{3/2} d̄ / m, Remark 1.

    It bounds |M_ij| when γ is `Coherence.standard_gamma`; with the γ of the printed assumption it
    may fail to. For an m₁ × m₂ matrix give `size` as √(m₁m₂).
    """
    (rank,) = counts(rank=rank)
    positive(gamma=gamma, top_singular_value=top_singular_value, size=size)
    return float(gamma * rank**1.5 * top_singular_value / size)


def low_rank_ratio_bound(value_bound: float, rank: int, gamma: float) -> float:
    """4B(B² + 1) r³ γ² for Ψ_{*,3}, Theorem 2, up to a constant (its proof leads to 54, not 4)."""
    (rank,) = counts(rank=rank)
    positive(value_bound=value_bound, gamma=gamma)
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
    positive(value_bound=value_bound, independent_set=independent_set, clique_cover=clique_cover)
    (horizon,) = counts(horizon=horizon)
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
    sparsity, dimension, horizon = counts(sparsity=sparsity, dimension=dimension, horizon=horizon)
    (n_candidates,) = counts(n_candidates=n_candidates)
    positive(constant=constant)
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
    positive(regret_bound=regret_bound, phi=phi)
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
    positive(regret_bound=regret_bound, phi=phi)
    non_negative(entropy=entropy)
    (horizon,) = counts(horizon=horizon)
    return float((regret_bound * horizon * entropy / phi) ** (2.0 / 3.0))
