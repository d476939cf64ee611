"""What is computed from campaigns: once a change, and again where a log has other contents."""

from concurrent.futures import Future

from serendip.web.server.views import Views
from serendip.web.server.waits import Waits
from web.loops import run


def total(campaign):
    """Stands for any function of a campaign; the lane below does not call it."""


class Lane:
    """Answers at once with the end of the log as it is now, and how often it was asked."""

    def __init__(self):
        self.tip, self.count = "a", 0

    def submit(self, *_, heard):
        self.count += 1
        future = Future()
        future.set_result((self.tip, self.count))
        return future, None


def test_a_view_is_computed_once_until_the_log_ends_otherwise():
    lane = Lane()
    views = Views("store", lambda name: lane, Waits())

    async def main():
        found = [await views.get("screen", "a", total, ()) for _ in range(2)]
        lane.tip = "b"  # a backup was put back and written to: as long as before, another end
        found += [await views.get("screen", "b", total, ()) for _ in range(2)]
        found.append(await views.get("screen", "b", total, ("other",)))
        return found

    assert run(main()) == [1, 1, 2, 2, 3]
