"""What is heard of long work: in order, never back and forth, and never in the way of the work."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from serendip.core.progress import counted, counting, listening, report


@pytest.fixture(name="heard")
def _heard():
    return []


@pytest.fixture(name="listen")
def _listen(heard):
    return lambda: listening(lambda *told: heard.append(told))


def test_work_goes_on_as_ever_where_nobody_listens():
    report("fitting")
    with counting("looking", 10) as tell:
        tell(5)
    assert list(counted("choosing", 4, 1)) == [1, 2, 3]


def test_steps_are_told_as_they_are_done(heard, listen):
    with listen():
        assert list(counted("choosing", 4, 2)) == [2, 3]
    assert heard == [("choosing", 2, 4), ("choosing", 3, 4), ("choosing", 4, 4)]
    report("after")
    assert len(heard) == 3


def test_what_is_done_within_a_step_is_not_heard(heard, listen):
    with listen():
        for _ in counted("choosing", 2):
            report("fitting")
            with counting("looking", 5) as tell:
                tell(5)
    assert {what for what, *_ in heard} == {"choosing"}
    assert [done for _, done, _ in heard] == [0, 1, 2]


def test_outside_of_a_count_each_time_has_its_number_and_ends(heard, listen):
    with listen():
        report("explaining")
        for _ in range(2):
            with counting("looking", 5) as tell:
                tell(5)
    assert heard == [
        ("explaining", 0, None),
        ("looking", 0, 5),
        ("looking", 5, 5),
        ("explaining", 0, None),
        ("looking (2)", 0, 5),
        ("looking (2)", 5, 5),
        ("explaining", 0, None),
    ]


def test_a_single_step_is_not_counted_so_that_its_parts_are_heard(heard, listen):
    with listen():
        for _ in counted("choosing", 1):
            with counting("looking", 3) as tell:
                tell(3)
    assert heard == [("looking", 0, 3), ("looking", 3, 3)]


def test_a_count_that_fails_ends_and_its_error_is_not_swallowed(heard, listen):
    def choose():
        for place in counted("choosing", 5):
            if place == 2:
                raise ZeroDivisionError

    with listen():
        with pytest.raises(ZeroDivisionError):
            choose()
        report("fitting")
    assert heard[-2:] == [("choosing", 2, 5), ("fitting", 0, None)]


def test_an_error_of_who_listens_is_not_swallowed():
    def broken(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(broken):
        report("fitting")


def test_threads_take_turns_and_nothing_is_lost(heard, listen):
    with listen(), counting("looking", 800) as tell, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: tell(1), range(800)))
    assert [done for _, done, _ in heard] == list(range(801))


def test_who_listens_within_hears_instead(heard, listen):
    inner = []
    with listen():
        with listening(lambda *told: inner.append(told)):
            report("within")
        report("after")
    assert inner == [("within", 0, None)]
    assert heard == [("after", 0, None)]
