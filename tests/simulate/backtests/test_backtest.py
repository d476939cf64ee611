"""Backtests: what they report, that it is right, and what they refuse."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from serendip.core.errors import InvalidInput
from serendip.core.rng import stream
from serendip.problems.framing import Columns
from serendip.simulate.backtests.backtest import backtest

RNG = np.random.default_rng(0)


def screen(n=60):
    """A table with numbers, text and a label that depends on both."""
    frame = pd.DataFrame(
        {
            "name": [f"c{i}" for i in range(n)],
            "a": RNG.standard_normal(n),
            "b": RNG.standard_normal(n),
            "solvent": RNG.choice(["water", "toluene", "dmf"], n),
        }
    )
    effect = frame["solvent"].map({"water": 0.0, "toluene": 0.3, "dmf": -0.2})
    frame["yield"] = 0.5 + 0.2 * frame["a"] - 0.1 * frame["b"] + effect
    return frame


FRAME = screen()
QUICK = {"id": "name", "budget": 12, "repeats": 3, "policies": ["ids", "greedy", "random"]}


@cache
def played():
    """Not to be changed: several tests look at it."""
    return backtest(FRAME, "yield", **QUICK)


def test_the_result_in_figures():
    result = played()
    assert (result.n, result.budget, result.repeats, result.model) == (60, 12, 3, "auto")
    assert len(result.steps) == 3 * 3 * 12
    truth = np.sort(FRAME["yield"])[::-1]
    for (_, _), run in result.steps.groupby(["policy", "repeat"]):
        assert run["id"].is_unique
        labels = FRAME.set_index("name").loc[run["id"], "yield"]
        np.testing.assert_allclose(run["label"], labels)
        np.testing.assert_allclose(run["total"], labels.cumsum())
        assert run["regret"].iloc[-1] == pytest.approx(truth[:12].sum() - labels.sum())
    row = result.summary.set_index("policy").loc["ids"]
    last = result.steps.query("policy == 'ids' and step == 12")
    assert row["regret"] == pytest.approx(last["regret"].mean())
    assert row["regret_se"] == pytest.approx(last["regret"].std() / np.sqrt(3))
    assert row["total"] == pytest.approx(last["total"].mean())
    assert 0 <= row["recall"] <= 1
    assert result.random_regret == pytest.approx(truth[:12].sum() - 12 * truth.mean())
    assert result.random_total == pytest.approx(12 * truth.mean())


def test_learning_beats_chance():
    result = played()
    row = result.summary.set_index("policy")
    assert row.loc["ids", "regret"] < 0.5 * result.random_regret
    assert row.loc["ids", "enrichment"] > 2
    assert result.baseline == "greedy"
    assert set(result.differences["policy"]) == {"ids", "random"}
    assert (result.differences["low"] <= result.differences["high"]).all()


def test_json_has_the_promised_shape():
    result = played().as_json()
    assert list(result)[:5] == ["n", "budget", "model", "repeats", "policies"]
    for figures in result["policies"].values():
        promised = ["regret", "regret_se", "total", "total_se", "seconds_per_ask"]
        assert list(figures)[:5] == promised


def test_minimising_is_maximising_the_negative():
    plain = played()
    flipped = FRAME.assign(cost=-FRAME["yield"]).drop(columns="yield")
    mirrored = backtest(flipped, "cost", minimize=True, **QUICK)
    pd.testing.assert_frame_equal(
        plain.steps[["policy", "repeat", "step", "id", "regret"]],
        mirrored.steps[["policy", "repeat", "step", "id", "regret"]],
    )
    np.testing.assert_allclose(mirrored.summary["total"], -plain.summary["total"])
    assert mirrored.hit == pytest.approx(-plain.hit)


def test_jobs_and_order_do_not_change_the_table():
    alone = played()
    together = backtest(FRAME, "yield", **QUICK, jobs=2)
    pd.testing.assert_frame_equal(
        alone.steps.drop(columns="seconds"), together.steps.drop(columns="seconds")
    )


def test_units_of_the_label_do_not_change_the_choices():
    plain = played()
    percent = backtest(FRAME.assign(**{"yield": 100 * FRAME["yield"]}), "yield", **QUICK)
    assert plain.steps["id"].tolist() == percent.steps["id"].tolist()


def test_one_policy_needs_no_list_and_no_policy_means_all_that_fit():
    quick = {**QUICK, "budget": 3, "repeats": 1}
    for named in ("greedy", ["greedy"], ("greedy", "greedy")):
        result = backtest(FRAME, "yield", **{**quick, "policies": named})
        assert result.summary["policy"].tolist() == ["greedy"]
    spec = Columns("linear", features="a")
    assert backtest(FRAME, "yield", columns=spec, **quick).notes == ()
    unnamed = backtest(FRAME, "yield", columns=spec, **{**quick, "policies": []})
    assert {"ids", "ucb", "random"} < set(unnamed.summary["policy"])


def test_batches():
    result = backtest(FRAME, "yield", **QUICK, batch=5)
    assert (result.steps.groupby(["policy", "repeat"])["id"].nunique() == 12).all()


def test_every_model_runs():
    n = 24
    frame = pd.DataFrame(
        {
            "id": [f"n{i}" for i in range(n)],
            "substrate": np.repeat([f"s{i}" for i in range(4)], 6),
            "condition": np.tile([f"k{i}" for i in range(6)], 4),
            "x": RNG.standard_normal(n),
            "y": RNG.random(n) * 7 + 3,
        }
    )
    common = {"id": "id", "budget": 5, "repeats": 1, "policies": ["ids", "thompson", "ucb"]}
    for spec in (
        Columns("logistic", ignore=("substrate", "condition")),
        Columns("sparse", features=("x", "condition")),
        Columns("low-rank", rows="substrate", columns="condition"),
    ):
        result = backtest(frame, "y", columns=spec, **common)
        assert result.steps["label"].between(3, 10).all()
        told_range = any("range" in note for note in result.notes)
        assert told_range == (spec.model == "logistic")


def test_graph_model_in_any_unit(tmp_path):
    rng = stream(0, "graph")
    y = 50 + 20 * rng.standard_normal(60)
    frame = pd.DataFrame({"node": [f"n{i}" for i in range(60)], "y": y})
    ends = rng.integers(60, size=(90, 2))
    edges = pd.DataFrame([(f"n{a}", f"n{b}") for a, b in ends], columns=["from", "to"])
    path = tmp_path / "edges.csv"
    edges.to_csv(path, index=False)
    spec = Columns("graph", edges=path)
    told = {"id": "node", "columns": spec, "budget": 12, "repeats": 4, "policies": ["ids"]}
    result = backtest(frame, "y", **told)
    assert result.summary["regret"].iloc[0] < 0.8 * result.random_regret
    larger = backtest(frame.assign(y=64 * y), "y", **told)
    assert larger.steps["item"].tolist() == result.steps["item"].tolist()
    pd.DataFrame({"from": ["n0"], "to": ["nobody"]}).to_csv(path, index=False)
    with pytest.raises(InvalidInput, match=r"'nobody'.*no candidate"):
        backtest(frame, "y", id="node", columns=spec, budget=3, repeats=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": "yeild"}, "yield"),
        ({"budget": 0}, "between 1 and the 60 rows"),
        ({"budget": 61}, "between 1 and the 60 rows"),
        ({"batch": 13}, "batch must be between 1 and the budget 12"),
        ({"repeats": 0}, "repeats"),
        ({"policies": ["idss"]}, "Did you mean ids"),
        ({"columns": Columns(features=("nothing",))}, "nothing"),
        ({"id": "solvent"}, "Ids must be unique"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    settings = {"label": "yield", **QUICK, **change}
    with pytest.raises(InvalidInput, match=words):
        backtest(FRAME, **settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "lineer"}, "Did you mean linear"),
        ({"model": "low-rank"}, "--rows and --columns"),
        ({"model": "linear", "rows": "a", "columns": "b"}, "--rows and --columns"),
        ({"model": "graph"}, "--edges"),
    ],
)
def test_columns_that_do_not_fit_the_model_are_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        Columns(**settings)


def test_missing_labels_name_the_row():
    frame = FRAME.copy()
    frame.loc[7, "yield"] = np.nan
    with pytest.raises(InvalidInput, match="no label in row"):
        backtest(frame, "yield", **QUICK)


def test_a_repeated_cell_of_a_matrix_is_refused():
    frame = pd.DataFrame({"r": ["a", "a", "b"], "c": ["x", "x", "y"], "y": [1.0, 2.0, 3.0]})
    with pytest.raises(InvalidInput, match="r = a, c = x stands there more than once"):
        backtest(frame, "y", columns=Columns("low-rank", rows="r", columns="c"), budget=2)


def test_a_pool_folder_gives_what_the_table_gives(tmp_path):
    from serendip.problems.folders.importing import TableOptions, import_tables
    from serendip.problems.folders.opening import open_folder

    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    frame["y"] = frame["a"] - 0.5 * frame["b"]
    frame.insert(0, "name", [f"c{place}" for place in range(60)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = TableOptions(id="name", label="y", dtype="float64")
    import_tables([tmp_path / "t.csv"], tmp_path / "disk", options)
    quick = backtest(open_folder(tmp_path / "disk"), "y", budget=1, policies="random", repeats=1)
    assert quick.model == "auto"  # as in campaigns
    asked = {"budget": 6, "policies": ["ids", "greedy"], "repeats": 2, "columns": Columns("auto")}
    table = backtest(frame, "y", id="name", **asked)
    for jobs in (1, 2):
        disk = backtest(open_folder(tmp_path / "disk"), "y", jobs=jobs, **asked)
        pd.testing.assert_frame_equal(
            disk.steps.drop(columns="seconds"), table.steps.drop(columns="seconds"), rtol=1e-9
        )
    with pytest.raises(InvalidInput, match="no labels called 'z'"):
        backtest(open_folder(tmp_path / "disk"), "z")
    with pytest.raises(InvalidInput, match="decided when it was imported"):
        backtest(open_folder(tmp_path / "disk"), "y", id="name")
    frame.loc[3, "y"] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    import_tables([tmp_path / "gaps.csv"], tmp_path / "gaps", options)
    with pytest.raises(InvalidInput, match="needs every label; c3 and 0 more"):
        backtest(open_folder(tmp_path / "gaps"), "y")


def test_all_policies_may_begin_with_the_same_random_labels():
    result = backtest(FRAME, "yield", start=4, **QUICK)
    first = result.steps.query("step <= 4").pivot(
        index=["repeat", "step"], columns="policy", values="id"
    )
    for other in ("greedy", "random"):
        assert (first["ids"] == first[other]).all()
    assert first["ids"].nunique() > 8  # of 12: other ones in every repeat
    fifth = result.steps.query("step == 5").pivot(index="repeat", columns="policy", values="id")
    assert (fifth["greedy"] != fifth["random"]).any()
    with pytest.raises(InvalidInput, match="leave some of the budget of 12; got 12"):
        backtest(FRAME, "yield", start=12, **QUICK)
