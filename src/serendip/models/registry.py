"""Every model: one entry each, which commands, page, API and documents read.

To add one: a folder or file with the model, an entry here, a line in the contract tests. Nothing is
imported until an entry is asked for its model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from serendip.core.registry import Ready, Registry, called, load

if TYPE_CHECKING:
    from serendip.core.protocols import Model
    from serendip.models.table_models import Features


class Input(StrEnum):
    """What a model takes candidates to be."""

    features = "features"
    """Numbers: columns of a table, levels of its texts, bits of a molecule."""
    matrix = "matrix"
    """The row and the column of a table of rows × columns."""
    graph = "graph"
    """Nodes with edges between them."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """What there is to know of a model before it is imported."""

    name: str
    title: str
    """What it is, in one line."""
    factory: str | Callable[..., object]
    """Makes it, or where what makes it is, `module:name`. It is called with `Features`; that of a
    matrix or a graph with what `problems.framing` finds in the table."""
    takes: Input = Input.features
    own_constant: bool = True
    """Whether it has a constant of its own; others want a last column of ones."""
    unit_labels: bool = False
    """Whether it wants labels between 0 and 1, so that their range must be known."""
    linear: bool = False
    """Whether f is linear in the features, or a known function of that: the entropy bound of linear
    models holds, and thousands of bits of a fingerprint are not too many."""
    offered: bool = True
    """Whether lists of choices show it."""
    largest: int | None = None
    """Candidates up to which it is what fits, where somebody named no model."""

    def make(self, *given: object, **named: object) -> "Model[Any]":
        """The model for what its input turned out to be."""
        made = load(self.factory) if isinstance(self.factory, str) else self.factory
        return cast("Callable[..., Model[Any]]", made)(*given, **named)


_AUTO_LARGEST = 10_000_000
"""Candidates up to which a choice by `auto` takes minutes, on two cores."""

_ENTRIES = (
    ModelEntry(
        "auto",
        "several models, trusted by how well they foretell labels left out",
        "serendip.models.table_models:auto_model",
        largest=_AUTO_LARGEST,
    ),
    ModelEntry(
        "linear",
        "linear regression, its scales inferred",
        "serendip.models.table_models:linear_model",
        own_constant=False,
        linear=True,
    ),
    ModelEntry(
        "logistic",
        "logistic regression for labels between 0 and 1, its width inferred",
        "serendip.models.table_models:logistic_model",
        own_constant=False,
        unit_labels=True,
        linear=True,
    ),
    ModelEntry(
        "sparse",
        "linear regression in which few features matter, how few inferred",
        "serendip.models.table_models:sparse_model",
        own_constant=False,
        linear=True,
    ),
    ModelEntry(
        "gp",
        "Gaussian processes, their kernel, noise and scale inferred",
        "serendip.models.table_models:process_model",
    ),
    ModelEntry(
        "forest",
        "randomised trees, calibrated by labels left out",
        "serendip.models.table_models:forest_model",
    ),
    ModelEntry(
        "neural",
        "small neural networks, calibrated by labels left out (needs PyTorch)",
        "serendip.models.table_models:neural_model",
    ),
    ModelEntry(
        "low-rank",
        "a table of rows × columns, its rank, noise and scales inferred",
        "serendip.models.matrix.model:MatrixModel",
        takes=Input.matrix,
    ),
    ModelEntry(
        "graph",
        "labels of a node, with those of its neighbours",
        "serendip.models.graph.model:GraphModel",
        takes=Input.graph,
    ),
)

MODELS: Mapping[str, ModelEntry] = {entry.name: entry for entry in _ENTRIES}
"""Every model of serendip by its name."""


def adopt_model(name: str, found: object) -> ModelEntry:
    """The entry for a model from elsewhere, which goes by this name.

    It sees features as numbers, standardised, and labels in their own unit; a `ModelEntry` may say
    otherwise.

    Args:
        name: As the user calls it.
        found: A model, a class or function that makes one of the number of features, or a
            `ModelEntry`.
    """
    from serendip.core.arguments import able, shown
    from serendip.core.errors import InvalidInput

    if isinstance(found, ModelEntry):
        if found.takes is not Input.features:
            raise InvalidInput(
                f"The model {name} takes a {found.takes}; models of other packages take features."
            )
        return replace(found, name=name)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "posterior")):
        return ModelEntry(
            name, shown(found), _Counted(name, cast("Callable[[int], object]", found))
        )
    able(f"The model {name}", found, ("posterior",), "LinearModel(3), or its class")
    return ModelEntry(name, shown(found), Ready(found))


@dataclass(frozen=True, slots=True)
class _Counted:
    """A factory of somebody else's, which is told the number of features and nothing more."""

    name: str
    factory: Callable[[int], object]

    def __call__(self, features: "Features") -> object:
        from serendip.core.arguments import able

        made = called(f"The model {self.name}", self.factory, features.n)
        able(f"The model {self.name}", made, ("posterior",), "LinearModel(3)")
        return made


REGISTRY = Registry("model", "models", "serendip.models", MODELS, adopt_model)
"""The same with those of installed packages."""


def takes(name: str) -> Input:
    """What a model takes candidates to be; nothing is imported, for others take features."""
    return MODELS[name].takes if name in MODELS else Input.features


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What there is to know of a pool on disk to say which model fits."""

    n: int
    """Candidates"""
    bits: bool = False
    """Whether they are fingerprints, thousands of bits each, of which those set are kept."""


def usual_model(
    rows: object,
    columns: object,
    edges: object,
    *,
    binary: bool = False,
    folder: OnDisk | None = None,
) -> str:
    """The model that fits what the user has told, where they named none.

    Args:
        rows: What names the rows of a matrix, if anything does.
        columns: Likewise its columns.
        edges: Of a graph, if there is one.
        binary: Whether labels are 0 or 1.
        folder: The pool, where it is a folder; see `not_auto`.
    """
    if rows or columns:
        return "low-rank"
    if edges is not None:
        return "graph"
    if binary:
        return "logistic"
    return "linear" if folder is not None and not_auto(folder) else "auto"


def not_auto(folder: OnDisk) -> str:
    """Why `auto` is not what fits a pool on disk; empty where it is."""
    largest = MODELS["auto"].largest
    if folder.bits:
        return "auto is not made for fingerprints on disk"
    if largest is not None and folder.n > largest:
        return f"a pool of {folder.n:,} candidates is more than auto is made for ({largest:,})"
    return ""


def model_note(name: str, folder: OnDisk | None) -> str:
    """Which model it is, and why where that may come unexpected."""
    if folder is None:
        return f"Model {name}."
    if name == "linear" and (reason := not_auto(folder)):
        return f"Model linear: {reason}."
    largest = MODELS[name].largest if name in MODELS else None
    if largest is not None and folder.n <= largest:
        return f"Model {name}: made for pools of up to {largest:,} candidates."
    return f"Model {name}."
