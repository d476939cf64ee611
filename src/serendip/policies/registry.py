"""Names that people write, and what they stand for: the only place a string becomes a class."""

from collections.abc import Mapping
from typing import Any

from serendip.core.naming import known
from serendip.core.protocols import Policy
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.ens import ENS
from serendip.policies.glm_ucb import GLMUCB
from serendip.policies.greedy import Greedy
from serendip.policies.ids import IDS
from serendip.policies.sample_vids import SampleVIDS
from serendip.policies.thompson import Thompson
from serendip.policies.ucb import OFUL, UCB
from serendip.policies.uniform import Uniform

POLICIES: Mapping[str, Policy[Any]] = {
    "ids": BudgetIDS(),
    "ids-exact": IDS(),
    "vids": SampleVIDS(),
    "thompson": Thompson(),
    "ucb": UCB(),
    "oful": OFUL(),
    "glm-ucb": GLMUCB(),
    "ens": ENS(),
    "greedy": Greedy(),
    "random": Uniform(),
}
"""Every policy by the name that commands use, with its default settings."""


def policy_named(name: str) -> Policy[Any]:
    """The policy of this name."""
    return POLICIES[known(name, POLICIES, "policy", "policies")]
