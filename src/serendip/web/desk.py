"""An opened campaign in the server: read by many, written to in one go."""

from collections.abc import Sequence
from threading import Lock
from typing import TypeVar

from serendip.campaigns.campaign import Campaign
from serendip.campaigns.candidates import Candidates
from serendip.campaigns.chronicle import Answers, Chronicle, Command
from serendip.campaigns.errors import StoreDamaged
from serendip.campaigns.spec import Settings
from serendip.campaigns.store import Store

T = TypeVar("T")


class Desk:
    """Keeps one campaign open. Every use looks for news in the store first.

    Methods block, so they are called in threads; one at a time gets through.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._lock = Lock()
        self._campaign = Campaign(store, name)

    def chronicle(self, version: int | None = None) -> Chronicle:
        """The log and what it implies.

        Args:
            version: That the store is known to have; then it is not asked.
        """
        with self._lock:
            if version is None or version != self._campaign.state.version:
                self._refresh()
            return self._campaign.chronicle

    def settings(self) -> Settings:
        """What was decided at the start."""
        return self._campaign.settings

    def candidates(self) -> Candidates:
        """The pool, read when it is first needed."""
        with self._lock:
            return self._campaign.candidates

    def opened(self) -> Campaign:
        """The campaign with its pool; its log may be old."""
        self.candidates()
        return self._campaign

    def record(self, commands: Sequence[Command[T]]) -> Answers[T]:
        """Carries out commands in one transaction."""
        with self._lock:
            try:
                return self._campaign.record(lambda _: commands)
            except StoreDamaged:
                self._reopen()
                return self._campaign.record(lambda _: commands)

    def _refresh(self) -> None:
        try:
            self._campaign.refresh()
        except StoreDamaged:
            self._reopen()

    def _reopen(self) -> None:
        """A backup was put in the place of the store: what was read before is forgotten."""
        self._campaign = Campaign(self._store, self._name)
