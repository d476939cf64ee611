"""Every experiment by the name that `serendip reproduce` takes."""

from collections.abc import Mapping

from serendip.experiments import (
    ens,
    graph,
    linear,
    logistic,
    low_rank,
    lower_bound,
    real,
    sparse,
)
from serendip.experiments.experiment import Experiment

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        linear.EXPERIMENT,
        linear.PRINTED,
        logistic.EXPERIMENT,
        graph.RANDOM,
        graph.COMPLETE,
        graph.STAR,
        low_rank.EXPERIMENT,
        ens.EXPERIMENT,
        real.PNDC,
        real.PNDC_TUNED,
        real.CNCCI,
        sparse.EXPERIMENT,
        lower_bound.EXPERIMENT,
    )
}
