"""What columns seem to be, and which cells do not fit."""

import numpy as np
import pandas as pd
import pytest

from needs import need_package
from serendip.campaigns import Campaign
from serendip.campaigns.intake.misfits import misfits
from serendip.campaigns.intake.preview import Role, guessed_roles, settings_of
from serendip.core.errors import InvalidInput
from serendip.core.labels import Binary, Continuous, Ordered
from serendip.simulate.environments.demo import demo_pool
from serendip.tables import read_table

ANY = Continuous(None, None)


def roles(frame):
    return {one.name: str(one.role) for one in guessed_roles(frame)}


def table(tmp_path, text):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    return read_table(tmp_path / "t.csv")


def test_the_bundled_pool_is_understood():
    found = roles(demo_pool())
    assert found["id"] == "id"
    assert {found[name] for name in ("ligand", "base", "solvent")} == {"category"}
    assert {found[name] for name in ("cone_angle", "temperature")} == {"number"}


def test_names_results_molecules_and_what_is_of_no_use():
    n = 30
    frame = pd.DataFrame(
        {
            "sample": [f"s{k}" for k in range(n)],
            "structure": ["CC(=O)O", "c1ccccc1", "CCO(C)"] * 10,
            "ligand": ["L1", "L2", "L3"] * 10,
            "heat": np.linspace(20, 90, n),
            "mostly": ["1.5"] * 28 + ["hot", "cold"],
            "remark": [f"seen on day {k}" for k in range(n)],
            "same": ["x"] * n,
            "nothing": [None] * n,
            "yield (%)": [np.nan] * n,
        }
    )
    assert roles(frame) == {
        "sample": "id",
        "structure": "smiles",
        "ligand": "category",
        "heat": "number",
        "mostly": "number",
        "remark": "ignored",
        "same": "ignored",
        "nothing": "ignored",
        "yield (%)": "label",
    }


@pytest.mark.parametrize("name", ["row", "Sample ID", "compound_name", "well"])
def test_a_column_that_counts_is_the_name_where_it_is_called_so(name):
    frame = pd.DataFrame({name: range(20), "heat": np.arange(20) % 7})
    assert roles(frame)[name] == "id"


def test_names_with_a_slip_are_still_names():
    names = [f"c{k}" for k in range(20)]
    frame = pd.DataFrame({"id": [*names[:19], "c3"], "heat": range(20)})
    assert roles(frame)["id"] == "id"
    found = misfits(frame, {"id": Role.id, "heat": Role.number}, ANY)
    assert [(one.column, one.place, one.row) for one in found] == [("id", 19, 21)]


def test_cells_that_do_not_fit_are_named_with_their_rows(tmp_path):
    frame = table(tmp_path, "name,heat,kind,yield\na,1,x,5\nb,warm,y,200\n,3,,high\nd,,x,failed\n")
    given = {"name": Role.id, "heat": Role.number, "kind": Role.category, "yield": Role.label}
    found = {
        (one.column, one.row): one.says for one in misfits(frame, given, Continuous(0.0, 100.0))
    }
    assert set(found) == {
        ("name", 4),
        ("heat", 3),
        ("heat", 5),
        ("kind", 4),
        ("yield", None),
        ("yield", 3),
        ("yield", 4),
    }
    assert found["heat", 3] == "'warm' is not a number."
    assert "outside the declared range" in found["yield", 3]
    filled = {(one.column, one.row) for one in misfits(frame, given, ANY, impute=True)}
    assert ("heat", 5) not in filled
    assert ("kind", 4) not in filled
    assert ("heat", 3) in filled


def test_a_replay_needs_every_result_and_a_campaign_needs_some_missing():
    frame = pd.DataFrame({"heat": range(6), "y": [0.0, 1.0, 0.0, 1.0, np.nan, 1.0]})
    given = {"heat": Role.number, "y": Role.label}
    assert misfits(frame, given, Binary()) == ()
    (gap,) = misfits(frame, given, Binary(), replayed=True)
    assert (gap.place, gap.column) == (4, "y")
    full = frame.fillna(0.0)
    assert misfits(full, given, Binary(), replayed=True) == ()
    (all_known,) = misfits(full, given, Binary())
    assert "nothing to find out" in all_known.says


def test_words_in_order_and_infinite_numbers():
    frame = pd.DataFrame({"heat": [1.0, np.inf, 2.0], "y": ["low", "middle", None]})
    found = misfits(
        frame, {"heat": Role.number, "y": Role.label}, Ordered(("low", "high")), impute=True
    )
    assert [(one.column, one.place) for one in found] == [("heat", 1), ("y", 1)]


def test_names_of_molecules_are_words_and_structures_are_structures():
    names = ["1-iodo-4-(trifluoromethyl)benzene", "ethyl-(isoxazole)-3-carboxylate"]
    structures = ["FC(F)(F)c1ccc(Br)cc1", "C[C@@H](N)C(=O)[O-].[Na+]", "o1nccc1c2ccccc2", "ClC=C"]
    frame = pd.DataFrame({"halide": names * 4, "structure": structures * 2})
    found = {one.name: one.role for one in guessed_roles(frame)}
    assert found == {"halide": Role.category, "structure": Role.smiles}


def test_unreadable_molecules_are_named():
    need_package("rdkit")
    frame = pd.DataFrame({"s": ["CCO", "not a molecule", None, "c1ccccc1"]})
    found = misfits(frame, {"s": Role.smiles}, ANY)
    assert [(one.place, one.says) for one in found] == [
        (1, "Cannot be read as SMILES."),
        (2, "Empty; every candidate needs a molecule."),
    ]


def test_roles_become_settings_that_a_campaign_begins_with(folder):
    pool = demo_pool()
    pool["plate"] = np.arange(len(pool)) % 4
    pool.to_csv("pool.csv", index=False)
    frame = read_table("pool.csv")
    chosen = {one.name: one.role for one in guessed_roles(frame)}
    chosen |= {"plate": Role.category, "temperature": Role.ignored}
    made = settings_of(chosen, frame)
    assert made["id"] == "id"
    assert made["nominal"] == ("plate",)
    assert made["ignore"] == ("temperature",)
    kept = {name: one for name, one in made.items() if one}
    settings = {"name": "a", "pool": "pool.csv", "budget": 5, **kept, "label": "yield"}
    campaign = Campaign.create(settings, "s.db")
    assert "Column 'plate' is text: 4 categories." in campaign.problem.notes
    assert Campaign.open("a", "s.db").settings.nominal == ("plate",)


def test_roles_that_contradict_each_other_are_refused():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": [1, 2]})
    with pytest.raises(InvalidInput, match="Only one column can be the name"):
        settings_of({"a": Role.id, "b": Role.id, "c": Role.number}, frame)
    with pytest.raises(InvalidInput, match="A matrix needs"):
        settings_of({"a": Role.row, "b": Role.category, "c": Role.number}, frame)
    both = settings_of({"a": Role.row, "b": Role.column, "c": Role.ignored}, frame)
    assert (both["rows"], both["columns"], both["ignore"]) == (("a",), ("b",), ())
