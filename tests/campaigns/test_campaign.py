"""Campaigns: the loop, its states, and that the log alone decides, on both stores."""

import threading

import numpy as np
import pandas as pd
import pytest

from campaigns.screens import settings, write_pool
from needs import need_package
from serendip import backtest
from serendip.campaigns import Campaign
from serendip.campaigns.errors import (
    CampaignExists,
    NothingLeft,
    PoolChanged,
)
from serendip.campaigns.log.events import Asked
from serendip.campaigns.log.state import replay
from serendip.campaigns.log.store import Store
from serendip.core.errors import AlreadyLabelled, InvalidInput, MissingCapability
from serendip.core.reductions.folds import everything

TIME = "2026-03-01T12:00:00+00:00"


def filled(batch, truth):
    return batch.assign(**{"yield": [truth[item] for item in batch["code"]]})


def proposed(campaign):
    asked = [entry.event for entry in campaign.log if isinstance(entry.event, Asked)]
    return [one.item for event in asked for one in event.proposals]


def test_the_loop_spends_the_budget_and_never_repeats(where):
    truth, _ = write_pool()
    campaign = Campaign.create(settings(), where)
    for _ in range(4):
        campaign.tell(filled(campaign.ask(8), truth))
    state = campaign.state
    assert len(state.results) == 30 == state.spent
    assert len(set(proposed(campaign))) == 30 == len(proposed(campaign))
    with pytest.raises(NothingLeft, match="budget of 30 experiments is spent"):
        campaign.ask(1)
    found = np.mean([one.value for one in state.results.values()])
    assert found > np.mean(list(truth.values())) + 0.3


def test_proposals_keep_the_users_columns(where):
    write_pool()
    campaign = Campaign.create(settings(), where)
    batch = campaign.ask(5)
    ours = ["yield", "expected", "uncertainty", "chance_of_top", "reason"]
    assert list(batch.columns) == ["code", "acid", "heat", "solvent", *ours]
    assert batch["yield"].isna().all()
    assert batch["reason"].str.len().min() > 10
    assert campaign.pending().equals(batch)
    pool = pd.read_csv("pool.csv").set_index("code")
    assert (pool.loc[batch["code"], "solvent"].to_numpy() == batch["solvent"].to_numpy()).all()


def test_replay_gives_the_same_state_on_both_stores(folder, new_postgres, monkeypatch):
    for module in ("campaign", "asking"):
        monkeypatch.setattr(f"serendip.campaigns.{module}.now", lambda: TIME)
    truth, _ = write_pool()
    tips, states = [], []
    for where in ("serendip.db", new_postgres()):
        campaign = Campaign.create(settings(seed=3), where, who="ann")
        first = campaign.ask(6)
        results = filled(first, truth).astype({"yield": object})
        results.loc[0, "yield"] = "failed"
        results.loc[1, "yield"] = None
        results.loc[2, "yield"] = "excluded"
        campaign.tell(results)
        campaign.tell({"c007": 0.5})
        campaign.ask(3)
        campaign.undo()
        campaign.tell({"c007": 0.6}, correct=True)
        campaign.ask(4, retry_failed=True)
        again = Campaign.open("screen", where)
        assert again.state == campaign.state
        assert replay(again.log) == again.state
        block = everything(campaign.view().pool)
        there = again.problem.posterior(again.state).moments()(block)
        assert (there[0] == campaign.view().posterior.moments()(block)[0]).all()
        tips.append(again.chronicle.tip)
        states.append(again.state)
    assert states[0] == states[1]
    assert tips[0] == tips[1]  # every event, to the last bit


def test_the_seed_decides(folder):
    write_pool()
    batches = [
        Campaign.create(settings(name=name, seed=seed), "s.db").ask(8)["code"].tolist()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert batches[0] == batches[1] != batches[2]


def test_pending_proposals_are_not_repeated_and_shape_the_next(where):
    write_pool()
    campaign = Campaign.create(settings(), where)
    first, second = campaign.ask(10), campaign.ask(10)
    assert not set(first["code"]) & set(second["code"])
    with_rest = campaign.ask(99)
    assert len(with_rest) == 10
    with pytest.raises(NothingLeft, match="promised to 30 pending"):
        campaign.ask(1)


def test_late_partial_and_unasked_results_are_fine(where):
    truth, _ = write_pool()
    campaign = Campaign.create(settings(), where)
    first, second = campaign.ask(4), campaign.ask(4)
    campaign.tell(filled(second, truth).iloc[::-1])
    campaign.tell(filled(first, truth).iloc[[2]])
    other = next(item for item in truth if campaign.state.condition(item) == "available")
    decision = campaign.tell({other: 1.5})
    assert decision.unproposed == (other,)
    assert not campaign.state.results[other].proposed
    assert campaign.state.results[second["code"][0]].proposed
    assert list(campaign.state.pending) == first["code"].drop(2).tolist()
    assert campaign.state.spent == 6


def test_telling_twice_is_a_note_and_contradictions_are_refused_as_a_whole(where):
    truth, _ = write_pool()
    campaign = Campaign.create(settings(), where)
    batch = filled(campaign.ask(4), truth)
    campaign.tell(batch)
    before = campaign.state.version
    assert campaign.tell(batch).repeats == tuple(batch["code"])
    assert campaign.state.version == before
    wrong = batch.assign(**{"yield": [9.0, *batch["yield"][1:]]})
    free = next(item for item in truth if campaign.state.condition(item) == "available")
    wrong = pd.concat([pd.DataFrame({"code": [free], "yield": [1.0]}), wrong])
    with pytest.raises(AlreadyLabelled, match=r"--correct .* or undo"):
        campaign.tell(wrong)
    with pytest.raises(AlreadyLabelled, match="undo"):
        campaign.fail(batch["code"][0])
    assert campaign.state.version == before
    campaign.tell(wrong, correct=True)
    assert campaign.state.results[batch["code"][0]].value == 9.0
    assert campaign.state.spent == 5


def test_failed_may_return_and_excluded_never(where):
    truth, _ = write_pool(n=8)
    campaign = Campaign.create(settings(budget=8), where)
    batch = campaign.ask(8)["code"].tolist()
    campaign.fail(batch[0])
    campaign.exclude(batch[1])
    assert campaign.fail(batch[0]).events == ()  # the same file told again
    campaign.tell({item: truth[item] for item in batch[2:]})
    state = campaign.state
    assert state.spent == 7  # failed experiments were paid for, exclusions were not
    with pytest.raises(NothingLeft, match="--retry-failed"):
        campaign.ask(1)
    assert campaign.ask(2, retry_failed=True)["code"].tolist() == [batch[0]]
    campaign.tell({batch[0]: 1.0})
    assert campaign.state.spent == 8
    assert campaign.state.condition(batch[0]) == "measured"
    assert campaign.state.condition(batch[1]) == "excluded"


def test_undo_takes_back_commands_items_and_events_and_keeps_the_log(where):
    truth, _ = write_pool()
    campaign = Campaign.create(settings(), where)
    with pytest.raises(InvalidInput, match="nothing to take back"):
        campaign.undo()
    batch = filled(campaign.ask(4), truth)
    asked = campaign.state
    campaign.tell(batch)
    told = campaign.state
    assert len(campaign.undo()) == 4
    assert campaign.state.pending == asked.pending
    assert not campaign.state.results
    assert len(campaign.log) == told.version + 1
    campaign.undo()
    assert not campaign.state.pending
    campaign.tell(batch)
    one = batch["code"][0]
    campaign.tell({one: 7.0}, correct=True)
    campaign.undo(item=one)
    assert campaign.state.results[one].value == truth[one]
    campaign.undo(item=one)
    assert one not in campaign.state.results
    assert len(campaign.state.results) == 3
    campaign.exclude(one)
    version = campaign.state.version
    campaign.undo(version=version)
    assert campaign.state.condition(one) == "available"
    with pytest.raises(InvalidInput, match="cannot be taken back"):
        campaign.undo(version=version)
    with pytest.raises(InvalidInput, match="neither proposed nor told"):
        campaign.undo(item="c059")
    assert Campaign.open("screen", where).state == campaign.state


def test_two_people_asking_at_once_get_different_candidates(where):
    write_pool()
    Campaign.create(settings(), where)
    batches, problems = [], []

    def person():
        try:
            mine = Campaign.open("screen", where)
            gate.wait()
            for _ in range(2):
                batches.append(mine.ask(2)["code"].tolist())
        except Exception as problem:
            problems.append(problem)

    gate = threading.Barrier(4)
    people = [threading.Thread(target=person) for _ in range(4)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert not problems
    names = [name for batch in batches for name in batch]
    assert len(names) == 16 == len(set(names))


def test_known_labels_teach_and_cost_nothing(where):
    truth, _ = write_pool()
    prior = pd.DataFrame({"code": list(truth)[:20], "yield": list(truth.values())[:20]})
    prior.to_csv("prior.csv", index=False)
    campaign = Campaign.create(settings(prior_data="prior.csv"), where)
    assert len(campaign.state.known) == 20
    assert campaign.state.remaining == 30
    batch = campaign.ask(10)
    assert not set(batch["code"]) & set(prior["code"])
    assert np.mean([truth[item] for item in batch["code"]]) > 0.5
    assert campaign.tell({"c000": truth["c000"]}).repeats == ("c000",)
    with pytest.raises(AlreadyLabelled, match="before the campaign began"):
        campaign.tell({"c000": 99.0}, correct=True)


def test_labels_in_the_pool_count_as_known(folder):
    truth, path = write_pool()
    frame = pd.read_csv(path)
    frame["yield"] = [truth[item] if place < 5 else None for place, item in enumerate(frame.code)]
    frame.to_csv(path, index=False)
    campaign = Campaign.create(settings(), "s.db")
    assert list(campaign.state.known) == list(truth)[:5]
    assert campaign.predict()["yield"].notna().sum() == 5
    frame["yield"] = list(truth.values())
    frame.to_csv("full.csv", index=False)
    with pytest.raises(InvalidInput, match="nothing to find out"):
        Campaign.create(settings(name="full", pool="full.csv"), "s.db")


def test_a_changed_pool_is_refused_and_a_snapshot_helps(where):
    _, path = write_pool()
    plain = Campaign.create(settings(name="plain"), where)
    kept = Campaign.create(settings(name="kept", snapshot=True), where)
    expected = plain.ask(4)["code"].tolist()
    good = path.read_bytes()
    path.write_bytes(good.replace(b"DMF", b"DMA", 1))
    with pytest.raises(PoolChanged, match="not what it was"):
        Campaign.open("plain", where).ask(1)
    again = Campaign.open("kept", where)
    assert again.ask(4)["code"].tolist() == expected
    assert "snapshot" in again.candidates.notes[0]
    path.unlink()
    with pytest.raises(PoolChanged, match="is gone"):
        Campaign.open("plain", where).tell({"c001": 1.0})
    (path.parent / "elsewhere.csv").write_bytes(good)
    moved = Campaign.open("plain", where)
    moved.move_pool(path.parent / "elsewhere.csv")
    assert len(moved.ask(2)) == 2
    assert kept.state.created.snapshot is not None


def test_a_folder_may_be_moved_as_a_whole(tmp_path, monkeypatch):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    monkeypatch.chdir(old)
    write_pool()
    Campaign.create(settings(), "serendip.db").ask(2)
    old.rename(new)
    assert len(Campaign.open("screen", new / "serendip.db").ask(2)) == 2


@pytest.mark.parametrize(
    ("changes", "good", "bad"),
    [
        ({"range": [0, 100]}, {"c001": "73,5"}, {"c002": 101}),
        ({"binary": True}, {"c001": 1}, {"c002": 0.5}),
        ({"categories": "low,medium,high"}, {"c001": "medium"}, {"c002": "huge"}),
        ({"categories": "1,2,3"}, {"c001": 2.0}, {"c002": 4}),
        ({"model": "sparse", "range": [-3, 3], "minimize": True}, {"c001": -2}, {"c002": "x"}),
        ({}, {"c001": "1 234.5"}, {"c002": float("inf")}),
    ],
)
def test_kinds_of_labels(folder, changes, good, bad):
    write_pool()
    campaign = Campaign.create(settings(**changes), "s.db")
    campaign.tell(good)
    with pytest.raises(InvalidInput):
        campaign.tell(bad)
    assert list(campaign.state.results) == ["c001"]
    assert len(campaign.ask(3)) == 3


def test_minimize_looks_for_small_labels(folder):
    truth, _ = write_pool()
    campaign = Campaign.create(settings(minimize=True), "s.db")
    for _ in range(3):
        campaign.tell(filled(campaign.ask(5), truth))
    later = [one.value for one in campaign.state.results.values()][5:]
    assert np.mean(later) < np.mean(list(truth.values())) - 0.3
    assert campaign.status().best == min(one.value for one in campaign.state.results.values())


def test_low_rank_and_graph_campaigns(folder):
    rng = np.random.default_rng(0)
    left, right = rng.random(6), rng.random(8)
    cells = [(f"a{i}", f"b{j}", f"a{i}b{j}") for i in range(6) for j in range(8)]
    pd.DataFrame(cells, columns=["aryl", "base", "code"]).to_csv("matrix.csv", index=False)
    both = {"pool": "matrix.csv", "range": [0, 1], "budget": 12}
    matrix = Campaign.create(settings(name="matrix", rows="aryl", columns="base", **both), "s.db")
    batch = matrix.ask(4)
    matrix.tell({c: left[int(c[1])] * right[int(c[3])] for c in batch["code"]})
    assert len(matrix.ask(4)) == 4
    assert matrix.settings.model == "low-rank"

    pairs = [(cells[k][2], cells[k + 1][2]) for k in range(47)]
    pd.DataFrame(pairs, columns=["from", "to"]).to_csv("edges.csv", index=False)
    graph = Campaign.create(settings(name="graph", edges="edges.csv", **both), "s.db")
    first = graph.ask(1)["code"][0]
    place = [cell[2] for cell in cells].index(first)
    near = cells[place + 1 if place < 47 else place - 1][2]
    results = pd.DataFrame({"code": [first, near], "yield": [0.2, 0.9], "seen with": [None, first]})
    graph.tell(results)
    assert list(graph.state.results) == [first]
    assert graph.state.condition(near) == "available"
    table = graph.predict().set_index("id")["expected"]
    assert table[near] > 0.6  # one look of unknown noise
    edges = pd.read_csv("edges.csv").iloc[:-1]
    edges.to_csv("edges.csv", index=False)
    with pytest.raises(PoolChanged, match="edges"):
        Campaign.open("graph", "s.db").ask(1)


def test_molecules(folder):
    need_package("rdkit")
    chains = ["C" * k + tail for k in range(1, 13) for tail in ("O", "N", "Cl", "C(=O)O")]
    frame = pd.DataFrame({"code": [f"m{k}" for k in range(48)], "structure": chains})
    frame.to_csv("pool.csv", index=False)
    campaign = Campaign.create(settings(smiles="structure", budget=20), "s.db")
    truth = {row.code: float("Cl" in row.structure) for row in frame.itertuples()}
    for _ in range(3):
        batch = campaign.ask(5)
        campaign.tell({code: truth[code] for code in batch["code"]})
    assert sum(one.value for one in campaign.state.results.values()) >= 6
    frame.loc[3, "structure"] = "not a molecule"
    frame.to_csv("pool.csv", index=False)
    with pytest.raises(InvalidInput, match="row 5 holds 'not a molecule'"):
        Campaign.create(settings(name="b", smiles="structure", budget=20), "s.db")


def test_without_an_id_column_rows_are_named(folder):
    write_pool()
    campaign = Campaign.create(settings(id=None, ignore=["code"]), "s.db")
    batch = campaign.ask(3)
    assert batch.columns[0] == "candidate"
    assert batch["candidate"].str.startswith("row ").all()
    batch["yield"] = 1.0
    campaign.tell(batch)
    assert len(campaign.state.results) == 3


def test_ids_survive_spreadsheets(folder):
    pd.DataFrame({"code": ["007", "1e5", "x"], "acid": [1.0, 2.0, 3.0]}).to_csv(
        "pool.csv", index=False
    )
    campaign = Campaign.create(settings(budget=3), "s.db")
    campaign.tell(pd.DataFrame({"code": [7, 100000.0], "yield": [1.0, 2.0]}))
    assert list(campaign.state.results) == ["007", "1e5"]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"policy": "best"}, InvalidInput, "no policy 'best'"),
        ({"model": "deep"}, InvalidInput, "no model 'deep'"),
        ({"policy": "glm-ucb"}, MissingCapability, "glm-ucb needs"),
        ({"budget": 61}, InvalidInput, "make the budget 60 or smaller"),
        ({"budget": 0}, InvalidInput, "budget must be a whole number"),
        ({"name": "../x"}, InvalidInput, "name"),
        ({"id": "nope"}, InvalidInput, "no column 'nope'"),
        ({"model": "logistic"}, InvalidInput, "--range"),
        ({"range": [3, 1]}, InvalidInput, "low < high"),
        ({"rows": "acid"}, InvalidInput, "--columns"),
        ({"categories": "low,failed"}, InvalidInput, "'failed'"),
        ({"pool": "missing.csv"}, InvalidInput, "no file"),
        ({"wrong": 1}, InvalidInput, "no setting 'wrong'"),
        ({"smiles": "solvent"}, InvalidInput, "RDKit"),
        ({"prior_data": "pool.csv"}, InvalidInput, "no column 'yield'"),
    ],
)
def test_bad_settings_leave_no_store_behind(folder, changes, error, words):
    write_pool()
    with pytest.raises(error, match=words):
        Campaign.create(settings(**changes), "s.db")
    assert not (folder / "s.db").exists()


def test_names_are_taken_once_and_budgets_change(where):
    write_pool()
    campaign = Campaign.create(settings(), where)
    with pytest.raises(CampaignExists):
        Campaign.create(settings(), where)
    campaign.ask(30)
    campaign.rebudget(33)
    assert len(campaign.ask(8)) == 3
    with pytest.raises(InvalidInput, match="between 33"):
        campaign.rebudget(10)
    assert Campaign.open("screen", Store.open(where)).state.budget == 33


def test_forecast_report_and_exports(folder):
    truth, _ = write_pool()
    campaign = Campaign.create(settings(), "s.db")
    campaign.tell(filled(campaign.ask(10), truth))
    campaign.ask(2)
    steps = []
    future = campaign.forecast(lambda done, total: steps.append((done, total)))
    assert future.low < future.expected_total < future.high
    assert steps[0][0] == 0
    assert steps[-1][0] == steps[-1][1] == len(steps) - 1
    assert campaign.report().lower().lstrip().startswith("<!doctype html")
    assert len(campaign.predict()) == 60
    assert len(campaign.export("results")) == 10
    assert len(campaign.export("pending")) == 2
    assert len(campaign.export("events")) == len(campaign.log)
    with pytest.raises(InvalidInput, match="no table 'result'"):
        campaign.export("result")


def test_a_policy_that_does_not_suit_the_model_is_refused_by_the_names_of_both(folder):
    write_pool()
    wanted = r"^oful needs .*; that of the auto model is not one\. Use ids, .* or random instead"
    with pytest.raises(MissingCapability, match=wanted):
        Campaign.create(settings(policy="oful", model="auto"), "s.db")
    assert not (folder / "s.db").exists()
    frame = pd.DataFrame({"x": np.arange(9.0), "y": np.arange(9.0)})
    with pytest.raises(MissingCapability, match=wanted):
        backtest(frame, "y", policies="oful", model="auto")
