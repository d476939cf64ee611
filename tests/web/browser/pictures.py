"""The pictures of the page in docs/figures, from nothing: `make pictures`.

A server on a fresh store, the bundled reactions, four batches told and a fifth half typed in; the
seed is fixed, so that only a change of the program changes what is to be seen.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from serendip.campaigns import Campaign
from web.browser.visits import BUNDLED, YIELDS, entry, waiting
from web.servers import Server

FIGURES = Path(__file__).parents[3] / "docs" / "figures"
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
PATIENCE = 180_000
MOST = 250_000
"""Bytes of a picture."""


def campaign(folder):
    """A store in the folder whose campaign has come some way."""
    store, pool = folder / "lab.db", folder / "reactions.csv"
    BUNDLED.to_csv(pool, index=False)
    settings = {"name": "coupling", "pool": str(pool), "id": "id", "label": "yield"}
    made = Campaign.create({**settings, "budget": 60, "range": (0, 100)}, store, "ann")
    for _ in range(4):
        made.tell({item: YIELDS[item] for item in made.ask(6)["id"]})
    made.ask(6)
    return store


def next_batch(page):
    """Proposals, some of them with a result typed in, one with its reason."""
    page.goto("/campaigns/coupling")
    page.wait_for_selector(".tile-small.advice")
    items = waiting(page)
    for item in items[:3]:
        entry(page, item).fill(str(YIELDS[item]))
    entry(page, items[3]).fill("failed")
    page.locator(".why details summary").nth(1).click()
    entry(page, items[4]).focus()
    return page.locator(".card.flush").first


def progress(page):
    """What was found, the forecast, whether to trust the model, and the map."""
    page.goto("/campaigns/coupling/progress")
    page.wait_for_selector(".advice-line")
    for box in page.locator("[data-figure]:visible").all():
        box.scroll_into_view_if_needed()
        page.wait_for_timeout(300)
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-figure]')]"
        ".every(one => one.dataset.drawn || !one.checkVisibility())"
    )
    point = page.locator("#map .scatterlayer .trace").last.locator(".point").first
    point.click(force=True)
    page.wait_for_selector("#candidate h2")
    page.mouse.move(0, 0)
    page.wait_for_function("() => !document.querySelector('.htmx-request, .hovertext')")
    return page.locator(".card", has=page.locator("#map"))


def picture(page, last, file):
    """The page from its top down to an element."""
    page.evaluate("scrollTo(0, 0)")
    end = last.bounding_box()
    size = page.viewport_size
    page.set_viewport_size({"width": size["width"], "height": int(end["y"] + end["height"] + 24)})
    page.wait_for_timeout(500)
    page.screenshot(path=file)
    page.set_viewport_size(size)
    if file.stat().st_size > MOST:
        with Image.open(file) as image:
            whole = image.convert("RGB")
        palette = whole.quantize(256)
        whole.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(file)
    if file.stat().st_size > MOST:
        sys.exit(f"{file} has {file.stat().st_size} bytes, more than {MOST}.")


def main():
    """Makes the pictures anew."""
    os.environ["SERENDIP_WHO"] = "ann"
    chromium = os.environ.get("SERENDIP_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("The pictures need Chromium; install Debian's package, or set SERENDIP_CHROMIUM.")
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(campaign(Path(folder))) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(
            base_url=server.url,
            viewport={"width": 1280, "height": 900},
            locale="en-GB",
            reduced_motion="reduce",
        )
        page.set_default_timeout(PATIENCE)
        for name, prepared in (("page-campaign", next_batch), ("page-progress", progress)):
            picture(page, prepared(page), FIGURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
