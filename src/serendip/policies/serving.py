"""Which policies a posterior serves: those whose `choose` asks for no more than it offers."""

from typing import Any

from serendip.core.protocols import (
    Policy,
    Posterior,
    SupportsMoments,
    capability_of,
    require,
)
from serendip.policies.registry import POLICIES, name_of


def serves(posterior: object, policy: Policy[Any]) -> bool:
    """Whether a policy can work with this posterior."""
    capability = capability_of(policy)
    return capability is Posterior or isinstance(posterior, capability)


def serves_all(policy: Policy[Any]) -> bool:
    """Whether a policy can work with every model that has a name."""
    return capability_of(policy) in (Posterior, SupportsMoments)


def check_policy(policy: Policy[Any], posterior: Posterior, model: str = "") -> None:
    """Refuses a posterior that lacks what the policy says it needs, and names policies that fit.

    Args:
        policy: Who is to choose.
        posterior: What it would choose by.
        model: How the user calls the model, where it has a name.
    """
    if serves(posterior, policy):
        return
    offered = [one for one in POLICIES.values() if one.offered and not one.costly]
    *others, last = [one.name for one in offered if serves(posterior, one.make())]
    fitting = f"{', '.join(others)} or {last}" if others else last
    by, capability = name_of(policy), capability_of(policy)
    require(posterior, capability, by=by, instead=fitting, whose=model)
