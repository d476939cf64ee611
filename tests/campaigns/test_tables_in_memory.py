"""A table in memory as a campaign's pool, and what becomes of its copy."""

import gc

import pandas as pd
import pyarrow as pa
import pytest

from serendip import Campaign, InvalidInput, backtest, stream

N = 30
TABLE = pd.DataFrame(
    {"id": [f"c{place}" for place in range(N)], "a": range(N), "b": stream(0, "b").random(N)}
)
SETTINGS = {"label": "yield", "budget": 10, "id": "id", "model": "linear", "batch": 3}


INDEXED = TABLE.set_index(TABLE["a"] + 7)


@pytest.mark.parametrize(
    "table", [TABLE, INDEXED, pa.table(TABLE)], ids=["plain", "index", "arrow"]
)
def test_it_proposes_what_the_same_table_in_a_file_does(table, tmp_path):
    TABLE.to_parquet(tmp_path / "pool.parquet")
    settings = {**SETTINGS, "name": "campaign", "pool": tmp_path / "pool.parquet"}
    file = Campaign.create(settings, tmp_path / "file.db", who="ann")
    memory = Campaign.create(table, who="ann", **SETTINGS)
    for campaign in (file, memory):
        first = campaign.ask()
        campaign.tell({first["id"][0]: 1.0, first["id"][1]: 3.0, first["id"][2]: "failed"})
    pd.testing.assert_frame_equal(memory.ask(), file.ask())
    assert memory.settings.name == "campaign"
    assert Campaign.open("campaign", memory.store).state.version == memory.state.version


def test_without_a_store_everything_goes_with_the_object():
    campaign = Campaign.create(TABLE, **SETTINGS)
    folder = campaign.store.folder
    campaign.ask(2)
    assert {one.name for one in folder.iterdir()} == {"serendip.db", "serendip-pools"}
    del campaign
    gc.collect()
    assert not folder.exists()


def test_with_a_store_the_copy_stays_beside_it(tmp_path):
    campaign = Campaign.create(TABLE, tmp_path / "lab.db", name="first", **SETTINGS)
    first = list(campaign.ask(2)["id"])
    del campaign
    gc.collect()
    again = Campaign.open("first", tmp_path / "lab.db")
    assert list(again.pending()["id"]) == first
    Campaign.create(TABLE, again.store, name="second", **SETTINGS)
    assert len(list((tmp_path / "serendip-pools").iterdir())) == 1  # the same table is kept once


@pytest.mark.parametrize(
    ("pool", "more", "words"),
    [
        (3, {}, "The pool must be a table, such as a pandas DataFrame, or Settings; got 3"),
        (pd.DataFrame, {}, "The pool must be a table, .*; got the class DataFrame"),
        (TABLE, {"labl": "yield"}, "There is no setting 'labl'. Did you mean label?"),
        (TABLE, {"budget": 31}, "30 candidates of .* have no label yet"),
        (TABLE.assign(a=[1, "x", *range(28)]), {}, "cannot be kept as Parquet .* write the table"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_stays(pool, more, words, tmp_path):
    with pytest.raises(InvalidInput, match=words):
        Campaign.create(pool, tmp_path / "lab.db", **{**SETTINGS, **more})
    kept = tmp_path / "serendip-pools"
    assert not kept.exists() or all(one.suffix == ".parquet" for one in kept.iterdir())


def test_settings_are_given_in_one_way():
    with pytest.raises(InvalidInput, match="Settings are given twice"):
        Campaign.create({"name": "first"}, label="yield")


def test_a_backtest_takes_tables_of_others():
    table = TABLE.assign(**{"yield": TABLE["b"]})
    runs = [
        backtest(one, "yield", id="id", policies="greedy", budget=4, repeats=1).steps
        for one in (table, pa.table(table))
    ]
    pd.testing.assert_frame_equal(*(run.drop(columns="seconds") for run in runs))
