"""Campaigns on pool folders: the same proposals as on the table, and nothing per candidate."""

import os
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from campaigns import screens
from serendip.campaigns.campaign import Campaign
from serendip.campaigns.errors import PoolChanged
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.models import registry
from serendip.models.linear.model import LinearModel
from serendip.problems.folders.importing import TableOptions, import_tables
from serendip.problems.folders.names import StoredNames
from serendip.problems.folders.products import make_product


@pytest.fixture(name="truth")
def _truth(folder):
    """A table and a pool folder of the same candidates; the truth by id."""
    truth, path = screens.write_pool()
    options = TableOptions(id="code", keep=("solvent",), dtype="float64")
    import_tables([path], folder / "disk", options)
    return truth


def begun(**changes):
    changes = {"model": "linear", **changes}
    folder = {"name": "disk", "pool": "disk", "id": None, **changes}
    return Campaign.create(screens.settings(**changes)), Campaign.create(screens.settings(**folder))


@pytest.mark.parametrize("model", ["linear", "gp", "sparse"])
def test_proposals_equal_those_on_the_table(truth, model):
    changes = {"model": model, "budget": 8, "batch": 3, "range": (-5.0, 5.0)}
    table, disk = begun(**changes)
    for _ in range(2):
        mine, theirs = table.ask(), disk.ask()
        assert mine["code"].tolist() == theirs["code"].tolist()
        np.testing.assert_allclose(mine["expected"], theirs["expected"], rtol=1e-6, atol=1e-9)
        assert mine["solvent"].tolist() == theirs["solvent"].tolist()
        assert list(theirs.columns)[:3] == ["code", "solvent", "yield"]
        told = {name: truth[name] for name in mine["code"]}
        table.tell(told)
        disk.tell(told)
    again = Campaign.open("disk")
    assert again.state == disk.state
    assert again.ask(1)["code"].tolist() == table.ask(1)["code"].tolist()
    futures = table.forecast(), disk.forecast()
    np.testing.assert_allclose(futures[0].expected_total, futures[1].expected_total, rtol=1e-6)
    assert "<h1>disk</h1>" in disk.report()
    assert disk.status().candidates == 60


def test_auto_is_what_fits_a_folder_and_beyond_what_it_is_made_for_linear(truth, monkeypatch):
    unnamed = screens.settings(pool="disk", id=None)
    assert "candidates" in screens.serendip("init", *options({**unnamed, "name": "small"}))[1]
    small = Campaign.open("small")
    assert small.state.created.settings["model"] == "auto"
    said = screens.serendip("status", "small", "--no-forecast")[1]
    assert "Model auto: made for pools of up to 10,000,000 candidates." in said
    why = "Model linear: a pool of 60 candidates is more than auto is made for (50)."
    with monkeypatch.context() as patched:
        patched.setitem(registry.MODELS, "auto", replace(registry.MODELS["auto"], largest=50))
        assert f"Note: {why}" in screens.serendip("init", *options({**unnamed, "name": "large"}))[1]
        assert why in screens.serendip("status", "large", "--no-forecast")[1]
    large = Campaign.open("large")  # what a log says stays, whatever would fit now
    assert large.settings.model == large.state.created.settings["model"] == "linear"
    assert isinstance(large.problem.model, LinearModel)
    assert "Model linear.\n" in screens.serendip("status", "large", "--no-forecast")[1]


def options(settings):
    named = {word: value for word, value in settings.items() if word != "name" and value}
    return settings["name"], *(
        part for word, value in named.items() for part in (f"--{word}", value)
    )


def test_what_fits_a_pool_on_disk():
    def fits(**folder):
        return registry.usual_model(None, None, None, folder=registry.OnDisk(**folder))

    assert [fits(n=n) for n in (10, 10_000_000, 10_000_001)] == ["auto", "auto", "linear"]
    assert fits(n=10, bits=True) == "linear"
    many = registry.OnDisk(30_000_000)
    assert registry.model_note("linear", many) == (
        "Model linear: a pool of 30,000,000 candidates is more than auto is made for (10,000,000)."
    )
    assert registry.model_note("gp", many) == "Model gp."


def test_predictions_of_the_best(truth):
    table, disk = begun()
    for campaign in (table, disk):
        campaign.tell({name: truth[name] for name in ("c001", "c005", "c040")})
    mine, theirs = table.predict(), disk.predict()
    columns = ["id", "state", "expected", "uncertainty", "chance_of_top", "yield"]
    pd.testing.assert_frame_equal(mine[columns], theirs[columns], rtol=1e-6)
    best = disk.predict(top=7)
    wanted = mine.sort_values("expected", ascending=False, kind="stable").head(7)
    assert best["id"].tolist() == wanted["id"].tolist()
    np.testing.assert_allclose(best["chance_of_top"], wanted["chance_of_top"])
    results = disk.export("results")
    assert results["code"].tolist() == ["c001", "c005", "c040"]


def test_a_pool_too_long_to_list_needs_a_top(truth, monkeypatch):
    _, disk = begun()
    monkeypatch.setattr("serendip.campaigns.analysis.predictions._MOST_LISTED", 50)
    with pytest.raises(InvalidInput, match=r"60 candidates is too long; .* --top"):
        disk.predict()
    assert len(disk.predict(top=3)) == 3


def test_candidates_are_looked_up_one_at_a_time(truth, monkeypatch):
    """However many there are, a campaign asks for the names of those it deals with."""
    begun(budget=6)
    asked = []
    get = StoredNames.__getitem__
    monkeypatch.setattr(
        StoredNames, "__getitem__", lambda self, item: (asked.append(item), get(self, item))[1]
    )
    again = Campaign.open("disk")
    names = again.ask(2)["code"].tolist()
    again.tell({names[0]: 1.0})
    again.forecast()
    again.status()
    assert len(asked) < 20


def test_ids_as_people_write_them(folder):
    frame = pd.DataFrame({"id": range(100, 140), "a": np.arange(40.0), "b": np.arange(40) % 7})
    frame.to_parquet(folder / "t.parquet")
    import_tables([folder / "t.parquet"], folder / "disk", TableOptions(id="id"))
    campaign = Campaign.create({"name": "disk", "pool": "disk", "label": "y", "budget": 9})
    campaign.tell({"100": 1.0, "101.0": 2.0, " 102 ": 3.0})
    assert list(campaign.state.results) == ["100", "101", "102"]
    with pytest.raises(InvalidInput, match="no candidate '99'"):
        campaign.tell({"99": 1.0})


def test_labels_that_the_pool_came_with_are_known(folder):
    _, path = screens.write_pool()
    frame = pd.read_csv(path)
    frame["yield"] = np.where(frame.index < 5, 0.5 + frame.index, np.nan)
    frame.to_csv(path, index=False)
    import_tables([path], folder / "disk", TableOptions(id="code", label="yield"))
    table, disk = begun()
    assert disk.state.known == table.state.known == {f"c{i:03d}": 0.5 + i for i in range(5)}
    other = Campaign.create(screens.settings(name="other", pool="disk", id=None, label="purity"))
    assert other.state.known == {}
    frame["yield"] = 1.0
    frame.to_csv(path, index=False)
    import_tables([path], folder / "full", TableOptions(id="code", label="yield"))
    with pytest.raises(InvalidInput, match=r"All 60 candidates .* have a label"):
        Campaign.create(screens.settings(name="full", pool="full", id=None))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "code"}, "--id is for tables"),
        ({"features": ("acid",)}, "--features is for tables"),
        ({"snapshot": True}, "--snapshot is for tables"),
        ({"nominal": ("acid",)}, "--nominal is for tables"),
        ({"missing": "impute"}, "--missing is for tables"),
        ({"model": "low-rank", "rows": "a", "columns": "b"}, "takes the models"),
        ({"budget": 61}, "make the budget 60"),
        ({"policy": "glm-ucb"}, "needs a generalised linear posterior"),
    ],
)
def test_settings_that_do_not_fit_a_folder(truth, changes, words):
    settings = screens.settings(**{"name": "disk", "pool": "disk", "id": None, **changes})
    with pytest.raises(Exception, match=words) as caught:
        Campaign.create(settings)
    assert type(caught.value).__module__ == "serendip.core.errors"


def test_a_folder_that_changed_is_not_used(truth, folder):
    _, disk = begun()
    disk.ask(1)
    with (folder / "disk" / "features.npy").open("r+b") as file:
        file.seek(1000)
        file.write(b"\x42")
    with pytest.raises(DamagedPool, match="damaged or was changed"):
        Campaign.open("disk").ask(1)
    with pytest.raises(DamagedPool, match="changed while it was in use"):
        disk.ask(1)


def test_another_pool_in_its_place_is_not_used(truth, folder):
    begun()
    shutil.rmtree(folder / "disk")
    screens.write_pool("other.csv", seed=9)
    import_tables([folder / "other.csv"], folder / "disk", TableOptions(id="code"))
    with pytest.raises(PoolChanged, match="is not what it was"):
        Campaign.open("disk").ask(1)
    shutil.rmtree(folder / "disk")
    with pytest.raises(PoolChanged, match="is gone"):
        Campaign.open("disk").ask(1)


def test_a_folder_that_moved_is_found_again(truth, folder):
    begun()
    os.rename(folder / "disk", folder / "elsewhere")
    code, said, _ = screens.serendip("doctor", "disk", "--pool", "elsewhere")
    assert code == 0, said
    assert len(Campaign.open("disk").ask(2)) == 2


def test_a_campaign_on_combinations(folder):
    for name, rows in (("acid", 30), ("amine", 40)):
        lines = "".join(f"{name}{i},{i % 7},{(i * i) % 11}\n" for i in range(rows))
        (folder / f"{name}.csv").write_text("id,u,v\n" + lines)
    make_product([folder / "acid.csv", folder / "amine.csv"], folder / "disk", id="id")
    campaign = Campaign.create({"name": "disk", "pool": "disk", "label": "y", "budget": 9})
    table = campaign.ask(3)
    first = table["candidate"].iloc[0]
    assert first == f"{table['acid'].iloc[0]} + {table['amine'].iloc[0]}"
    campaign.tell({name: 1.0 + place for place, name in enumerate(table["candidate"])})
    assert Campaign.open("disk").status().best == 3.0
    assert len(Campaign.open("disk").ask(2)) == 2
