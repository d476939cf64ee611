"""The model for a table of features, by the name that commands use."""

from collections.abc import Sequence
from typing import Any

from serendip.core.protocols import Model
from serendip.models.auto import AutoModel, Member
from serendip.models.forest import ForestModel
from serendip.models.gp import GaussianProcessModel
from serendip.models.kernels import Group
from serendip.models.linear import LinearModel
from serendip.models.logistic import LogisticModel
from serendip.models.sparse_linear import SparseLinearModel

OWN_CONSTANT = ("auto", "gp", "forest")
"""Models that have a constant of their own; the others want a last column of ones."""

ANY_UNIT = ("linear", *OWN_CONSTANT)
"""Models that take labels in any unit; the others want them between 0 and 1."""


def table_model(name: str, n_features: int, groups: Sequence[Group]) -> Model[Any]:
    """The model of this name.

    Args:
        name: As in `framing.MODELS`.
        n_features: d, the column of ones included where there is one.
        groups: Features that belong together; those of the column of ones are not used.
    """
    d = n_features
    if name == "auto":
        # Smooth functions have been right more often than steps on tables of this kind.
        return AutoModel(
            (
                Member("gp", GaussianProcessModel(d, tuple(groups)), prior=0.9),
                Member("forest", ForestModel(d), prior=0.1),
            )
        )
    models: dict[str, Model[Any]] = {
        "linear": LinearModel(d, constant_column=d - 1),
        # Features of unit size: xᵀθ then has a prior standard deviation of two, chances of 12–88 %.
        "logistic": LogisticModel(d, prior_variance=4.0 / d),
        "sparse": SparseLinearModel(d),
        "gp": GaussianProcessModel(d, tuple(groups)),
        "forest": ForestModel(d),
    }
    return models[name]
