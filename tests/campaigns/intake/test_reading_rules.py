"""Campaigns and the reading rules they began with: ids, results, and what is not guessed."""

import datetime
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from campaigns.screens import serendip, settings
from serendip.campaigns import Campaign
from serendip.campaigns.candidates import TableCandidates
from serendip.campaigns.log.events import Created, FileRef
from serendip.campaigns.log.store import Store
from serendip.campaigns.pool_file import sha256_of
from serendip.core.errors import InvalidInput
from serendip.tables import CURRENT, read_table
from tables.books import workbook

POOL = "code,acid\n2.10,1\n2.1,2\n1 000,4\n9007199254740993,3\n007,5\n12,9\n"
IDS = ("2.10", "2.1", "1 000", "9007199254740993", "007", "12")


def began(range=(0, 2000), **changes):
    Path("pool.csv").write_text(POOL)
    given = settings(budget=4, range=range, label="y", **changes)
    return Campaign.create(given, "s.db")


def told(campaign, text, name="r.csv"):
    Path(name).write_text(text)
    campaign.tell(name)
    return {item: one.value for item, one in campaign.state.results.items()}


def test_new_campaigns_keep_ids_as_text_and_say_by_which_rules(folder):
    began()
    campaign = Campaign.open("screen", "s.db")
    assert campaign.candidates.ids == IDS
    assert campaign.state.created.reading_rules == CURRENT == 2
    results = "code,y\n" + "\n".join(f"{name},{at}" for at, name in enumerate(IDS[:4]))
    assert told(campaign, results) == dict(zip(IDS, map(float, range(4)), strict=False))


def old_campaign(pool, **changes):
    """A campaign as a log from before the rules had a number says it."""
    Path("pool.csv").write_text(pool)
    spec = Campaign.create(settings(budget=2, label="y", **changes), "new.db").settings
    path = Path("pool.csv").resolve()
    ref = FileRef(str(path), "pool.csv", sha256_of(path))
    store = Store.open("old.db", create=True)
    n = len(pool.splitlines()) - 1
    store.create("screen", Created("ann", "2026-01-01T00:00:00", spec.as_json(), ref, n))
    return Campaign.open("screen", store)


OLD = "code,acid\n2.10,1\n9007199254740993,3\n2.5,4\n"


@pytest.mark.parametrize(
    ("written", "item"),
    [("2.10", "2.1"), ("2.1", "2.1"), ("9007199254740993", "9007199254740992.0")],
)
def test_old_campaigns_keep_their_ids_and_take_results_by_the_old_and_the_new(
    folder, written, item
):
    campaign = old_campaign(OLD)
    assert campaign.state.created.reading_rules == 1
    assert campaign.candidates.ids == ("2.1", "9007199254740992.0", "2.5")
    assert told(campaign, f"code,y\n{written},7\n") == {item: 7.0}


def test_old_pools_that_new_rules_would_refuse_still_open(folder):
    pool = "code;acid;heat\nc1;950;1\nc2;1.234;2\nc3;7;3\n"
    path = Path("pool.csv")
    path.write_text(pool)
    with pytest.raises(InvalidInput, match=r"'1\.234' that can be read in two ways \(row 3\)"):
        Campaign.create(settings(budget=2, label="y"), "new.db")
    campaign = old_campaign(pool.replace(";1\n", ";1,5\n"))  # the comma decides
    path.write_text(pool)
    created = campaign.state.created
    ref = replace(created.pool, sha256=sha256_of(path))
    campaign.store.create("second", replace(created, pool=ref))
    second = Campaign.open("second", campaign.store)
    assert len(second.ask(2)) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("code;y\n007;1.234\n", r"'y', row 2: '1\.234' can be read in two ways; write 1234 or"),
        ("code;y\n12;5\n007;1,234\n", r"'y', row 3: '1,234' .* write 1234 or 1,2340"),
        ("code,y\n007,1_000\n12,4\n", r"'1_000' in row 2"),
        ("code,y\n007,5\n12,１２\n", r"'１２' in row 3"),
        ("code,y\n2.1e0,5\n", r"may be '2\.1' or '2\.10'; write it .* row 2 of r\.csv"),
        ("code,y\n9007199254740992,5\n", r"no candidate '9007199254740992'.* row 2"),
        ("code,y\n007,85%\n", r"Whether '85%' is 85 or a hundredth .*\(row 2\)"),
        ("code,y\n１２,5\n", r"no candidate '１２'"),
    ],
)
def test_results_that_are_not_certain_are_refused_and_nothing_is_told(folder, text, words):
    campaign = began()
    with pytest.raises(InvalidInput, match=words):
        told(campaign, text)
    assert not campaign.state.results


def test_results_whose_other_cells_decide_are_read(folder):
    assert told(began(), "code;y\n007;1.234\n12;3,5\n1000;failed\n") == {"007": 1234, "12": 3.5}


@pytest.mark.parametrize(("top", "value"), [(100, 72.0), (1, 0.72)])
@pytest.mark.parametrize("kind", ["csv", "xlsx", "typed"])
def test_per_cent_by_the_range_of_the_labels(folder, top, value, kind):
    campaign = began(range=(0, top))
    if kind == "xlsx":
        workbook("r.xlsx", [["code", "y"], ["007", 0.72]], {"B2": "0%"})
        campaign.tell("r.xlsx")
    elif kind == "csv":
        told(campaign, "code;y\n007;72 %\n")
    else:
        campaign.tell({"007": "72%"})
    assert campaign.state.results["007"].value == pytest.approx(value)


def test_per_cent_without_a_range_is_refused(folder):
    campaign = began(range=None)
    with pytest.raises(InvalidInput, match="write the number without the per cent sign"):
        told(campaign, "code;y\n007;72 %\n")


@pytest.mark.parametrize("odd", ["1_000", "１２", "inf", "0x10", "1,234"])
def test_typed_labels_are_numbers_as_people_write_them(folder, odd):
    campaign = began()
    with pytest.raises(InvalidInput, match=f"must be a number; got '{odd}'"):
        campaign.tell({"007": odd})


def test_workbooks_of_results(folder):
    campaign = began()
    rows = [["code", "y"], [2.1, 5], [2.1, 6], [7, 8]]
    campaign.tell(workbook("r.xlsx", rows, {"A2": "0.00"}))
    values = {item: one.value for item, one in campaign.state.results.items()}
    assert values == {"2.10": 5, "2.1": 6, "007": 8}
    workbook("r.xlsx", [["code", "y"], ["12", "=1+1"]])
    code, _, error = serendip("tell", "screen", "r.xlsx", "--store", "s.db")
    assert (code, "Cell B2 of r.xlsx holds a formula" in error) == (2, True)


def test_labels_of_the_pool_and_of_prior_data_are_read_like_results(folder):
    Path("pool.csv").write_text(POOL.replace("acid\n", "acid,y\n").replace("1\n", "1,50%\n", 1))
    lines = Path("pool.csv").read_text().splitlines()
    text = "\n".join([*lines[:2], *(f"{line}," for line in lines[2:])])
    Path("pool.csv").write_text(text)
    Path("old.csv").write_text("code;y\n2.1;1.234\n")
    given = settings(budget=2, label="y", range=(0, 100), prior_data="old.csv")
    with pytest.raises(InvalidInput, match="two ways"):
        Campaign.create(given, "s.db")
    Path("old.csv").write_text("code;y\n2.1;12,5\n")
    campaign = Campaign.create(given, "s.db")
    assert campaign.state.known == {"2.10": 50.0, "2.1": 12.5}


def test_edges_name_nodes_as_the_table_does(folder):
    Path("edges.csv").write_text("a,b\n2.10,2.1\n1 000,007\n9007199254740993,12\n2.10,7\n")
    campaign = began(range=None, edges="edges.csv")
    assert "4 edges" in campaign.problem.notes[0]
    Path("edges.csv").write_text("a,b\n2.10,2.1\n2.10,3\n")
    with pytest.raises(InvalidInput, match=r"names '3' in column 'b', row 3, which is no"):
        began(range=None, edges="edges.csv", name="second")


def test_lines_of_a_matrix_are_named_by_text(folder):
    rows = [f"{one},{other}" for one in ("2.10", "2.1") for other in ("a", "b", "c")]
    Path("pool.csv").write_text("lot,base\n" + "\n".join(rows) + "\n")
    given = settings(budget=2, id=None, label="y", rows=("lot",), columns=("base",))
    assert "2 × 3" in Campaign.create(given, "s.db").problem.notes[0]


def test_reading_a_pool_again_gives_the_same_candidates(folder):
    began()
    frame = read_table("pool.csv", names=("code",))
    assert TableCandidates.of(frame, "code").ids == Campaign.open("screen", "s.db").candidates.ids


@pytest.mark.parametrize("name", ["r.csv", "r.xlsx", "r.parquet"])
def test_truth_values_are_no_numbers_but_where_labels_are_binary(folder, name):
    frame = pd.DataFrame({"code": ["2.10", "12"], "y": [True, False]})
    frame.to_csv("r.csv", index=False)
    frame.to_parquet("r.parquet")
    workbook("r.xlsx", [["code", "y"], ["2.10", True], ["12", False]])
    campaign = began()
    with pytest.raises(InvalidInput, match=r"column 'y' holds TRUE in row 2; declare binary"):
        campaign.tell(name)
    yes_no = began(range=None, binary=True, name="yesno")
    yes_no.tell(name)
    assert {k: one.value for k, one in yes_no.state.results.items()} == {"2.10": 1, "12": 0}


def test_a_date_is_no_label(folder):
    rows = [["code", "y"], ["12", datetime.date(2026, 2, 1)]]  # what a spreadsheet makes of 1.2
    workbook("r.xlsx", rows)
    with pytest.raises(InvalidInput, match=r"'y' holds 2026-02-01.* \(a date or a time\) in row 2"):
        began().tell("r.xlsx")


@pytest.mark.parametrize("name", ["r.xlsx", "r.parquet"])
def test_a_number_that_lost_digits_names_nothing(folder, name):
    Path("pool.csv").write_text("code,acid\n9007199254740992,1\n9007199254740993,2\n7,3\n")
    campaign = Campaign.create(settings(budget=2, label="y"), "s.db")
    workbook("r.xlsx", [["code", "y"], [9007199254740993, 5]])  # kept as …992
    pd.DataFrame({"code": [9007199254740993.0], "y": [5]}).to_parquet("r.parquet")
    with pytest.raises(InvalidInput, match=r"more digits than a number keeps.*as text"):
        campaign.tell(name)
    with pytest.raises(InvalidInput, match=r"as text|no candidate"):
        campaign.tell({9007199254740992.0: 5})
    campaign.tell({9007199254740993: 5})
    assert campaign.state.results["9007199254740993"].value == 5


@pytest.mark.parametrize("label", [10**400, b"5"])
def test_what_python_would_take_or_choke_on_is_refused(folder, label):
    with pytest.raises(InvalidInput, match="A label must be a"):
        began().tell({"12": label})
