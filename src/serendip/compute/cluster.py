"""A Ray cluster: the connection, workers that can be lost, and many runs as tasks.

The only file that knows Ray. Every machine needs the same serendip.
"""

import logging
import os
import socket
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, TypeVar

from serendip.compute.workers import keep_to_cores
from serendip.core.errors import InvalidInput, SerendipError

T = TypeVar("T")
R = TypeVar("R")

Handle = Any
"""What Ray calls an actor, an object or a result to come; nobody else looks inside."""

_PATIENCE_S = 10.0
"""How long a cluster may take to answer at all."""

# How any HTTP/2 client begins: Ray's server answers with its settings (frame type 4).
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))

_RETRIES = 3
"""How often Ray runs a task again whose machine was lost."""


class LostWorker(Exception):
    """A worker, its node or its result is gone; the work can be done again elsewhere."""


# --- the connection ------------------------------------------------------------------------------


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """A connection to a cluster until the end of the context; one that is open already is used.

    Args:
        address: host:port, or auto for the cluster this machine belongs to; by default what
            RAY_ADDRESS says, then that cluster, then a new one of this machine's cores.
    """
    if find_spec("ray") is None:
        raise SerendipError(
            "The ray engine needs Ray, which is not installed; run pip install 'serendip[cluster]'."
        )
    import ray

    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a new cluster reports to nobody
    os.environ.setdefault("RAY_worker_niceness", "0")  # and its workers are not put last
    where = address or os.environ.get("RAY_ADDRESS") or None
    if where is not None and where not in ("auto", "local"):
        _check_answer(where)
    try:
        ray.init(where, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (ConnectionError, RuntimeError, ValueError, OSError) as problem:
        raise _unreachable(where or "this machine", problem) from None
    with _hushed(ray):
        try:
            yield
        finally:
            ray.shutdown()


def _check_answer(address: str) -> None:
    """Ray itself would try for minutes to reach what is not there."""
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise InvalidInput(
            f"A cluster's address is HOST:PORT, as `ray start --head` printed it, or auto; got "
            f"{address!r}. Run the command on a machine of the cluster."
        )
    if os.environ.get("RAY_USE_TLS") == "1":
        return
    try:
        with socket.create_connection((host, int(port)), _PATIENCE_S) as line:
            line.sendall(_GREETING)
            answer = line.recv(9)
    except OSError as problem:
        raise _unreachable(address, problem) from None
    if answer[3:4] != b"\x04":
        raise _unreachable(address, ConnectionError("what answers there is not Ray"))


def _unreachable(address: str, problem: Exception) -> SerendipError:
    said = (str(problem).strip().splitlines() or [type(problem).__name__])[0].rstrip(".")
    return SerendipError(
        f"No Ray cluster could be reached at {address} ({said}); start one with `ray start --head`,"
        " or check --address."
    )


@contextmanager
def _hushed(ray: Any) -> Iterator[None]:
    """Ray prints pages about a lost node to standard output, where a result may be expected.

    We say it in one line of our own. The switch is Ray's, though not documented: where it is gone,
    Ray prints again.
    """
    inside = getattr(getattr(ray, "_private", None), "worker", None)
    before = getattr(inside, "_worker_logs_enabled", None)
    if before is None:
        yield
        return
    setattr(inside, "_worker_logs_enabled", False)  # noqa: B010  # not an attribute to type
    try:
        yield
    finally:
        setattr(inside, "_worker_logs_enabled", before)  # noqa: B010  # as above


def cores_by_node(lost_nodes: Collection[str] = ()) -> Mapping[str, int]:
    """The cores of each node that is alive; of those that lost a worker only if no other is."""
    import ray

    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]  # Ray's is untyped
    alive = {
        str(node["NodeID"]): int(node["Resources"].get("CPU", 0)) for node in nodes if node["Alive"]
    }
    working = {node: cores for node, cores in alive.items() if cores > 0}
    trusted = {node: cores for node, cores in working.items() if node not in lost_nodes}
    return trusted or working or dict.fromkeys(alive, 1)


# --- workers -------------------------------------------------------------------------------------


def this_node() -> str:
    """The node a worker runs on."""
    import ray

    return str(ray.get_runtime_context().get_node_id())


def stored(value: object) -> Handle:
    """The value in the cluster's object store; workers that are given the handle get the value."""
    import ray
    from ray.exceptions import ObjectStoreFullError

    try:
        return ray.put(value)
    except ObjectStoreFullError:
        raise SerendipError(
            "The rows do not fit the object store of the cluster; give the pool as an .npy file "
            "that all machines see."
        ) from None


def actor(kind: type, node: str, strictly: bool, *arguments: object) -> Handle:
    """An object of this kind in a process of the node.

    It reserves no cores: what was on a lost node always finds a place.

    Args:
        kind: The class.
        node: Where.
        strictly: On that node or lost; otherwise Ray may choose another, as it does with busy ones.
        arguments: Of the class.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    place = NodeAffinitySchedulingStrategy(node_id=node, soft=not strictly)
    remote: Any = ray.remote(kind)
    return remote.options(num_cpus=0, max_restarts=0, scheduling_strategy=place).remote(*arguments)


def end_actor(one: Handle) -> None:
    """Ends the actor, if it still lives."""
    import ray

    ray.kill(one)


def first_of(waiting: Collection[Handle]) -> Handle:
    """The first of these results to come, or to be lost."""
    import ray

    ready, _ = ray.wait(list(waiting), num_returns=1)
    return ready[0]


def result(ready: Handle) -> Any:
    """The result; LostWorker where it is gone, and the worker's own error where that failed."""
    import ray
    from ray import exceptions

    try:
        return ray.get(ready)
    except (
        exceptions.RayActorError,
        exceptions.ActorUnschedulableError,
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.ObjectLostError,
        exceptions.OutOfMemoryError,
        exceptions.LocalRayletDiedError,
    ) as problem:
        raise LostWorker(str(problem)) from None
    except exceptions.RayTaskError as problem:
        raise _own(problem) from None


def _own(problem: Any) -> Exception:
    """The error that a worker raised, without Ray's wrapping where it is one for users."""
    cause = getattr(problem, "cause", None)
    if isinstance(cause, ModuleNotFoundError):
        return SerendipError(
            f"A machine of the cluster has no module {cause.name!r}; install the same serendip, "
            "with the same extras, on all of them."
        )
    if isinstance(cause, MemoryError):
        return SerendipError("A machine of the cluster ran out of memory; use more of them.")
    return cause if isinstance(cause, SerendipError) else problem


# --- many runs as tasks --------------------------------------------------------------------------


def run_tasks(
    work: Callable[[T], R], tasks: Sequence[T], jobs: int | None, address: str | None
) -> Iterator[tuple[int, R]]:
    """(index, result) of each task as they finish, the same as on one machine.

    Args:
        work: A function of a module that all machines have.
        tasks: What it is called with.
        jobs: How many run at once; by default as many as the cluster has cores.
        address: Of the cluster.
    """
    if not tasks:
        return
    with connected(address):
        import ray

        most = jobs or 2 * sum(cores_by_node().values())  # the next one is there already
        settings = {name: value for name, value in os.environ.items() if name in _TOLD}
        remote: Any = ray.remote(_run)
        run = remote.options(num_cpus=1, max_retries=_RETRIES)
        waiting: dict[Handle, int] = {}
        left = iter(enumerate(tasks))
        try:
            while True:
                while len(waiting) < most and (following := next(left, None)) is not None:
                    index, task = following
                    waiting[run.remote(work, task, settings)] = index
                if not waiting:
                    return
                ready = first_of(waiting)
                index = waiting.pop(ready)
                yield index, _kept(ready)
        finally:
            for ready in waiting:
                ray.cancel(ready, force=True)


_TOLD = ("SERENDIP_DATA",)
"""Settings of this machine that tasks must know."""


def _run(work: Callable[[T], R], task: T, settings: Mapping[str, str]) -> R:
    os.environ.update(settings)
    keep_to_cores(1)
    return work(task)


def _kept(ready: Handle) -> Any:
    try:
        return result(ready)
    except LostWorker:
        raise SerendipError(
            f"A run was lost with its machine {_RETRIES + 1} times; start the command again when "
            "the cluster is well."
        ) from None
