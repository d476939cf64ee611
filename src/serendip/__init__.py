"""What to try next: adaptive sampling for discovery over a finite pool, with a budget.

The names below are the public ones; they are imported when first used, so that `import serendip`
costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.campaigns.campaign import Campaign as Campaign
    from serendip.compute.engines import Engine as Engine
    from serendip.compute.engines import sharded_pool as sharded_pool
    from serendip.core.data import Choice as Choice
    from serendip.core.data import Observation as Observation
    from serendip.core.errors import InvalidInput as InvalidInput
    from serendip.core.errors import SerendipError as SerendipError
    from serendip.core.labels import Binary as Binary
    from serendip.core.labels import Continuous as Continuous
    from serendip.core.labels import Ordered as Ordered
    from serendip.core.likelihood import Bernoulli as Bernoulli
    from serendip.core.likelihood import Gaussian as Gaussian
    from serendip.core.rng import stream as stream
    from serendip.models.ensemble.estimator import EstimatorModel as EstimatorModel
    from serendip.models.ensemble.forest import ForestModel as ForestModel
    from serendip.models.ensemble.neural import NeuralModel as NeuralModel
    from serendip.models.finite import FiniteModel as FiniteModel
    from serendip.models.gp.model import GaussianProcessModel as GaussianProcessModel
    from serendip.models.graph.model import GraphModel as GraphModel
    from serendip.models.linear.logistic import LogisticModel as LogisticModel
    from serendip.models.linear.model import LinearModel as LinearModel
    from serendip.models.linear.sparse import SparseLinearModel as SparseLinearModel
    from serendip.models.matrix.low_rank import LowRankModel as LowRankModel
    from serendip.models.matrix.model import MatrixModel as MatrixModel
    from serendip.policies.budget_ids import BudgetIDS as BudgetIDS
    from serendip.policies.ens import ENS as ENS
    from serendip.policies.glm_ucb import GLMUCB as GLMUCB
    from serendip.policies.greedy import Greedy as Greedy
    from serendip.policies.ids import IDS as IDS
    from serendip.policies.sample_vids import SampleVIDS as SampleVIDS
    from serendip.policies.thompson import Thompson as Thompson
    from serendip.policies.ucb import OFUL as OFUL
    from serendip.policies.ucb import UCB as UCB
    from serendip.policies.uniform import Uniform as Uniform
    from serendip.pools.dense import DensePool as DensePool
    from serendip.pools.sharded import ShardedPool as ShardedPool
    from serendip.pools.storage.mapped import mapped_pool as mapped_pool
    from serendip.pools.streamed import StreamedPool as StreamedPool
    from serendip.problems.folders.opening import open_folder as open_folder
    from serendip.problems.framing import Columns as Columns
    from serendip.simulate.backtests.backtest import Backtest as Backtest
    from serendip.simulate.backtests.backtest import backtest as backtest
    from serendip.simulate.loop import play as play
    from serendip.simulate.loop import suggest as suggest
    from serendip.simulate.trace import Trace as Trace
    from serendip.simulate.trace import regret as regret

_HOMES = {
    "serendip.simulate.backtests.backtest": ("Backtest", "backtest"),
    "serendip.campaigns.campaign": ("Campaign",),
    "serendip.core.data": ("Choice", "Observation"),
    "serendip.core.errors": ("InvalidInput", "SerendipError"),
    "serendip.core.labels": ("Binary", "Continuous", "Ordered"),
    "serendip.core.likelihood": ("Bernoulli", "Gaussian"),
    "serendip.core.rng": ("stream",),
    "serendip.problems.folders.opening": ("open_folder",),
    "serendip.compute.engines": ("Engine", "sharded_pool"),
    "serendip.problems.framing": ("Columns",),
    "serendip.models.mixture.auto": ("AutoModel", "Member"),
    "serendip.models.ensemble.estimator": ("EstimatorModel",),
    "serendip.models.finite": ("FiniteModel",),
    "serendip.models.ensemble.forest": ("ForestModel",),
    "serendip.models.gp.model": ("GaussianProcessModel",),
    "serendip.models.graph.model": ("GraphModel",),
    "serendip.models.linear.model": ("LinearModel",),
    "serendip.models.linear.logistic": ("LogisticModel",),
    "serendip.models.matrix.low_rank": ("LowRankModel",),
    "serendip.models.matrix.model": ("MatrixModel",),
    "serendip.models.ensemble.neural": ("NeuralModel",),
    "serendip.models.linear.sparse": ("SparseLinearModel",),
    "serendip.simulate.loop": ("play", "suggest"),
    "serendip.policies.budget_ids": ("BudgetIDS",),
    "serendip.policies.ens": ("ENS",),
    "serendip.policies.glm_ucb": ("GLMUCB",),
    "serendip.policies.greedy": ("Greedy",),
    "serendip.policies.ids": ("IDS",),
    "serendip.policies.sample_vids": ("SampleVIDS",),
    "serendip.policies.thompson": ("Thompson",),
    "serendip.policies.ucb": ("OFUL", "UCB"),
    "serendip.policies.uniform": ("Uniform",),
    "serendip.pools.dense": ("DensePool",),
    "serendip.pools.storage.mapped": ("mapped_pool",),
    "serendip.pools.streamed": ("StreamedPool",),
    "serendip.pools.sharded": ("ShardedPool",),
    "serendip.simulate.trace": ("Trace", "regret"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'serendip' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
