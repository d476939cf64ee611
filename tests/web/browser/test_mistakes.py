"""The same path with mistakes in it: each is answered in a sentence, beside what caused it."""

import pandas as pd
import pytest
from playwright.sync_api import expect

from web.browser.visits import (
    BUNDLED,
    ask,
    begin,
    entry,
    heard,
    new_name,
    save,
    send,
    typed_file,
    waiting,
)


@pytest.fixture(name="pool")
def _pool(tmp_path):
    file = tmp_path / "reactions.csv"
    BUNDLED.to_csv(file, index=False)
    return file


def test_a_wrong_file_is_refused_where_it_was_dropped(lab, visit, tmp_path):
    page = visit(lab.url).page()
    page.goto("/new")
    for name, text, says in (
        ("notes.pdf", "%PDF-1.7", "A table is a file ending in"),
        ("empty.csv", "id,x\n", "no rows"),
        ("picture.csv", "\x89PNG\r\n\x00\x00\x00", "not a text file"),
    ):
        send(page, typed_file(tmp_path / name, text))
        expect(page.locator("#table-error")).to_contain_text(says)
    send(page, typed_file(tmp_path / "good.csv", "id,x\na,1\nb,2\nc,3\n"))
    expect(page.get_by_text("Everything fits")).to_be_visible()


def test_a_text_where_a_number_belongs_is_shown_beside_its_cell(lab, visit, tmp_path):
    lines = ["id,heat,acid", *(f"c{k},{20 + k},{k % 3}" for k in range(40))]
    lines[30] = "c29,hot,2"
    lines[12] = "c3,30,1"
    ann = visit(lab.url)
    page = ann.page()
    page.goto("/new")
    send(page, typed_file(tmp_path / "bad.csv", "\n".join(lines)))
    expect(page.get_by_text("2 things to correct")).to_be_visible()
    cell = page.locator("td.wrong", has_text="hot")
    expect(cell).to_contain_text("'hot' is not a number.")
    expect(page.get_by_role("row", name="31 c29")).to_have_count(1)
    expect(page.locator("td.wrong", has_text="c3")).to_contain_text("is the name of row 5 as well")
    ann.shot(page, "06-misfits", full=True)

    page.get_by_label("What is measured").fill("yield")
    page.get_by_label("Name of the campaign").fill(new_name())
    page.get_by_label("Budget").fill("12")
    page.get_by_role("button", name="Begin the campaign").click()
    expect(page.locator("#refused")).to_be_visible()
    expect(page.get_by_label("What is measured")).to_have_value("yield")
    expect(page.get_by_label("Budget")).to_have_value("12")

    page.get_by_label("heat", exact=True).select_option("ignored")
    expect(page.get_by_text("1 thing to correct")).to_be_visible()
    page.get_by_label("id", exact=True).select_option("ignored")
    expect(page.get_by_text("Everything fits")).to_be_visible()
    page.get_by_role("button", name="Begin the campaign").click()
    page.wait_for_selector("#workbench")


def test_wrong_columns_and_numbers_are_answered_beside_their_fields(lab, visit, pool, tmp_path):
    page = visit(lab.url).page()
    page.goto("/new")
    send(page, pool)
    page.get_by_label("ligand", exact=True).select_option("id")
    expect(page.locator("#columns")).to_contain_text("is the name of row")
    page.get_by_label("ligand", exact=True).select_option("label")
    expect(page.locator("th", has_text="ligand")).to_contain_text("Every row has a result already")
    page.get_by_label("ligand", exact=True).select_option("category")
    page.get_by_label("What is measured").fill("temperature")
    page.get_by_label("Budget").fill("many")
    page.get_by_label("Batch").fill("0")
    page.get_by_label("from").fill("0")
    page.get_by_label("Name of the campaign").fill("/etc/passwd")
    page.get_by_role("button", name="Begin the campaign").click()
    expect(page.locator("#label-error")).to_contain_text("The table has a column 'temperature'")
    expect(page.locator("#budget-error")).to_contain_text("A whole number from 1 on")
    expect(page.locator("#batch-error")).to_contain_text("A whole number from 1 on")
    expect(page.locator("#range-error")).to_contain_text("both ends")
    page.get_by_label("What is measured").fill("yield")
    page.get_by_label("Budget").fill("400")
    page.get_by_label("Batch").fill("4")
    page.get_by_label("from").fill("")
    page.get_by_role("button", name="Begin the campaign").click()
    expect(page.locator("#budget-error")).to_contain_text("There are 320 candidates")
    page.get_by_label("Budget").fill("40")
    page.get_by_role("button", name="Begin the campaign").click()
    expect(page.locator("#name-error")).to_contain_text("A campaign's name is")
    name = new_name()
    page.get_by_label("Name of the campaign").fill(name)
    page.get_by_role("button", name="Begin the campaign").click()
    page.wait_for_selector("#workbench")
    begin_again = page.context.new_page()
    begin_again.goto("/new")
    send(begin_again, pool)
    begin_again.get_by_label("What is measured").fill("yield")
    begin_again.get_by_label("Name of the campaign").fill(name)
    begin_again.get_by_role("button", name="Begin the campaign").click()
    expect(begin_again.locator("#name-error")).to_contain_text("holds a campaign")


def test_a_wrong_result_is_answered_in_its_row_and_nothing_is_lost(lab, visit, pool):
    ann = visit(lab.url)
    page = ann.page()
    begin(page, pool, low=0, high=100)
    items = ask(page, 3)
    entry(page, items[0]).fill("34")
    entry(page, items[1]).fill("about forty")
    entry(page, items[2]).fill("140")
    save(page)
    says = page.locator(".entry .error:visible")
    expect(says.nth(0)).to_contain_text("A label must be a number; got 'about forty'")
    expect(says.nth(1)).to_contain_text("outside the declared range")
    expect(entry(page, items[1])).to_be_focused()
    ann.shot(page, "07-wrong-results", full=True)
    for item, text in zip(items, ("34", "about forty", "140"), strict=True):
        expect(entry(page, item)).to_have_value(text)
    expect(page.get_by_text("0 of 40")).to_be_visible()

    page.reload()
    for item, text in zip(items, ("34", "about forty", "140"), strict=True):
        expect(entry(page, item)).to_have_value(text)
    entry(page, items[1]).fill("40")
    entry(page, items[2]).fill("14,0")
    save(page)
    heard(page, "Recorded: 3 measured.")
    page.reload()
    expect(page.get_by_text("All results are in.")).to_be_visible()


def test_a_tab_closed_half_way_gives_everything_back(lab, visit, pool):
    ann = visit(lab.url)
    page = ann.page()
    page.goto("/new")
    send(page, pool)
    address = page.url
    page.get_by_label("What is measured").fill("yield")
    page.get_by_label("Budget").fill("31")
    page.get_by_label("Smaller ones").check()
    page.get_by_label("temperature", exact=True).select_option("category")
    expect(page.locator("td.role-category", has_text="60")).not_to_have_count(0)
    page.close()

    page = ann.page()
    page.goto(address)
    expect(page.get_by_label("What is measured")).to_have_value("yield")
    expect(page.get_by_label("Budget")).to_have_value("31")
    expect(page.get_by_label("Smaller ones")).to_be_checked()
    expect(page.get_by_label("temperature", exact=True)).to_have_value("category")
    page.get_by_label("Name of the campaign").fill(new_name())
    page.get_by_role("button", name="Begin the campaign").click()
    page.wait_for_selector("#workbench")
    campaign = page.url
    items = ask(page, 4)
    entry(page, items[1]).fill("12.5")
    entry(page, items[3]).fill("failed")
    page.close()

    page = ann.page()
    page.goto(campaign)
    expect(entry(page, items[1])).to_have_value("12.5")
    expect(entry(page, items[3])).to_have_value("failed")
    expect(page.get_by_text("2 entries of before are back")).to_be_visible()


def test_two_tabs_at_once_neither_lose_nor_double_anything(lab, visit, pool):
    ann, bea = visit(lab.url), visit(lab.url)
    one, two = ann.page(), bea.page()
    campaign = begin(one, pool, low=0, high=100)
    items = ask(one, 3)
    two.goto(campaign)
    assert waiting(two) == items

    entry(one, items[0]).fill("30")
    save(one)
    entry(two, items[0]).fill("30")
    entry(two, items[1]).fill("50")
    save(two)
    heard(two, "Told before, unchanged:")
    assert waiting(two) == items[2:]

    entry(two, items[2]).fill("70")
    save(two)
    entry(one, items[2]).fill("77")
    save(one)
    row = one.locator("tr.wrong")
    expect(row).to_contain_text("told 70 for it")
    ann.shot(one, "08-two-tabs", full=True)
    row.get_by_label("Replace 70 by 77").check()
    save(one)
    heard(one, "Recorded: 1 corrected.")

    fresh = ask(two, 2)
    again = ask(one, 2)
    assert set(fresh).isdisjoint(set(again) - set(fresh))
    assert len(again) == 4
    with one.expect_download() as coming:
        one.get_by_role("link", name="Results as Excel").click()
    told = pd.read_excel(coming.value.path())
    assert dict(zip(told["id"], told["yield"], strict=True)) == {
        items[0]: 30,
        items[1]: 50,
        items[2]: 77,
    }


def test_a_double_click_asks_once(lab, visit, pool):
    page = visit(lab.url).page()
    begin(page, pool)
    page.fill("#count", "3")
    page.get_by_role("button", name="Get proposals").dblclick()
    page.wait_for_selector("input.result")
    page.wait_for_timeout(500)
    page.reload()
    assert len(waiting(page)) == 3


def test_wrong_addresses_lead_back(lab, visit):
    page = visit(lab.url).page()
    for path in ("/campaigns/none", "/nowhere", "/new/0123", "/backtests/none"):
        page.goto(path)
        expect(page.get_by_role("link", name="See all campaigns")).to_be_visible()


def test_undo_takes_back_what_was_shown_and_once(lab, visit, pool):
    ann, bea = visit(lab.url), visit(lab.url)
    one, two = ann.page(), bea.page()
    campaign = begin(one, pool, low=0, high=100)
    items = ask(one, 3)
    entry(one, items[0]).fill("30")
    save(one)
    entry(one, items[1]).fill("40")
    save(one)
    two.goto(campaign)
    entry(one, items[2]).fill("50")
    save(one)
    two.get_by_role("button", name="Undo last step").click()
    expect(two.get_by_text("Nothing was taken back")).to_be_visible()
    expect(two.get_by_text("3 of 40")).to_be_visible()
    two.get_by_role("button", name="Undo last step").dblclick()
    heard(two, f"told {items[2]} = 50")
    two.wait_for_timeout(500)
    two.reload()
    expect(two.get_by_text("2 of 40")).to_be_visible()
