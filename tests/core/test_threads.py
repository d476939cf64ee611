"""BLAS is held to one thread, given back, and not held twice; work is spread over threads."""

from contextlib import nullcontext
from threading import Event

import pytest
import scipy.linalg  # noqa: F401  # brings a BLAS of its own
from threadpoolctl import threadpool_info, threadpool_limits

from serendip.core.threads import one_blas_thread, spread


def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_blas_is_held_to_one_thread_until_the_end():
    with threadpool_limits(3, "blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {3}


def test_blas_is_held_once_however_often_that_is_asked_for():
    """A limit is not free: one inside another is none, and ends nothing early."""
    with threadpool_limits(3, "blas"), one_blas_thread():
        inner = one_blas_thread()
        assert isinstance(inner, nullcontext)
        with inner:
            assert blas_threads() == {1}
        assert blas_threads() == {1}


def test_where_one_part_fails_the_others_need_not_be_waited_for(monkeypatch):
    monkeypatch.setenv("SERENDIP_THREADS", "2")
    halt = Event()

    def work(part):
        if part == "fails":
            raise ZeroDivisionError
        assert halt.wait(60)

    with pytest.raises(ZeroDivisionError):
        spread(work, ["fails", "waits"], halt)
