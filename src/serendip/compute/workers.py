"""What processes that work for another need: a script that can be imported, cores, a parent."""

import os
from collections.abc import Callable, Iterable
from multiprocessing import current_process, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread

from serendip.core.errors import SerendipError
from serendip.core.threads import one_blas_thread

_NO_GUARD = 77
"""Exit code of a process that was about to start the work of its script all over."""


def leave_if_starting() -> None:
    """Ends this process where it is still importing the script that started it.

    A worker process imports that script first. What stands there without a guard runs once more,
    in the worker, and would start workers of its own. To be called before any are started.
    """
    if getattr(current_process(), "_inheriting", False):  # set by multiprocessing until then
        os._exit(_NO_GUARD)


def check_guard(processes: Iterable[BaseProcess]) -> None:
    """Says so where processes ended in `leave_if_starting`."""
    for process in processes:
        process.join(10.0)
        if process.exitcode == _NO_GUARD:
            raise SerendipError(
                "The script has no guard: worker processes import it, and would run all of it "
                'again. Write `if __name__ == "__main__":` before what it does, and indent that '
                "below it."
            )


def keep_to_cores(n_threads: int) -> None:
    """Holds this process to its share of the cores, with one BLAS thread in any case."""
    os.environ["SERENDIP_THREADS"] = str(n_threads)
    one_blas_thread()


def leave_with_parent(last: Callable[[], object] | None = None) -> None:
    """Ends this process when its parent does: it would wait for work for ever.

    Args:
        last: Called before the end, where the parent was killed and could not clean up.
    """
    Thread(target=_leave, args=(last,), daemon=True).start()


def _leave(last: Callable[[], object] | None) -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        if last is not None:
            last()
        os._exit(1)
