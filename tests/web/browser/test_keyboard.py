"""Everything with the keyboard alone, and the table of results like a spreadsheet."""

import pytest
from playwright.sync_api import expect

from web.browser.visits import BUNDLED, ask, begin, entry, heard, new_name, waiting


@pytest.fixture(name="bench")
def _bench(lab, visit, tmp_path):
    """A campaign with five proposals."""
    file = tmp_path / "reactions.csv"
    BUNDLED.to_csv(file, index=False)
    ann = visit(lab.url, permissions=["clipboard-read", "clipboard-write"])
    page = ann.page()
    begin(page, file, low=0, high=100)
    ask(page, 5)
    return page


def paste(page, text):
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def test_enter_tab_and_arrows_move_as_in_a_spreadsheet(bench):
    items = waiting(bench)
    expect(entry(bench, items[0])).to_be_focused()
    for key, place in (
        ("Enter", 1),
        ("Tab", 2),
        ("ArrowDown", 3),
        ("Shift+Tab", 2),
        ("Shift+Enter", 1),
        ("ArrowUp", 0),
        ("ArrowUp", 0),
    ):
        bench.keyboard.press(key)
        expect(entry(bench, items[place])).to_be_focused()
    bench.keyboard.type("11")
    bench.keyboard.press("Enter")
    bench.keyboard.type("excluded")
    for _ in range(4):
        bench.keyboard.press("Enter")
    expect(bench.get_by_role("button", name="Save results")).to_be_focused()
    bench.keyboard.press("Enter")
    heard(bench, "Recorded: 1 measured, 1 excluded.")
    expect(entry(bench, items[2])).to_be_focused()
    bench.keyboard.type("22")
    bench.keyboard.press("Control+Enter")
    heard(bench, "Recorded: 1 measured.")


def test_a_pasted_column_fills_down_and_pairs_find_their_rows(bench):
    items = waiting(bench)
    entry(bench, items[1]).focus()
    paste(bench, "10.5\r\n20,5\r\nfailed\r\n")
    for item, value in zip(items, ("", "10.5", "20,5", "failed", ""), strict=True):
        expect(entry(bench, item)).to_have_value(value)
    expect(bench.get_by_text("3 filled in from the clipboard")).to_be_visible()
    paste(bench, f"{items[4]}\t55\n{items[0]}\t44\n")
    expect(entry(bench, items[0])).to_have_value("44")
    expect(entry(bench, items[4])).to_have_value("55")
    entry(bench, items[4]).focus()
    paste(bench, "1\n2\n3")
    heard(bench, "2 pasted values had no row left.")
    entry(bench, items[2]).focus()
    bench.keyboard.press("Control+a")
    paste(bench, "33")
    expect(entry(bench, items[2])).to_have_value("33")


def test_marks_fill_the_row_and_can_be_taken_away(bench):
    items = waiting(bench)
    row = bench.get_by_role("row", name=items[0])
    row.get_by_role("button", name="Failed").click()
    expect(entry(bench, items[0])).to_have_value("failed")
    row.get_by_role("button", name="Exclude").click()
    expect(entry(bench, items[0])).to_have_value("excluded")
    row.get_by_role("button", name="Exclude").click()
    expect(entry(bench, items[0])).to_have_value("")
    entry(bench, items[1]).fill("seven")
    bench.keyboard.press("Tab")
    expect(bench.locator("#says-1")).to_have_text("Write a number, failed or excluded.")
    entry(bench, items[1]).fill("7")
    bench.keyboard.press("Tab")
    expect(bench.locator("#says-1")).to_be_hidden()


def test_the_whole_way_without_a_mouse(lab, visit):
    page = visit(lab.url).page()
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="New campaign")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/new")
    page.get_by_role("button", name="Use the example").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/new/*")
    page.get_by_label("What is measured").focus()
    page.keyboard.type("yield")
    page.get_by_label("Name of the campaign").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(new_name())
    page.keyboard.press("Enter")
    page.wait_for_selector("#workbench")
    page.locator("#count").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("input.result")
    expect(page.locator("input.result").first).to_be_focused()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    for tab in ("Progress", "Candidates", "Backtest", "History"):
        page.get_by_role("link", name=tab).last.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".tabs [aria-current]")).to_have_text(tab)
