"""Many runs on several processes: all of them, once each, also when processes are killed."""

import pytest

from serendip.compute.parallel import run_all
from serendip.core.errors import InvalidInput, SerendipError
from shard_cases import dies_always, dies_once, refused, squared


def test_every_task_once(monkeypatch):
    monkeypatch.setenv("SERENDIP_DATA", "/data")
    found = list(run_all(squared, range(5), 2))
    assert sorted(found) == [(number, (number**2, "1", "/data")) for number in range(5)]
    assert list(run_all(squared, [], 2)) == []


def test_one_process_does_without_others():
    assert [index for index, _ in run_all(squared, range(4), 1)] == [0, 1, 2, 3]


def test_errors_are_raised_as_they_are():
    with pytest.raises(InvalidInput, match=r"^No \d here\.$"):
        list(run_all(refused, range(3), 2))


def test_a_task_whose_process_is_killed_is_run_again(tmp_path):
    tasks = [(tmp_path / str(number), number) for number in range(2)]
    (tmp_path / "0").touch()
    assert sorted(run_all(dies_once, tasks, 2)) == [(0, 0), (1, 1)]


def test_tasks_that_are_always_killed_end_in_a_sentence():
    with pytest.raises(SerendipError, match=r"killed 3 times.*fewer --jobs"):
        list(run_all(dies_always, range(2), 2))
