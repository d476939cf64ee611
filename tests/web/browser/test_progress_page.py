"""Progress: what stopping would cost, regret and information over time, and points to choose."""

import pytest
from playwright.sync_api import expect


def traces(page, box):
    """Names of what a figure draws."""
    return page.locator(f"{box} .plot").evaluate("plot => plot.data.map(one => one.name)")


def shown(page, path, box):
    """The page, once a figure is drawn in it."""
    page.goto(path)
    page.locator(box).scroll_into_view_if_needed()
    page.wait_for_selector(f"{box}[data-drawn]")


def test_the_forecast_says_what_stopping_now_would_cost(lab, visit):
    page = visit(lab.url).page()
    shown(page, "/campaigns/coupling/progress", "[data-figure*='figures/progress']")
    tile = page.locator(".tile", has_text="Stopping now would forgo")
    expect(tile).to_contain_text("from 15 experiments to come")
    assert set(traces(page, "[data-figure*='figures/progress']")) == {
        "random choice", "80 % interval", "forecast", "found so far",
    }  # fmt: skip
    expect(page.get_by_text("results lie within the interval they were given")).to_be_visible()
    expect(page.locator(".share-name").first).to_be_visible()


def test_regret_its_bound_and_the_information_ratio_are_drawn_over_time(lab, visit):
    page = visit(lab.url).page()
    page.goto("/campaigns/coupling/progress")
    page.get_by_text("For the curious").click()
    for what, names in (
        ("regret", {"regret, as believed now", "bound on its average"}),
        ("ratio", {"of what was proposed", "of Thompson sampling", "the least there was"}),
    ):
        box = f"[data-figure*='figures/{what}']"
        page.locator(box).scroll_into_view_if_needed()
        page.wait_for_selector(f"{box}[data-drawn]")
        assert set(traces(page, box)) == names
        values = page.locator(f"{box} .plot").evaluate("plot => plot.data.flatMap(one => one.y)")
        assert len([one for one in values if one is not None]) >= 4


def test_the_map_is_coloured_as_one_likes_and_its_points_can_be_chosen(lab, visit):
    ann = visit(lab.url)
    page = ann.page()
    shown(page, "/campaigns/coupling/progress", "#map")
    expect(page.locator("#map .hint")).to_contain_text("of how the columns differ")
    for name, key in (("Uncertainty", "uncertainty"), ("State", "state")):
        with page.expect_response(lambda answer, key=key: f"colour={key}" in answer.url):
            page.get_by_role("button", name=name).click()
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(
        "() => document.querySelector('#map .plot').data.some(one => one.name === 'failed')"
    )
    item = page.locator("#map .plot").evaluate(
        "plot => plot.data.find(one => one.name === 'waiting for a result').customdata[0]"
    )
    page.locator("#map .scatterlayer .trace").last.locator(".point").first.click(force=True)
    expect(page.locator("#candidate h2")).to_have_text(item)
    expect(page.locator("#candidate")).to_contain_text("Expected")
    ann.shot(page, "12-map-chosen")


def test_a_matrix_is_a_heat_map_whose_cells_can_be_chosen(lab, visit):
    page = visit(lab.url).page()
    shown(page, "/campaigns/pairs/progress", "#matrix")
    expect(page.locator("#matrix-title")).to_have_text("reagent × substrate")
    kinds = page.locator("#matrix .plot").evaluate("plot => plot.data.map(one => one.type)")
    assert kinds[0] == "heatmap"
    place = page.locator("#matrix .heatmaplayer").bounding_box()
    page.mouse.click(place["x"] + place["width"] / 16, place["y"] + place["height"] / 12)
    expect(page.locator("#candidate h2")).to_contain_text("-s")


def test_a_graph_shows_the_neighbours_of_the_proposals(lab, visit):
    page = visit(lab.url).page()
    shown(page, "/campaigns/network/progress", "#graph")
    expect(page.locator("#graph-title")).to_have_text("Around the proposals")
    assert "waiting for a result" in traces(page, "#graph")
    page.locator("#graph .scatterlayer .trace").last.locator(".point").first.click(force=True)
    expect(page.locator("#candidate h2")).to_contain_text("n")


@pytest.mark.parametrize("width", [1280, 820])
def test_results_can_be_typed_without_scrolling_aside(lab, visit, tmp_path, width):
    from web.browser.visits import ask, begin, typed_file

    names = [f"a_rather_long_name_of_a_descriptor_{k}" for k in range(9)]
    cells = ["ethyl-3-methoxyisoxazole-5-carboxylate", "1-iodo-4-(trifluoromethyl)benzene"]
    lines = [",".join(["id", "additive", "halide", *names])]
    lines += [
        ",".join([f"c{k}", f"{cells[0]}{k % 3}", f"{cells[1]}{k % 2}", *[f"{k * 1.5}"] * 9])
        for k in range(20)
    ]
    file = typed_file(tmp_path / "wide.csv", "\n".join(lines))
    page = visit(lab.url, viewport={"width": width, "height": 900}).page()
    begin(page, file, budget=5)
    ask(page, 3)
    for field in page.locator("input.result").all():
        place = field.bounding_box()
        assert place["x"] > 0
        assert place["x"] + place["width"] < width
    page.get_by_label("All 11 columns").check()
    place = page.locator("input.result").first.bounding_box()
    assert place["x"] + place["width"] < width
