"""Campaigns: a pool, a budget, and a log of all that was asked and told."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.campaigns.campaign import Campaign as Campaign
    from serendip.campaigns.log.store import Store as Store
    from serendip.campaigns.spec import Settings as Settings
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
