"""The pages of results: from the committed regrets alone, with every claim of the paper."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from serendip.core.errors import InvalidInput
from serendip.simulate.experiments.catalogue import EXPERIMENTS
from serendip.simulate.experiments.experiment import run_experiment
from serendip.simulate.experiments.pages.report import report_page, write_report
from serendip.simulate.experiments.pages.sentences import CLAIMS
from serendip.simulate.experiments.results import PLACE, read_results

DOCS = Path(__file__).parents[4] / "docs"

LISTED = {
    "almost the same": ("graph-complete", "vids level with thompson", ("0.1", "1.0", "10.0")),
    "always outperform": ("graph-random", "thompson below random", ("0.1", "1.0", "10.0")),
    "slightly lower": ("graph-random", "vids below thompson, by at most 20%", ("0.1", "10.0")),
    "grows linearly": ("linear", "vids grows linearly", ("20 to 100",)),
    "all 11 molecules": ("pndc", "vids lowest in every pool", ("of 11",)),
    "9 combinations": ("cncci", "vids or thompson lowest in every pool", ("of 9",)),
    "low-noise models": ("ens", "vids below ens", ("0.1", "1.0")),
    "higher noise settings": ("ens", "ens below vids", ("5.0", "10.0")),
    "means of its rows": ("cncci", "thompson below ucb", ("as the authors",)),
    "by the means": ("cncci", "vids below ucb", ("as the authors",)),
    "by the means of": ("table", "thompson below ucb", ("cncci",)),
}
"""Claims that must be there, whatever becomes of them."""

JUDGED = {
    "outperform UCB in problem with rich structural information": 2,
    "about 20% more plausible reaction conditions": 12,
    "we expect TS and IDS perform the same": 3,
    "more significantly in star graphs": 6,
    "lower cumulative regrets over all the steps": 45,
    "always outperform random policy and UCB": 72,
    "almost the same for complete graph": 3,
    "slightly lower regrets than TS in random graph": 3,
    "significantly lower regrets than TS and random": 6,
    "grows linearly with d": 14,
    "higher noise also leads to a higher regret": 16,
    "better in different levels of d": 51,
    "dominant performance in all 11 molecules": 2,
    "average of 1.58 more discoveries": 2,
    "best in the 9 combinations": 2,
    "14.1 more plausible reaction conditions": 2,
    "Summary of cumulative regrets": 16,
    "Best algorithm for each column": 4,
    "ENS performs worse than IDS": 2,
    "ENS performs worse in the low-noise models": 4,
    "linear regret instead of √T regret": 8,
}
"""Every sentence that compares policies, with the number of comparisons that it makes."""


@pytest.fixture(scope="module")
def page():
    return (DOCS / "reproduction.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def results():
    return read_results(DOCS / PLACE)


def test_the_page_in_the_documents_is_what_the_regrets_beside_it_give(page, results):
    assert page == report_page(results, DOCS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda one: f"{one.experiment}-{one.comparison.says}")
def test_every_claim_is_on_the_page_with_a_verdict_for_each_of_its_settings(claim, page, results):
    assert f"| “{claim.sentence}” | {claim.place} |" in page
    part = page.split(f"“{claim.sentence}” ({claim.place}):")[1].split("\n“")[0]
    rows = part.split("\n## ")[0].splitlines()
    start = f"| {claim.experiment} | {claim.comparison.says} | "
    verdicts = claim.judge(results)
    assert verdicts
    assert all(
        any(row.startswith(start) and f"{one.figures} **{one.word}**" in row for row in rows)
        for one in verdicts
    )


def test_the_count_on_top_is_that_of_the_verdicts(page):
    counts = re.search(r"Of (\d+) comparisons .*, (\d+) hold, (\d+) fail and (\d+) cannot", page)
    total, held, failed, untold = map(int, counts.groups())
    assert total == held + failed + untold
    body = page.split("## The claims, comparison by comparison")[1]
    words = (body.count(f"**{word}**") for word in ("holds", "fails", "cannot be told"))
    assert (held, failed, untold) == tuple(words)


def test_every_sentence_is_judged_at_every_setting_it_is_made_for(page):
    rows = re.findall(r"^\| “(.+)” \| .* \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    counted = {sentence: sum(map(int, counts)) for sentence, *counts in rows}
    found = {words: [n for one, n in counted.items() if words in one] for words in JUDGED}
    assert found == {words: [count] for words, count in JUDGED.items()}
    assert len(rows) == len(JUDGED)


@pytest.mark.parametrize("words", LISTED)
def test_no_claim_that_fails_is_left_out(words, page):
    experiment, says, settings = LISTED[words]
    body = page.split("## The claims, comparison by comparison")[1]
    parts = [part for part in body.split("\n“") if words in part.split("\n")[0]]
    rows = [row for part in parts for row in part.splitlines()]
    mine = [row for row in rows if row.startswith(f"| {experiment} | {says} |")]
    assert mine
    assert all(any(setting in row for row in mine) for setting in settings)


def test_a_report_needs_runs_or_regrets(tmp_path):
    with pytest.raises(InvalidInput, match="neither runs"):
        write_report(tmp_path / "runs", tmp_path)


def test_a_report_without_runs_writes_the_same_page_again(tmp_path):
    small = replace(EXPERIMENTS["lower-bound"], settings=(10,))
    run_experiment(small, tmp_path / "runs", repeats=2)
    docs = tmp_path / "docs"
    write_report(tmp_path / "runs", docs)
    first = {path: path.read_bytes() for path in docs.rglob("*.*")}
    assert {path.name for path in first} == {"reproduction.md", "reproduction.csv"}
    text = (docs / "reproduction.md").read_text(encoding="utf-8")
    assert "seeds 0–1" in text
    assert "| linear | vids below thompson, at every quarter | not run |" in text
    write_report(tmp_path / "none", docs)
    assert first == {path: path.read_bytes() for path in docs.rglob("*.*")}
