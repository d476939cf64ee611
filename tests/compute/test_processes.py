"""Shards in local processes: the same answers, also when processes are killed."""

import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from serendip.compute.processes import ProcessExecutor
from serendip.core.data import Scores
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.reductions.folds import contenders, everything, frontier, lowest, optima
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.index import choose_by
from serendip.pools.dense import DensePool
from serendip.pools.sharded import ShardedPool
from serendip.pools.sources import ArraySource, FileSource
from serendip.simulate.loop import suggest
from shard_cases import Column, Through, Unlucky, alive, gone, lower_end

N, D, ROWS = 3000, 5, 100


def rows():
    return stream(0, "rows").standard_normal((N, D)).astype(np.float32)


@pytest.fixture(scope="module", name="executor")
def _executor():
    with ProcessExecutor(ArraySource(rows(), ROWS), 3) as executor:
        yield executor


def posterior():
    return LinearModel(D, 1.0, 1.0).posterior((), stream(0, "fit"))


def pools(executor):
    """The same pool twice: in one process, and in several."""
    whole, cut = DensePool(rows(), block_rows=ROWS), ShardedPool(executor)
    for item in (0, 17, 1200, 2999):
        whole, cut = whole.without(item), cut.without(item)
    return whole, cut


def pick(pool):
    return suggest(posterior(), pool, BudgetIDS(n_draws=50), 20, lambda p: stream(1, "s", p), 3)


def test_the_same_answers_as_one_process(executor):
    whole, cut = pools(executor)
    assert len(executor.pids) == 3
    assert pick(cut) == pick(whole)
    draws = posterior().sample(40, stream(2, "draws"))
    for count in (1, 25):
        found, expected = optima(cut, draws, count), optima(whole, draws, count)
        np.testing.assert_array_equal(found.items, expected.items)
        np.testing.assert_array_equal(found.values, expected.values)
    tradeoff = draws.tradeoff(contenders(whole, expected))
    np.testing.assert_array_equal(frontier(cut, tradeoff)[0], frontier(whole, tradeoff)[0])
    np.testing.assert_array_equal(everything(cut).x, everything(whole).x)
    np.testing.assert_array_equal(everything(cut).items, everything(whole).items)


def test_scores_travel_where_pickle_can_send_them(executor):
    whole, cut = pools(executor)
    score = partial(lower_end, width=0.7)
    picks = [choose_by(pool, posterior().moments(), score, stream(0, "c")) for pool in (whole, cut)]
    assert picks[0] == picks[1]
    with pytest.raises(SerendipError, match=r"top of a module.*lambda") as refusal:
        choose_by(cut, posterior().moments(), lambda mean, _: mean, stream(0, "c"))
    assert "\n" not in str(refusal.value)
    assert pick(cut) == pick(whole)  # the processes are as they were


def test_a_function_that_the_processes_cannot_find_is_named(executor, monkeypatch):
    import __main__

    _, cut = pools(executor)

    def made_here(mean, deviation):
        return mean

    made_here.__module__, made_here.__qualname__ = "__main__", "made_here"
    monkeypatch.setattr(__main__, "made_here", made_here, raising=False)
    with pytest.raises(SerendipError, match=r"top of a module.*made_here"):
        choose_by(cut, posterior().moments(), made_here, stream(0, "c"))


def test_a_process_killed_between_steps_is_replaced(executor, caplog):
    whole, cut = pools(executor)
    before = executor.pids
    os.kill(before[1], signal.SIGKILL)
    assert gone(before[1:2])
    assert pick(cut) == pick(whole)
    assert executor.pids[1] != before[1]
    assert (executor.pids[0], executor.pids[2]) == (before[0], before[2])
    assert "Shard 2 of 3 lost its process" in caplog.text


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_killed_half_way_through_a_step_is_replaced(executor, tmp_path, times):
    whole, cut = pools(executor)
    unlucky = Through(cut, Unlucky, (1900, times, tmp_path))
    assert pick(unlucky) == pick(whole)
    assert len(list(tmp_path.iterdir())) == times


def test_a_process_that_is_killed_again_and_again_ends_in_a_sentence(tmp_path):
    with ProcessExecutor(ArraySource(rows(), ROWS), 2) as executor:
        unlucky = Through(ShardedPool(executor), Unlucky, (1900, 10**6, tmp_path))
        pids = executor.pids
        with pytest.raises(SerendipError, match=r"Shard 2 of 2 lost its process 3 times in one"):
            pick(unlucky)
        assert gone(pids)
        with pytest.raises(SerendipError, match="have ended"):
            pick(ShardedPool(executor))
    assert len(list(tmp_path.iterdir())) == 3


def test_errors_of_workers_reach_the_user_and_nothing_is_broken(executor):
    whole, cut = pools(executor)
    column = np.zeros(N)
    column[2500] = np.nan
    with pytest.raises(SerendipError, match="not-a-number"):
        lowest(cut, Column(column), 0)
    with pytest.raises(RuntimeError, match="IndexError"):  # a mistake in a policy: all is told
        lowest(cut, Column(column[:10]), 0)
    assert lowest(cut, Column(np.arange(N, 0.0, -1.0)), 0).item == 2998
    assert pick(cut) == pick(whole)


def left_behind():
    return set(Path(tempfile.gettempdir()).glob("serendip-pool-*.npy"))


def test_nothing_is_left_behind():
    before = left_behind()
    with ProcessExecutor(ArraySource(rows(), ROWS), 2) as executor:
        pids = executor.pids
        assert all(alive(pid) for pid in pids)
    assert gone(pids)
    assert left_behind() <= before
    wrong = rows()
    wrong[1234, 3] = np.inf
    with pytest.raises(InvalidInput, match=r"from row 1000 of the pool.*row 234, column 3"):
        ProcessExecutor(ArraySource(wrong, ROWS), 3)
    assert left_behind() <= before


def test_rows_of_a_file_are_mapped_where_they_are(tmp_path):
    np.save(tmp_path / "pool.npy", rows())
    before = left_behind()
    with ProcessExecutor(FileSource.of(tmp_path / "pool.npy", ROWS), 2) as executor:
        assert left_behind() == before
        assert pick(ShardedPool(executor)) == pick(DensePool(rows(), block_rows=ROWS))
        for pid in executor.pids:
            assert "/pool.npy" in Path(f"/proc/{pid}/maps").read_text()


def test_a_full_disk_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(SerendipError, match=r"No space left on device.*TMPDIR"):
        ProcessExecutor(ArraySource(rows(), ROWS), 2)
    assert list(tmp_path.iterdir()) == []


PARENT = """
import signal, time
import numpy as np
from serendip.compute.processes import ProcessExecutor
from serendip.pools.sources import ArraySource

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    executor = ProcessExecutor(ArraySource(np.zeros((300, 2)), 100), 3)
    print(*executor.pids, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_workers_leave_with_their_parent(tmp_path, how):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 3
    assert all(alive(pid) for pid in pids)
    parent.send_signal(how)
    parent.communicate(timeout=60)
    assert gone(pids)
    assert list(tmp_path.glob("*.npy")) == []


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PARENT.replace('if __name__ == "__main__":', "if True:"))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 1
    assert 'Write `if __name__ == "__main__":` before what it does' in done.stderr.splitlines()[-1]
    assert list(tmp_path.glob("*.npy")) == []


def test_what_travels_can_be_packed(executor):
    with pytest.raises(SerendipError, match=r"top of a module.*lambda"):
        lowest(ShardedPool(executor), lambda block: Scores((block.x[:, 0],)), 0)
    whole, cut = pools(executor)
    assert pick(cut) == pick(whole)
