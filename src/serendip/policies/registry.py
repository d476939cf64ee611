"""Every policy: one entry each, which commands, page, API, plots and documents read.

To add one: a file with the policy, an entry here, a line in `tests/contracts/test_policies.py`.
What it needs of a model stands in the signature of its `choose`. Nothing is imported until an entry
is asked to `make` its policy.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from serendip.core.registry import Ready, Registry, called, load

if TYPE_CHECKING:
    from serendip.core.protocols import Policy

_PLAIN = "#444444"


class Role(StrEnum):
    """What a policy is in a comparison."""

    ours = "ours"
    """By information, what serendip is about; drawn heavier."""
    rival = "rival"
    """What ours are compared with."""
    chance = "chance"
    """Random choice: what it finds is known without playing it."""


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """What there is to know of a policy before it is imported."""

    name: str
    title: str
    """What it does, in one line."""
    factory: str | Callable[[], object]
    """Makes it with its default settings: a class or function, or where one is, `module:name`."""
    plotted: str = ""
    """How figures call it; by default its name."""
    colour: str = _PLAIN
    """In figures."""
    role: Role = Role.rival
    offered: bool = True
    """Whether lists of choices show it: some model that has a name serves it."""
    first: bool = False
    """Whether a page's comparison has it, unless told."""
    costly: bool = False
    """Whether it is too slow to run unasked but with models that are linear in the features."""
    suits: int | None = None
    """Candidates up to which it is run unasked; None for any number."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "plotted", self.plotted or self.name)

    def make(self) -> "Policy[Any]":
        """The policy, with its default settings."""
        made = load(self.factory) if isinstance(self.factory, str) else self.factory
        return cast("Policy[Any]", cast("Callable[[], object]", made)())


# The colours are Okabe and Ito's, which the colour-blind can tell apart.
_ENTRIES = (
    PolicyEntry(
        "ids",
        "budget-aware information-directed sampling: least regret for what is learnt",
        "serendip.policies.budget_ids:BudgetIDS",
        "IDS (budget-aware)",
        "#0072B2",
        Role.ours,
        first=True,
    ),
    PolicyEntry(
        "ids-exact",
        "information-directed sampling, exact, over a finite set of parameters",
        "serendip.policies.ids:IDS",
        "IDS (exact)",
        "#004466",
        Role.ours,
        offered=False,
    ),
    PolicyEntry(
        "vids",
        "information-directed sampling by the variance of sampled means",
        "serendip.policies.sample_vids:SampleVIDS",
        "SampleVIDS",
        "#56B4E9",
        Role.ours,
    ),
    PolicyEntry(
        "thompson",
        "the best candidate of one draw from the posterior",
        "serendip.policies.thompson:Thompson",
        "Thompson",
        "#D55E00",
        first=True,
    ),
    PolicyEntry(
        "ucb",
        "mean plus one standard deviation",
        "serendip.policies.ucb:UCB",
        "UCB",
        "#009E73",
    ),
    PolicyEntry(
        "oful",
        "the upper end of a confidence band that holds always (linear models)",
        "serendip.policies.ucb:OFUL",
        "OFUL",
        "#66C2A5",
    ),
    PolicyEntry(
        "glm-ucb",
        "upper confidence bound for logistic regression",
        "serendip.policies.glm_ucb:GLMUCB",
        "GLM-UCB",
        "#66C2A5",
    ),
    PolicyEntry(
        "ens",
        "what this label and all later ones bring, chosen at once after it (slow)",
        "serendip.policies.ens:ENS",
        "ENS",
        "#CC79A7",
        costly=True,
        suits=2000,  # its cost grows with their square
    ),
    PolicyEntry(
        "greedy",
        "the highest posterior mean",
        "serendip.policies.greedy:Greedy",
        "Greedy",
        "#E69F00",
        first=True,
    ),
    PolicyEntry(
        "random",
        "any candidate, all alike",
        "serendip.policies.uniform:Uniform",
        "Random",
        "#999999",
        Role.chance,
        first=True,
    ),
)

POLICIES: Mapping[str, PolicyEntry] = {entry.name: entry for entry in _ENTRIES}
"""Every policy of serendip by its name."""


def adopt_policy(name: str, found: object) -> PolicyEntry:
    """The entry for a policy from elsewhere, which goes by this name.

    Args:
        name: As the user calls it.
        found: A policy, its class, a function that makes one, or a `PolicyEntry`.
    """
    from serendip.core.arguments import able, shown

    if isinstance(found, PolicyEntry):
        return replace(found, name=name)
    makes = isinstance(found, type) or (callable(found) and not hasattr(found, "choose"))
    policy = called(f"The policy {name}", found) if makes and callable(found) else found
    able(f"The policy {name}", policy, ("choose",), "BudgetIDS(), or its class")
    return PolicyEntry(name, shown(policy), Ready(policy))


REGISTRY = Registry("policy", "policies", "serendip.policies", POLICIES, adopt_policy)
"""The same with those of installed packages."""


def policy_named(name: str, allow: Collection[str] = ()) -> "Policy[Any]":
    """The policy of this name; `allow` holds import paths that may run."""
    return REGISTRY.get(name, allow).make()


def name_of(policy: object) -> str:
    """What the command line calls a policy; of one that is not ours, its class."""
    kind = type(policy)
    home = f"{kind.__module__}:{kind.__qualname__}"
    return next((one.name for one in _ENTRIES if one.factory == home), kind.__name__)


def entry_for_plots(name: str) -> PolicyEntry:
    """How to draw a policy that may not be ours, or a run that goes by another name."""
    return POLICIES.get(name) or PolicyEntry(name, name, "")
