"""Policies of three lines, and what a policy says it needs."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from contracts.test_policies import POLICIES
from outsider import PI
from serendip.core import protocols
from serendip.core.errors import InvalidInput, MissingCapability, SerendipError
from serendip.core.protocols import (
    Posterior,
    SupportsConfidence,
    SupportsDesign,
    SupportsImprovement,
    SupportsInformation,
    SupportsLookahead,
    SupportsMoments,
    capability_of,
)
from serendip.core.reductions.folds import everything
from serendip.core.rng import stream
from serendip.policies.index import choose_by
from serendip.policies.started import Started
from serendip.policies.ucb import OFUL, UCB
from serendip.simulate.loop import play
from shard_cases import lower_end
from worlds import PROBLEMS


@dataclass(frozen=True)
class Cautious:
    width: float = 1.0

    def choose(self, posterior: SupportsMoments, pool, remaining, rng):
        return choose_by(pool, posterior.moments(), partial(lower_end, width=self.width), rng)


@pytest.mark.parametrize("name", ["linear", "gp", "forest", "matrix", "graph"])
def test_an_index_policy_takes_the_highest_score(name):
    seen, pool = PROBLEMS[name].observed(5)
    posterior = PROBLEMS[name].model.posterior(seen, stream(0, "fit"))
    block = everything(pool)
    mean, deviation = posterior.moments()(block)
    choice = Cautious(0.7).choose(posterior, pool, 3, stream(0, "c"))
    place = int(np.searchsorted(block.items, choice.item))
    scores = mean - 0.7 * deviation
    assert scores[place] == pytest.approx(scores.max(), abs=1e-9)
    assert choice.score == pytest.approx(-scores[place])
    assert choice.details["mean"] == pytest.approx(mean[place])
    assert choice.details["width"] == pytest.approx(deviation[place])
    plain = choose_by(pool, posterior.moments(), lambda mean, _: mean, stream(0, "c"))
    assert mean[np.searchsorted(block.items, plain.item)] == pytest.approx(mean.max())


def improvement(mean, deviation, best):
    gap, width = mean - best, np.maximum(deviation, 1e-12)
    return gap * norm.cdf(gap / width) + width * norm.pdf(gap / width)


@dataclass(frozen=True)
class EI:
    def choose(self, posterior: SupportsImprovement, pool, remaining, rng):
        best = max(posterior.labels, default=0.0)
        return choose_by(pool, posterior.moments(), partial(improvement, best=best), rng)


@pytest.mark.parametrize("name", PROBLEMS)
def test_expected_improvement_is_over_the_best_label_so_far(name):
    world, model = PROBLEMS[name].world, PROBLEMS[name].model
    trace = play(world.pool, world.oracle, model, EI(), 3, seed=0)
    assert len(set(trace.items.tolist())) == 3
    seen, pool = PROBLEMS[name].observed(5)
    posterior = model.posterior(seen, stream(0, "fit"))
    block = everything(pool)
    mean, deviation = posterior.moments()(block)
    best = max(y for one in seen for y in one.y)
    levels = np.linspace(-8.0, 8.0, 4001)
    values = mean[:, None] + deviation[:, None] * levels
    chances = np.exp(-0.5 * levels**2) / np.exp(-0.5 * levels**2).sum()
    expected = np.clip(values - best, 0.0, None) @ chances
    choice = EI().choose(posterior, pool, 3, stream(0, "c"))
    place = int(np.searchsorted(block.items, choice.item))
    assert expected[place] == pytest.approx(expected.max(), rel=1e-3)
    assert -choice.score == pytest.approx(expected.max(), rel=1e-3)


@pytest.mark.parametrize("name", ["own", "gp", "forest"])
def test_the_skeleton_of_the_guide_picks_who_most_likely_beats_the_best(name):
    seen, pool = PROBLEMS[name].observed(5)
    posterior = PROBLEMS[name].model.posterior(seen, stream(0, "fit"))
    block = everything(pool)
    mean, deviation = posterior.moments()(block)
    chance = norm.sf(max(posterior.labels), mean, deviation)
    choice = PI().choose(posterior, pool, 3, stream(0, "c"))
    assert chance[np.searchsorted(block.items, choice.item)] == pytest.approx(chance.max())


def test_it_plays_whole_campaigns():
    world, model = PROBLEMS["linear"].world, PROBLEMS["linear"].model
    trace = play(world.pool, world.oracle, model, Cautious(), 6, seed=0, batch=2)
    assert len(set(trace.items.tolist())) == 6


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ("mean", "score must be a function of mean and deviation; got 'mean'"),
        (lambda mean, deviation: 1.0, "one number for each of 40 candidates; got"),
        (lambda mean, deviation: mean[:-1], "one number for each of 40 candidates; got"),
        (lambda mean, deviation: mean > 0, "one number for each of 40 candidates; got"),
    ],
)
def test_scores_that_are_none_are_refused(score, words):
    _, pool = PROBLEMS["linear"].observed(0)
    posterior = PROBLEMS["linear"].model.posterior((), stream(0, "fit"))
    with pytest.raises(InvalidInput, match=words):
        choose_by(pool, posterior.moments(), score, stream(0, "c"))


def test_a_score_that_is_no_number_is_an_error():
    _, pool = PROBLEMS["linear"].observed(0)
    posterior = PROBLEMS["linear"].model.posterior((), stream(0, "fit"))
    with pytest.raises(SerendipError, match="not-a-number"):
        choose_by(pool, posterior.moments(), lambda mean, _: mean * np.nan, stream(0, "c"))


NEEDS = {
    "ids-exact": SupportsInformation,
    "ids-exact-set": SupportsInformation,
    "ucb": SupportsMoments,
    "oful": SupportsConfidence,
    "glm-ucb": SupportsDesign,
    "ens": SupportsLookahead,
    "greedy": SupportsMoments,
}


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_say_in_their_signature_what_they_need(policy):
    assert capability_of(POLICIES[policy]) is NEEDS.get(policy, Posterior)


class Unannotated:
    def choose(self, posterior, pool: protocols.Pool, remaining, rng):
        return UCB().choose(posterior, pool, remaining, rng)


class Anything:
    def choose(self, posterior: Any, pool, remaining, rng): ...


class InWords:
    def choose(self, beliefs: "SupportsDesign", pool, remaining, rng): ...


class NowhereToBeFound:
    def choose(self, posterior: "Nowhere", pool, remaining, rng): ...  # noqa: F821


class OneModel:
    def choose(self, posterior: UCB, pool, remaining, rng): ...


@pytest.mark.parametrize(
    ("policy", "capability"),
    [
        (Unannotated(), Posterior),
        (Anything(), Posterior),
        (InWords(), SupportsDesign),
        (NowhereToBeFound(), Posterior),
        (OneModel(), UCB),
        (object(), Posterior),
    ],
)
def test_signatures_are_read_as_far_as_they_can_be(policy, capability):
    assert capability_of(policy) is capability


@pytest.mark.parametrize("policy", [OFUL(), Started(OFUL(), 2), OneModel()])
def test_a_posterior_without_it_is_refused_before_the_first_label(policy):
    world, model = PROBLEMS["gp"].world, PROBLEMS["gp"].model
    with pytest.raises(MissingCapability, match=r"needs a .*; GaussianProcessPosterior is not one"):
        play(world.pool, world.oracle, model, policy, 4, seed=0)
