"""Fields of forms: as they are first shown, as they are sent, and what they mean."""

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from serendip.campaigns.spec import Settings
from serendip.core.settings import About, Section
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.pages.setting_form import (
    first_values,
    form_settings,
    given_settings,
    sent_values,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """A setting of every kind that has a field."""

    size: Annotated[int, About("A size.", Section.aim, 3, least=2, served=50)]
    share: Annotated[float | None, About("A share.", Section.rare, 0.5)] = None
    warm: Annotated[bool, About("Warm.", Section.rare, True)] = True
    shape: Annotated[Literal["round", "flat"], About("A shape.", Section.rare, "flat")] = "round"
    ends: Annotated[tuple[float, float] | None, About("Ends.", Section.rare, [0, 1])] = None
    words: Annotated[tuple[str, ...], About("Words.", Section.rare, ["a"])] = ("a", "b")
    title: Annotated[str, About("A title.", Section.rare, "x")] = ""


FIELDS = form_settings(Every)


def meant(**values):
    errors = {}
    return given_settings(FIELDS, {"size": "3", **values}, errors), errors


def test_fields_are_first_shown_with_their_defaults():
    assert first_values(FIELDS) == {
        "size": "",
        "share": "",
        "warm": "yes",
        "shape": "round",
        "ends": "",
        "words": "a, b",
        "title": "",
    }


def test_what_is_sent_replaces_what_was_shown_and_a_box_may_be_unticked():
    assert sent_values(FIELDS, {"size": " 7 ", "other": "1"}) == {"size": "7", "warm": ""}
    assert sent_values(FIELDS, {"warm": "yes"}) == {"warm": "yes"}


def test_an_empty_field_leaves_the_default():
    assert meant() == ({"size": 3, "warm": False}, {})


def test_fields_mean_what_they_say():
    found, errors = meant(size="1,234", share="0.25", warm="yes", shape="flat", ends="0, 1.5")
    assert errors == {"size": "At most 50, please."}
    assert found == {"share": 0.25, "warm": True, "shape": "flat", "ends": [0.0, 1.5]}
    assert meant(words="p, q", title="T")[0] == {
        "size": 3,
        "warm": False,
        "words": "p, q",
        "title": "T",
    }


@pytest.mark.parametrize(
    ("field", "written", "says"),
    [
        ("size", "", "A whole number, please."),
        ("size", "1", "A whole number from 2 on, please; got '1'."),
        ("size", "many", "A whole number from 2 on, please; got 'many'."),
        ("share", "half", "must be a number"),
    ],
)
def test_what_a_field_cannot_mean_is_said_beside_it(field, written, says):
    found, errors = meant(**{field: written})
    assert list(errors) == [field]
    assert says in errors[field]
    assert field not in found


def test_tables_are_not_read_here():
    for owner in (Settings, BacktestSettings):
        fields = form_settings(owner)
        assert "edges" in {one.word for one in fields}
        assert "edges" not in given_settings(fields, {**first_values(fields), "budget": "3"}, {})
