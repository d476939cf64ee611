"""What every policy must do on every model that offers what it needs."""

import pickle

import numpy as np
import pytest

from serendip.core.errors import InvalidInput, MissingCapability
from serendip.core.rng import stream
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.ens import ENS
from serendip.policies.glm_ucb import GLMUCB
from serendip.policies.greedy import Greedy
from serendip.policies.ids import IDS
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import OFUL, UCB
from serendip.policies.uniform import Uniform
from serendip.simulate.loop import play, suggest
from worlds import PROBLEMS

POLICIES = {
    "ids": BudgetIDS(n_draws=40),
    "ids-randomised": BudgetIDS(n_draws=40, randomised=True),
    "ids-at-once": BudgetIDS(n_draws=40, opening=0, floor=0.0),
    "vids": SampleVIDS(n_draws=40),
    "vids-randomised": SampleVIDS(n_draws=40, randomised=True, power=0.7),
    "ids-exact": IDS(),
    "ids-exact-set": IDS(power=3.0, ordered=False),
    "thompson": Thompson(),
    "ucb": UCB(),
    "oful": OFUL(),
    "glm-ucb": GLMUCB(),
    "ens": ENS(),
    "greedy": Greedy(),
    "random": Uniform(),
}
ONLY_ON = {
    "ids-exact": ("finite",),
    "ids-exact-set": ("finite",),
    "oful": ("linear",),
    "glm-ucb": ("logistic",),
    "ens": (
        "linear",
        "logistic",
        "finite",
        "gp",
        "forest",
        "neural",
        "estimator",
        "matrix",
        "auto",
        "own",
    ),
}
PAIRS = [(policy, problem) for policy in POLICIES for problem in PROBLEMS]


def fits(policy, problem):
    return problem.startswith(ONLY_ON.get(policy, ("",)))


@pytest.mark.parametrize(("policy", "problem"), PAIRS)
def test_a_whole_campaign_or_a_helpful_error(policy, problem):
    case = PROBLEMS[problem]
    world = case.world
    horizon = min(6, len(world.pool))

    def run():
        return play(world.pool, world.oracle, case.model, POLICIES[policy], horizon, seed=0)

    if not fits(policy, problem):
        with pytest.raises(MissingCapability, match=r"needs a.*posterior.*; \w+ is not one\. Use"):
            run()
        return
    trace = run()
    assert len(set(trace.items.tolist())) == horizon
    assert np.isfinite(trace.labels).all()
    assert np.array_equal(trace.items, run().items)  # same seed, same answer


@pytest.mark.parametrize(("policy", "problem"), [pair for pair in PAIRS if fits(*pair)])
@pytest.mark.parametrize("remaining", [1, 3, 10**6])
def test_block_size_never_changes_the_choice(policy, problem, remaining):
    case = PROBLEMS[problem]
    seen, pool = case.observed(4)
    posterior = case.model.posterior(seen, stream(0, "fit"))
    choices = {
        suggest(
            posterior,
            pool.with_block_rows(rows),
            POLICIES[policy],
            remaining,
            lambda _: stream(0, "c"),
        )[0].item
        for rows in (1, 3, 5, 2048)
    }
    assert len(choices) == 1


@pytest.mark.parametrize(("policy", "problem"), [pair for pair in PAIRS if fits(*pair)])
def test_the_last_candidate_is_chosen_without_fuss(policy, problem):
    case = PROBLEMS[problem]
    seen, pool = case.observed(len(case.world.pool) - 1)
    posterior = case.model.posterior(seen[:3], stream(0, "fit"))
    (choice,) = suggest(posterior, pool, POLICIES[policy], 5, lambda _: stream(0, "c"))
    assert choice.item in pool


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_travel(policy):
    assert pickle.loads(pickle.dumps(POLICIES[policy])) == POLICIES[policy]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SampleVIDS(power=0.0), "power"),
        (lambda: BudgetIDS(power=float("nan")), "power"),
        (lambda: BudgetIDS(n_draws=0), "n_draws"),
        (lambda: IDS(power=-1.0), "power"),
        (lambda: SampleVIDS(n_draws=1), "n_draws"),
        (lambda: UCB(width=-1.0), "width"),
        (lambda: OFUL(failure=0.0), "failure"),
        (lambda: GLMUCB(scale=-0.1), "scale"),
    ],
)
def test_bad_settings_are_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()
