"""The paper's table of real reactions, column by column, on data that the tests bring along."""

from pathlib import Path

import numpy as np
import pytest

from serendip.core.errors import InvalidInput
from serendip.simulate.experiments.experiment import run_experiment
from serendip.simulate.experiments.pages.table_page import table_page
from serendip.simulate.experiments.printed import HORIZONS, POLICIES, TABLE
from serendip.simulate.experiments.real import CNCCI_POOLS, PNDC_POOLS, _table, reactions
from serendip.simulate.experiments.results import PLACE, Results, read_results
from serendip.simulate.experiments.table import (
    at_table_steps,
    table_cells,
    table_experiments,
    table_summary,
)

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(autouse=True)
def _own_data(monkeypatch):
    monkeypatch.setenv("SERENDIP_DATA", str(DATA))
    _table.cache_clear()
    yield
    _table.cache_clear()


def test_ucb_has_the_printed_regret_to_the_cent_in_every_pool(tmp_path):
    _, ucb = table_experiments()
    steps = run_experiment(ucb, tmp_path)
    assert steps.groupby("setting")["step"].max().value_counts().to_dict() == {80: 11, 330: 9}
    final = at_table_steps(steps)
    ours = dict(zip(final["setting"], final["regret"], strict=True))
    printed = {
        f"{name}: {pool}": column.mean("ucb")
        for name, columns in TABLE.items()
        for pool, column in columns.items()
    }
    assert len(printed) == 20
    apart = {
        pool: (ours[pool], value)
        for pool, value in printed.items()
        if abs(ours[pool] - value) > 0.005 + 1e-9
    }
    assert not apart


def test_every_printed_column_stands_for_one_pool():
    for name, pools in (("pndc", PNDC_POOLS), ("cncci", CNCCI_POOLS)):
        assert set(TABLE[name]) == set(pools)
        assert sorted(column.label for column in TABLE[name].values()) == sorted(pools)


def test_random_choice_as_printed_is_what_the_pools_make_likely():
    """Ten-run means against the expectation: with the labels as printed z² sums to thousands."""
    total = 0.0
    for name, columns in TABLE.items():
        horizon = HORIZONS[name]
        for pool, column in columns.items():
            _, world = reactions(name, pool)
            f = np.sort(world.truth)
            expected = f[-horizon:].sum() - horizon * f.mean()
            share = (len(f) - horizon) / (len(f) - 1)
            spread = np.sqrt(horizon * f.var() * share / 10)
            total += ((column.mean("random") - expected) / spread) ** 2
    assert total < 45.3  # the 99.9 % quantile of χ² with 20 degrees of freedom


def test_cells_and_page_come_from_the_regrets_of_single_runs():
    import pandas as pd

    rows = [
        (name, pool, policy, seed, column.mean(policy) + (seed - 0.5) * (policy != "ucb"))
        for name, columns in TABLE.items()
        for pool, column in columns.items()
        for policy in POLICIES
        for seed in range(1 if policy == "ucb" else 2)
    ]
    regrets = pd.DataFrame(rows, columns=["data", "pool", "policy", "seed", "regret"])
    cells = table_cells(regrets)
    assert len(cells) == 80
    assert all(cell.to_the_cent for cell in cells)
    assert all(abs(cell.z) < 1e-9 for cell in cells if cell.policy != "ucb")
    assert table_summary(cells)[0] == "UCB agrees to the cent in 20 of 20 pools."
    regrets.loc[regrets["policy"] == "ucb", "regret"] += 0.02
    assert table_summary(table_cells(regrets))[0] == "UCB agrees to the cent in 0 of 20 pools."


@pytest.mark.parametrize("noise", [-1.0, float("nan"), float("inf")])
def test_a_noise_that_is_none_is_refused(noise):
    with pytest.raises(InvalidInput, match="positive standard deviation"):
        table_experiments(noise)


def test_the_page_in_the_documents_is_written_from_the_regrets_beside_it():
    docs = Path(__file__).parents[2] / "docs"
    results = read_results(docs / PLACE)
    page = (docs / "reproduction_table.md").read_text(encoding="utf-8")
    assert page == table_page(results, docs)
    assert "UCB agrees to the cent in 20 of 20 pools." in page
    assert "| L2+B1 | L1+B1 |" in page
    moved = results.rows.assign(ucb=results.rows["ucb"] + 0.02)
    other = table_page(Results(moved, results.origins), docs)
    assert "UCB agrees to the cent in 0 of 20 pools." in other
