"""Every setting is offered wherever its field says, with the same sentence and the same default."""

import html
import inspect
import pydoc
import re
import tomllib
from dataclasses import fields

import pandas as pd
import pytest
import typer
from starlette.requests import Request

from serendip.campaigns.example import example
from serendip.campaigns.intake.preview import Role, settings_of
from serendip.campaigns.spec import Settings
from serendip.cli import main
from serendip.core.errors import InvalidInput
from serendip.core.settings import Control, Kind, Section, Where, as_plain, described, offered
from serendip.problems.framing import Columns
from serendip.simulate.backtests.backtest import backtest
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.api import models
from serendip.web.api.router import api, document_of
from serendip.web.pages import backtest as backtest_page
from serendip.web.pages import beginning as campaign_page
from serendip.web.pages.beginning_form import Beginning
from serendip.web.pages.setting_form import form_settings
from serendip.web.server.settings import ServeSettings

NEEDED = {
    Settings: {"name": "a", "pool": "p.csv", "label": "y", "budget": 3},
    BacktestSettings: {"label": "y"},
}
OWN_OPTIONS = {
    "init": {"name", "example", "store", "who", "help"},
    "backtest": {"table", "jobs", "engine", "address", "out", "form", "help"},
}
OWN_FIELDS = {"NewCampaign": {"table", "rows", "who"}, "NewBacktest": {"table", "campaign"}}
DRAWN = {
    "name": ' name="name"',
    "minimize": ' value="smaller"',
    "range": ' name="low"',
    "categories": ' name="words"',
    "binary": ' value="binary"',
    "missing": ' name="missing"',
    "policies": ' name="policy"',
}
"""Settings that a template draws in its own way, each with a piece of its field."""
ROLES = {
    "id": Role.id,
    "label": Role.label,
    "smiles": Role.smiles,
    "rows": Role.row,
    "columns": Role.column,
    "ignore": Role.ignored,
    "nominal": Role.category,
}
"""Settings that are the role of a column."""


def each(where):
    """The settings of both classes that are offered there, for parametrize."""
    return [
        pytest.param(owner, one, id=f"{owner.what}-{one.word}")
        for owner in NEEDED
        for one in offered(owner, where)
    ]


def option_of(command, name):
    main.mount()
    (found,) = (
        one for one in typer.main.get_command(main.app).commands[command].params if one.name == name
    )
    return found


@pytest.mark.parametrize(("owner", "one"), each(Where.command))
def test_commands_have_an_option(owner, one):
    option = option_of("init" if owner is Settings else "backtest", one.name)
    assert option.opts == [one.option]
    assert one.about.help.rstrip(".") in option.help
    assert option.default is None  # so that the default of the class, or of a file, holds
    assert option.help.endswith(f"Default: {one.default_in_words}.") == bool(one.default_in_words)


@pytest.mark.parametrize(("owner", "command"), [(Settings, "init"), (BacktestSettings, "backtest")])
def test_commands_have_no_other_options(owner, command):
    main.mount()
    found = {one.name for one in typer.main.get_command(main.app).commands[command].params}
    made = {one.name for one in offered(owner, Where.command)}
    assert found - OWN_OPTIONS[command] == made


@pytest.mark.parametrize("one", offered(Settings, Where.file), ids=lambda one: one.word)
def test_the_example_has_every_setting(one):
    (found,) = re.findall(rf"((?:^# .*\n)+)^(?:# )?({one.word} = .*)$", example(), re.MULTILINE)
    told, value = " ".join(found[0].replace("# ", "").split()), tomllib.loads(found[1])
    assert one.about.help.rstrip(".") in told
    assert told.endswith(f"Default: {one.default_in_words}.") == bool(one.default_in_words)
    made = Settings.from_mapping(NEEDED[Settings] | value)
    assert as_plain(made)[one.word] == value[one.word]


def schema_of(name):
    return document_of(api(ServeSettings()), ServeSettings())["components"]["schemas"][name]


@pytest.mark.parametrize(("owner", "one"), each(Where.api))
def test_requests_have_a_field(owner, one):
    request = "NewCampaign" if owner is Settings else "NewBacktest"
    name = models.RENAMED.get(one.word, one.word) if owner is Settings else one.word
    field = schema_of(request)["properties"][name]
    assert one.about.help.rstrip(".") in field["description"]
    plain = list(one.default) if isinstance(one.default, tuple) else one.default
    assert (field.get("default") or None) == (plain or None)


@pytest.mark.parametrize(
    ("owner", "request_class"),
    [(Settings, models.NewCampaign), (BacktestSettings, models.NewBacktest)],
)
def test_requests_that_say_nothing_mean_the_defaults(owner, request_class):
    own = OWN_FIELDS[request_class.__name__]
    given = {name: value for name, value in NEEDED[owner].items() if name != "pool"}
    body = request_class(**given).model_dump(exclude_none=True, exclude=own)
    assert owner.from_mapping(NEEDED[owner] | body) == owner.from_mapping(NEEDED[owner])
    names = {models.RENAMED.get(one.word, one.word) for one in offered(Settings, Where.api)}
    if owner is BacktestSettings:
        names = {one.word for one in offered(owner, Where.api)}
    assert set(request_class.model_fields) == names | own


def page(owner):
    """The form on a table, as the page first shows it."""
    table = pd.DataFrame({"code": ["a", "b", "c"], "x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, None]})
    form = Beginning.of(table, "t.csv", replayed=owner is BacktestSettings)
    state = {"csrf": "c", "nonce": "n"}
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
    request = Request({**scope, "state": state})
    if owner is Settings:
        answer = campaign_page._page(request, "new_columns.html", "0" * 32, form)
    else:
        answer = backtest_page._form(request, "0" * 32, form, "backtest_columns.html", [])
    return html.unescape(answer.body.decode())


@pytest.mark.parametrize(("owner", "one"), each(Where.page))
def test_the_page_has_a_field(owner, one):
    shown = page(owner)
    if one.about.control is Control.role:
        assert f'<option value="{ROLES[one.word]}"' in shown
        return
    if one.about.control is Control.own:
        assert DRAWN[one.word] in shown
        return
    (tag,) = re.findall(rf'<(?:input|select)[^>]* name="{one.word}"[^>]*>', shown)
    assert f'<p class="hint" id="{one.word}-hint">{one.about.help}</p>' in shown
    assert one.title in shown
    if tag.startswith("<select"):
        field = shown[shown.index(tag) :].partition("</select>")[0]
        chosen = re.search(r'<option value="([^"]*)"[^>]*selected', field)
        assert (chosen[1] if chosen else "") == (one.default or "")
    elif not one.required:
        written = "" if one.default is None else str(one.default)
        assert f'value="{written}"' in tag


def test_roles_decide_what_they_are_said_to():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    decided = set(settings_of({"a": Role.id, "b": Role.category}, frame))
    assert decided == set(ROLES)
    for owner in NEEDED:
        by_role = {one.word for one in described(owner) if one.about.control is Control.role}
        assert by_role <= decided


def test_backtests_in_python_have_the_same_defaults():
    """The arguments of `backtest` are those of the settings, and so are the fields of `Columns`."""
    settings = BacktestSettings(label="y")
    arguments = settings.arguments()
    python = {name: one.default for name, one in inspect.signature(backtest).parameters.items()}
    assert arguments.pop("columns") == Columns()
    assert python.pop("columns") is None
    assert {name: python[name] for name in arguments} == arguments
    assert set(python) - set(arguments) == {"frame", "label", "jobs", "engine", "progress"}
    told = {one.name for one in described(BacktestSettings)}
    assert told == {*arguments, "label", *(one.name for one in fields(Columns))}


@pytest.mark.parametrize("owner", NEEDED, ids=lambda owner: owner.what)
def test_python_has_the_same_sentences(owner):
    shown = pydoc.render_doc(owner, renderer=pydoc.plaintext)
    for one in described(owner):
        assert f"{one.name}: {one.about.help.rstrip('.')}" in shown


# --- what had drifted apart ----------------------------------------------------------------------


def test_the_rank_is_inferred_unless_it_is_said():
    """The page's form said 2 where nobody said anything."""
    (rank,) = (one for one in form_settings(Settings) if one.word == "rank")
    assert rank.default is None
    assert re.search(
        r'<input id="rank" name="rank" value="" [^>]*placeholder="inferred"', page(Settings)
    )
    for request in (models.NewCampaign(name="a", label="y", budget=3), models.NewBacktest()):
        assert request.rank is None


def test_backtests_have_nominal_and_start_everywhere():
    told = {one.word: one for one in described(BacktestSettings)}
    for word in ("nominal", "start", "repeats"):
        assert told[word].about.where is Where.everywhere
    assert option_of("backtest", "nominal").multiple
    assert models.NewBacktest(start=3).start == 3
    assert 'name="start"' in page(BacktestSettings)


def test_the_model_is_what_fits_wherever_it_is_not_said():
    """A docstring said that it is linear."""
    for owner in NEEDED:
        (model,) = (one for one in described(owner) if one.word == "model")
        assert (model.default, model.default_in_words) == ("", "what fits")
    assert Settings.from_mapping(NEEDED[Settings]).model == "auto"


@pytest.mark.parametrize("owner", NEEDED, ids=lambda owner: owner.what)
def test_names_are_offered_that_some_model_or_policy_serves(owner):
    """`ids-exact` was, which no model serves that commands can name."""
    for one in described(owner):
        if one.about.among is not None:
            titles = one.about.among().titles()
            assert "ids-exact" not in titles
            assert all(name in one.help(installed=True) for name in titles)
            assert all(f' value="{name}" ' in page(owner) for name in titles)


# --- checks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"repeats": 0}, "repeats must be a whole number from 1 on; got 0"),
        ({"start": -1}, "start must be a whole number from 0 on; got -1"),
        ({"start": 1.5}, "start must be a whole number; got 1.5"),
        ({"hit": "high"}, "hit must be a number; got 'high'"),
        ({"hit": float("nan")}, "hit must be a finite number"),
        ({"missing": "guess"}, "missing must be 'error' or 'impute'; got 'guess'"),
        ({"range": [1]}, "range must be two numbers"),
        ({"rank": True}, "rank must be a whole number; got True"),
        ({"id": " "}, "id must name a column"),
        ({"binary": 1}, "binary must be true or false"),
        ({"label": None}, "A backtest needs a label"),
        ({"colour": "red"}, "There is no setting 'colour'"),
        ({"binary": True, "range": [0, 1]}, "give one of the three"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused_in_a_sentence(changes, says):
    with pytest.raises(InvalidInput, match=re.escape(says)):
        BacktestSettings.from_mapping({"label": "y", **changes})


def test_settings_are_shown_by_section_and_what_is_needed_first():
    words = [one.word for one in described(Settings)]
    assert words[:6] == ["name", "pool", "label", "budget", "id", "batch"]
    sections = [one.about.section for one in described(Settings)]
    assert sections == sorted(sections, key=list(Section).index)


def test_what_a_field_says_is_whole():
    for owner in NEEDED:
        for one in described(owner):
            assert one.about.help.endswith("."), one.word
            assert not one.about.more or one.about.more.endswith("."), one.word
            assert " = " not in one.about.help + one.about.more  # read as a setting in the example
            if one.kind in (Kind.whole, Kind.number) and one.about.where & Where.api:
                assert one.kind is Kind.number or one.about.served is not None, one.word
