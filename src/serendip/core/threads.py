"""Who may use the cores: threads over blocks, or BLAS, never both."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from threading import Event
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

A = TypeVar("A")
B = TypeVar("B")


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
    that walk the pool; and with one thread, sums come out the same on every machine. Where BLAS is
    held already, as in runs of many experiments, there is nothing to do: a limit costs as much as
    a small product of matrices.
    """
    controller = _controller()
    if all(library.num_threads in (1, None) for library in controller.lib_controllers):
        return nullcontext()
    limit: AbstractContextManager[Any] = controller.limit(limits=1)
    return limit


def spread(work: Callable[[A], B], parts: Sequence[A], halt: Event | None = None) -> list[B]:
    """What becomes of each part, in their order, on as many threads as there are cores.

    Args:
        work: On one part.
        parts: Of the whole.
        halt: Set where one part fails, or somebody interrupts: work that takes long looks at it, or
            the others would have to be waited for.
    """
    workers = min(n_threads(), len(parts))
    if workers <= 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers) as threads:
        try:
            return list(threads.map(work, parts))
        except BaseException:
            if halt is not None:
                halt.set()
            raise


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # SciPy brings a BLAS of its own, which must be loaded to be held.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
