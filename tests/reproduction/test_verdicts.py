"""From runs to verdicts: two claims at σ² = 10, one that holds and one that fails.

Twelve seeds; over 20 the gaps are 25.8 and 9.0, and a paired difference has a standard deviation
near 7.4 and 4.8, so that other seeds would give another verdict about once in ten thousand times.
"""

from dataclasses import replace

import pytest

from serendip.simulate.experiments import graph
from serendip.simulate.experiments.experiment import run_experiment
from serendip.simulate.experiments.pages.sentences import CLAIMS
from serendip.simulate.experiments.results import (
    PLACE,
    read_results,
    refresh_results,
    write_results,
)

pytestmark = pytest.mark.reproduction


def test_ids_is_below_thompson_on_stars_and_not_level_with_it_on_complete_graphs(tmp_path):
    for experiment in (graph.STAR, graph.COMPLETE):
        policies = {name: experiment.policies[name] for name in ("vids", "thompson", "random")}
        reduced = replace(experiment, settings=(10.0,), policies=policies)
        run_experiment(reduced, tmp_path / "runs", repeats=12)
    path = tmp_path / PLACE
    write_results(refresh_results(read_results(path), tmp_path / "runs"), path)
    results = read_results(path)
    words = {
        (claim.experiment, claim.comparison.says): [one.word for one in claim.judge(results)]
        for claim in CLAIMS
        if claim.experiment in ("graph-star", "graph-complete")
    }
    assert words["graph-star", "vids below thompson, at every quarter"] == ["holds"]
    assert words["graph-complete", "vids level with thompson"] == ["fails"]
    assert words["graph-complete", "thompson below random"] == ["holds"]
