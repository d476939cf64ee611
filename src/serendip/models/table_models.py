"""The model for a table of features, by the name that commands use."""

from collections.abc import Sequence
from typing import Any

from serendip.core.arrays import Array
from serendip.core.protocols import Model
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

OWN_CONSTANT = ("auto", "gp", "forest", "neural")
"""Models that have a constant of their own; the others want a last column of ones."""

ANY_UNIT = ("linear", "sparse", *OWN_CONSTANT)
"""Models that take labels in any unit; the others want them between 0 and 1."""


def table_model(
    name: str,
    n_features: int,
    groups: Sequence[Group],
    vectors: Sequence[Group] = (),
    x: Array | None = None,
) -> Model[Any]:
    """The model of this name.

    Args:
        name: As in `models.registry.MODELS`.
        n_features: d, the column of ones included where there is one.
        groups: Features that belong together; those of the column of ones are not used.
        vectors: Features that may be the coordinates of one vector, with their sizes.
        x: (n, d) features of the whole pool, where they are at hand: there it shows whether the
            pool combines components.
    """
    d = n_features
    if name == "auto":
        return _auto(d, groups, vectors, x)
    models: dict[str, Model[Any]] = {
        "linear": LinearModel(d, constant_column=d - 1),
        "logistic": LogisticModel(d, constant_column=d - 1),
        "sparse": SparseLinearModel(d, constant_column=d - 1),
        "gp": _process(d, groups, vectors, x),
        "forest": ForestModel(d),
        "neural": NeuralModel(d),
    }
    return models[name]


def _process(
    d: int, groups: Sequence[Group], vectors: Sequence[Group], x: Array | None
) -> GaussianProcessModel:
    """With the components that the pool combines; texts alone are their own effects already."""
    factors: tuple[Levels, ...] = ()
    if x is not None and not all(group.text for group in groups):
        factors = tuple(Levels.of(columns, x) for columns in factors_of(x))
    return GaussianProcessModel(d, tuple(groups), tuple(vectors), factors)


def _auto(d: int, groups: Sequence[Group], vectors: Sequence[Group], x: Array | None) -> AutoModel:
    """Smooth functions, steps, and where all columns are texts a table of rows × columns."""
    members = [
        Member("gp", _process(d, groups, vectors, x)),
        Member("forest", ForestModel(d)),
    ]
    table = None if x is None else table_member(x, groups)
    if table is not None:
        members.append(Member("low-rank", table))
    return AutoModel(tuple(members))
