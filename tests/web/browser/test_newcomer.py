"""A newcomer's whole path: from an empty page to the second batch and the report."""

import pandas as pd
from playwright.sync_api import expect

from web.browser.visits import BUNDLED, YIELDS, ask, begin, drop, entry, heard, save, waiting


def test_from_a_dropped_file_to_the_second_batch_and_the_report(empty, visit, tmp_path):
    file = tmp_path / "reactions.csv"
    BUNDLED.to_csv(file, index=False)
    ann = visit(empty.url, accept_downloads=True)
    page = ann.page()

    page.goto("/")
    expect(page.get_by_role("heading", name="What will you try next?")).to_be_visible()
    ann.shot(page, "01-empty")
    page.get_by_role("link", name="Begin with your own table").click()
    page.wait_for_url("**/new")
    with page.expect_navigation(url="**/new/*"):
        drop(page, file)

    expect(page.locator("#role-0")).to_have_value("id")
    expect(page.get_by_label("ligand", exact=True)).to_have_value("category")
    expect(page.get_by_label("temperature", exact=True)).to_have_value("number")
    expect(page.get_by_text("Everything fits")).to_be_visible()
    page.get_by_label("What is measured").fill("yield")
    page.get_by_label("from").fill("0")
    page.get_by_label("to", exact=True).fill("100")
    page.get_by_label("Name of the campaign").fill("coupling")
    page.get_by_label("Budget").fill("24")
    ann.shot(page, "02-columns", full=True)
    page.get_by_role("button", name="Begin the campaign").click()
    expect(page.get_by_text("The campaign has begun.")).to_be_visible()

    first = ask(page)
    assert len(first) == 8
    ann.shot(page, "03-first-batch", full=True)
    for item in first[:6]:
        entry(page, item).fill(str(YIELDS[item]))
    entry(page, first[6]).fill("failed")
    save(page)
    heard(page, "Recorded: 6 measured, 1 failed.")
    assert waiting(page) == [first[7]]
    expect(page.get_by_text("7 of 24")).to_be_visible()
    expect(page.locator(".advice").first).to_contain_text("at random")

    second = ask(page)
    assert len(second) == 9
    assert second[0] == first[7]
    page.locator(".why details summary").last.click()
    expect(page.locator(".why p").last).to_contain_text("nearest measured")
    ann.shot(page, "04-second-batch", full=True)

    with page.expect_download() as coming:
        page.get_by_role("link", name="Download as Excel").click()
    sheet = tmp_path / coming.value.suggested_filename
    coming.value.save_as(sheet)
    table = pd.read_excel(sheet)
    assert table["id"].tolist() == second
    table["yield"] = [YIELDS[item] for item in second]
    table.to_excel(sheet, index=False)
    page.set_input_files("#filled", sheet)
    heard(page, "Recorded: 9 measured.")
    expect(page.get_by_text("All results are in.")).to_be_visible()

    page.get_by_role("link", name="Progress").click()
    expect(page.get_by_text("Stopping now would forgo")).to_be_visible()
    page.wait_for_selector(".figure[data-drawn]")
    page.locator("#map").scroll_into_view_if_needed()
    page.wait_for_selector("#map[data-drawn]")

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    report = opened.value
    expect(report.get_by_role("heading", name="coupling")).to_be_visible()
    expect(report.get_by_role("heading", name="Best found")).to_be_visible()
    assert report.locator("svg").count() >= 2
    ann.shot(report, "05-report", full=True)

    page.get_by_role("link", name="History").click()
    expect(page.get_by_text("began with 320 candidates and a budget of 24")).to_be_visible()
    page.goto("/")
    expect(page.get_by_text("Ready for a batch")).to_be_visible()
    expect(page.locator(".delta")).to_be_visible()


def test_results_are_corrected_taken_back_added_and_the_budget_changed(lab, visit, tmp_path):
    file = tmp_path / "reactions.csv"
    BUNDLED.to_csv(file, index=False)
    page = visit(lab.url).page()
    begin(page, file, budget=10, low=0, high=100)
    first = ask(page, 2)
    entry(page, first[0]).fill("40,5")
    entry(page, first[1]).fill("50")
    save(page)

    page.get_by_label(f"Change the result of {first[0]}").click()
    page.get_by_label("Correct to").locator("visible=true").fill("41.5")
    page.locator(".popover:visible").get_by_role("button", name="Save").click()
    heard(page, "Recorded: 1 corrected.")
    expect(page.get_by_role("row", name=first[0])).to_contain_text("41.5")

    page.get_by_role("button", name="Undo last step").click()
    expect(page.get_by_role("row", name=first[0])).to_contain_text("40.5")

    page.get_by_label("Candidate", exact=True).fill("R005")
    page.get_by_placeholder("yield").fill("12")
    page.get_by_role("button", name="Add").click()
    heard(page, "Not proposed by the campaign: R005.")

    page.get_by_text("Change the budget").click()
    page.get_by_label("Experiments in all").fill("2")
    page.locator(".tile-more").get_by_role("button", name="Save").click()
    expect(page.locator("#budget-error")).to_contain_text("The budget must be between 3")
    page.get_by_label("Experiments in all").fill("3")
    page.locator(".tile-more").get_by_role("button", name="Save").click()
    expect(page.get_by_text("The budget is spent.")).to_be_visible()

    page.get_by_role("link", name="History").click()
    page.get_by_label("Take back event 8").click()
    expect(page.get_by_text("took back event")).to_have_count(2)
