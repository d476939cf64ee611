"""An opened campaign in the server: read by many at once, written to in one go."""

from collections.abc import Sequence
from threading import Lock
from typing import TypeVar

from serendip.campaigns.campaign import Campaign
from serendip.campaigns.candidates import Candidates
from serendip.campaigns.errors import StoreDamaged
from serendip.campaigns.log.chronicle import Answers, Chronicle, Command, record
from serendip.campaigns.log.store import Store
from serendip.campaigns.spec import Settings

T = TypeVar("T")


class Desk:
    """Keeps one campaign open. Every use looks for news in the store first.

    Methods block, so they are called in threads. Readers wait for nobody; writers for each other.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._campaign = Campaign(store, name)
        self._seen = self._campaign.chronicle
        self._writing = Lock()
        self._loading = Lock()

    def chronicle(self, version: int | None = None) -> Chronicle:
        """The log and what it implies.

        Args:
            version: That the store is known to have; then it is not asked.
        """
        seen = self._seen
        if version is not None and version == seen.state.version:
            return seen
        try:
            return self._newest(seen.refreshed(self._store, self._name))
        except StoreDamaged:
            return self._read_again()

    def settings(self) -> Settings:
        """What was decided at the start."""
        return self._campaign.settings

    def candidates(self) -> Candidates:
        """The pool, read when it is first needed."""
        with self._loading:
            return self._campaign.candidates

    def opened(self) -> Campaign:
        """The campaign with its pool; its log may be old."""
        self.candidates()
        return self._campaign

    def record(self, commands: Sequence[Command[T]]) -> Answers[T]:
        """Carries out commands in one transaction."""
        with self._writing:
            try:
                seen, answers = record(self._store, self._name, self._seen, lambda _: commands)
            except StoreDamaged:
                seen = self._read_again()
                seen, answers = record(self._store, self._name, seen, lambda _: commands)
            self._newest(seen)
            return answers

    def _newest(self, seen: Chronicle) -> Chronicle:
        """What was read is kept, unless somebody else has read more meanwhile."""
        if len(seen.log) > len(self._seen.log):
            self._seen = seen
        return seen

    def _read_again(self) -> Chronicle:
        """A backup was put in the place of the store: what was read before is forgotten."""
        self._campaign = Campaign(self._store, self._name)
        self._seen = self._campaign.chronicle
        return self._seen
