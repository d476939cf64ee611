"""Many independent pieces of work on several processes, each with one BLAS thread."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeVar

from serendip.core.threads import one_blas_thread

T = TypeVar("T")
R = TypeVar("R")


def run_all(work: Callable[[T], R], tasks: Sequence[T], jobs: int) -> Iterator[tuple[int, R]]:
    """(index, result) of each task, as they finish.

    Each process is held to one BLAS thread, so results do not depend on `jobs`, and processes do
    not fight over cores. `work` must be a function of a module, so that it can travel.
    """
    if jobs <= 1 or len(tasks) <= 1:
        with one_blas_thread():
            for index, task in enumerate(tasks):
                yield index, work(task)
        return
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), mp_context=get_context("spawn"), initializer=ready
    )
    try:
        waiting = {pool.submit(work, task): index for index, task in enumerate(tasks)}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def ready() -> None:
    """Prepares a process that works for another: one thread, and it leaves with its parent."""
    os.environ["SERENDIP_THREADS"] = "1"
    one_blas_thread()
    Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
