"""What a process that works for another does first: keep to its cores, and leave when it does."""

import os
from collections.abc import Callable
from multiprocessing import parent_process
from threading import Thread

from serendip.core.threads import one_blas_thread


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
