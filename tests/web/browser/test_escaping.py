"""What tables, files and people bring is shown as text, wherever it is shown."""

import pytest
from playwright.sync_api import expect

from web.browser.visits import ask, begin, entry, new_name, save, send, typed_file

SCRIPT = "<script>window.broken=1</script>"
IMAGE = "<img src=x onerror=window.broken=1>"
ATTRIBUTE = "\" onfocus=window.broken=1 autofocus x='"


@pytest.fixture(name="nasty")
def _nasty(tmp_path):
    """A table with markup in names of columns, ids and cells."""
    quoted = ATTRIBUTE.replace('"', '""')
    head = f'id,"{IMAGE}",heat,"{quoted}"'
    rows = [f'"{SCRIPT}{k}","{IMAGE}{k % 3}",{k},"{quoted}{k % 2}"' for k in range(30)]
    return typed_file(tmp_path / "x' onerror=alert(1) .csv", "\n".join([head, *rows]))


def unbroken(page):
    assert page.evaluate("window.broken") is None
    assert page.locator("img[src=x]").count() == 0


def test_script_in_cells_is_text_on_every_page(lab, visit, nasty):
    page = visit(lab.url).page()
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    page.goto("/new")
    send(page, nasty)
    expect(page.locator("tbody").get_by_text(f"{SCRIPT}0", exact=True)).to_be_visible()
    expect(page.locator("thead").get_by_text(IMAGE)).to_be_visible()
    unbroken(page)
    campaign = begin(page, nasty, label=IMAGE.replace("img", "b"), budget=12)
    items = ask(page, 6)
    assert all(item.startswith(SCRIPT) for item in items)
    unbroken(page)
    for place, item in enumerate(items[:4]):
        entry(page, item).fill(str(place))
    entry(page, items[4]).fill(SCRIPT)
    save(page)
    expect(page.locator(".entry .error:visible")).to_contain_text(SCRIPT)
    entry(page, items[4]).fill("7")
    save(page)
    expect(page.get_by_role("row", name=items[0]).first).to_be_visible()
    page.locator(".who summary").click()
    page.get_by_label("Your name, as the history shows it").fill(IMAGE)
    page.locator(".who").get_by_role("button", name="Save").click()
    expect(page.locator(".who-name")).to_have_text(IMAGE)
    ask(page, 2)
    unbroken(page)

    page.goto(f"{campaign}/candidates?q={SCRIPT[:7]}")
    expect(page.get_by_text("30 candidates, page 1 of 1")).to_be_visible()
    unbroken(page)
    page.goto(f"{campaign}/history")
    expect(page.get_by_text(IMAGE).first).to_be_visible()
    unbroken(page)

    page.goto(f"{campaign}/progress")
    page.locator("#map").scroll_into_view_if_needed()
    page.wait_for_selector("#map[data-drawn] .point")
    page.wait_for_selector("#map .point").hover(force=True)
    page.wait_for_selector("#map .hovertext")
    assert SCRIPT in page.locator("#map .hovertext").first.text_content()
    page.wait_for_selector("#map .point").click(force=True)
    expect(page.locator("#candidate h2")).to_contain_text(SCRIPT)
    unbroken(page)

    page.goto(f"{campaign}/report")
    expect(page.get_by_text("Made by serendip.")).to_be_visible()
    expect(page.get_by_text(SCRIPT).first).to_be_visible()
    unbroken(page)
    page.goto("/")
    expect(page.locator(".cards").get_by_text(SCRIPT).first).to_be_visible()
    unbroken(page)


def test_errors_repeat_what_was_sent_as_text(lab, visit):
    page = visit(lab.url).page()
    page.goto(f"/campaigns/{IMAGE.replace('/', '')}")
    expect(page.get_by_text("holds no campaign")).to_contain_text("onerror")
    unbroken(page)
    page.goto(f"/campaigns/coupling/candidates?q={SCRIPT}&state={SCRIPT}&sort={SCRIPT}")
    expect(page.get_by_text("No candidate fits.")).to_be_visible()
    unbroken(page)
    page.goto(f"/campaigns/coupling?item={ATTRIBUTE}")
    expect(page.get_by_label("Candidate", exact=True)).to_have_value(ATTRIBUTE)
    unbroken(page)


def test_what_goes_into_a_spreadsheet_is_no_formula(lab, visit, tmp_path):
    rows = "\n".join(f"=cmd|{k},{k}" for k in range(20))
    file = typed_file(tmp_path / "formula.csv", f"name,heat\n{rows}")
    page = visit(lab.url).page()
    begin(page, file, budget=5, name=new_name())
    ask(page, 2)
    with page.expect_download() as coming:
        page.get_by_role("link", name="CSV").click()
    text = coming.value.path().read_text(encoding="utf-8")
    assert "'=cmd|" in text
    assert "\n=cmd|" not in text
