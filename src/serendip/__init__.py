"""What to try next: adaptive sampling for discovery over a finite pool, with a budget.

The names below are the public ones; they are imported when first used, so that `import serendip`
costs next to nothing.
"""

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this

if TYPE_CHECKING:
    from serendip import campaigns as campaigns
    from serendip import compute as compute
    from serendip import core as core
    from serendip import models as models
    from serendip import plots as plots
    from serendip import policies as policies
    from serendip import pools as pools
    from serendip import problems as problems
    from serendip import simulate as simulate
    from serendip import tables as tables
    from serendip import theory as theory
    from serendip.campaigns.campaign import Campaign as Campaign
    from serendip.compute.engines import Engine as Engine
    from serendip.compute.engines import sharded_pool as sharded_pool
    from serendip.core.data import Block as Block
    from serendip.core.data import Choice as Choice
    from serendip.core.data import Observation as Observation
    from serendip.core.errors import AlreadyLabelled as AlreadyLabelled
    from serendip.core.errors import InvalidInput as InvalidInput
    from serendip.core.errors import MissingCapability as MissingCapability
    from serendip.core.errors import SerendipError as SerendipError
    from serendip.core.labels import Binary as Binary
    from serendip.core.labels import Continuous as Continuous
    from serendip.core.labels import Ordered as Ordered
    from serendip.core.likelihood import Bernoulli as Bernoulli
    from serendip.core.likelihood import Gaussian as Gaussian
    from serendip.core.protocols import Draws as Draws
    from serendip.core.protocols import Model as Model
    from serendip.core.protocols import MomentsFn as MomentsFn
    from serendip.core.protocols import Oracle as Oracle
    from serendip.core.protocols import Policy as Policy
    from serendip.core.protocols import Pool as Pool
    from serendip.core.protocols import Posterior as Posterior
    from serendip.core.protocols import SupportsImprovement as SupportsImprovement
    from serendip.core.protocols import SupportsMoments as SupportsMoments
    from serendip.core.protocols import SupportsSeen as SupportsSeen
    from serendip.core.protocols import require as require
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
    from serendip.models.mixture.auto import AutoModel as AutoModel
    from serendip.models.mixture.auto import Member as Member
    from serendip.models.sampled import SampledPosterior as SampledPosterior
    from serendip.models.sampled import ValueDraws as ValueDraws
    from serendip.policies.budget_ids import BudgetIDS as BudgetIDS
    from serendip.policies.ens import ENS as ENS
    from serendip.policies.glm_ucb import GLMUCB as GLMUCB
    from serendip.policies.greedy import Greedy as Greedy
    from serendip.policies.ids import IDS as IDS
    from serendip.policies.index import choose_by as choose_by
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
    from serendip.simulate.environments.world import World as World
    from serendip.simulate.loop import play as play
    from serendip.simulate.loop import suggest as suggest
    from serendip.simulate.trace import Trace as Trace
    from serendip.simulate.trace import regret as regret

    __version__: str
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
