"""Processes beside the server: results, refusals, death, limits, cancel; and requests in one go."""

import asyncio
import os
import pickle
import subprocess
import sys
import time

import pytest

from serendip.core.errors import InvalidInput, SerendipError
from serendip.web.server.lanes import Ended, Lane, Limits, report
from serendip.web.server.problems import Refused
from serendip.web.server.together import Together
from web.chores import die, double, fail, hungry, refuse, sleep, steps, who
from web.loops import run

WAIT = 180


@pytest.fixture(name="lane")
def _lane():
    lane = Lane("test", Limits(nice=1))
    yield lane
    lane.close()


def result(lane, function, *args):
    future, _ = lane.submit(function, *args)
    return future.result(WAIT)


def test_work_is_done_in_another_process_one_after_another(lane):
    futures = [lane.submit(double, place)[0] for place in range(5)]
    assert [one.result(WAIT) for one in futures] == [0, 2, 4, 6, 8]
    process, threads, nice = result(lane, who)
    assert process != os.getpid()
    assert process == result(lane, who)[0]
    assert threads == "1"
    assert nice == os.nice(0) + 1


def test_refusals_come_back_as_they_are_and_failures_are_not_shown(lane, caplog):
    with pytest.raises(InvalidInput, match="not that"):
        result(lane, refuse, "not that")
    with pytest.raises(RuntimeError, match="the log says why"):
        result(lane, fail)
    assert "ZeroDivisionError" in caplog.text
    assert result(lane, double, 4) == 8


def test_what_cannot_travel_is_a_failure_of_that_work_only(lane):
    with pytest.raises((pickle.PicklingError, AttributeError)):
        result(lane, lambda: 1)
    assert result(lane, double, 4) == 8


def test_a_process_that_dies_is_replaced(lane):
    first = result(lane, who)[0]
    with pytest.raises(Ended, match="before it was done"):
        result(lane, die)
    assert result(lane, who)[0] != first


def test_work_that_takes_too_long_is_ended():
    lane = Lane("test", Limits(seconds=0.5))
    try:
        assert result(lane, double, 1) == 2  # the process has begun
        with pytest.raises(Ended, match=r"0\.5 seconds"):
            result(lane, sleep, 60)
    finally:
        lane.close()


def test_work_that_takes_too_much_memory_is_refused():
    lane = Lane("test", Limits(memory=4_000_000_000))
    try:
        with pytest.raises(SerendipError, match="memory"):
            result(lane, hungry)
        assert result(lane, double, 1) == 2
    finally:
        lane.close()


def test_progress_is_heard_on_the_way(lane):
    heard = []
    future, _ = lane.submit(steps, 3, heard=heard.append)
    assert future.result(WAIT) == "done"
    assert heard == [(1, 3), (2, 3), (3, 3)]
    report("nobody listens here")


def test_work_can_be_cancelled_before_and_while_it_is_done(lane):
    begun = []
    first, task = lane.submit(sleep, 600, heard=begun.append)
    second, waiting = lane.submit(double, 1)
    third, _ = lane.submit(double, 2)
    waiting.end()
    deadline = time.monotonic() + WAIT
    while not begun and time.monotonic() < deadline:
        time.sleep(0.05)
    task.end()
    for one in (first, second):
        with pytest.raises(Ended, match="cancelled"):
            one.result(WAIT)
    assert third.result(WAIT) == 4


def test_a_closed_lane_takes_nothing_and_leaves_nothing():
    lane = Lane("test")
    process = result(lane, who)[0]
    running, _ = lane.submit(sleep, 600)
    waiting, _ = lane.submit(double, 1)
    lane.close()
    for one in (running, waiting):
        with pytest.raises(Ended):
            one.result(WAIT)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    with pytest.raises(Refused):
        lane.submit(double, 1)


SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[1])
from web.chores import sleep, who
from serendip.web.server.lanes import Lane
if __name__ == "__main__":
    lane = Lane("test")
    print(lane.submit(who)[0].result()[0], flush=True)
    lane.submit(sleep, 600)
    time.sleep(600)
"""


def test_processes_leave_with_a_server_that_was_killed(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    tests = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), tests], stdout=subprocess.PIPE, text=True
    ) as server:
        worker = int(server.stdout.readline())
        server.kill()
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("the worker is still there")


# --- requests in one go --------------------------------------------------------------------------


def test_what_piles_up_is_done_in_one_go():
    rounds = []

    async def carry_out(requests):
        rounds.append(list(requests))
        await asyncio.sleep(0.01)
        return [InvalidInput("odd") if one % 2 else 10 * one for one in requests]

    async def main():
        desk = Together(carry_out, most=4)
        answers = await asyncio.gather(*(desk(k) for k in range(10)), return_exceptions=True)
        assert not desk.busy
        return answers

    answers = run(main())
    assert [one for one in answers if not isinstance(one, Exception)] == [0, 20, 40, 60, 80]
    assert sum(isinstance(one, InvalidInput) for one in answers) == 5
    assert rounds == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_round_that_fails_fails_those_in_it():
    async def carry_out(requests):
        if 1 in requests:
            raise ZeroDivisionError
        return requests

    async def main():
        desk = Together(carry_out, most=2)
        return await asyncio.gather(*(desk(k) for k in range(4)), return_exceptions=True)

    first, second, *rest = run(main())
    assert isinstance(first, ZeroDivisionError)
    assert isinstance(second, ZeroDivisionError)
    assert rest == [2, 3]


def test_who_leaves_does_not_stop_the_others():
    done = []

    async def carry_out(requests):
        await asyncio.sleep(0.05)
        done.extend(requests)
        return requests

    async def main():
        desk = Together(carry_out)
        leaving = asyncio.create_task(desk("a"))
        await asyncio.sleep(0.01)
        staying = asyncio.create_task(desk("b"))
        leaving.cancel()
        assert await staying == "b"

    run(main())
    assert done == ["a", "b"]
