"""A backtest plays the campaign: same table, same settings, same features, model and labels."""

import json

import numpy as np
import pandas as pd
import pytest

from cli.test_commands import serendip
from serendip.campaigns.campaign import Campaign
from serendip.core.errors import InvalidInput
from serendip.core.rng import stream
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.thompson import Thompson
from serendip.problems.framing import Columns
from serendip.problems.label_kinds import LabelKind
from serendip.simulate.backtests.backtest import backtest
from serendip.simulate.backtests.plans import planned
from serendip.simulate.loop import suggest
from serendip.tables import read_table

N = 40
RNG = np.random.default_rng(0)
FEATURES = pd.DataFrame(
    {
        "id": [f"c{place}" for place in range(N)],
        "a": RNG.standard_normal(N).round(4),
        "b": RNG.standard_normal(N).round(4),
        "plate": RNG.integers(3, size=N),
        "solvent": RNG.choice(["water", "dmf"], N),
    }
)
SCORE = (FEATURES["a"] - 0.5 * FEATURES["b"] + 0.2 * FEATURES["plate"]).round(4)
WORDS = ("low", "medium", "high")
KINDS = {
    "numbers": ({}, SCORE),
    "smaller is better": ({"minimize": True}, SCORE),
    "range": ({"range": (-50.0, 150.0)}, 10 * SCORE),
    "smaller in a range": ({"minimize": True, "range": (-50.0, 150.0)}, 10 * SCORE),
    "binary": ({"binary": True}, (SCORE > 0.7).astype(int)),
    "negative binary": ({"binary": True, "minimize": True}, (SCORE > 0.7).astype(int)),
    "words": (
        {"categories": WORDS},
        pd.cut(SCORE, [-9, 0, 1, 9], labels=WORDS).astype(object),
    ),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def both(kind, folder, **more):
    """A campaign on the unlabelled table, and a backtest of the labelled one."""
    said, labels = KINDS[kind]
    FEATURES.to_csv(folder / "pool.csv", index=False)
    FEATURES.assign(y=labels).to_csv(folder / "labelled.csv", index=False)
    about = {"name": "c", "pool": folder / "pool.csv", "label": "y", "id": "id", "budget": 10}
    columns = {"nominal": ("plate",), **more}
    campaign = Campaign.create({**about, **said, **columns}, folder / "lab.db")
    frame = read_table(folder / "labelled.csv")
    spec = Columns(**columns).named(binary=said.get("binary", False))
    plan = planned(frame, "y", "id", spec, LabelKind(**said), 10, 1)
    played = {"policies": "random", "repeats": 1, "budget": 10, "id": "id", **said}
    return campaign, plan, backtest(frame, "y", columns=Columns(**columns), **played)


@each_kind
def test_same_features_model_and_label_scale(kind, tmp_path):
    campaign, plan, result = both(kind, tmp_path)
    problem, labels = campaign.problem, KINDS[kind][1]
    assert result.model == campaign.settings.model
    assert result.model == ("logistic" if "binary" in kind else "auto")
    np.testing.assert_array_equal(plan.world.pool.x, problem.whole.x)
    assert repr(plan.model) == repr(problem.model)
    campaign.tell(dict(zip(FEATURES["id"][:10], labels[:10], strict=True)))
    told = [problem.labels.internal(one.value) for one in campaign.state.results.values()]
    np.testing.assert_array_equal(plan.world.truth[:10], told)
    counted = [one.value for one in campaign.state.results.values()]
    found = result.steps.set_index("item")["label"]
    for item in set(found.index) & set(range(10)):
        assert found[item] == counted[item]


@pytest.mark.parametrize("kind", ["range", "smaller in a range", "negative binary"])
def test_a_model_of_labels_from_zero_to_one_sees_the_declared_range(kind, tmp_path):
    campaign, plan, _ = both(kind, tmp_path, model="logistic")
    labels = KINDS[kind][1]
    campaign.tell(dict(zip(FEATURES["id"][:10], labels[:10], strict=True)))
    told = [campaign.problem.labels.internal(one.value) for one in campaign.state.results.values()]
    np.testing.assert_array_equal(plan.world.truth[:10], told)
    assert not any("range of the labels" in note for note in plan.notes)


@each_kind
@pytest.mark.parametrize("policy", [Thompson(), BudgetIDS()])
def test_the_same_picks(kind, policy, tmp_path):
    campaign, plan, _ = both(kind, tmp_path, model="linear")
    labels, world = KINDS[kind][1], plan.world
    seen = []
    for step in range(6):

        def streams(place, step=step):
            return stream(7, "ask", step, place)

        state = campaign.state
        mine = campaign.problem.posterior(state)
        pool = campaign.problem.pool(campaign.problem.taken(state, retry_failed=False))
        asked = suggest(mine, pool, policy, 10 - step, streams)[0].item
        left = world.pool
        for one in seen:
            left = left.without(one.item)
        theirs = plan.model.posterior(seen, stream(0, "posterior"))
        played = suggest(theirs, left, policy, 10 - step, streams)[0].item
        assert asked == played
        seen.append(world.oracle.reveal(played, stream(0, "label")))
        campaign.tell({f"c{asked}": labels[asked]})


def test_a_label_of_another_kind_is_refused_by_row():
    frame = FEATURES.assign(y=KINDS["words"][1])
    with pytest.raises(InvalidInput, match=r"'low' is not one of the categories.*row \d"):
        backtest(frame, "y", id="id", categories=("bad", "medium", "high"))
    with pytest.raises(InvalidInput, match=r"outside the declared range.*row \d"):
        backtest(FEATURES.assign(y=SCORE), "y", id="id", range=(0.0, 0.1))
    with pytest.raises(InvalidInput, match=r"must be 0 or 1.*row 2"):
        backtest(FEATURES.assign(y=SCORE), "y", id="id", binary=True)
    with pytest.raises(InvalidInput, match="one of the three"):
        backtest(frame, "y", id="id", binary=True, range=(0.0, 1.0))
    gaps = FEATURES.assign(y=KINDS["binary"][1].where(SCORE < 1.0))
    with pytest.raises(InvalidInput, match="no label in row"):
        backtest(gaps, "y", id="id", binary=True)


def test_categories_are_said_with_their_numbers():
    frame = FEATURES.assign(y=KINDS["words"][1])
    result = backtest(frame, "y", id="id", categories=WORDS, policies="random", repeats=1)
    assert "Labels are counted as low = 0, medium = 0.5, high = 1." in result.notes
    assert set(result.steps["label"]) <= {0.0, 0.5, 1.0}


def test_a_folder_takes_the_model_and_the_labels_of_a_campaign(tmp_path):
    from serendip.problems.folders.importing import TableOptions, import_tables
    from serendip.problems.folders.opening import open_folder

    FEATURES.assign(y=KINDS["binary"][1]).to_csv(tmp_path / "t.csv", index=False)
    import_tables([tmp_path / "t.csv"], tmp_path / "pool", TableOptions(id="id", label="y"))
    folder, quick = open_folder(tmp_path / "pool"), {"policies": "random", "repeats": 1}
    assert backtest(folder, "y", binary=True, **quick).model == "logistic"
    ranged = backtest(folder, "y", range=(-1.0, 3.0), **quick)
    assert set(ranged.steps["label"]) == {0.0, 1.0}  # the user's own, whatever the model sees
    with pytest.raises(InvalidInput, match="outside the declared range"):
        backtest(folder, "y", range=(0.5, 1.0), **quick)


@each_kind
def test_the_command_takes_the_options_of_init(kind, tmp_path):
    said, labels = KINDS[kind]
    FEATURES.assign(y=labels).to_csv(tmp_path / "t.csv", index=False)
    options = {
        "minimize": ["--minimize"],
        "binary": ["--binary"],
        "range": ["--range", "-50", "150"],
        "categories": ["--categories", ", ".join(WORDS)],
    }
    given = [word for name in said for word in options[name]]
    quick = ["--policy", "random", "--repeats", "1", "--budget", "5", "--format", "json"]
    common = ["backtest", "t.csv", "--label", "y", "--id", "id", "--nominal", "plate"]
    done = serendip(*common, *quick, *given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["model"] == ("logistic" if "binary" in kind else "auto")
    spec = Columns(nominal=("plate",))
    told = {"policies": ["random"], "repeats": 1, "budget": 5, "id": "id", "columns": spec}
    direct = backtest(read_table(tmp_path / "t.csv"), "y", **told, **said).as_json()
    assert found["hit"] == direct["hit"]
    assert found["policies"]["random"]["total"] == direct["policies"]["random"]["total"]


def test_the_command_hands_the_range_on(tmp_path):
    FEATURES.assign(y=SCORE).to_csv(tmp_path / "t.csv", index=False)
    common = ["backtest", "t.csv", "--label", "y", "--id", "id", "--policy", "random"]
    done = serendip(*common, "--range", "0", "0.1", cwd=tmp_path)
    assert done.returncode == 2
    assert "outside the declared range [0.0, 0.1]" in done.stderr
