"""How far long work is: who works says so, and who waits may listen.

What a listener hears never goes back and forth. While something is counted, what is done within
one of its steps is not heard: a pick looks through the pool several times, and nobody knows how
often. Where that happens outside of a count, each time has its number.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

Listener = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is, and of how much; None where nobody knows."""


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tells a listener how far the work within is; threads take turns to call it."""
    token = _HEARD.set(_Hearing(listener))
    try:
        yield
    finally:
        _HEARD.reset(token)


def report(what: str) -> None:
    """Says what is done from now on, of which nobody knows how long it takes."""
    hearing = _HEARD.get()
    if hearing is not None:
        hearing.change(what)


@contextmanager
def counting(what: str, total: int, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A function that is told what has been done since, by any thread.

    Args:
        what: Is done.
        total: How much there is to do; what is a single step is not counted.
        done: How much of it has been done already.
    """
    hearing = _HEARD.get()
    if hearing is None or total < 2 or not hearing.begin(what, total, done):
        yield unheard
        return
    try:
        yield hearing.add
    finally:
        hearing.end()


def counted(what: str, stop: int, start: int = 0) -> Iterator[int]:
    """The steps from `start` to `stop`, each told when it is done."""
    with counting(what, stop, start) as tell:
        for place in range(start, stop):
            yield place
            tell(1)


def unheard(done: int) -> None:
    """Stands for a listener where there is none."""


class _Hearing:
    """One listener, and what is being counted."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = Lock()
        self._times = Counter[str]()
        self._counts = False
        self._around, self._title = "", ""
        self._done, self._total = 0, 0

    def change(self, what: str) -> None:
        if not self._counts:
            self._around = what
            self._listener(what, 0, None)

    def begin(self, what: str, total: int, done: int) -> bool:
        """Whether this is counted: not within a step of something else."""
        if self._counts:
            return False
        self._times[what] += 1
        again = self._times[what]
        self._title = what if again == 1 else f"{what} ({again})"
        self._done, self._total = done, total
        self._listener(self._title, done, total)
        self._counts = True
        return True

    def add(self, done: int) -> None:
        with self._lock:
            self._done += done
            self._listener(self._title, self._done, self._total)

    def end(self) -> None:
        self._counts = False
        if self._around:  # what follows may take long, and nothing of this count is left
            self._listener(self._around, 0, None)


_HEARD: ContextVar[_Hearing | None] = ContextVar("serendip_progress", default=None)
