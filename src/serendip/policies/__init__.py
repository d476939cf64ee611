"""Policies: rules for what to label next, one algorithm a file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.policies.batch import choose_batch as choose_batch
    from serendip.policies.budget_ids import BudgetIDS as BudgetIDS
    from serendip.policies.ens import ENS as ENS
    from serendip.policies.glm_ucb import GLMUCB as GLMUCB
    from serendip.policies.greedy import Greedy as Greedy
    from serendip.policies.ids import IDS as IDS
    from serendip.policies.index import choose_by as choose_by
    from serendip.policies.sample_vids import SampleVIDS as SampleVIDS
    from serendip.policies.started import Started as Started
    from serendip.policies.thompson import Thompson as Thompson
    from serendip.policies.ucb import OFUL as OFUL
    from serendip.policies.ucb import UCB as UCB
    from serendip.policies.uniform import Uniform as Uniform
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
