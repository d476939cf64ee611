"""Every page, light, dark and on a tablet: axe finds nothing, and nothing overflows."""

from importlib.resources import files

import pytest

from web.browser.visits import send, typed_file

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

PAGES = {
    "campaigns": ("/", ".delta"),
    "new": ("/new", ".drop"),
    "campaign": ("/campaigns/coupling", ".tile-small.advice"),
    "campaign-fresh": ("/campaigns/fresh%20one", ".ask"),
    "progress": ("/campaigns/coupling/progress", ".advice-line"),
    "progress-empty": ("/campaigns/fresh%20one/progress", "#map[data-drawn]"),
    "progress-matrix": ("/campaigns/pairs/progress", ".advice-line"),
    "progress-graph": ("/campaigns/network/progress", ".advice-line"),
    "candidates": ("/campaigns/coupling/candidates", ".pager"),
    "candidate": ("/campaigns/coupling/candidate?id=R114", ".pairs"),
    "history": ("/campaigns/coupling/history", ".log"),
    "backtest-own": ("/campaigns/coupling/backtest", ".checks"),
    "backtest": ("/backtest", ".drop"),
    "error": ("/campaigns/none", ".empty-title"),
}
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "tablet": {"color_scheme": "light", "viewport": {"width": 768, "height": 1024}},
}


def settled(page, path, ready):
    """The page, once all that is loaded late is there."""
    page.goto(path)
    page.wait_for_selector(ready)
    for details in page.locator("details.theory").all():
        details.evaluate("one => one.open = true")
    for box in page.locator("[data-figure]").all():
        box.scroll_into_view_if_needed()
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-figure]')].every(one => one.dataset.drawn)"
    )
    page.wait_for_function("() => !document.querySelector('.skeleton, .htmx-request')")
    page.evaluate("scrollTo(0, 0)")


def violations(page):
    """What axe objects to, in a line each."""
    page.evaluate(AXE)
    found = page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES
    )
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def objections(page):
    """What is wrong with a page."""
    overflow = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return [*violations(page), *([f"wider than the window by {overflow}"] if overflow > 0 else [])]


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_is_accessible_and_fits(lab, visit, look):
    ann = visit(lab.url, **LOOKS[look])
    page = ann.page()
    wrong = {}
    for name, (path, ready) in PAGES.items():
        settled(page, path, ready)
        ann.shot(page, f"{name}-{look}", full=True)
        wrong[name] = objections(page)
    assert not {name: found for name, found in wrong.items() if found}


@pytest.mark.parametrize("look", LOOKS)
def test_pages_with_something_wrong_are_accessible_too(lab, visit, tmp_path, look):
    ann = visit(lab.url, **LOOKS[look])
    page = ann.page()
    lines = ["id,heat,yield", *(f"c{k},{k},{k}" for k in range(20)), "c3,hot,"]
    file = typed_file(tmp_path / "table.csv", "\n".join(lines))
    wrong = {}
    for name, path, button in (
        ("new-columns", "/new", "Begin the campaign"),
        ("backtest-columns", "/backtest", "Run the backtest"),
    ):
        page.goto(path)
        send(page, file)
        page.get_by_role("button", name=button).click()
        page.wait_for_selector(".error.block:visible")
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        ann.shot(page, f"{name}-{look}", full=True)
        wrong[name] = objections(page)
    assert not {name: found for name, found in wrong.items() if found}
