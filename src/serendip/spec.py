"""Names that people write, and what they stand for: the only place a string becomes a class."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from serendip.core.errors import InvalidInput
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


def known(name: str, names: Mapping[str, object], one: str, many: str) -> str:
    """The name, if it is among those known; else an error that lists them and guesses."""
    if name in names:
        return name
    near = get_close_matches(name, names, n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise InvalidInput(f"There is no {one} {name!r}.{guess} The {many} are: {', '.join(names)}.")
