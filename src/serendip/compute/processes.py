"""Shards held by processes of this machine, which map one file of rows: nothing is copied."""

import logging
import os
import pickle
import signal
import tempfile
import traceback
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

import numpy as np

from serendip.compute.workers import (
    check_guard,
    keep_to_cores,
    leave_if_starting,
    leave_with_parent,
)
from serendip.core.arrays import Ints
from serendip.core.errors import SerendipError
from serendip.core.progress import counting
from serendip.core.protocols import Reduction
from serendip.core.threads import n_threads
from serendip.pools.sharded import LIVES, Shard, lost, shard_bounds
from serendip.pools.sources import ArraySource, FileSource, Source
from serendip.pools.walking import LOOKING

R = TypeVar("R")

_log = logging.getLogger(__name__)


class ProcessExecutor:
    """One process a shard; a process that is killed is started again, and its part done again.

    Rows in memory are written once to a temporary file that all processes map (TMPDIR says where);
    rows of a file are mapped where they are. Threads take turns.
    """

    def __init__(self, source: Source, n_shards: int | None = None) -> None:
        """Starts the processes.

        Args:
            source: All rows.
            n_shards: Processes; by default one a core, and never more than blocks.
        """
        cores = n_threads()
        self.source = source
        self.bounds: Ints = shard_bounds(len(source), n_shards or cores, source.block_rows)
        self._threads = max(1, cores // self.n_shards)
        self._lock = Lock()
        shared, self._written = source, None
        if isinstance(source, ArraySource):
            shared, self._written = _written(source)
        self._workers: list[_Worker] = []
        self._begun = False
        self._end = weakref.finalize(self, _end, self._workers, self._written)
        self._parts = [
            (shared.cut(int(start), int(stop)), int(start))
            for start, stop in zip(self.bounds[:-1], self.bounds[1:], strict=True)
        ]
        try:
            for place in range(self.n_shards):
                self._workers.append(self._started(place))
            _checked(self._ask([_OPEN] * self.n_shards, "opening the pool"))
            self._begun = True
        except BaseException:
            self.close()
            raise

    @property
    def n_shards(self) -> int:
        """How many shards there are."""
        return len(self.bounds) - 1

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes, by shard."""
        return tuple(worker.process.pid or 0 for worker in self._workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes."""
        self._end()

    def fold(self, reduction: Reduction[R], removed: Sequence[Ints]) -> list[R]:
        """The reduction over each shard."""
        if not self._end.alive:
            raise SerendipError("The processes that held the pool have ended; start them again.")
        packed = _packed(reduction)
        requests = [pickle.dumps((packed, gone)) for gone in removed]
        with self._lock:
            try:
                answers = self._ask(requests, LOOKING)
            except BaseException:  # answers are under way that nobody would wait for
                self.close()
                raise
        return _checked(answers)

    def _ask(self, requests: Sequence[bytes], what: str) -> list[Any]:
        """The answers to one request for each shard, all worked on at once; `what` is reported."""
        with counting(what, len(self.source)) as tell:
            return self._answers(requests, tell)

    def _answers(self, requests: Sequence[bytes], tell: Callable[[int], None]) -> list[Any]:
        losses = [0] * self.n_shards
        answers: dict[int, Any] = {}
        for place in range(self.n_shards):
            self._send(place, requests[place], losses)
        while len(answers) < self.n_shards:
            waiting = {
                self._workers[place].connection: place
                for place in range(self.n_shards)
                if place not in answers
            }
            for ready in wait(list(waiting)):
                place = waiting[ready]  # type: ignore[index]  # what wait was given
                try:
                    answers[place] = pickle.loads(self._workers[place].connection.recv_bytes())
                except (EOFError, OSError):
                    self._replace(place, losses)
                    self._send(place, requests[place], losses)
                else:
                    tell(int(self.bounds[place + 1] - self.bounds[place]))
        return [answers[place] for place in range(self.n_shards)]

    def _send(self, place: int, request: bytes, losses: list[int]) -> None:
        while True:
            try:
                self._workers[place].connection.send_bytes(request)
                return
            except OSError:
                self._replace(place, losses)

    def _replace(self, place: int, losses: list[int]) -> None:
        if not self._begun:
            check_guard([self._workers[place].process])
        self._workers[place].end()
        losses[place] += 1
        if losses[place] >= LIVES:
            raise lost(place, self.n_shards, "its process") if self._begun else _NOT_BEGUN
        _log.warning(
            "Shard %d of %d lost its process; it is started again.", place + 1, self.n_shards
        )
        self._workers[place] = self._started(place)

    def _started(self, place: int) -> "_Worker":
        leave_if_starting()
        source, start = self._parts[place]
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(
            target=_serve,
            args=(there, source, start, self._threads, self._written and self._written.name),
            name=f"serendip-shard-{place}",
            daemon=True,
        )
        process.start()
        there.close()
        return _Worker(process, here)


def _packed(reduction: Reduction[Any]) -> bytes:
    """A reduction as it travels."""
    try:
        return pickle.dumps(reduction, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise SerendipError(f"{_STAYS}: {problem}.") from None


_STAYS = (
    "What a policy or a model computes cannot be sent to the processes that hold the pool; write "
    "it as a function at the top of a module, its settings by functools.partial, not as a lambda "
    "or a function within another"
)

_NOT_BEGUN = SerendipError(
    f"A process of the pool ended {LIVES} times before it was ready, most likely for want of "
    "memory."
)

_OPEN = pickle.dumps((b"", None))
"""Asks for nothing but that the rows are opened."""


@dataclass(frozen=True, slots=True)
class _Worker:
    """A process, and the line to it."""

    process: BaseProcess
    connection: Connection

    def end(self) -> None:
        """It holds nothing that could be damaged, so it is not asked."""
        self.connection.close()
        self.process.kill()
        self.process.join()


def _end(workers: list[_Worker], written: "_Written | None") -> None:
    for worker in workers:
        worker.end()
    if written is not None:
        written.file.close()
        if written.name is not None:
            written.name.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Failure:
    """What went wrong in a worker that is still alive."""

    problem: Exception


def _checked(answers: list[Any]) -> list[Any]:
    for answer in answers:
        if isinstance(answer, _Failure):
            raise answer.problem
    return answers


def _serve(
    line: Connection, source: Source, start: int, threads: int, leftover: Path | None
) -> None:
    """The life of a worker: open the rows once, then fold them as often as asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    leave_with_parent(None if leftover is None else partial(leftover.unlink, missing_ok=True))
    keep_to_cores(threads)
    shard: Shard | None = None
    while True:
        try:
            packed, removed = pickle.loads(line.recv_bytes())
        except (EOFError, OSError):
            return
        answer: object = None
        try:
            if shard is None:
                shard = Shard(source.open(), start)
            if packed:
                answer = shard.fold(_unpacked(packed), removed)
        except Exception as problem:
            answer = _Failure(_portable(problem))
        line.send_bytes(pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL))


def _unpacked(packed: bytes) -> Reduction[Any]:
    try:
        reduction: Reduction[Any] = pickle.loads(packed)
    except (AttributeError, ImportError) as problem:  # such as a function of a notebook
        raise SerendipError(f"{_STAYS}: {problem}.") from None
    return reduction


def _portable(problem: Exception) -> Exception:
    """The problem as it can be raised in the parent."""
    if isinstance(problem, SerendipError):
        return problem
    if isinstance(problem, MemoryError):
        return SerendipError("A process of the pool ran out of memory; use fewer shards.")
    said = "".join(traceback.format_exception(problem))
    return RuntimeError(f"A process of the pool failed:\n{said}")


@dataclass(frozen=True, slots=True)
class _Written:
    """The temporary file of rows that were in memory."""

    file: BinaryIO
    name: Path | None
    """None where the file needs none, so that nothing can be left behind whoever is killed."""


def _written(source: ArraySource) -> tuple[FileSource, _Written]:
    """The rows in a temporary file."""
    handle, name = tempfile.mkstemp(prefix="serendip-pool-", suffix=".npy")
    file = open(handle, "wb")  # noqa: SIM115  # stays open as long as the executor
    try:
        np.save(file, source.x, allow_pickle=False)
        file.flush()
    except OSError as problem:
        file.close()
        Path(name).unlink(missing_ok=True)
        raise SerendipError(
            f"The rows could not be written to {name} ({problem.strerror or problem}); processes "
            "share them there. Free some space, or set TMPDIR to a folder that has it."
        ) from None
    shape, dtype = source.x.shape, source.x.dtype.str
    opened = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
    nameless = opened.exists()  # Linux lets others open what this process holds open
    if nameless:
        Path(name).unlink()
    path = str(opened) if nameless else name
    shared = FileSource(path, shape, dtype, 0, len(source), source.block_rows)
    return shared, _Written(file, None if nameless else Path(name))
