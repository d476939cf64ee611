"""What a page says while people wait: what is done, how far it is, and how long it will take."""

from concurrent.futures import Future

import pytest

from serendip.web.server.waits import Kind, Waits


class Clock:
    """Stands still until it is told."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture(name="clock")
def _clock():
    return Clock()


def test_time_left_is_told_from_what_this_took_so_far(clock):
    waits = Waits(clock)
    heard = waits.hear("screen", Kind.ask)
    heard(("choosing candidates", 4, 20))
    assert waits.get("screen", Kind.ask).left(clock.now) is None
    clock.now += 6.0
    heard(("choosing candidates", 7, 20))
    found = waits.get("screen", Kind.ask)
    assert (found.done, found.total) == (7, 20)
    assert found.left(clock.now) == 26.0
    assert found.left(clock.now + 10.0) == 16.0
    assert found.left(clock.now + 50.0) == 0.0


def test_what_is_done_next_begins_anew(clock):
    waits = Waits(clock)
    heard = waits.hear("screen", Kind.ask)
    heard(("fitting the model", 0, 2))
    clock.now += 60.0
    heard(("fitting the model", 1, 2))
    heard(("explaining the proposals", 0, None))
    assert waits.get("screen", Kind.ask).left(clock.now) is None
    heard(("looking through the pool", 0, 100))
    clock.now += 1.0
    heard(("looking through the pool", 50, 100))
    assert waits.get("screen", Kind.ask).left(clock.now) == 1.0


def test_work_that_waits_behind_other_work_says_so_and_what_has_ended_is_forgotten():
    waits, first = Waits(), Future()
    heard = waits.hear("screen", Kind.view)
    waits.until(first, "screen", Kind.view)
    assert waits.get("screen", Kind.view).what == "waiting for other work to end"
    heard(("looking ahead", 3, 12))
    waits.hear("screen", Kind.view)  # somebody wants something else of the same campaign
    assert waits.get("screen", Kind.view).what == "looking ahead"
    assert waits.get("screen", Kind.ask) is None
    assert waits.get("other", Kind.view) is None
    first.set_exception(RuntimeError())
    assert waits.get("screen", Kind.view) is None
