from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from serendip import theory
from serendip.core.data import Choice, Observation
from serendip.core.errors import InvalidInput, MissingCapability
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.reductions.folds import optima
from serendip.core.reductions.mixture import two_point
from serendip.core.rng import stream
from serendip.models.finite import FiniteModel
from serendip.models.linear.model import LinearModel
from serendip.policies.ids import IDS
from serendip.policies.thompson import Thompson
from serendip.policies.uniform import Uniform
from serendip.pools.dense import DensePool
from serendip.simulate.environments.linear import linear_world
from serendip.simulate.loop import play
from serendip.simulate.trace import Step, Trace

positive = st.floats(1e-3, 1e3)


def finite_problem(seed=0, n_parameters=6, n=5, likelihood=None):
    rng = np.random.default_rng(seed)
    values = rng.random((n_parameters, n))
    masses = rng.dirichlet(np.ones(n_parameters))
    model = FiniteModel(values, likelihood or Bernoulli(), masses)
    return model, DensePool(np.arange(n)[:, None]), values, masses


class TableOracle:
    """Labels that are coins of the first parameter."""

    def __init__(self, chances):
        self.chances = chances

    def reveal(self, item, rng):
        label = float(rng.random() < self.chances[item])
        return Observation(item, np.array([[item]]), np.array([label]))


# --- ratios --------------------------------------------------------------------------------------


@given(
    arrays(np.float64, 4, elements=positive),
    arrays(np.float64, 4, elements=positive),
    arrays(np.float64, 4, elements=st.floats(0.01, 1)),
    st.floats(1, 4),
)
def test_no_mixture_beats_the_best_nor_is_worse_than_the_worst_point(regret, gain, raw, power):
    """(δ, g) ↦ δ^λ/g is quasi-convex for λ ≥ 1: a mixture lies below its worst point mass."""
    chances = raw / raw.sum()
    mixed = theory.information_ratio(chances, regret, gain, power)
    points = [theory.information_ratio(e, regret, gain, power) for e in np.eye(4)]
    assert mixed <= max(points) * (1 + 1e-9)
    assert mixed >= np.exp(two_point(regret, gain, power).log_ratio) * (1 - 1e-9)


@given(arrays(np.float64, 5, elements=positive), arrays(np.float64, 5, elements=positive))
def test_minimising_at_two_is_within_a_factor_at_three(regret, gain):
    """Ψ₃ of the minimiser of Ψ₂ is at most 2 min Ψ₃, which lets λ = 2 have Theorem 3's T^{2/3}."""
    at_two, at_three = two_point(regret, gain, 2.0), two_point(regret, gain, 3.0)
    chances = np.zeros(5)
    chances[at_two.first] += 1.0 - at_two.chance
    chances[at_two.second] += at_two.chance
    reached = theory.information_ratio(chances, regret, gain, 3.0)
    assert reached <= 2.0 * np.exp(at_three.log_ratio) * (1 + 1e-9)


def test_ratio_at_the_edges():
    assert theory.information_ratio([1.0], [0.0], [0.0]) == 0.0
    assert theory.information_ratio([1.0], [1.0], [0.0]) == np.inf
    assert theory.information_ratio([0.5, 0.5], [1.0, 3.0], [0.5, 1.5]) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("chances", "regret", "message"),
    [
        ([0.5, 0.6], [1, 1], "sum to one"),
        ([1.0], [1, 1], "one length"),
        ([1.5, -0.5], [1, 1], "chances"),
        ([0.5, 0.5], [1, -1], "regret"),
    ],
)
def test_odd_distributions_are_refused(chances, regret, message):
    with pytest.raises(InvalidInput, match=message):
        theory.information_ratio(chances, regret, [1, 1])


def by_enumeration(values, masses, item, remaining, alive):
    """Δ, and I(X*₁…X*ₖ; Y_x) = Σ_{a,y} p(a,y) log p(a,y)/p(a)p(y), term by term."""
    columns = np.flatnonzero(alive)
    regret = sum(
        mass * (row[columns].max() - row[item]) for row, mass in zip(values, masses, strict=True)
    )
    joint: dict = {}
    for row, mass in zip(values, masses, strict=True):
        order = tuple(sorted(columns.tolist(), key=lambda x: -row[x])[:remaining])
        for label, chance in ((1, row[item]), (0, 1 - row[item])):
            joint[order, label] = joint.get((order, label), 0.0) + mass * chance
    tuples, labels = {}, {}
    for (order, label), mass in joint.items():
        tuples[order] = tuples.get(order, 0.0) + mass
        labels[label] = labels.get(label, 0.0) + mass
    gain = sum(
        mass * np.log(mass / tuples[order] / labels[label])
        for (order, label), mass in joint.items()
    )
    return regret, gain


@pytest.mark.parametrize("remaining", [1, 2, 5])
def test_exact_ratio_equals_enumeration(remaining):
    model, pool, values, masses = finite_problem()
    posterior = model.posterior((), stream(0))
    for item in range(5):
        found = theory.exact_ratio(posterior, pool, item, remaining, power=3.0)
        regret, gain = by_enumeration(values, masses, item, remaining, np.ones(5, dtype=bool))
        assert found.instant_regret == pytest.approx(regret)
        assert found.gain == pytest.approx(gain)
        assert found.ratio == pytest.approx(regret**3 / gain)


def test_watch_on_a_finite_model_equals_enumeration_at_every_step():
    model, pool, values, masses = finite_problem(3)
    watch = theory.ExactRatioWatch(power=2.0)
    trace = play(pool, TableOracle(values[0]), model, Thompson(), 4, seed=7, watch=watch)
    alive = np.ones(5, dtype=bool)
    for step in trace.steps:
        regret, gain = by_enumeration(values, masses, step.item, 5 - step.t, alive)
        assert step.figures["information_ratio"] == pytest.approx(regret**2 / gain)
        alive[step.item] = False
        chance = values[:, step.item]
        masses = masses * (chance if step.label == 1 else 1 - chance)
        masses = masses / masses.sum()


def test_watch_changes_no_choice_and_orders_its_ratios():
    world = linear_world(60, 3, 0.1, stream(1))
    model = LinearModel(3, 1.0, 0.1)
    plain = play(world.pool, world.oracle, model, Uniform(), 6, seed=2)
    watched = play(
        world.pool, world.oracle, model, Uniform(), 6, seed=2, watch=theory.RatioWatch(n_draws=100)
    )
    assert np.array_equal(plain.items, watched.items)
    least = watched.figure("least_ratio")
    assert (least <= watched.figure("information_ratio") * (1 + 1e-9)).all()
    assert (least <= watched.figure("thompson_ratio") * (1 + 1e-9)).all()
    worst = theory.worst_ratio(watched)
    assert worst[-1] == watched.figure("information_ratio").max()
    assert (np.diff(worst) >= 0).all()


def test_sampled_ratio_approaches_the_exact_regret():
    model, pool, *_ = finite_problem(5)
    posterior = model.posterior((), stream(0))
    found = theory.sampled_ratio(posterior, pool, 2, stream(4), n_draws=20_000)
    exact = theory.exact_ratio(posterior, pool, 2, 1)
    assert found.instant_regret == pytest.approx(exact.instant_regret, abs=0.01)
    # Pinsker, for labels in [0, 1]: 2v ≤ I(X*₁; Y).
    assert 2.0 * found.gain <= exact.gain + 0.01


def test_thompson_meets_the_linear_theorem():
    """Ψ₂ of Thompson sampling with v in place of 2v ≤ g: (Δᵀπ)²/vᵀπ ≤ d, the proof of Theorem 1."""
    for seed in range(4):
        world = linear_world(80, 3, 0.1, stream(seed))
        posterior = LinearModel(3, 1.0, 0.1).posterior((), stream(seed))
        figures = theory.RatioWatch()(posterior, world.pool, Choice(0, 0.0), 5, stream(seed, "w"))
        assert figures["thompson_ratio"] <= 3.0 * (1 + 1e-9)


def test_lemma_one_holds_for_exact_ids_on_average():
    """Mean regret over the prior is below the bound with the worst ratio met; T = 3, 40 worlds."""
    model, pool, values, masses = finite_problem(8, n_parameters=4, n=6)
    posterior = model.posterior((), stream(0))
    entropy = theory.exact_entropy(posterior, pool, 3)
    regrets, worst = [], 0.0
    for seed in range(40):
        truth = values[stream(seed, "truth").choice(4, p=masses)]
        trace = play(
            pool, TableOracle(truth), model, IDS(), 3, seed, watch=theory.ExactRatioWatch()
        )
        regrets.append(np.sort(truth)[::-1][:3].sum() - truth[trace.items].sum())
        worst = max(worst, theory.worst_ratio(trace)[-1])
    assert np.mean(regrets) <= theory.generic_bound(worst, entropy, 3, 2.0)


def test_watches_say_what_they_need():
    world = linear_world(10, 2, 0.1, stream(1))
    posterior = LinearModel(2, 1.0, 0.1).posterior((), stream(1))
    with pytest.raises(MissingCapability, match="ExactRatioWatch"):
        theory.ExactRatioWatch()(posterior, world.pool, Choice(0, 0.0), 1, stream(1))
    with pytest.raises(InvalidInput, match="RatioWatch"):
        theory.worst_ratio(Trace((Step(1, 0, 0.0),), 0))
    with pytest.raises(InvalidInput, match="power"):
        theory.RatioWatch(power=0.0)
    with pytest.raises(InvalidInput, match="not in the pool"):
        theory.sampled_ratio(posterior, world.pool.without(3), 3, stream(1))


# --- entropies -----------------------------------------------------------------------------------


def test_tuple_entropy_counts_ordered_tuples():
    assert theory.tuple_entropy_bound(5, 3) == pytest.approx(np.log(60))
    assert theory.tuple_entropy_bound(4, 4) == pytest.approx(np.log(24))
    with pytest.raises(InvalidInput, match="budget"):
        theory.tuple_entropy_bound(3, 4)


def test_exact_entropy_by_hand():
    """Three parameters: two share the order of all candidates, one has its own."""
    values = np.array([[0.9, 0.5, 0.1], [0.8, 0.4, 0.2], [0.1, 0.5, 0.9]])
    model = FiniteModel(values, Gaussian(1.0), np.array([0.25, 0.25, 0.5]))
    posterior, pool = model.posterior((), stream(0)), DensePool(np.arange(3)[:, None])
    assert theory.exact_entropy(posterior, pool, 3) == pytest.approx(np.log(2))
    assert theory.exact_entropy(posterior, pool, 3, ordered=False) == pytest.approx(0.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_entropies_are_below_their_bounds(seed, dimension, horizon):
    rng = np.random.default_rng(seed)
    pool = DensePool(rng.standard_normal((5, dimension)))
    posterior = LinearModel(dimension, 1.0, 0.1).posterior((), rng)
    best = optima(pool, posterior.sample(400, rng), horizon)
    entropy = theory.optima_entropy(best)
    assert entropy <= theory.linear_entropy_bound(5, dimension, horizon) + 1e-9
    assert theory.optima_entropy(best, ordered=False) <= entropy + 1e-9
    assert theory.linear_entropy_bound(5, dimension, horizon) <= theory.tuple_entropy_bound(
        5, horizon
    )


def test_linear_cells_count_orders_on_a_line_and_in_full_dimension():
    """In one dimension there are two orders; with d ≥ n − 1 every order can occur."""
    assert theory.linear_entropy_bound(50, 1, 10) == pytest.approx(np.log(2))
    simplex = np.eye(4)
    orders = {tuple(np.argsort(simplex @ np.array(p))) for p in permutations(range(4))}
    assert len(orders) <= np.exp(theory.linear_entropy_bound(4, 4, 4)) + 1e-9


# --- bounds --------------------------------------------------------------------------------------


def test_printed_expressions():
    assert theory.generic_bound(2.0, 3.0, 6, 2.0) == pytest.approx(6.0)
    assert theory.generic_bound(1.0, 2.0, 2, 3.0) == pytest.approx(2.0)
    assert theory.glm_bound(20, 0.25, 5.0, 100) == pytest.approx(50.0)
    assert theory.glm_ratio_bound(20, 0.25) == pytest.approx(2.5)
    assert theory.low_rank_value_bound(2.0, 4, 3.0, 12.0) == pytest.approx(4.0)
    assert theory.low_rank_ratio_bound(1.0, 2, 0.5) == pytest.approx(16.0)
    assert theory.low_rank_bound(1.0, 2, 0.5, 2.0, 4) == pytest.approx(8.0)
    assert theory.graph_bound(1.0, 1, 8, 8) == pytest.approx(4.0)
    assert theory.graph_bound(1.0, 100, 4, 9) == pytest.approx(6.0)
    assert theory.sparse_bound(2, 1000, 8, 5) == pytest.approx((100 * np.log(8)) ** (1 / 3))
    assert theory.structural_ratio_bound(3.0, 2.0) == pytest.approx(3.0)
    assert theory.structural_bound(1.0, 0.5, 2.0, 2) == pytest.approx(4.0)


def test_the_proof_of_proposition_two_gives_27_quarters():
    """The optimum over p of (Δ + pB)³/(pφΔ²), which the paper rounds to 2B/φ."""
    mixing = np.linspace(1e-4, 1.0, 200_001)
    for delta in (0.01, 0.3, 1.0):
        least = ((delta + mixing) ** 3 / (mixing * delta**2)).min()
        assert least == pytest.approx(27 / 4, rel=1e-4)
    assert theory.structural_ratio_bound(1.0, 1.0) < 27 / 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.generic_bound(1.0, 1.0, 5, 0.5), "at least 1"),
        (lambda: theory.generic_bound(-1.0, 1.0, 5), "worst_ratio"),
        (lambda: theory.glm_bound(0, 1.0, 1.0, 5), "dimension"),
        (lambda: theory.glm_bound(2, 1.0, 1.0, 0), "horizon"),
        (lambda: theory.low_rank_bound(1.0, 1, -1.0, 1.0, 5), "gamma"),
        (lambda: theory.graph_bound(0.0, 1, 1, 5), "value_bound"),
        (lambda: theory.sparse_bound(9, 8, 10, 5), "s ≤ d"),
        (lambda: theory.structural_bound(1.0, 0.0, 1.0, 5), "phi"),
    ],
)
def test_odd_arguments_are_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()


# --- coherence -----------------------------------------------------------------------------------


def test_coherence_by_hand():
    flat = theory.coherence(np.full((4, 9), 2.0))
    assert flat.rank == 1
    assert flat.rows == pytest.approx(np.full(4, 1 / 4))
    assert flat.columns == pytest.approx(np.full(9, 1 / 9))
    assert flat.standard_gamma == pytest.approx(1.0)
    assert flat.gamma == pytest.approx(1 / 4)
    spike = np.zeros((5, 5))
    spike[2, 3] = 7.0
    assert theory.coherence(spike).standard_gamma == pytest.approx(5.0)
    assert theory.coherence(spike).top_singular_value == pytest.approx(7.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_coherence_properties(seed, rank):
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((7, rank)), rng.standard_normal((rank, 6))
    matrix = left @ right
    found = theory.coherence(matrix)
    assert found.rank == rank
    assert found.rows.sum() == pytest.approx(rank)
    assert found.rows == pytest.approx(theory.subspace_coherence(left))
    assert found.rows.max() <= np.sqrt(found.gamma * rank / 7) * (1 + 1e-9)
    assert found.standard_gamma >= 1 - 1e-9
    size = np.sqrt(42)
    bound = theory.low_rank_value_bound(found.standard_gamma, rank, found.top_singular_value, size)
    assert np.abs(matrix).max() <= bound * (1 + 1e-9)


def test_the_remarks_bound_fails_with_the_printed_assumption():
    """A constant matrix: |M_ij| = d̄/m, but the printed γ gives B = d̄/m²."""
    found = theory.coherence(np.ones((10, 10)))
    bound = theory.low_rank_value_bound(found.gamma, 1, found.top_singular_value, 10)
    assert bound == pytest.approx(0.1)


def test_zero_has_no_coherence():
    with pytest.raises(InvalidInput, match="not zero"):
        theory.coherence(np.zeros((2, 2)))
