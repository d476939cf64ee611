"""Words on the disk: pinned one by one, apart from the names in the code, and never dropped."""

import ast
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, get_args

import pytest

import serendip
from campaigns.screens import settings, write_pool
from serendip.campaigns.campaign import Campaign
from serendip.campaigns.errors import StoreDamaged, StoreFailed
from serendip.campaigns.log.events import Created, Event, FileRef, KnownLabel, Proposal, Told
from serendip.campaigns.log.store import Store
from serendip.campaigns.log.wire import EVENTS, SCHEMA, SETTINGS, Form, decoded, encoded, kind_of
from serendip.campaigns.spec import Settings
from serendip.core.errors import InvalidInput
from serendip.core.rng import Purpose, stream
from serendip.core.settings import About, Section

SRC = Path(serendip.__file__).parent
STORES = Path(__file__).parents[2] / "stores"

KINDS = {
    "Created": "at edges known n_candidates pool reading_rules settings snapshot who",
    "Asked": "at proposals who",
    "Told": "at item side value who",
    "Failed": "at item who",
    "Excluded": "at item who",
    "Corrected": "at item value who",
    "Withdrawn": "at items who",
    "Undone": "at versions who",
    "Rebudgeted": "at budget who",
    "Moved": "at pool who",
}
PARTS = {
    FileRef: "near path sha256",
    KnownLabel: "item value",
    Proposal: "chance_of_top expected information_share item kind reason regret_share uncertainty",
}
SETTING_WORDS = (
    "batch binary budget categories columns edges features id ignore label minimize missing model "
    "name nominal policy pool prior_data range rank rows seed smiles snapshot"
)
STREAM_WORDS = [
    "ask", "course", "demo yields", "fit", "forecast", "graph", "held-out", "label", "level", "map",
    "moments", "policy", "posterior", "predict", "pretend", "prior", "reasons", "regret", "report",
    "update", "watch", "world",
]  # fmt: skip
"""What stores and picks rest on: a word may be added here, and none changed or removed."""
RETIRED = ["pretend"]
"""Streams that nothing opens any more; their words are never used for anything else."""

TOLD = '{"at":"now","item":"a","kind":"Told","schema":1,"side":[],"value":1.0,"who":"ann"}'
CREATED = (
    '{"at":"now","edges":null,"kind":"Created","known":[],"n_candidates":3,"pool":{"near":"p",'
    '"path":"/p","sha256":"ab"},"schema":1,"settings":{"budget":3},"snapshot":null,"who":"ann"}'
)


def test_every_kind_of_event_has_its_words():
    assert {kind: " ".join(sorted(form.names.values())) for kind, form in EVENTS.items()} == KINDS
    parts = {part.of: part for form in EVENTS.values() for part in form.parts.values()}
    assert {one: " ".join(sorted(part.names.values())) for one, part in parts.items()} == PARTS
    assert {form.of for form in EVENTS.values()} == set(get_args(Event))
    for form in [*EVENTS.values(), *parts.values()]:
        assert list(form.names) == [field.name for field in fields(form.of)]


def test_every_setting_has_its_word():
    assert " ".join(sorted(SETTINGS.values())) == SETTING_WORDS
    assert set(SETTINGS) == {field.name for field in fields(Settings)}


def test_every_stream_has_its_word():
    assert sorted([*Purpose, *RETIRED]) == STREAM_WORDS


def test_words_open_the_streams_they_always_opened():
    found = [int(stream(5, one, 3, 0).integers(2**62)) for one in ("ask", "pretend", "demo yields")]
    assert found == [800123918515091228, 4194345530057869750, 4429587772816170843]
    for purpose in Purpose:
        assert stream(5, purpose, 3).integers(2**62) == stream(5, str(purpose), 3).integers(2**62)


def test_no_stream_is_opened_by_a_word_of_the_moment():
    """What is no `Purpose.X` is a variable that is declared to be one, which mypy sees to."""
    strange = []
    for file in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "stream"):
                continue
            purpose = ast.unparse(node.args[1]) if len(node.args) > 1 else "none"
            known = purpose.removeprefix("Purpose.") in Purpose.__members__
            if not known and purpose not in ("purpose", "self.purpose"):
                strange.append(f"{file.name}: {purpose}")
    assert strange == []


def rows():
    """Every event that is kept, as it is stored."""
    for file in STORES.glob("v*/postgresql.sql"):
        text = file.read_text(encoding="utf-8")
        for body in re.findall(r"serendip_events VALUES \('.*?', \d+, \d+, '(.*)', '", text):
            yield body.replace("''", "'")


def test_what_is_written_is_what_was_written():
    seen = set()
    for body in rows():
        kind, schema = json.loads(body)["kind"], json.loads(body)["schema"]
        seen.add(kind)
        if schema == EVENTS[kind].schema:
            assert encoded(decoded(body)) == body
        assert kind_of(decoded(body)) == kind
    assert seen >= {"Created", "Asked", "Told", "Failed", "Excluded", "Corrected", "Undone"}


def test_an_older_schema_is_lifted_when_it_is_read():
    event = decoded(CREATED)
    assert isinstance(event, Created)
    assert event.reading_rules == 1
    assert json.loads(encoded(event))["schema"] == SCHEMA == 2
    assert decoded(encoded(event)) == event
    newer = json.loads(CREATED) | {"schema": 2, "reading_rules": 2}
    assert decoded(json.dumps(newer)).reading_rules == 2


@pytest.mark.parametrize(
    ("text", "change", "says"),
    [
        (TOLD, {"colour": "red"}, "the field 'colour'.*upgrade serendip"),
        (CREATED, {"colour": "red"}, "the field 'colour'.*upgrade serendip"),
        (CREATED, {"settings": {"budget": 3, "colour": "red"}}, "the setting 'colour'.*upgrade"),
        (CREATED, {"known": [{"item": "a", "value": 1.0, "error": 0.1}]}, "the field 'error'"),
        (TOLD, {"schema": SCHEMA + 1}, f"an event 'Told' of schema {SCHEMA + 1}.*upgrade"),
        (TOLD, {"kind": "Regretted"}, "an event 'Regretted'.*upgrade"),
    ],
)
def test_what_is_not_known_is_refused_and_not_dropped(text, change, says):
    with pytest.raises(StoreFailed, match=says):
        decoded(json.dumps(json.loads(text) | change))


@pytest.mark.parametrize("gone", ["item", "value", "who", "schema", "kind"])
def test_an_event_that_lacks_a_part_is_damaged(gone):
    body = json.loads(TOLD)
    del body[gone]
    with pytest.raises(StoreDamaged, match="backup"):
        decoded(json.dumps(body))


def test_a_field_has_a_name_in_python_and_another_on_the_disk():
    @dataclass(frozen=True)
    class Label:
        candidate: str
        result: float

    @dataclass(frozen=True)
    class Reported:
        by: str
        labels: tuple[Label, ...]

    label = Form(Label, {"candidate": "item", "result": "value"})
    form = Form(Reported, {"by": "who", "labels": "side"}, {"labels": label})
    value = Reported("ann", (Label("a", 1.0),))
    assert form.written(value) == {"who": "ann", "side": [{"item": "a", "value": 1.0}]}
    assert form.read(json.loads(json.dumps(form.written(value)))) == value


def renamed(text):
    """A source in which classes of ours, a setting and all purposes have other names in Python."""
    text = re.sub(r'(?<!")\b(Told|Withdrawn|Outcome|KnownLabel)\b(?!")', r"\1Anew", text)
    text = re.sub(r"\bPurpose\.(?=[A-Z])", "Purpose.ANEW_", text)
    text = re.sub(r"(?m)^    (?=[A-Z_]+ = \"[a-z -]+\"$)", "    ANEW_", text)
    text = re.sub(r"(?m)(?<=\.)prior_data\b|(?<=^    )prior_data(?=: Anno)", "known_anew", text)
    title = 'title="Results known already",'
    return text.replace(title, f'{title} word="prior_data",')


def test_what_is_written_may_be_renamed_in_the_code(tmp_path):
    """In a copy of the source: the kept store means the same, and the same is picked from it."""
    copy = tmp_path / "src/serendip"
    shutil.copytree(SRC, copy, ignore=shutil.ignore_patterns("__pycache__"))
    n_changed = 0
    for file in copy.rglob("*.py"):
        old = file.read_text(encoding="utf-8")
        n_changed += renamed(old) != old
        file.write_text(renamed(old), encoding="utf-8")
    assert n_changed > 20
    lab = tmp_path / "lab"
    shutil.copytree(STORES / "v1", lab)
    sent = json.loads((lab / "requests.json").read_text(encoding="utf-8"))["serendip.db"]
    first = next(one for one in sent if one["key"] == "tell-1")["body"]["results"]
    code = (
        "import json\n"
        "from serendip.campaigns.log import events\n"
        "from serendip.campaigns.campaign import Campaign\n"
        "from serendip.campaigns.log.requests import Request\n"
        "from serendip.core.rng import Purpose\n"
        "assert events.ToldAnew and not hasattr(events, 'Told')\n"
        "assert Purpose.ANEW_ASK and not hasattr(Purpose, 'ASK')\n"
        "campaign = Campaign.open('robot', 'serendip.db')\n"
        "found = campaign.store.answered('robot', ['tell-1'])['tell-1']\n"
        f"told = campaign.outcomes({first!r})\n"
        "Request.of('tell-1', 'tell', told, False).check(found)\n"
        "features = Campaign.open('features', 'serendip.db')\n"
        "print(json.dumps([campaign.export('events')['kind'].tolist(),"
        " list(campaign.state.results), str(features.settings.known_anew),"
        " campaign.ask(2)['code'].tolist()]))"
    )
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=lab,
        env={"PYTHONPATH": str(copy.parent), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.stderr == ""
    kinds, results, prior, picks = json.loads(made.stdout)
    expected = json.loads((lab / "serendip.json").read_text(encoding="utf-8"))["robot"]
    assert "Told" in kinds
    assert results == list(expected["results"])
    assert prior.endswith("prior.csv")
    own = tmp_path / "own"
    shutil.copytree(STORES / "v1", own)
    assert picks == Campaign.open("robot", str(own / "serendip.db")).ask(2)["code"].tolist()


def test_settings_of_a_log_are_not_judged_again(folder):
    """Rules for what people may give become stricter; what was accepted stays accepted."""
    stored = {"name": "~odd/name?", "pool": "old/~pool.csv", "label": "yield", "budget": 3}
    stored |= {"categories": ["failed", "good"], "rank": None, "range": None}
    with pytest.raises(InvalidInput, match="name"):
        Settings.from_mapping(stored)
    found = Settings.from_log(stored)
    assert (found.name, found.pool, found.budget) == ("~odd/name?", Path("old/~pool.csv"), 3)
    assert found.categories == ("failed", "good")
    assert (found.batch, found.policy, found.rank) == (8, "ids", None)
    with pytest.raises(StoreDamaged, match="budget"):
        Settings.from_log({"name": "a", "pool": "p", "label": "y"})


def test_a_campaign_whose_settings_are_refused_today_opens_and_goes_on(folder):
    write_pool()
    odd = "~old lab?"
    with pytest.raises(InvalidInput, match="name"):
        Settings.from_mapping(settings(name=odd))
    created = Campaign.create(settings(model="linear"), "s.db").state.created
    stored = {**created.settings, "name": odd}
    Store.open("s.db").create(odd, replace(created, settings=stored))
    campaign = Campaign.open(odd, "s.db")
    assert campaign.settings.name == campaign.status().name == odd
    assert len(campaign.ask(2)) == 2


def test_settings_come_back_from_the_log(folder):
    write_pool()
    given = settings(range=(-5.0, 5.0), model="linear", features=("acid", "heat"), batch=3)
    campaign = Campaign.create(given, "s.db")
    again = Campaign.open("screen", "s.db").settings
    assert again == campaign.settings == Settings.from_mapping(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed(Settings):
    """Where the budget was called `experiments` once."""

    budget: Annotated[int, About("", Section.aim, 3, retired=("experiments",))]


def test_a_retired_setting_is_read_by_its_old_word(monkeypatch):
    monkeypatch.setattr("serendip.campaigns.log.wire.Settings", Renamed)
    old = CREATED.replace('"budget":3', '"experiments":3')
    assert decoded(old).settings == {"budget": 3}
    given = {"name": "a", "pool": "p.csv", "label": "y", "experiments": 4}
    assert Renamed.from_mapping(given).budget == 4


def test_a_renamed_field_keeps_its_word():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Costly(Settings):
        money: Annotated[int, About("", Section.aim, 3, word="coins")] = 7

    made = Costly.from_mapping({"name": "a", "pool": "p", "label": "y", "budget": 1, "coins": 5})
    assert made.money == made.as_json()["coins"] == Costly.from_log(made.as_json()).money == 5
    assert "money" not in made.as_json()


def test_new_results_are_readable_by_the_release_before():
    """Only what changed has the new schema: events of other kinds are as they always were."""
    assert encoded(Told("ann", "now", "a", 1.0)) == TOLD
    assert {kind for kind, form in EVENTS.items() if form.schema > 1} == {"Created"}
