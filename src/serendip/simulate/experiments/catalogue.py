"""Every experiment by the name that `serendip reproduce` takes."""

from collections.abc import Mapping

from serendip.simulate.experiments import (
    ens,
    graph,
    linear,
    logistic,
    low_rank,
    lower_bound,
    real,
    sparse,
)
from serendip.simulate.experiments.experiment import Experiment

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        linear.EXPERIMENT,
        linear.PRINTED,
        logistic.EXPERIMENT,
        logistic.AUTHORS,
        graph.RANDOM,
        graph.COMPLETE,
        graph.STAR,
        graph.RANDOM_AUTHORS,
        graph.COMPLETE_AUTHORS,
        graph.STAR_AUTHORS,
        low_rank.EXPERIMENT,
        low_rank.AUTHORS,
        ens.EXPERIMENT,
        real.PNDC,
        real.PNDC_TUNED,
        real.PNDC_AUTHORS,
        real.CNCCI,
        real.CNCCI_AUTHORS,
        sparse.EXPERIMENT,
        lower_bound.EXPERIMENT,
    )
}

ALIASES: Mapping[str, str] = {"linear-authors": linear.PRINTED.name}
"""Other names that `serendip reproduce` takes."""
