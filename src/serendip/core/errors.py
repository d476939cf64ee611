"""What can go wrong, each with a sentence that says what to do about it."""


class SerendipError(Exception):
    """Base of every error serendip raises on purpose."""


class InvalidInput(SerendipError, ValueError):
    """A value that does not fit: a feature, a label, a setting, a table."""


class NotAvailable(InvalidInput):
    """A model or a policy that is not installed here, or may not run here."""


class AlreadyLabelled(InvalidInput):
    """A candidate that has left the pool was asked for, or labelled, a second time."""


class MissingCapability(SerendipError, TypeError):
    """A policy was given a posterior that cannot answer what the policy asks."""


class DamagedPool(SerendipError):
    """A pool on disk that is not what it was: truncated, changed, or unreadable."""
