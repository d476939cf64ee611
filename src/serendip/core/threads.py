"""Who may use the cores: threads over blocks, or BLAS, never both."""

import os
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def n_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_threads() -> int:
    """Threads that may walk a pool; SERENDIP_THREADS overrides (parallel runs set it to 1)."""
    told = os.environ.get("SERENDIP_THREADS", "")
    return max(1, int(told)) if told.isdigit() else n_cores()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Holds BLAS to one thread from the call on; as a context, until its end.

    BLAS threads that have finished keep spinning for a while and take the cores from the threads
    that walk the pool; and with one thread, sums come out the same on every machine.
    """
    limit: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # SciPy brings a BLAS of its own, which must be loaded to be held.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
