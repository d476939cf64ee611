"""Maps, shapes, the course and the fit of a campaign, each against the obvious computation."""

import numpy as np
import pandas as pd
import pytest

from campaigns.screens import settings, write_pool
from serendip.campaigns import Campaign
from serendip.campaigns.analysis.course import course
from serendip.campaigns.analysis.fit import believed, fit_of, trusted
from serendip.campaigns.analysis.maps import _apart, has_map, map_methods, pool_map
from serendip.campaigns.analysis.predictions import N_DRAWS
from serendip.campaigns.analysis.shapes import matrix_of, neighbourhood
from serendip.campaigns.log.state import replay
from serendip.campaigns.output.listing import PAGE, listing
from serendip.core.data import Choice
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import everything
from serendip.core.rng import Purpose, stream
from serendip.theory import RatioWatch, generic_bound, tuple_entropy_bound


@pytest.fixture(name="campaign")
def _campaign(folder):
    truth, _ = write_pool()
    made = Campaign.create(settings(range=(-5, 5)), "s.db", "ann")
    for _ in range(3):
        made.tell({item: truth[item] for item in made.ask(4)["code"]})
    own = next(item for item in truth if item not in made.state.results)
    made.tell({own: truth[own]})
    made.ask(2)
    return made


def rng():
    return np.random.default_rng(0)


# --- maps ----------------------------------------------------------------------------------------


def test_a_small_pool_is_mapped_whole_by_its_principal_components(campaign):
    view = campaign.view()
    found = pool_map(view, np.zeros(60), rng())
    x = np.asarray(view.pool.take(np.arange(60)))
    centred = x - x.mean(axis=0)
    variances = np.linalg.eigvalsh(centred.T @ centred)[::-1]
    assert found.items.tolist() == list(range(60))
    np.testing.assert_allclose((found.places**2).sum(axis=0), variances[:2])
    assert found.share == pytest.approx(variances[:2].sum() / variances.sum())
    assert abs(found.places[:, 0] @ found.places[:, 1]) < 1e-9


def test_a_large_pool_is_sampled_and_keeps_what_matters(campaign):
    view = campaign.view()
    chances = np.zeros(60)
    chances[[50, 51]] = 1.0
    found = pool_map(view, chances, rng(), most=59)
    touched = [at for at, state in enumerate(view.states) if state != "available"]
    assert len(found.items) == 59
    assert {*touched, 50, 51} <= set(found.items.tolist())
    assert (np.diff(found.items) > 0).all()


def test_candidates_that_share_a_place_lie_side_by_side():
    at = np.repeat(np.array([[0.0, 0.0], [10.0, 1.0], [4.0, 7.0], [2.0, 2.0]]), [1, 8, 30, 1], 0)
    found, n_moved = _apart(at)
    assert n_moved == 7 + 29
    distances = np.linalg.norm(found[:, None] - found[None], axis=-1)
    assert distances[~np.eye(len(at), dtype=bool)].min() > 0.05
    assert np.linalg.norm(found - at, axis=1).max() <= 0.05 * 10.0
    again, n_moved = _apart(found)
    assert n_moved == 0
    np.testing.assert_array_equal(again, found)
    assert _apart(np.zeros((3, 2)))[1] == 2


def test_maps_that_cannot_be_made_are_refused(campaign):
    assert has_map("linear")
    assert not has_map("graph")
    with pytest.raises(InvalidInput, match="no map by"):
        pool_map(campaign.view(), np.zeros(60), rng(), method="tsne")
    if "umap" in map_methods():
        assert pool_map(campaign.view(), np.zeros(60), rng(), "umap").places.shape == (60, 2)


# --- the course ----------------------------------------------------------------------------------


def test_the_course_repeats_what_each_batch_knew(campaign):
    found = course(campaign.problem, campaign.log, "screen")
    assert found.labels.tolist() == [0, 4, 8, 13]
    assert found.after.tolist() == [4, 8, 13, 13]
    asked = [at for at, entry in enumerate(campaign.log) if hasattr(entry.event, "proposals")]
    before = replay(campaign.log[: asked[1]])
    view = campaign.problem.view(before, "screen")
    first = campaign.candidates.places[campaign.log[asked[1]].event.proposals[0].item]
    figures = RatioWatch(n_draws=N_DRAWS)(
        view.posterior, view.pool, Choice(first, 0.0), before.free, stream(0, "course", 6)
    )
    assert before.version == 6
    # Labels in a range of 10 with g ≥ 2v at least: the ratio is at most R²/2 of the sampled one.
    assert 0 < found.ratio[1] <= 0.5 * 100 * figures["information_ratio"] * (1 + 1e-9)
    assert found.least[1] <= found.ratio[1] * (1 + 1e-9)


def test_the_bound_is_lemma_1_with_the_worst_ratio_so_far(campaign):
    found = course(campaign.problem, campaign.log, "screen")
    entropy = tuple_entropy_bound(60, 30)
    worst = np.maximum.accumulate(found.ratio)
    expected = [
        generic_bound(w, entropy, int(t)) for w, t in zip(worst[:3], found.after[:3], strict=True)
    ]
    np.testing.assert_allclose(found.bound[:3], expected)
    assert np.isnan(found.bound[3])


def test_regret_is_the_best_less_what_was_found(campaign):
    found = course(campaign.problem, campaign.log, "screen")
    assert len(found.regret) == 14
    assert found.regret[0] == 0
    assert (found.regret >= 0).all()
    truth, _ = write_pool("again.csv")
    best = np.sort(np.array(list(truth.values())))[::-1][:13].sum()
    told = sum(one.value for one in campaign.state.results.values())
    assert found.regret[-1] == pytest.approx(best - told, rel=0.3)
    # Against the sum of the 13 best of all 60 under each draw, labels in their own unit.
    problem, now = campaign.problem, replay(campaign.log)
    rng = stream(problem.settings.seed, Purpose.REGRET, now.version)
    pool = problem.pool(now.known)
    draws = problem.posterior(now).sample(N_DRAWS, rng)
    values = np.asarray(draws.values(everything(pool)))
    values = np.clip(values, *problem.labels.limits(problem.settings.bounds))
    expected = np.sort(values, axis=0)[-13:].sum(axis=0) @ draws.weights
    expected = problem.labels.user_width(1.0) * expected + 13 * problem.labels.offset - told
    assert found.regret[-1] == pytest.approx(expected)


def test_without_a_range_the_first_ratio_means_nothing(folder):
    truth, _ = write_pool()
    campaign = Campaign.create(settings(), "s.db")
    campaign.tell({item: truth[item] for item in campaign.ask(4)["code"]})
    found = course(campaign.problem, campaign.log, "screen")
    assert np.isnan(found.ratio[0])
    assert np.isnan(found.bound[0])
    empty = Campaign.create(settings(name="empty"), "s.db")
    nothing = course(empty.problem, empty.log, "empty")
    assert len(nothing.labels) == 0
    assert nothing.regret.tolist() == [0.0]


# --- the fit -------------------------------------------------------------------------------------


def test_predictions_are_those_of_the_log_where_something_was_known(campaign):
    view = campaign.view()
    fit = fit_of(view, campaign.log, rng())
    told = believed(campaign.log)
    ids = [view.ids[item] for item in fit.items]
    assert fit.ahead == tuple(name in told for name in ids)
    assert sum(fit.ahead) == 8
    for place, name in enumerate(ids):
        if fit.ahead[place]:
            assert fit.predicted[place] == told[name].expected
            assert fit.half[place] > 1.28 * told[name].uncertainty
    assert fit.inside == int(sum(abs(fit.measured - fit.predicted) <= fit.half))
    np.testing.assert_allclose(fit.measured, view.measured_values)


def test_no_result_makes_an_empty_fit(folder):
    write_pool()
    campaign = Campaign.create(settings(), "s.db")
    assert len(fit_of(campaign.view(), campaign.log, rng()).items) == 0


def test_models_share_the_trust(folder):
    truth, _ = write_pool()
    for model in ("linear", "gp"):
        campaign = Campaign.create(settings(name=model, model=model), "s.db")
        campaign.tell({item: truth[item] for item in campaign.ask(6)["code"]})
        found = trusted(campaign.view().posterior, model)
        assert sum(one.share for one in found) == pytest.approx(1.0)
        assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
        assert (len(found) == 1) == (model == "linear")


# --- matrices and graphs -------------------------------------------------------------------------


def test_a_matrix_has_each_candidate_in_its_cell(folder):
    pairs = [(f"r{i}", f"s{j}") for i in range(4) for j in range(3) if (i, j) != (2, 1)]
    table = pd.DataFrame(pairs, columns=["reagent", "substrate"])
    table.insert(0, "code", [f"{a}{b}" for a, b in pairs])
    table.to_csv("pool.csv", index=False)
    campaign = Campaign.create(
        settings(range=(0, 1), rows="reagent", columns="substrate", budget=5), "s.db"
    )
    found = matrix_of(campaign.problem, np.zeros(11))
    ids = campaign.candidates.ids
    for i, row in enumerate(found.rows):
        for j, column in enumerate(found.columns):
            item = found.items[i, j]
            assert (item < 0) == ((row, column) == ("r2", "s1"))
            assert item < 0 or ids[item] == f"{row}{column}"
    assert found.whole == (4, 3)


def test_a_neighbourhood_holds_all_neighbours_and_their_edges(folder):
    names = [f"n{k}" for k in range(12)]
    pd.DataFrame({"code": names}).to_csv("pool.csv", index=False)
    edges = [(0, 1), (0, 2), (1, 2), (3, 4), (4, 5), (5, 6), (0, 7)]
    pd.DataFrame([(names[a], names[b]) for a, b in edges], columns=["a", "b"]).to_csv(
        "edges.csv", index=False
    )
    campaign = Campaign.create(
        settings(binary=True, model="graph", edges="edges.csv", budget=4), "s.db"
    )
    found = neighbourhood(campaign.problem, np.array([0, 5]), seed=0)
    assert found.items.tolist() == [0, 1, 2, 4, 5, 6, 7]
    among = {tuple(found.items[pair].tolist()) for pair in found.edges}
    assert among == {(0, 1), (0, 2), (1, 2), (4, 5), (5, 6), (0, 7)}
    assert found.places.shape == (7, 2)
    again = neighbourhood(campaign.problem, np.array([0, 5]), seed=0)
    np.testing.assert_array_equal(found.places, again.places)
    with pytest.raises(InvalidInput, match="low-rank"):
        matrix_of(campaign.problem, np.zeros(12))


# --- listings ------------------------------------------------------------------------------------


def test_listings_are_searched_sorted_and_cut(campaign):
    table = campaign.predict()
    whole = listing(table, "", "expected", "", 1, False)
    assert whole.n == 60
    assert (whole.page, whole.n_pages) == (1, 2)
    assert len(whole.rows) == PAGE
    shown = [row["ours"]["expected"] for row in whole.rows]
    assert shown == sorted(table["expected"], reverse=True)[:PAGE]
    low = listing(table, "", "expected", "", 1, True)
    assert low.rows[0]["ours"]["expected"] == table["expected"].min()
    rest = listing(table, "", "expected", "", 99, False)
    assert (rest.page, len(rest.rows)) == (2, 10)
    waiting = listing(table, "proposed", "table", "", 1, False)
    assert [row["ours"]["id"] for row in waiting.rows] == sorted(campaign.state.pending)
    assert listing(table, "", "table", "THF", 1, False).n == 20
    assert listing(table, "", "table", "c0(", 1, False).n == 0
    results = listing(table, "", "result", "", 1, False).rows
    assert results[0]["ours"]["result"] == max(one.value for one in campaign.state.results.values())


def test_columns_of_the_user_that_are_called_like_ours_do_no_harm(folder):
    _, path = write_pool()
    frame = pd.read_csv(path).rename(columns={"acid": "expected", "solvent": "state"})
    frame.to_csv(path, index=False)
    campaign = Campaign.create(settings(label="uncertainty"), "s.db")
    campaign.tell({"c001": 1.0, "c002": 2.0})
    table = campaign.predict()
    rows = listing(table, "measured", "result", "", 1, False).rows
    assert [row["ours"]["id"] for row in rows] == ["c002", "c001"]
    assert rows[0]["state"] == "water"
    assert rows[0]["ours"]["state"] == "measured"
