"""The variants with the authors' settings: each task has what its script has."""

import re
from pathlib import Path

import numpy as np
import pytest

from serendip.cli import reproduce as command
from serendip.simulate.experiments import graph, linear, logistic, low_rank, real
from serendip.simulate.experiments.catalogue import ALIASES, EXPERIMENTS
from serendip.simulate.loop import play

DATA = Path(__file__).parents[2] / "data"
KINDS = ("random", "complete", "star")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", graph.NOISE)
def test_graphs_of_the_script(kind, noise):
    experiment = EXPERIMENTS[f"graph-{kind}-authors"]
    assert experiment.settings == (0.1, 1.0, 10.0)
    task = experiment.task(noise, 0)
    assert len(task.world.truth) == 300 == task.model.adjacency.shape[0]
    assert task.world.oracle.noise_std == pytest.approx(noise)
    assert task.model.noise_variance == noise
    assert task.model.prior_variance == 100.0
    assert task.model.prior_mean == 0.0
    assert task.horizon == 50
    vids = experiment.policies["vids"]
    assert (vids.power, vids.n_draws) == (3.0, 100)
    assert not vids.randomised


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", graph.NOISE)
def test_graphs_of_the_text(kind, noise):
    task = EXPERIMENTS[f"graph-{kind}"].task(noise, 0)
    assert len(task.world.truth) == 900
    assert task.world.oracle.noise_std**2 == pytest.approx(noise)
    assert task.model.noise_variance == noise
    assert task.model.prior_variance == 1.0


def test_nodes_of_the_script_have_standard_deviation_ten_and_mean_one_or_zero():
    """Over 20 worlds of 300 nodes; five standard errors of each figure."""
    for kind, mean in (("random", 1.0), ("complete", 1.0), ("star", 0.0)):
        task = EXPERIMENTS[f"graph-{kind}-authors"].task
        nodes = np.concatenate([task(1.0, seed).world.truth for seed in range(20)])
        assert nodes.std() == pytest.approx(10.0, abs=5 * 10 / np.sqrt(2 * 6000))
        plain = graph.GraphTask(kind, n=300, node_std=10.0)(1.0, 0).world.truth
        assert task(1.0, 0).world.truth - plain == pytest.approx(np.full(300, mean))


def test_a_third_of_the_star_is_joined_to_all():
    degrees = EXPERIMENTS["graph-star-authors"].task(1.0, 0).model.adjacency.sum(axis=1)
    assert (degrees == 299).sum() == 100
    complete = EXPERIMENTS["graph-complete-authors"].task(1.0, 0).model.adjacency
    assert np.all(complete.sum(axis=1) == 299)
    joined = EXPERIMENTS["graph-random-authors"].task(1.0, 0).model.adjacency.nnz / (300 * 299)
    assert joined == pytest.approx(0.01, abs=0.0024)  # five standard errors


@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0])
def test_matrix_of_the_script(noise):
    experiment = EXPERIMENTS["low-rank-authors"]
    assert experiment.settings == (0.1, 0.5, 1.0)
    task, text = experiment.task(noise, 3), low_rank.task(noise, 3)
    assert len(task.world.truth) == 900
    assert task.world.oracle.noise_std == pytest.approx(noise)
    assert text.world.oracle.noise_std**2 == pytest.approx(noise)
    assert task.world.truth == pytest.approx(text.world.truth)
    assert (task.model.noise_variance, text.model.noise_variance) == (0.04, noise)
    assert (task.model.rank, task.model.factor_variance, task.model.n_chains) == (2, 1.0, 500)
    assert (task.model.n_rows, task.model.n_columns, task.horizon) == (30, 30, 100)
    vids = experiment.policies["vids"].policy
    assert (vids.power, vids.n_draws) == (3.0, 500)


def test_five_labels_of_the_matrix_are_random_and_the_sixth_is_chosen():
    experiment = EXPERIMENTS["low-rank-authors"]
    task = experiment.task(0.1, 0)

    def items(policy):
        world = task.world
        trace = play(world.pool, world.oracle, task.model, experiment.policies[policy], 6, 0)
        return list(trace.items)

    uniform, found = items("random"), {name: items(name) for name in ("vids", "greedy")}
    assert all(chosen[:5] == uniform[:5] for chosen in found.values())
    assert all(chosen[5] != uniform[5] for chosen in found.values())
    assert {policy.labels for policy in experiment.policies.values()} == {5}


@pytest.mark.parametrize("d", [20, 50, 100])
def test_linear_and_logistic_of_the_scripts(d):
    task = EXPERIMENTS["linear-printed"].task(d, 0)
    assert (task.world.pool.x.shape, task.horizon) == ((500, d), 100)
    assert task.world.oracle.noise_std == pytest.approx(0.1)
    assert (task.model.prior_variance, task.model.noise_variance) == (1.0, pytest.approx(0.01))
    vids = linear.PRINTED.policies["vids"]
    assert (vids.power, vids.n_draws) == (2.0, 100)

    task, text = EXPERIMENTS["logistic-authors"].task(d, 0), logistic.task(d, 0)
    assert (task.horizon, text.horizon) == (250, 100)
    assert task.world.truth == pytest.approx(text.world.truth)
    assert task.model == text.model
    vids = logistic.AUTHORS.policies["vids"]
    assert (vids.power, vids.n_draws) == (2.0, 1000)


@pytest.mark.parametrize(("name", "noise", "horizon"), [("pndc", 1.0, 17), ("cncci", 0.01, 66)])
def test_reactions_of_the_scripts(name, noise, horizon, monkeypatch):
    monkeypatch.setenv("SERENDIP_DATA", str(DATA))
    real._table.cache_clear()
    experiment, text = EXPERIMENTS[f"{name}-authors"], EXPERIMENTS[name]
    pools = [setting.split(": ")[1] for setting in experiment.settings]
    assert pools == list(dict.fromkeys(setting.split(": ")[1] for setting in text.settings))
    task = experiment.task(experiment.settings[0], 0)
    real._table.cache_clear()
    assert task.model.noise_variance == pytest.approx(noise**2)
    assert (task.model.prior_variance, task.horizon) == (1.0, horizon)
    assert np.linalg.norm(task.world.pool.x, axis=0) == pytest.approx(1.0)
    assert experiment.policies["vids"].n_draws == 1000


def test_every_experiment_is_in_the_help():
    assert {*EXPERIMENTS, *ALIASES} <= set(re.findall(r"[\w-]+", command._NAMES))


def test_another_name_runs_the_same_experiment(monkeypatch):
    assert not set(ALIASES) & set(EXPERIMENTS)
    for name, meant in ALIASES.items():
        ran = []
        monkeypatch.setattr(command, "_run", lambda one, *_, ran=ran: ran.append(one.name))
        command.reproduce(name)
        assert ran == [meant]
