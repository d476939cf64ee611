"""Whether observations, candidates and draws that are asked for fit a model."""

from collections.abc import Sequence
from operator import ge

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import generator, instance, number, shown, whole
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Observation
from serendip.core.errors import InvalidInput

FITTING = "fitting the model"
"""What is reported of a fit."""


def check_seen(seen: object) -> None:
    """Observations in a sequence."""
    if isinstance(seen, str | Observation) or not isinstance(seen, Sequence):
        raise InvalidInput(f"seen must be a sequence of observations; got {shown(seen)}.")
    for one in seen:
        check_one(one)


def check_one(seen: object) -> None:
    """One observation."""
    instance("seen", seen, Observation, "an Observation(item, x, y)")


def check_draws(size: int, rng: Generator) -> None:
    """How many draws are asked for, and a generator."""
    whole("size", size, 1)
    generator("rng", rng)


def features(x: Array, width: int, who: str) -> Floats:
    """(r, d) features in float64, as many as the model has."""
    check_width(x, width, who)
    return np.asarray(x, dtype=np.float64)


def stacked(x: Floats, y: Floats, seen: Sequence[Observation]) -> tuple[Floats, Floats]:
    """Features and labels with those of more observations below."""
    below = [features(one.x, x.shape[1], f"item {one.item}") for one in seen]
    return np.concatenate([x, *below]), np.concatenate([y, *(one.y for one in seen)])


def check_width(x: Array, width: int, who: str = "the block") -> None:
    """As many features as the model has."""
    if x.ndim != 2 or x.shape[1] != width:
        raise InvalidInput(
            f"The model has {width} features; {who} has {x.shape[-1]}. Make a model for as many as "
            "the candidates have."
        )


def places(x: Array, sizes: Sequence[int], what: str, who: str = "the block") -> Ints:
    """(r, axes) whole numbers that say where in a table of these sizes candidates lie."""
    kind = x.dtype
    if x.ndim != 2 or x.shape[1] != len(sizes) or kind.kind not in "iu":
        raise InvalidInput(
            f"The model needs candidates as whole numbers ({what}), counted from 0; {who} has "
            f"{kind} features of shape {x.shape}. Use x.astype(int) where they are whole."
        )
    if len(x) and (x.min() < 0 or any(map(ge, x.max(axis=0).tolist(), sizes))):
        raise InvalidInput(
            f"The model is for ({what}) within {' × '.join(map(str, sizes))}, counted from 0; "
            f"{who} lies at {x.tolist()[:3]}."
        )
    return np.asarray(x, dtype=np.int64)


def check_constant(column: int | None, width: int) -> None:
    """Which feature is a column of ones, if any."""
    if column is not None:
        whole("constant_column", column, 0, width - 1)


def check_unit(unit: float | None) -> None:
    """What labels of the usual size measure, if it is known."""
    if unit is not None and not number("label_unit", unit) > 0:
        raise InvalidInput(f"label_unit must be positive; got {unit}.")


def check_variances(**values: float | None) -> None:
    """Every one is positive, or not given; the error names the one that is neither."""
    for name, value in values.items():
        if value is not None and not number(name, value) > 0:
            raise InvalidInput(f"{name} must be positive; got {value}.")
