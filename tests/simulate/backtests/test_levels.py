"""Hits, enrichment and what was found of the best, against a count by hand, ties and all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serendip.problems.framing import Columns
from serendip.simulate.backtests.backtest import backtest
from serendip.simulate.backtests.files import summary_rows
from serendip.simulate.backtests.levels import Best, Hits


def rare(n=2000, n_active=40, seed=0):
    """A screen in which few are active."""
    rng = np.random.default_rng(seed)
    active = np.zeros(n, dtype=int)
    active[rng.permutation(n)[:n_active]] = 1
    return pd.DataFrame(rng.standard_normal((n, 3)), columns=list("abc")).assign(active=active)


PLAYED = {"columns": Columns("linear"), "policies": ["random"], "budget": 100}


@pytest.mark.parametrize("minimize", [False, True])
def test_rare_actives_are_the_hits(minimize):
    frame = rare()
    if minimize:
        frame["active"] = 1 - frame["active"]
    result = backtest(frame, "active", repeats=4, minimize=minimize, **PLAYED)
    better = 0 if minimize else 1
    found = (result.steps["label"] == better).groupby(result.steps["repeat"]).sum().mean()
    row = result.as_json()["policies"]["random"]
    assert 0 < found < 10  # of the 40
    assert row["hits"] == pytest.approx(found)
    assert row["enrichment"] == pytest.approx(found / (100 * 40 / 2000))
    assert row["recall"] == pytest.approx(found / 40)
    assert result.hit == better
    assert any("hits are these 40" in note for note in result.notes)
    assert any("Only 40 labels are better than the worst" in note for note in result.notes)


def test_more_actives_than_the_budget():
    result = backtest(rare(500, 300), "active", repeats=2, **PLAYED)
    row = result.as_json()["policies"]["random"]
    assert row["recall"] == pytest.approx(row["hits"] / 100)
    assert row["enrichment"] == pytest.approx(row["hits"] / 60)
    assert any("all 300 labels at least as good as 1" in note for note in result.notes)
    assert any("300 labels are 1, and of those found 100 at most" in note for note in result.notes)


def test_labels_that_all_differ_need_no_note():
    frame = rare(200).assign(active=np.random.default_rng(1).permutation(200))
    result = backtest(frame, "active", repeats=1, **{**PLAYED, "budget": 20})
    assert result.notes == ()
    assert result.hit == 180  # 20 of 200


def test_a_hit_that_nothing_reaches_has_no_enrichment():
    result = backtest(rare(200, 50), "active", repeats=1, hit=2.0, **PLAYED)
    row = result.as_json()["policies"]["random"]
    assert (row["hits"], row["enrichment"]) == (0, None)
    assert summary_rows(result)[1][0][6] == "–"


def counted_hits(labels, bought):
    """Slowly: the best tenth with all that equal one of them, but never the worst label."""
    ranked = sorted(labels, reverse=True)
    last = ranked[max(1, (len(ranked) - 1) // 10 + 1) - 1]
    if last == min(labels) != max(labels):
        return sum(label > min(labels) for label in bought)
    return sum(label >= last for label in bought)


def counted_share(labels, bought, budget):
    """Slowly: pairs off what was bought with the best T, leaving the worst label out."""
    wanted = sorted(labels, reverse=True)[:budget]
    if min(labels) != max(labels):
        wanted = [label for label in wanted if label > min(labels)]
    left = list(wanted)
    for label in bought:
        if label in left:
            left.remove(label)
    return 1.0 - len(left) / len(wanted)


@given(st.data())
def test_every_table_agrees_with_a_plain_count(data):
    values = st.sampled_from(data.draw(st.sampled_from([(0.0, 1.0), (0.0, 0.5, 1.0), range(50)])))
    labels = data.draw(st.lists(values, min_size=1, max_size=60))
    budget = data.draw(st.integers(1, len(labels)))
    bought = data.draw(st.permutations(labels))[:budget]
    table, found = np.array(labels, dtype=float), np.array(bought, dtype=float)
    hits, best = Hits.of(table), Best.of(table, budget)
    assert hits.among(found) == counted_hits(labels, bought)
    assert hits.n == counted_hits(labels, labels)
    assert best.share(found) == pytest.approx(counted_share(labels, bought, budget))
    assert best.share(np.sort(table)[::-1][:budget]) == 1.0
