"""Backtests of a campaign and of a table: a live bar, cancel, and the figure."""

import pytest
from playwright.sync_api import expect

from web.browser.visits import BUNDLED, YIELDS, send, typed_file


@pytest.fixture(name="labelled")
def _labelled(tmp_path):
    file = tmp_path / "labelled.csv"
    BUNDLED.assign(**{"yield": BUNDLED["id"].map(YIELDS)}).to_csv(file, index=False)
    return file


def test_a_campaign_is_replayed_on_its_own_results(lab, visit):
    ann = visit(lab.url)
    page = ann.page()
    page.goto("/campaigns/coupling/backtest")
    page.get_by_label("Budget").fill("80")
    page.get_by_role("button", name="Run the backtest").click()
    expect(page.locator("#budget-error")).to_contain_text("There are 24 results to buy")
    page.get_by_label("Budget").fill("8")
    page.get_by_label("Repeats").fill("2")
    page.get_by_role("button", name="Run the backtest").click()
    page.wait_for_selector("#curves[data-drawn]")
    expect(page.get_by_role("row", name="ids")).to_be_visible()
    page.get_by_role("button", name="Regret").click()
    page.wait_for_function(
        "() => document.querySelector('#curves').dataset.figure.includes('regret')"
    )
    ann.shot(page, "10-backtest-done", full=True)


def test_a_table_is_replayed_with_a_bar_and_can_be_cancelled(lab, visit, labelled, tmp_path):
    ann = visit(lab.url)
    page = ann.page()
    page.goto("/backtest")
    send(page, typed_file(tmp_path / "notes.docx", "no"))
    expect(page.locator("#table-error")).to_contain_text("A table is a file ending in")
    send(page, labelled)
    expect(page.get_by_label("yield", exact=True)).to_have_value("label")
    expect(page.get_by_text("Everything fits")).to_be_visible()
    page.get_by_label("yield", exact=True).select_option("ignored")
    page.get_by_role("button", name="Run the backtest").click()
    expect(page.get_by_text("Choose the column that holds the results")).to_be_visible()
    page.get_by_label("yield", exact=True).select_option("label")
    page.get_by_label("Repeats").fill("200")
    page.get_by_role("button", name="Run the backtest").click()
    page.wait_for_url("**/backtests/*")
    page.wait_for_function(
        "() => document.querySelector('[role=progressbar]').getAttribute('aria-valuenow') > 1"
    )
    expect(page.locator("[data-job-figures]")).to_contain_text("of 800 runs")
    ann.shot(page, "11-backtest-running")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The backtest was cancelled.")).to_be_visible()
    page.get_by_role("link", name="Begin another").click()
    expect(page.locator(".jobs li").first).to_contain_text("cancelled")
