"""Runs on known labels: `play`, `suggest`, `Trace`, environments, backtests, experiments."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.simulate.backtests.backtest import Backtest as Backtest
    from serendip.simulate.backtests.backtest import backtest as backtest
    from serendip.simulate.environments.graph import complete_edges as complete_edges
    from serendip.simulate.environments.graph import graph_world as graph_world
    from serendip.simulate.environments.graph import random_edges as random_edges
    from serendip.simulate.environments.graph import star_edges as star_edges
    from serendip.simulate.environments.graph import unstructured_world as unstructured_world
    from serendip.simulate.environments.linear import linear_world as linear_world
    from serendip.simulate.environments.linear import logistic_world as logistic_world
    from serendip.simulate.environments.low_rank import low_rank_world as low_rank_world
    from serendip.simulate.environments.sparse import sparse_world as sparse_world
    from serendip.simulate.environments.table import table_world as table_world
    from serendip.simulate.environments.world import World as World
    from serendip.simulate.experiments.experiment import Experiment as Experiment
    from serendip.simulate.experiments.experiment import Task as Task
    from serendip.simulate.experiments.experiment import run_experiment as run_experiment
    from serendip.simulate.experiments.experiment import summarise as summarise
    from serendip.simulate.loop import absorb as absorb
    from serendip.simulate.loop import expected_random_regret as expected_random_regret
    from serendip.simulate.loop import play as play
    from serendip.simulate.loop import suggest as suggest
    from serendip.simulate.trace import Step as Step
    from serendip.simulate.trace import Trace as Trace
    from serendip.simulate.trace import budget_regret as budget_regret
    from serendip.simulate.trace import regret as regret
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
