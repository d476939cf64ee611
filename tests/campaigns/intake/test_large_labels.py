"""Labels too large to compute with: refused, and no end of a campaign that holds one."""

import numpy as np
import pandas as pd
import pytest

from campaigns.screens import serendip, settings, write_pool
from needs import need_package
from serendip.campaigns import Campaign
from serendip.campaigns.log.events import Told
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput
from serendip.core.labels import LARGEST, Continuous

MODELS = {
    "auto": {},
    "linear": {},
    "gp": {},
    "forest": {},
    "neural": {},
    "sparse": {},
    "logistic": {"range": (0, 10)},
    "low-rank": {"rows": ("acid",), "columns": ("solvent",)},
    "graph": {"edges": "edges.csv"},
}


@pytest.mark.parametrize("label", [1e160, -1e160, 1.1e30, 1e308])
def test_a_label_that_is_too_large_is_refused_wherever_it_is_written(folder, label):
    write_pool(n=20)
    campaign = Campaign.create(settings(budget=9, model="linear"))
    pd.DataFrame({"code": ["c003"], "yield": [label]}).to_csv("results.csv", index=False)
    for results in ({"c003": label}, {"c003": str(label)}, "results.csv"):
        with pytest.raises(InvalidInput, match=r"1e\+30"):
            campaign.tell(results)
    assert len(campaign.log) == 1
    with pytest.raises(InvalidInput, match=r"1e\+30"):
        Campaign.create(settings(name="other", budget=9, prior_data="results.csv"))
    with pytest.raises(InvalidInput, match="range"):
        Campaign.create(settings(name="other", budget=9, range=(0, abs(label))))
    with pytest.raises(InvalidInput, match="item 3"):
        Observation(3, np.zeros((1, 2)), np.array([label]))


def test_a_backtest_refuses_them_too(folder):
    rows = "".join(f"{k},{k % 3},{1e160 if k == 3 else k}\n" for k in range(12))
    (folder / "table.csv").write_text(f"a,b,yield\n{rows}")
    code, out, said = serendip("backtest", "table.csv", "--label", "yield", "--budget", 3)
    assert (code, out) == (2, "")
    assert "1e+160" in said
    assert len(said.strip().splitlines()) == 1  # after the bar's own line


def test_the_largest_label_is_taken(folder):
    assert Continuous().encode(LARGEST) == LARGEST
    assert Continuous().encode(f"-{LARGEST:g}") == -LARGEST


@pytest.mark.parametrize("model", MODELS)
def test_a_campaign_that_holds_one_says_so_and_can_be_mended(folder, model):
    """Such labels were taken once; then nothing could be asked any more, with a traceback."""
    if model == "neural":
        need_package("torch")
    write_pool(n=20)
    pd.DataFrame({"one": ["c000", "c001"], "other": ["c001", "c002"]}).to_csv(
        "edges.csv", index=False
    )
    campaign = Campaign.create(settings(budget=9, model=model, **MODELS[model]))
    told = [Told("ann", "now", "c000", 1e160), Told("ann", "now", "c001", 1e308)]
    for version, event in enumerate(told, start=1):
        campaign.store.append("screen", [event], after=version)
    for command in ("ask", "predict", "report", "status"):
        code, shown, said = serendip(command, "screen")
        assert code == 2
        # What needs no model is said at once.
        assert ("Experiments: 2 of 9 spent" in shown) == (command == "status")
        assert len(said.splitlines()) == 1
        assert "too large to compute with" in said
        assert "c000" in said
    for command in (["export", "screen"], ["status", "screen", "--no-forecast"], ["list"]):
        assert serendip(*command)[0] == 0
    assert serendip("undo", "screen", "--item", "c001")[0] == 0
    assert serendip("tell", "screen", "--item", "c000", "--value", "3", "--correct")[0] == 0
    campaign.refresh()
    assert campaign.problem._seen(campaign.state)[0].label < 1e30
    assert campaign.problem.posterior(campaign.state).n_labels == 1
