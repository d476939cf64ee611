"""Many independent pieces of work on several processes or machines, each with one BLAS thread."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from typing import TypeVar

from serendip.compute.engines import Engine
from serendip.compute.workers import (
    check_guard,
    keep_to_cores,
    leave_if_starting,
    leave_with_parent,
)
from serendip.core.errors import SerendipError
from serendip.core.threads import n_cores, one_blas_thread

T = TypeVar("T")
R = TypeVar("R")

_LIVES = 3
"""How often worker processes may be killed before the work is given up."""


def run_all(
    work: Callable[[T], R], tasks: Sequence[T], jobs: int | None, engine: Engine | None = None
) -> Iterator[tuple[int, R]]:
    """(index, result) of each task, as they finish.

    Each process is held to one BLAS thread, so results do not depend on `jobs`, and processes do
    not fight over cores.

    Args:
        work: A function of a module, so that it can travel.
        tasks: What it is called with, one after another.
        jobs: Processes; by default one a core, of this machine or of the cluster.
        engine: Where they run; by default on this machine.
    """
    if engine is not None and engine.on_cluster:
        from serendip.compute.cluster import run_tasks

        yield from run_tasks(work, tasks, jobs, engine.address)
        return
    jobs = n_cores() if jobs is None else jobs
    if jobs <= 1 or len(tasks) <= 1:
        with one_blas_thread():
            for index, task in enumerate(tasks):
                yield index, work(task)
        return
    leave_if_starting()
    left = dict(enumerate(tasks))
    for _ in range(_LIVES):
        try:
            for index, result in _finished(work, left, jobs):
                del left[index]
                yield index, result
        except BrokenProcessPool:
            continue
        return
    raise SerendipError(
        f"Worker processes were killed {_LIVES} times, most likely for want of memory; "
        "use fewer --jobs."
    )


def _finished(work: Callable[[T], R], tasks: dict[int, T], jobs: int) -> Iterator[tuple[int, R]]:
    others = set(active_children())
    started: set[BaseProcess] = set()
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), mp_context=get_context("spawn"), initializer=ready
    )
    try:
        waiting = {}
        for index, task in tasks.items():
            waiting[pool.submit(work, task)] = index
            if len(started) < jobs:
                started |= set(active_children()) - others
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    except BrokenProcessPool:
        pool.shutdown()  # all have ended, and their exit codes are known
        check_guard(started)
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def ready() -> None:
    """Prepares a process that works for another: one thread, and it leaves with its parent."""
    keep_to_cores(1)
    leave_with_parent()
