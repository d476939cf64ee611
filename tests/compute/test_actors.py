"""Shards, runs and commands on a Ray cluster of several nodes, all on this machine."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from needs import need_package
from serendip.compute import cluster
from serendip.compute.actors import RayExecutor, _Holder
from serendip.compute.engines import Engine, executor_on
from serendip.compute.parallel import run_all
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.reductions.folds import everything, lowest, optima
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.policies.budget_ids import BudgetIDS
from serendip.pools.dense import DensePool
from serendip.pools.sharded import ShardedPool
from serendip.pools.sources import ArraySource, FileSource
from serendip.simulate.backtests.backtest import backtest
from serendip.simulate.loop import suggest
from shard_cases import Column, Through, Unlucky, Waiting, dies_once, refused, squared

ray_utils = need_package("ray.cluster_utils")

N, D, ROWS = 3000, 5, 100
TESTS = Path(__file__).parents[1]


def rows():
    return stream(0, "rows").standard_normal((N, D)).astype(np.float32)


@pytest.fixture(scope="module", name="nodes")
def _nodes():
    """A cluster of three nodes; workers see the modules of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # else a busy machine starves them
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80_000_000}
        nodes = ray_utils.Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(2):
                nodes.add_node(num_cpus=1, object_store_memory=80_000_000)
            nodes.wait_for_nodes()
            yield nodes
        finally:
            started = [nodes.head_node, *nodes.worker_nodes]
            nodes.shutdown()
            assert not any(node.any_processes_alive() for node in started)


@pytest.fixture(scope="module", name="executor")
def _executor(nodes):
    with cluster.connected(nodes.address), RayExecutor(ArraySource(rows(), ROWS)) as executor:
        yield executor


def posterior():
    return LinearModel(D, 1.0, 1.0).posterior((), stream(0, "fit"))


def pools(executor):
    """The same pool twice: in one process, and on the cluster."""
    whole, cut = DensePool(rows(), block_rows=ROWS), ShardedPool(executor)
    for item in (0, 17, 1200, 2999):
        whole, cut = whole.without(item), cut.without(item)
    return whole, cut


def pick(pool):
    return suggest(posterior(), pool, BudgetIDS(n_draws=50), 20, lambda p: stream(1, "s", p), 2)


def test_the_same_answers_as_one_process(executor):
    whole, cut = pools(executor)
    assert executor.n_shards == 3  # one a core
    assert pick(cut) == pick(whole)
    draws = posterior().sample(40, stream(2, "draws"))
    for count in (1, 25):
        found, expected = optima(cut, draws, count), optima(whole, draws, count)
        np.testing.assert_array_equal(found.items, expected.items)
        np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(everything(cut).x, everything(whole).x)


def test_errors_of_workers_reach_the_user(executor):
    column = np.zeros(N)
    column[2500] = np.nan
    with pytest.raises(SerendipError, match=r"^A score came out as not-a-number"):
        lowest(ShardedPool(executor), Column(column), 0)
    wrong = rows()
    wrong[2100, 3] = np.inf
    with pytest.raises(InvalidInput, match=r"row 100, column 3 holds inf"):
        RayExecutor(ArraySource(wrong, ROWS), 3)


def test_rows_of_a_file(executor, tmp_path):
    np.save(tmp_path / "pool.npy", rows())
    source = FileSource.of(tmp_path / "pool.npy", ROWS)
    with RayExecutor(source, 2) as from_file:
        assert pick(ShardedPool(from_file)) == pick(DensePool(rows(), block_rows=ROWS))
    (tmp_path / "pool.npy").unlink()
    with pytest.raises(SerendipError, match=r"could not be read.*on every machine"):
        RayExecutor(source, 2)


def test_an_actor_that_is_killed_is_replaced(executor, tmp_path, caplog):
    whole, cut = pools(executor)
    assert pick(Through(cut, Unlucky, (1900, 1, tmp_path))) == pick(whole)
    assert "Shard 2 of 3 lost its worker" in caplog.text


def test_an_actor_that_is_killed_again_and_again_ends_in_a_sentence(executor, tmp_path):
    _, cut = pools(executor)
    with pytest.raises(SerendipError, match=r"^Shard 2 of 3 lost its actor 3 times in one step"):
        pick(Through(cut, Unlucky, (1900, 10**6, tmp_path)))
    assert len(list(tmp_path.iterdir())) == 3


def test_runs_are_the_same_on_the_cluster(nodes, executor):
    frame = pd.DataFrame(stream(0, "t").standard_normal((40, 3)), columns=["a", "b", "c"])
    frame["y"] = frame["a"] - frame["b"]
    engine = Engine("ray", address=nodes.address)
    seen = []

    def run(**where):
        return backtest(frame, "y", budget=6, policies=["ids", "random"], repeats=3, **where)

    there = run(jobs=None, engine=engine, progress=lambda done, total: seen.append((done, total)))
    here = run(jobs=1)
    assert seen == [(done, 6) for done in range(1, 7)]
    columns = [name for name in here.steps.columns if name != "seconds"]
    pd.testing.assert_frame_equal(there.steps[columns], here.steps[columns])


def test_tasks_know_the_settings_and_their_errors_are_sentences(nodes, executor, monkeypatch):
    monkeypatch.setenv("SERENDIP_DATA", "/data")
    engine = Engine("ray", address=nodes.address)
    found = dict(run_all(squared, [3, 4], None, engine))
    assert found == {0: (9, "1", "/data"), 1: (16, "1", "/data")}
    with pytest.raises(InvalidInput, match=r"^No 3 here\.$"):
        list(run_all(refused, [3, 4], 1, engine))
    assert list(run_all(refused, [], 1, engine)) == []


def test_a_task_whose_process_is_killed_is_run_again(nodes, executor, tmp_path):
    engine = Engine("ray", address=nodes.address)
    tasks = [(tmp_path / "first", 1), (tmp_path / "second", 2)]
    assert dict(run_all(dies_once, tasks, None, engine)) == {0: 1, 1: 2}


def serendip(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-c", "from serendip.cli.main import run; run()", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )


def test_ask_on_a_cluster_and_in_one_process(nodes, executor, tmp_path):
    rng = stream(0, "screen")
    frame = pd.DataFrame(rng.standard_normal((20_000, 2)).round(3), columns=["acid", "heat"])
    frame.insert(0, "code", [f"c{place}" for place in range(len(frame))])
    frame.to_csv(tmp_path / "pool.csv", index=False)
    begin = ("init", "screen", "--pool", "pool.csv", "--label", "y", "--id", "code")
    assert serendip(*begin, "--budget", 9, cwd=tmp_path).returncode == 0
    asked = {}
    for name, where in {
        "one": (),
        "processes": ("--engine", "processes", "--shards", 3),
        "ray": ("--engine", "ray", "--address", nodes.address),
    }.items():
        shutil.copy(tmp_path / "serendip.db", tmp_path / name)
        options = ("-n", 2, "--format", "json", "--store", name, *where)
        done = serendip("ask", "screen", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        asked[name] = json.loads(done.stdout)
    assert len(asked["one"]) == 2
    assert asked["processes"] == asked["one"]
    assert asked["ray"] == asked["one"]


def test_a_node_killed_in_mid_step(nodes, executor, tmp_path):
    """The shards of the node are loaded again elsewhere, and the pick is that of one process."""
    reached = tmp_path / "reached"
    with RayExecutor(ArraySource(rows(), ROWS), 4) as larger:
        doomed = next(node for node in nodes.worker_nodes if node.node_id in larger.homes)
        held = [place for place in range(4) if larger.homes[place] == doomed.node_id]
        assert 1 <= len(held) <= 2  # four shards on three nodes of one core
        middle = int(larger.bounds[held[-1]]) + 2 * ROWS  # the third block of its last shard
        whole, cut = pools(larger)

        def kill():
            while not reached.exists():
                time.sleep(0.02)
            nodes.remove_node(doomed, allow_graceful=False)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        found = pick(Through(cut, Waiting, (middle, reached)))
        killer.join()
        assert found == pick(whole)
        assert doomed.node_id not in larger.homes
        assert pick(cut) == pick(whole)
    late = cluster.actor(_Holder, doomed.node_id, True, 1)  # its end was not yet known
    with pytest.raises(cluster.LostWorker):
        cluster.result(late.fold.remote(ArraySource(rows(), ROWS), 0, None, None))


def test_addresses_that_do_not_answer():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]

        def answer():
            line, _ = silent.accept()
            line.recv(100)
            line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            line.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(SerendipError, match=rf"reached at 127.0.0.1:{port} \(what answers"):
            cluster._check_answer(f"127.0.0.1:{port}")
        thread.join()
    with pytest.raises(SerendipError, match=r"refused.*start one with `ray start --head`"):
        cluster._check_answer(f"127.0.0.1:{port}")
    for address in ("somewhere", "ray://host:10001", ":6379"):
        with pytest.raises(InvalidInput, match="HOST:PORT"):
            cluster._check_answer(address)


def test_without_ray_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    source = ArraySource(np.zeros((3, 1)))
    with (
        pytest.raises(SerendipError, match=r"run pip install 'serendip\[cluster\]'"),
        executor_on(Engine("ray"), source),
    ):
        pass
