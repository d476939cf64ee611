"""Any policy after some labels at random, so that several can be compared from the same start.

Before the first label all that a policy can go by is the features, and many choose the same
candidate in every run. Whether that one is good is luck, and no number of repeats averages it out.
"""

from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from serendip.core.data import Choice
from serendip.core.protocols import Policy, Pool, Posterior
from serendip.policies.serving import check_policy
from serendip.policies.uniform import Uniform


@dataclass(frozen=True, slots=True)
class Started:
    """Random choices for the first labels, then those of the policy."""

    policy: Policy[Any]
    labels: int

    def choose(self, posterior: Posterior, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """By who has the turn; the same seed gives all policies the same start."""
        check_policy(self.policy, posterior)  # before the first label: not after some are spent
        turn = Uniform() if posterior.n_labels < self.labels else self.policy
        return turn.choose(posterior, pool, remaining, rng)
