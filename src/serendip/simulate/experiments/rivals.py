"""The policies as the experiments play them: `ids` without what helps where scales are inferred."""

from collections.abc import Mapping
from typing import Any

from serendip.core.protocols import Policy
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.registry import POLICIES

RIVALS: Mapping[str, Policy[Any]] = {
    **{name: entry.make() for name, entry in POLICIES.items()},
    "ids": BudgetIDS(scales_known=True),
}
"""Every policy by its name."""
