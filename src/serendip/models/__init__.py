"""Models: settings that turn observations into posteriors, one package a family."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.models.draws import FactorDraws as FactorDraws
    from serendip.models.draws import LinearDraws as LinearDraws
    from serendip.models.draws import LogisticDraws as LogisticDraws
    from serendip.models.draws import TableDraws as TableDraws
    from serendip.models.draws import equal_weights as equal_weights
    from serendip.models.ensemble.estimator import EstimatorModel as EstimatorModel
    from serendip.models.ensemble.forest import ForestModel as ForestModel
    from serendip.models.ensemble.neural import NeuralModel as NeuralModel
    from serendip.models.finite import FiniteModel as FiniteModel
    from serendip.models.gp.kernels import Group as Group
    from serendip.models.gp.kernels import Kernel as Kernel
    from serendip.models.gp.model import GaussianProcessModel as GaussianProcessModel
    from serendip.models.graph.model import GraphModel as GraphModel
    from serendip.models.graph.model import adjacency_of as adjacency_of
    from serendip.models.linear.logistic import LogisticModel as LogisticModel
    from serendip.models.linear.model import LinearModel as LinearModel
    from serendip.models.linear.sparse import SparseLinearModel as SparseLinearModel
    from serendip.models.matrix.low_rank import LowRankModel as LowRankModel
    from serendip.models.matrix.model import MatrixModel as MatrixModel
    from serendip.models.mixture.auto import AutoModel as AutoModel
    from serendip.models.mixture.auto import Member as Member
    from serendip.models.sampled import SampledPosterior as SampledPosterior
    from serendip.models.sampled import ValueDraws as ValueDraws
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
