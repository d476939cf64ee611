"""What takes more than two seconds says where it stands; what does not, says nothing."""

import json

from playwright.sync_api import expect

from web.browser.visits import BUNDLED, begin

WAIT = {"what": "choosing candidates", "done": 17, "total": 96, "left": "about 40 s left"}


def test_a_long_ask_shows_a_bar_until_it_is_answered(lab, visit, tmp_path):
    BUNDLED.to_csv(tmp_path / "pool.csv", index=False)
    page = visit(lab.url).page()
    begin(page, tmp_path / "pool.csv", budget=20)
    held, asked = [], []

    def wait(route):
        asked.append(route.request.url)
        route.fulfill(content_type="application/json", body=json.dumps(WAIT))

    page.route("**/progress/waiting/ask", wait)
    page.route("**/campaigns/*/ask", lambda route: held.append(route))
    page.get_by_role("button", name="Get proposals").click()
    page.wait_for_timeout(1000)
    assert asked == []
    bar = page.get_by_role("progressbar", name="choosing candidates")
    expect(bar).to_be_visible()
    expect(bar).to_have_attribute("aria-valuenow", "17")
    expect(bar).to_have_attribute("aria-valuemax", "96")
    expect(page.get_by_text("choosing candidates, 17 of 96, about 40 s left")).to_be_visible()
    held[0].continue_()
    page.wait_for_selector("#results")
    expect(bar).to_have_count(0)
    count = len(asked)
    page.wait_for_timeout(2500)
    assert len(asked) == count


def test_a_report_that_takes_a_while_says_so_and_then_opens(lab, visit, tmp_path):
    BUNDLED.to_csv(tmp_path / "pool.csv", index=False)
    page = visit(lab.url).page()
    address = begin(page, tmp_path / "pool.csv", budget=20)
    said = {**WAIT, "what": "looking ahead"}
    page.route(
        "**/progress/waiting/view",
        lambda route: route.fulfill(content_type="application/json", body=json.dumps(said)),
    )
    held = []
    page.route("**/report/ready", lambda route: held.append(route))
    page.goto(f"{address}/report")
    expect(page.get_by_text("Writing the report")).to_be_visible()
    expect(page.get_by_role("progressbar", name="looking ahead")).to_be_visible()
    held[0].continue_()
    expect(page.get_by_text("Made by serendip.")).to_be_visible()
    page.reload()  # written already
    expect(page.get_by_text("Made by serendip.")).to_be_visible()
    assert len(held) == 1
