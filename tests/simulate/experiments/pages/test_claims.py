"""Each kind of claim on regrets made by hand."""

import numpy as np
import pandas as pd
import pytest

from serendip.simulate.experiments.pages.claims import (
    Below,
    BestInEvery,
    Claim,
    FartherBelow,
    GrowsAs,
    GrowsLinearly,
    Level,
    MoreBy,
    MoreByShare,
    Rises,
    SlightlyBelow,
)
from serendip.simulate.experiments.pages.contrasts import Contrast, joined
from serendip.simulate.experiments.results import Results

SPREAD = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])
"""Five seeds around a mean; a paired difference of two equal spreads has none."""


def results(name, settings, best=None):
    """From {setting: {policy: regret, or one a seed, or {step: regret}}}."""
    rows = []
    for setting, policies in settings.items():
        steps = {step for value in policies.values() if isinstance(value, dict) for step in value}
        for step in steps or {100}:
            for seed in range(len(SPREAD)):
                row = {"experiment": name, "setting": setting, "seed": seed, "step": step}
                for policy, value in policies.items():
                    one = value[step] if isinstance(value, dict) else value
                    row[policy] = one[seed] if np.ndim(one) else one + SPREAD[seed]
                rows.append({**row, "best": best})
    columns = ["ids", "vids", "thompson", "ucb", "oful", "glm-ucb", "ens", "greedy", "random"]
    table = pd.DataFrame(rows)
    return Results(table.reindex(columns=[*table.columns[:4], "best", *columns]), {})


def judge(comparison, found, name, settings=None):
    return {one.setting: one.word for one in Claim("", "", name, comparison, settings).judge(found)}


NOISY = np.array([-5.0, 4.0, -3.0, 5.0, 0.0])


def test_contrasts_have_students_interval_and_three_ends():
    below = Contrast(np.array([-2.0, -1.0, -1.5]), "below")
    low, high = below.interval
    assert (low + high) / 2 == pytest.approx(-1.5)
    assert high - low == pytest.approx(2 * 4.302653 * 0.5 / np.sqrt(3))
    assert str(below) == "-1.50 [-2.74, -0.26]"
    assert [Contrast(below.values, side).word for side in ("below", "zero", "above")] == [
        "holds", "fails", "fails",
    ]  # fmt: skip
    assert [Contrast(NOISY, side).word for side in ("below", "zero", "above")] == [
        "cannot be told", "holds", "cannot be told",
    ]  # fmt: skip
    assert Contrast(np.array([-1.0]), "below").word == "cannot be told"
    assert Contrast(np.zeros(3), "below").word == Contrast(np.zeros(3), "above").word == "fails"
    assert joined(["holds", "cannot be told"]) == "cannot be told"
    assert joined(["fails", "cannot be told", "holds"]) == "fails"


def test_below_and_level_at_each_setting():
    found = results(
        "linear",
        {
            "20": {"vids": 5.0, "thompson": 9.0},
            "50": {"vids": 9.0, "thompson": 5.0},
            "100": {"vids": 5.0 + NOISY, "thompson": 5.0},
        },
    )
    expected = {"20": "holds", "50": "fails", "100": "cannot be told"}
    assert judge(Below("vids", "thompson"), found, "linear") == expected
    assert judge(Below("vids", "thompson"), found, "linear", ("50",)) == {"50": "fails"}
    expected = {"20": "fails", "50": "fails", "100": "holds"}
    assert judge(Level("vids", "thompson"), found, "linear") == expected


def test_throughout_looks_at_every_step_that_is_kept():
    found = results(
        "linear", {"20": {"vids": {25: 9.0, 100: 5.0}, "thompson": {25: 6.0, 100: 9.0}}}
    )
    assert judge(Below("vids", "thompson"), found, "linear") == {"20": "holds"}
    (verdict,) = Claim("", "", "linear", Below("vids", "thompson", throughout=True)).judge(found)
    assert verdict.word == "fails"
    assert verdict.figures == "-4.00 [-4.00, -4.00]; after 25 labels +3.00 [+3.00, +3.00]"


def test_slightly_is_below_but_by_no_more_than_a_fifth():
    found = results(
        "graph-random",
        {
            "0.1": {"vids": 27.0, "thompson": 95.0},
            "1.0": {"vids": 90.0, "thompson": 100.0},
            "10.0": {"vids": 110.0, "thompson": 100.0},
        },
    )
    expected = {"0.1": "fails", "1.0": "holds", "10.0": "fails"}
    assert judge(SlightlyBelow("vids", "thompson"), found, "graph-random") == expected


def test_linear_growth_is_a_rising_line_over_three_settings():
    found = results(
        "linear",
        {
            "20": {"vids": 20.0, "thompson": 40.0, "random": 50.0},
            "50": {"vids": 50.0, "thompson": 100.0, "random": 50.0},
            "100": {"vids": 100.0, "thompson": 500.0, "random": 50.0},
        },
    )
    words = [
        judge(GrowsLinearly(policy), found, "linear")["20 to 100"]
        for policy in ("vids", "thompson", "random")
    ]
    assert words == ["holds", "fails", "fails"]
    assert judge(GrowsLinearly("vids"), found, "linear", ("20", "50")) == {}


def test_rises_from_each_setting_to_the_next():
    found = results("low-rank", {"0.1": {"vids": 5.0}, "0.5": {"vids": 6.0}, "1.0": {"vids": 3.0}})
    expected = {"0.1 to 0.5": "holds", "0.5 to 1.0": "fails"}
    assert judge(Rises("vids"), found, "low-rank") == expected


def test_growth_along_a_run_is_read_off_its_second_half():
    curves = {
        "ens": {25: 10.0, 50: 20.0, 75: 30.0, 100: 40.0 - 1e-9},
        "vids": {25: 10.0, 50: 10.0, 75: 12.0, 100: 11.0},
    }
    # A doubled spread would leave one behind: the same for each seed.
    curves = {
        policy: {step: np.full(5, value) + 0.01 * SPREAD for step, value in steps.items()}
        for policy, steps in curves.items()
    }
    found = results("ens", {"0.1": curves})
    assert judge(GrowsAs("ens", 1.0), found, "ens") == {"0.1": "holds"}
    assert judge(GrowsAs("vids", 1.0), found, "ens") == {"0.1": "fails"}
    assert judge(GrowsAs("vids", 0.5), found, "ens") == {"0.1": "fails"}
    assert judge(GrowsAs("vids", 0.5, at_most=True), found, "ens") == {"0.1": "holds"}
    assert judge(GrowsAs("ens", 0.5, at_most=True), found, "ens") == {"0.1": "fails"}


def test_farther_below_in_regret_and_as_a_share():
    star = results("graph-star", {"0.1": {"vids": 2.0, "thompson": 10.0}})
    random = results("graph-random", {"0.1": {"vids": 60.0, "thompson": 90.0}})
    found = Results(pd.concat([star.rows, random.rows]), {})

    def word(in_share, where):
        one = FartherBelow("vids", "thompson", "graph-random", in_share)
        return judge(one, where, "graph-star")

    assert word(False, found) == {"0.1": "fails"}
    assert word(True, found) == {"0.1": "holds"}
    assert word(True, star) == {}


POOLS = {
    "pndc: X2": {"vids": 3.0, "thompson": 4.0, "ucb": 6.0, "random": 9.0},
    "pndc: X3": {"vids": 3.0, "thompson": 2.0, "ucb": 6.0, "random": 9.0},
}


def test_best_in_every_pool():
    found = results("table", POOLS)
    among = ("vids", "thompson", "ucb", "random")
    (verdict,) = Claim("", "", "table", BestInEvery(("vids",), among)).judge(found)
    assert (verdict.setting, verdict.word) == ("pndc", "fails")
    assert verdict.figures == "lowest mean in 1 of 2"
    assert judge(BestInEvery(("vids", "thompson"), among), found, "table") == {"pndc": "holds"}
    marked = {"X2": ("vids",), "X3": ("thompson",)}
    assert judge(BestInEvery(marked, among), found, "table") == {"pndc": "holds"}
    swapped = {"X2": ("thompson",), "X3": ("vids",)}
    assert judge(BestInEvery(swapped, among), found, "table") == {"pndc": "fails"}


def test_more_by_an_amount_and_by_a_share_over_the_means_of_pools():
    found = results("table", POOLS, best=15.0)
    assert judge(MoreBy("vids", "random", 6.0), found, "table") == {"pndc": "holds"}
    assert judge(MoreBy("vids", "random", 5.5), found, "table") == {"pndc": "fails"}
    # 12 of 15 found against 6 by random choice, 9 by UCB.
    assert judge(MoreByShare("vids", "random", 1.0), found, "table") == {"pndc": "holds"}
    assert judge(MoreByShare("vids", "ucb", 0.33), found, "table") == {"pndc": "holds"}
    assert judge(MoreByShare("vids", "ucb", 0.2), found, "table") == {"pndc": "fails"}


def test_what_is_deterministic_was_run_once_and_stands_beside_every_seed():
    found = results("table", POOLS)
    found.rows.loc[found.rows["seed"] > 0, "ucb"] = np.nan
    assert judge(Below("vids", "ucb"), found, "table") == {"pndc": "holds"}


def test_what_was_not_run_has_no_verdict():
    assert judge(Below("vids", "thompson"), results("table", POOLS), "linear") == {}
