"""What can go wrong with a campaign or its store."""

from serendip.core.errors import InvalidInput, SerendipError


class StaleCampaign(SerendipError):
    """Somebody else wrote to the campaign first; read the news and decide again."""


class NothingLeft(SerendipError):
    """The budget is spent, or no candidate is left to propose."""


class NoSuchCampaign(InvalidInput):
    """The store holds no campaign of this name."""


class CampaignExists(InvalidInput):
    """The store holds a campaign of this name already."""


class PoolChanged(InvalidInput):
    """The pool file is gone, or no longer what it was when the campaign began."""


class StoreFailed(SerendipError):
    """The store cannot be read or written; nothing was recorded."""


class StoreBusy(StoreFailed):
    """Others kept the store locked for too long."""


class StoreDamaged(StoreFailed):
    """The store is not what was once written to it."""


class KeyTaken(InvalidInput):
    """A key that stands for one command was sent with another."""
