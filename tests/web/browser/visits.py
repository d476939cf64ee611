"""What people do at the page, in a few words."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from serendip.campaigns import Campaign
from serendip.simulate.environments.demo import demo_pool, demo_yields

BUNDLED = demo_pool()
YIELDS = dict(zip(BUNDLED["id"], np.clip(demo_yields(BUNDLED), 0, 100).round(1), strict=True))


@dataclass
class Visit:
    """A browser, and all that went wrong in it."""

    context: object
    shots: Path
    troubles: list = field(default_factory=list)

    def page(self):
        """A new tab."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.troubles.append(f"script: {error}"))
        page.on("console", self._heard)
        page.on("response", self._answered)
        return page

    def _heard(self, message):
        # Chromium reports every refusal of the server as an error, also those that are meant.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.troubles.append(f"console: {message.text}")

    def _answered(self, response):
        if response.status >= 500:
            self.troubles.append(f"{response.status} at {response.url}")

    def shot(self, page, name, full=False):
        """Keeps a picture of the page."""
        page.screenshot(path=self.shots / f"{name}.png", full_page=full)


def drop(page, file):
    """Drops a file on the first place that takes one, as a mouse would."""
    data = Path(file).read_bytes()
    page.evaluate(
        """([name, bytes]) => {
            const files = new DataTransfer();
            files.items.add(new File([new Uint8Array(bytes)], name));
            const zone = document.querySelector("[data-drop]");
            for (const kind of ["dragenter", "dragover", "drop"])
                zone.dispatchEvent(new DragEvent(kind, {dataTransfer: files, cancelable: true}));
        }""",
        [Path(file).name, list(data)],
    )


def send(page, file):
    """Chooses a file, and waits for what the server makes of it."""
    with page.expect_navigation():
        page.set_input_files("#table", file)


def begin(page, file, **fields):
    """A campaign from a file, with the fields of the form; returns its address."""
    page.goto("/new")
    send(page, file)
    for field_name, value in {"label": "yield", "name": new_name(), **fields}.items():
        page.fill(f"#{field_name}", str(value))
    page.get_by_role("button", name="Begin the campaign").click()
    page.wait_for_selector("#workbench")
    return page.url.partition("?")[0]


def new_name():
    """A campaign's name that nobody uses."""
    return f"screen {secrets.token_hex(4)}"


def ask(page, count=None):
    """Asks for a batch; returns the names of all that wait."""
    before = page.locator("input.result").count()
    if count is not None:
        page.fill("#count", str(count))
    page.get_by_role("button", name="Get proposals").click()
    page.wait_for_function(
        "before => document.querySelectorAll('input.result').length > before", arg=before
    )
    return waiting(page)


def waiting(page):
    """The names of the candidates that wait for a result."""
    return [one.get_attribute("data-item") for one in page.locator("input.result").all()]


def entry(page, item):
    """The field of a candidate's result."""
    return page.locator(f'input.result[data-item="{item}"]')


def save(page):
    """Saves what was typed, and waits for the answer."""
    with page.expect_response(lambda answer: answer.url.endswith("/tell")):
        page.get_by_role("button", name="Save results").click()
    page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping')")


def heard(page, words):
    """Waits for a short message, which may be gone again."""
    page.wait_for_function(
        "words => window.serendip.said.some(one => one.includes(words))", arg=words
    )


def typed_file(path, text):
    """A file with some text."""
    path.write_text(text, encoding="utf-8")
    return path


@dataclass
class Lab:
    """A store with campaigns of every kind."""

    store: Path
    url: str = ""

    @classmethod
    def furnished(cls, folder):
        """Reactions with three batches told and one waiting, a matrix, a graph, and nothing yet."""
        lab = cls(folder / "lab.db")
        pool = folder / "reactions.csv"
        BUNDLED.to_csv(pool, index=False)
        common = {"pool": str(pool), "id": "id", "label": "yield", "budget": 40, "range": (0, 100)}
        coupling = Campaign.create({"name": "coupling", **common}, lab.store, "ann")
        for _ in range(3):
            coupling.tell({item: YIELDS[item] for item in coupling.ask(8)["id"]})
        coupling.fail(coupling.ask(6)["id"].iloc[0])
        Campaign.create({"name": "fresh one", **common, "model": "gp"}, lab.store, "bea")
        _matrix(folder, lab.store)
        _graph(folder, lab.store)
        return lab


def _matrix(folder, store):
    rng = np.random.default_rng(1)
    reagents, substrates = [f"A{k}" for k in range(8)], [f"s{k}" for k in range(6)]
    worth = np.outer(rng.random(8), rng.random(6))
    table = pd.DataFrame(
        [(f"{a}-{s}", a, s) for a in reagents for s in substrates],
        columns=["pair", "reagent", "substrate"],
    )
    table.to_csv(folder / "pairs.csv", index=False)
    campaign = Campaign.create(
        {
            "name": "pairs",
            "pool": str(folder / "pairs.csv"),
            "id": "pair",
            "label": "yield",
            "budget": 20,
            "range": (0, 1),
            "rows": "reagent",
            "columns": "substrate",
        },
        store,
        "ann",
    )
    values = dict(zip(table["pair"], worth.ravel().round(3), strict=True))
    campaign.tell({item: float(values[item]) for item in campaign.ask(6)["pair"]})
    campaign.ask(3)


def _graph(folder, store):
    rng = np.random.default_rng(2)
    names = [f"n{k}" for k in range(40)]
    pd.DataFrame({"node": names}).to_csv(folder / "nodes.csv", index=False)
    ends = rng.integers(0, 40, size=(80, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    pd.DataFrame([(names[a], names[b]) for a, b in ends], columns=["from", "to"]).to_csv(
        folder / "edges.csv", index=False
    )
    campaign = Campaign.create(
        {
            "name": "network",
            "pool": str(folder / "nodes.csv"),
            "id": "node",
            "label": "found",
            "budget": 12,
            "binary": True,
            "edges": str(folder / "edges.csv"),
            "model": "graph",
        },
        store,
        "ann",
    )
    campaign.tell({item: float(place % 2) for place, item in enumerate(campaign.ask(4)["node"])})
    campaign.ask(3)
