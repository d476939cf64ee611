"""Campaigns: a pool, a budget, and a log of all that was asked and told.

The names below are the public ones; they are imported when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.campaigns.campaign import Campaign as Campaign
    from serendip.campaigns.log.store import Store as Store
    from serendip.campaigns.spec import Settings as Settings

_HOME_OF = {
    "Campaign": "serendip.campaigns.campaign",
    "Settings": "serendip.campaigns.spec",
    "Store": "serendip.campaigns.log.store",
}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'serendip.campaigns' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
