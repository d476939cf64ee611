"""The file of regrets: what is kept of runs, and what is not."""

import pandas as pd
import pytest

from serendip.core.errors import InvalidInput
from serendip.simulate.experiments.catalogue import EXPERIMENTS
from serendip.simulate.experiments.experiment import run_experiment, with_horizon
from serendip.simulate.experiments.printed import HORIZONS
from serendip.simulate.experiments.results import read_results, refresh_results, write_results


def played(folder, name, **options):
    return run_experiment(EXPERIMENTS[name], folder, quick=True, **options)


def test_runs_come_back_from_the_file_as_they_were_to_four_places(tmp_path):
    steps = played(tmp_path / "runs", "lower-bound", repeats=2)
    path = tmp_path / "docs" / "data" / "regrets.csv"
    write_results(refresh_results(read_results(path), tmp_path / "runs"), path)
    found = read_results(path)
    assert found.names == ("lower-bound",)
    table = found.of("lower-bound")
    assert set(table[table["setting"] == "40"]["step"]) == {10, 20, 30, 40}
    assert set(table[table["setting"] == "10"]["step"]) == {3, 5, 8, 10}
    assert not {"oful", "best"} & set(table)
    for row in table.to_dict("records"):
        here = steps[(steps["setting"] == row["setting"]) & (steps["seed"] == row["seed"])]
        here = here[here["step"] == row["step"]].set_index("policy")["regret"]
        assert {policy: row[policy] for policy in here.index} == pytest.approx(dict(here), abs=6e-5)
    assert found.origins["lower-bound"].startswith("`serendip reproduce lower-bound`, commit ")
    assert found.origins["lower-bound"].split()[-1] == set(steps["commit"]).pop().split()[-1]


def test_only_experiments_that_were_run_are_replaced(tmp_path):
    path = tmp_path / "regrets.csv"
    runs = {one: tmp_path / str(one) for one in (1, 2)}
    played(runs[1], "lower-bound", repeats=1)
    first = refresh_results(read_results(path), runs[1])
    linear = first.rows.assign(experiment="linear", setting="20", vids=7.0)
    first.rows.loc[len(first.rows)] = linear.iloc[0]
    first.origins["linear"] = "`serendip reproduce linear`, commit abc"
    write_results(first, path)
    played(runs[2], "lower-bound", repeats=2)
    second = refresh_results(read_results(path), runs[2])
    assert second.names == ("linear", "lower-bound")
    assert second.of("linear")["vids"].tolist() == [7.0]
    assert second.origins["linear"] == "`serendip reproduce linear`, commit abc"
    assert set(second.of("lower-bound")["seed"]) == {0, 1}
    unchanged = refresh_results(second, tmp_path / "none")
    pd.testing.assert_frame_equal(unchanged.rows, second.rows)


def test_of_the_table_the_step_that_is_printed_is_kept(tmp_path):
    for folder, policy in (("table", "vids"), ("table-ucb", "ucb")):
        rows = [
            (f"{name}, noise 0.1: {pool}" if policy == "vids" else f"{name}: {pool}", step)
            for name, pool in (("pndc", "X2"), ("cncci", "L1+B1"))
            for step in range(1, 81)
        ]
        steps = pd.DataFrame(rows, columns=["setting", "step"])
        steps = steps.assign(
            policy=policy, seed=0, regret=steps["step"] / 100, total=1.0, commit="abc"
        )
        (tmp_path / folder).mkdir()
        steps.to_parquet(tmp_path / folder / "steps.parquet")
    found = refresh_results(read_results(tmp_path / "none.csv"), tmp_path).of("table")
    found = found.set_index("setting")
    assert dict(found["step"]) == {"pndc: X2": 17, "cncci: L1+B1": 67} | {}
    assert found["vids"].tolist() == found["ucb"].tolist() == [0.17, 0.67]
    assert found["best"].tolist() == [1.17, 1.67]
    assert HORIZONS == {"pndc": 17, "cncci": 67}


def test_a_file_without_a_policy_is_refused(tmp_path):
    path = tmp_path / "regrets.csv"
    path.write_text("experiment,setting,seed,step,best,ids\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="column vids"):
        read_results(path)


def test_another_horizon_begins_alike_and_ends_with_the_pool(tmp_path):
    experiment = EXPERIMENTS["lower-bound"]
    longer = with_horizon(experiment, 120)
    assert longer.name == "lower-bound-T120"
    assert [longer.task(T, 0).horizon for T in (10, 20)] == [100, 120]
    assert experiment.task(10, 0).horizon == 10
    short = with_horizon(experiment, 4)
    steps = run_experiment(short, tmp_path, repeats=1, quick=True)
    assert steps.groupby(["setting", "policy"])["step"].max().eq(4).all()
    whole = run_experiment(experiment, tmp_path, repeats=1, quick=True)
    first = whole[whole["step"] <= 4]
    pd.testing.assert_series_equal(
        *(one[one["policy"] == "greedy"]["item"].reset_index(drop=True) for one in (steps, first))
    )
    assert {path.name for path in tmp_path.iterdir()} == {"lower-bound", "lower-bound-T4"}
