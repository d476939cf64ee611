"""Who does something to a campaign and when, and the deeds that are no results."""

import getpass
import os
from datetime import UTC, datetime
from pathlib import Path

from serendip.campaigns.log.events import Moved, Rebudgeted
from serendip.campaigns.log.state import State
from serendip.campaigns.pool_file import reference
from serendip.core.arguments import whole
from serendip.core.errors import InvalidInput
from serendip.core.text import checked_line, escaped


def now() -> str:
    """The time as the log keeps it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def acting(who: str | None = None) -> str:
    """Who acts, for the log: who says so, else SERENDIP_WHO or the user of this computer."""
    if who:
        return checked_line("The name of who acts", who)
    told = os.environ.get("SERENDIP_WHO")
    if told:
        return checked_line("SERENDIP_WHO", told)
    try:
        return escaped(getpass.getuser())
    except (OSError, KeyError, ImportError):
        return "unknown"


def rebudgeted(state: State, budget: int, who: str, at: str) -> Rebudgeted:
    """A new budget, which must hold what is spent or promised and fit the pool."""
    least = max(1, state.spent + len(state.pending))
    most = state.created.n_candidates - len(state.known) + state.n_failures
    budget = whole("budget", budget)
    if not least <= budget <= most:
        raise InvalidInput(
            f"The budget must be between {least}, what is spent or promised, and {most}, what the "
            f"pool holds; got {budget}."
        )
    return Rebudgeted(who, at, budget)


def moved(state: State, file: Path, folder: Path, who: str, at: str) -> Moved:
    """A pool file that lies elsewhere, with the same contents."""
    ref = reference(file, folder)
    if ref.sha256 != state.pool.sha256:
        raise InvalidInput(
            f"{file} is not the pool of this campaign: its contents differ. "
            "Look for an older copy of the file."
        )
    return Moved(who, at, ref)
