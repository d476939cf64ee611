"""The report: one file, well formed, escaped, the same every time."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from campaigns.analysis.test_view import small_view
from serendip.campaigns.analysis.forecast import forecast
from serendip.campaigns.analysis.view import LabelMap
from serendip.campaigns.output.report import html_report
from serendip.core.rng import stream

EVIL = "<script>alert('x')</script> & $y$"
VOID = {"meta", "br", "link", "use", "path"}


class Balanced(HTMLParser):
    """Fails where a tag is closed that was not open, and collects what is linked and said."""

    def __init__(self):
        super().__init__()
        self.open, self.links, self.words, self.scripts = [], [], [], 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.links += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.scripts += tag == "script"

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def page(view, events=("2026-11-01 ana began.",)):
    return html_report(view, forecast(view, stream(0, "f")), events, stream(0, "r"))


def read(text):
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return parser


def test_the_page_is_whole_and_needs_nothing_else():
    text = page(small_view())
    found = read(text)
    assert text.startswith("<!doctype html>")
    assert found.links == []
    assert "url(http" not in text
    assert text.count("<svg") == 2
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    words = " ".join(found.words)
    for heading in ("Progress and forecast", "Waiting for results", "Best found", "History"):
        assert heading in words
    assert "2 pending" in words
    assert "began" in words


def test_what_users_write_is_shown_and_never_run():
    frame = pd.DataFrame({EVIL: [EVIL] * 40, "size": np.arange(40.0)})
    view = small_view(frame=frame)
    view = replace(
        view,
        name=EVIL,
        label=EVIL,
        candidates=replace(view.candidates, ids=tuple(f"{EVIL}{i}" for i in range(40))),
        measured=tuple(replace(one, who=EVIL, at=EVIL) for one in view.measured),
    )
    text = page(view, [EVIL])
    assert "<script" not in text
    found = read(text)
    assert found.scripts == 0
    assert EVIL in found.words


def test_the_same_view_gives_the_same_page():
    assert page(small_view()) == page(small_view())


def test_no_machine_or_moment_is_written_into_the_page():
    text = page(small_view())
    assert not re.search(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+", text)
    assert "matplotlib" not in text.lower()


def test_names_inside_the_figures_are_unique_and_found():
    text = page(small_view())
    names = re.findall(r'\sid="([^"]*)"', text)
    assert len(set(names)) == len(names) > 0
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(names)
    assert set(re.findall(r'href="#([^"]*)"', text)) <= set(names)


@pytest.mark.parametrize(
    "view",
    [
        small_view(budget=12, pending=()),
        small_view(labels=LabelMap(0.0, -1.0)),
        replace(small_view(), measured=()),
        replace(small_view(), measured=small_view().measured[:1]),
    ],
    ids=["spent", "minimise", "nothing measured", "one measured"],
)
def test_every_stage_of_a_campaign_has_a_page(view):
    assert "nan" not in " ".join(read(page(view)).words).lower()


def test_the_best_come_first_in_the_direction_of_the_goal():
    for labels, best in ((LabelMap(), max), (LabelMap(0.0, -1.0), min)):
        view = small_view(labels=labels)
        winner = best(view.measured, key=lambda one: one.value)
        text = page(view)
        table = text[text.index("Best found") :]
        first = re.search(r"<tbody><tr><td class=\"number\">1</td><td>(\w+)</td>", table)
        assert first is not None
        assert first.group(1) == view.ids[winner.item]


def test_predictions_kept_from_before_are_told_apart():
    view = small_view()
    kept = tuple(
        replace(one, expected=one.value + 0.1) if i % 2 else one
        for i, one in enumerate(view.measured)
    )
    text = page(replace(view, measured=kept))
    assert "when it was proposed or, where that was not kept" in text
    assert "held out" in text
