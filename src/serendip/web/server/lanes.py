"""Processes that carry out one piece of work after another, beside the server.

A lane is a process and the queue before it. Heavy work there leaves the server free to answer; a
piece of work that takes too long, or that nobody wants any more, is ended with its process, and the
next one gets a new one.
"""

import atexit
import logging
import os
import queue
import signal
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Event, Thread
from typing import Any, TypeVar

from serendip.compute.workers import check_guard, leave_if_starting
from serendip.core.errors import SerendipError
from serendip.web.server.problems import Refused

T = TypeVar("T")
Heard = Callable[[Any], None]

_LOG = logging.getLogger("serendip.web")
_MOST_WAITING = 500
_BLINK = 0.1


class Ended(SerendipError):
    """The work was ended before it was done."""


@dataclass(slots=True, eq=False)
class Task:
    """A piece of work, waiting or under way."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    future: "Future[Any]" = field(default_factory=Future)
    heard: Heard | None = None
    """Called with what the work reports on its way, in a thread of the lane."""
    unwanted: Event = field(default_factory=Event)

    def end(self) -> None:
        """Ends the work, whether it has begun or not."""
        self.unwanted.set()


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use."""

    seconds: float | None = None
    """For one piece of work."""
    memory: int | None = None
    """Bytes of address space, where the system can limit it."""
    nice: int = 5
    """How much the process stands back behind the server."""


class Lane:
    """One process and its queue; both begin with the first piece of work."""

    def __init__(self, name: str, limits: Limits | None = None) -> None:
        self.name = name
        self.limits = limits or Limits()
        self._waiting: queue.Queue[Task | None] = queue.Queue()
        self._thread: Thread | None = None
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._closing = False
        leave_if_starting()
        atexit.register(self.close)

    def submit(
        self, function: Callable[..., T], *args: Any, heard: Heard | None = None
    ) -> "tuple[Future[T], Task]":
        """The result that is to come, and the task; `function` must be one of a module.

        Args:
            function: What to do.
            args: What to do it with.
            heard: Called with what the function reports through `report`.
        """
        if self._closing or self._waiting.qsize() >= _MOST_WAITING:
            raise Refused(
                503, "Too much work is waiting already; try again later.", {"Retry-After": "10"}
            )
        task = Task(function, args, heard=heard)
        self._waiting.put(task)
        if self._thread is None:
            self._thread = Thread(target=self._work, name=f"lane {self.name}", daemon=True)
            self._thread.start()
        return task.future, task

    def close(self) -> None:
        """Ends the process and all that waits; nothing can be submitted any more."""
        self._closing = True
        self._waiting.put(None)
        self._kill()
        if self._thread is not None:
            self._thread.join(5.0)
        atexit.unregister(self.close)

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            if task.unwanted.is_set() or self._closing:
                task.future.set_exception(Ended("It was cancelled before it began."))
                continue
            try:
                result = self._carry_out(task)
            except BaseException as problem:
                task.future.set_exception(problem)
            else:
                task.future.set_result(result)

    def _carry_out(self, task: Task) -> Any:
        try:
            pipe = self._connected()
            pipe.send((task.function, task.args))
            kind, value = self._answer(task, pipe)
        except (EOFError, OSError):
            if self._process is not None:
                check_guard([self._process])
            self._kill()
            raise Ended(
                "The process that did the work ended before it was done; it may have run out of "
                "memory."
            ) from None
        if kind == "refused":
            raise value
        if kind == "failed":
            _LOG.error("Work in lane %s failed:\n%s", self.name, value)
            raise RuntimeError("a worker failed; the log says why")
        return value

    def _answer(self, task: Task, pipe: Connection) -> tuple[str, Any]:
        begin = time.monotonic()
        while True:
            if pipe.poll(_BLINK):
                kind, value = pipe.recv()
                if kind != "heard":
                    return kind, value
                if task.heard is not None:
                    task.heard(value)
            if task.unwanted.is_set():
                self._kill()
                raise Ended("It was cancelled.")
            if self.limits.seconds is not None and time.monotonic() - begin > self.limits.seconds:
                self._kill()
                raise Ended(f"It took longer than {self.limits.seconds:g} seconds.")

    def _connected(self) -> Connection:
        if self._process is None or not self._process.is_alive() or self._pipe is None:
            self._kill()
            spawn = get_context("spawn")
            self._pipe, theirs = spawn.Pipe()
            self._process = spawn.Process(
                target=_serve, args=(theirs, self.limits), name=f"serendip {self.name}"
            )
            self._process.start()
            theirs.close()
            self._pipe.recv()  # it is ready; the time that takes is not held against the work
        return self._pipe

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()
        if self._pipe is not None:
            with suppress(OSError):
                self._pipe.close()
            self._pipe = None


# --- in the process ------------------------------------------------------------------------------

_PIPE: list[Connection] = []
"""The way back to the server, in a process of a lane."""


def report(value: Any) -> None:
    """Tells whoever waits how far the work is; does nothing outside a lane."""
    for pipe in _PIPE:
        pipe.send(("heard", value))


def _serve(pipe: Connection, limits: Limits) -> None:
    from serendip.compute.parallel import ready

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    ready()
    with suppress(OSError, AttributeError):
        os.nice(limits.nice)
    if limits.memory is not None:
        _hold(limits.memory)
    _PIPE.append(pipe)
    pipe.send("ready")
    while True:
        try:
            function, args = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception:
            pipe.send(("failed", traceback.format_exc()))
            continue
        pipe.send(_outcome(function, args))


def _outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", function(*args)
    except SerendipError as problem:
        return "refused", problem
    except MemoryError:
        return "refused", SerendipError("It needs more memory than there is for it.")
    except Exception:
        return "failed", traceback.format_exc()


def _hold(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
