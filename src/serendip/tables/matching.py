"""Names in one file and in another: 007 and 7, 2.10 and 2.1, where only one can be meant."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from serendip.tables.numerals import POINT, numbers_meant


@dataclass(frozen=True, slots=True)
class SameNumber:
    """Finds the names that are the same number as a text, however both are written."""

    names: Sequence[str]
    rules: int
    """The reading rules that the names come from."""
    _known: dict[Decimal | float, list[str]] = field(default_factory=dict, init=False)
    """Names by the number they are; found out when first asked for."""

    def find(self, text: str) -> list[str]:
        """The names; none for a text that is no number, or can be read as two."""
        meant = self._meant(text)
        if meant and not self._known:
            for name in self.names:
                for number in self._named(name):
                    self._known.setdefault(number, []).append(name)
        return sorted({name for number in meant for name in self._known.get(number, ())})

    def _meant(self, text: str) -> Collection[Decimal | float]:
        """The numbers that a text stands for; rules 1 would have taken it for any of them."""
        meant = numbers_meant(text)
        if self.rules == 1:
            return {float(number) for number in meant}
        return meant if len(meant) == 1 else ()

    def _named(self, name: str) -> Collection[Decimal | float]:
        """The number that a name is; rules 1 made such names of floating-point numbers."""
        if self.rules == 1:
            return (float(name),) if POINT.matches(name) and POINT.plain(name) == name else ()
        return self._meant(name)
