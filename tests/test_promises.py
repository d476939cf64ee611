"""Nothing that scripts and programs rest on goes away: the list is in promises.json."""

import pytest

import promises
from campaigns.screens import settings
from serendip.campaigns.spec import Settings
from serendip.core.errors import InvalidInput

LISTED = promises.read()


@pytest.fixture(scope="module", name="now")
def _now():
    return promises.promised()


@pytest.mark.parametrize(
    "part", ["settings", "models", "policies", "kinds of events", "environment"]
)
def test_words_stay(now, part):
    assert set(LISTED[part]) <= set(now[part])


@pytest.mark.parametrize("part", ["commands", "paths", "fields", "requests", "tables"])
def test_what_there_is_stays(now, part):
    assert set(LISTED[part]) <= set(now[part])
    gone = {name: set(LISTED[part][name]) - set(now[part][name]) for name in LISTED[part]}
    assert {name: words for name, words in gone.items() if words} == {}


def test_what_there_is_is_listed(now):
    """What is new is a promise from its first release on; `python tests/promises.py` adds it."""
    assert promises.merged(LISTED, now) == LISTED


def test_requests_need_nothing_new(now):
    listed = LISTED["required"]
    asked = {name: set(now["required"][name]) - set(listed[name]) for name in listed}
    assert {name: words for name, words in asked.items() if words} == {}


def test_exit_codes_stay(now):
    assert {what: now["exit codes"][what] for what in LISTED["exit codes"]} == LISTED["exit codes"]
    assert set(LISTED["exit codes"].values()) == {0, 1, 2, 3}


@pytest.mark.parametrize("word", LISTED["settings"])
def test_every_setting_is_understood_by_its_word(word):
    """Something that fits nowhere is refused for what it is, not for its word."""
    if word in ("minimize", "binary", "snapshot"):
        assert getattr(Settings.from_mapping({**settings(), word: True}), word)
        return
    with pytest.raises(InvalidInput, match=rf"^({word} |A campaign's name|missing must)"):
        Settings.from_mapping({**settings(), word: object()})


def test_a_word_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="colour"):
        Settings.from_mapping(settings(colour="red"))
