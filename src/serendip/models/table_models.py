"""The models for a table of features, as the registry makes them of what is in the table."""

from collections.abc import Sequence
from dataclasses import dataclass

from serendip.core.arrays import Array
from serendip.models.ensemble.forest import ForestModel
from serendip.models.ensemble.neural import NeuralModel
from serendip.models.gp.factors import factors_of
from serendip.models.gp.kernel_terms import Levels
from serendip.models.gp.kernels import Group
from serendip.models.gp.model import GaussianProcessModel
from serendip.models.linear.logistic import LogisticModel
from serendip.models.linear.model import LinearModel
from serendip.models.linear.sparse import SparseLinearModel
from serendip.models.matrix.recoded import table_member
from serendip.models.mixture.auto import AutoModel, Member


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What a model may know of the features of a pool."""

    n: int
    """d, the column of ones included where there is one: it is the last."""
    groups: Sequence[Group] = ()
    """Features that belong together; those of the column of ones are not used."""
    vectors: Sequence[Group] = ()
    """Features that may be the coordinates of one vector, with their sizes."""
    x: Array | None = None
    """(n, d) features of the whole pool, where they are at hand: there it shows whether the pool
    combines components."""


def linear_model(features: Features) -> LinearModel:
    """Of features whose last is the constant."""
    return LinearModel(features.n, constant_column=features.n - 1)


def logistic_model(features: Features) -> LogisticModel:
    """Likewise."""
    return LogisticModel(features.n, constant_column=features.n - 1)


def sparse_model(features: Features) -> SparseLinearModel:
    """Likewise."""
    return SparseLinearModel(features.n, constant_column=features.n - 1)


def forest_model(features: Features) -> ForestModel:
    """Of any features."""
    return ForestModel(features.n)


def neural_model(features: Features) -> NeuralModel:
    """Of any features."""
    return NeuralModel(features.n)


def process_model(features: Features) -> GaussianProcessModel:
    """With the components that the pool combines; texts alone are their own effects already."""
    groups, x = tuple(features.groups), features.x
    factors: tuple[Levels, ...] = ()
    if x is not None and not all(group.text for group in groups):
        factors = tuple(Levels.of(columns, x) for columns in factors_of(x))
    return GaussianProcessModel(features.n, groups, tuple(features.vectors), factors)


def auto_model(features: Features) -> AutoModel:
    """Smooth functions, steps, and where all columns are texts a table of rows × columns."""
    members = [
        Member("gp", process_model(features)),
        Member("forest", forest_model(features)),
    ]
    table = None if features.x is None else table_member(features.x, features.groups)
    if table is not None:
        members.append(Member("low-rank", table))
    return AutoModel(tuple(members))
