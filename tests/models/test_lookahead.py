"""Means after one label: against conditioning on it, and closed forms against draws."""

import numpy as np
import pytest

from serendip.core.data import Block, HeldOut, Observation
from serendip.core.errors import InvalidInput, MissingCapability
from serendip.core.likelihood import Gaussian
from serendip.core.reductions.folds import everything
from serendip.core.rng import stream
from serendip.models import lookahead
from serendip.models.draws import LinearDraws, equal_weights
from serendip.models.ensemble.forest import ForestModel
from serendip.models.gp.kernels import radial, single_columns
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.linear.model import LinearModel
from serendip.models.linear.sparse import SparseLinearModel
from serendip.models.lookahead import MASSES, NODES, LinearLookahead, SampledLookahead
from serendip.models.mixture.auto import AutoModel, Member
from serendip.policies import ens
from serendip.policies.ens import ENS, FutureSum
from serendip.pools.dense import DensePool
from serendip.simulate.loop import suggest

X = np.random.default_rng(0).standard_normal((30, 2))
Y = np.tanh(X[:, 0]) + 0.3 * X[:, 1]


def observations(places):
    return [Observation(int(i), X[i : i + 1], Y[i : i + 1]) for i in places]


def test_a_process_of_one_kernel_moves_as_if_the_label_were_known():
    model = GaussianProcessModel(
        2, kernels=(radial(single_columns(2), 1.0),), noise_ratios=(0.07,), label_unit=1.0
    )
    posterior = model.posterior(observations(range(8)), stream(0))
    others, one = Block(np.arange(30), X), Block(np.array([20]), X[20:21])
    mean, _, after = posterior.lookahead(others)(one)
    _, deviation = posterior.moments()(one)
    for node, found in zip(NODES, after[0], strict=True):
        label = mean + node * np.sqrt(deviation**2 + posterior.noise_variance)
        updated = posterior.update(Observation(20, X[20:21], label), stream(0))
        np.testing.assert_allclose(found, updated.moments()(others)[0], atol=1e-9)


def test_draws_see_what_the_closed_form_says():
    rng = np.random.default_rng(1)
    mean, root = np.array([0.5, -0.2]), np.array([[1.0, 0.0], [0.4, 0.8]])
    theta = mean + rng.standard_normal((20_000, 2)) @ root.T
    theta -= theta.mean(axis=0) - mean
    draws = LinearDraws(theta, equal_weights(20_000), mean, root @ root.T, Gaussian(0.3))
    block = Block(np.arange(30), X)
    exact = LinearLookahead(mean, np.cov(theta.T, bias=True), X, 0.3)(block)
    for found, wanted in zip(SampledLookahead.of(draws, block)(block), exact, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_auto_expects_the_mean_of_what_its_members_expect_and_ens_takes_the_best_of_it():
    members = (Member("gp", GaussianProcessModel(2)), Member("forest", ForestModel(2)))
    posterior = AutoModel(members).posterior(observations(range(10)), stream(0))
    pool = DensePool(X)
    for item in range(10):
        pool = pool.without(item)
    block = everything(pool)
    trust = [one.weight for one in posterior.trust]
    parts = [part.lookahead(block)(block) for part in posterior.parts]
    mean, after = (sum(w * part[i] for w, part in zip(trust, parts, strict=True)) for i in (0, 2))
    np.testing.assert_allclose(posterior.lookahead(block)(block)[2], after)
    totals = []
    for place in range(len(block)):
        rest = np.delete(after[place], place, axis=1)
        totals.append(mean[place] + MASSES @ np.sort(rest, axis=1)[:, -4:].sum(axis=1))
    choice = ENS().choose(posterior, pool, 5, stream(0, "choice"))
    place = int(np.flatnonzero(block.items == choice.item)[0])
    assert totals[place] == pytest.approx(max(totals))  # several candidates may tie
    assert choice.details["expected_total"] == pytest.approx(max(totals))


def test_a_member_that_cannot_look_ahead_is_named():
    class Unable:
        n_labels = 0
        noise_variance = 1.0

        def held_out(self):
            return HeldOut(np.empty(0), np.empty(0), np.empty(0))

        def moments(self):
            raise AssertionError("nobody asks for them here")

        sample = update = moments

    class UnableModel:
        def posterior(self, seen, rng):
            return Unable()

    posterior = AutoModel((Member("unable", UnableModel()),)).posterior((), stream(0))
    with pytest.raises(MissingCapability, match="look one label ahead; Unable is not one"):
        posterior.lookahead(Block(np.arange(30), X))


def test_ens_still_says_what_it_needs():
    posterior = SparseLinearModel(2, n_chains=10).posterior(observations(range(3)), stream(0))
    with pytest.raises(MissingCapability, match="SparseLinearPosterior is not one"):
        suggest(posterior, DensePool(X), ENS(), 3, lambda _: stream(0))


def test_ens_refuses_a_pool_that_it_would_never_finish():
    posterior = LinearModel(1).posterior((), stream(0))
    with pytest.raises(InvalidInput, match="takes 50,000 at most; this pool has 50,001"):
        ENS().choose(posterior, DensePool(np.zeros((50_001, 1))), 3, stream(0))


@pytest.mark.parametrize("depth", [0, 1, 7, 29])
def test_ens_sums_the_largest_as_a_plain_loop_does(depth, monkeypatch):
    """Item by item and outcome by outcome, with a sort; however few candidates go together."""
    rng = np.random.default_rng(4)
    root = rng.standard_normal((2, 2))
    items = np.sort(rng.choice(1000, 30, replace=False))
    look = LinearLookahead(rng.standard_normal(2), root @ root.T, X, 0.4)
    wanted = []
    for place, x in enumerate(X):
        total = x @ look.mean
        spread = np.sqrt(x @ look.covariance @ x + 0.4)
        for node, mass in zip(NODES, MASSES, strict=True):
            after = [
                other @ look.mean + node * (other @ look.covariance @ x) / spread
                for index, other in enumerate(X)
                if index != place
            ]
            total += mass * sum(sorted(after, reverse=True)[:depth])
        wanted.append(total)
    for pairs in (1, 100, 2**17):
        monkeypatch.setattr(ens, "_PAIRS", pairs)
        found = -FutureSum(look, items, depth)(Block(items, X)).keys[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("n_labels", [0, 8, 30])
def test_what_ens_expects_is_near_the_sum_over_a_fine_grid(n_labels, monkeypatch):
    """The largest error over all candidates: with seven Gauss–Hermite points 1.5, .09 and .002."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((60, 5))
    known = x[:n_labels]
    covariance = np.linalg.inv(np.eye(5) + known.T @ known / 0.1)
    mean = covariance @ known.T @ (known @ rng.standard_normal(5)) / 0.1
    block = Block(np.arange(60), x)

    def totals():
        look = LinearLookahead(mean, covariance, x, 0.1)
        return -FutureSum(look, block.items, 15)(block).keys[0]

    found = totals()
    fine = np.linspace(-8.0, 8.0, 1601)
    density = np.exp(-0.5 * fine**2)
    monkeypatch.setattr(lookahead, "NODES", fine)
    monkeypatch.setattr(lookahead, "MASSES", density / density.sum())
    np.testing.assert_allclose(found, totals(), atol=0.04)
