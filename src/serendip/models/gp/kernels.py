"""Kernels: weighted sums of terms over groups of columns, and the families the model averages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.models.gp.kernel_terms import (
    Columns,
    ExactTerm,
    Levels,
    Linear,
    Radial,
    Sketch,
    SketchedTerm,
    Tanimoto,
    Waves,
)


@dataclass(frozen=True, slots=True)
class Kernel:
    """k = Σ w·k_term."""

    exact: tuple[tuple[float, ExactTerm], ...] = ()
    sketched: tuple[tuple[float, SketchedTerm], ...] = ()
    name: str = ""
    """What reports call it."""

    def __post_init__(self) -> None:
        weights = [weight for weight, _ in self.terms]
        if not weights or min(weights) <= 0:
            raise InvalidInput(f"A kernel needs terms with positive weights; got {weights}.")

    @property
    def terms(self) -> tuple[tuple[float, ExactTerm | SketchedTerm], ...]:
        """All of them with their weights."""
        return (*self.exact, *self.sketched)

    def features(self, x: Floats) -> Floats:
        """(b, F) of all exact terms."""
        parts = [np.sqrt(weight) * term.features(x) for weight, term in self.exact]
        if len(parts) == 1:
            return np.asarray(parts[0])
        return np.concatenate([np.empty((len(x), 0)), *parts], axis=1)

    def near(self, x: Floats, z: Floats) -> Floats:
        """(b, c) of the sketched terms alone."""
        total = np.zeros((len(x), len(z)))
        for weight, term in self.sketched:
            total += weight * term.matrix(x, z)
        return total

    def matrix(self, x: Floats, z: Floats) -> Floats:
        """(b, c) k(x, z)."""
        total = self.near(x, z)
        return total + self.features(x) @ self.features(z).T if self.exact else total

    def diagonal(self, x: Floats) -> Floats:
        """(b,) k(x, x)."""
        total = np.zeros(len(x))
        for weight, exact in self.exact:
            total += weight * exact.diagonal(x)
        for weight, sketched in self.sketched:
            total += weight * sketched.diagonal(x)
        return total

    def sketches(self, size: int, rng: Generator) -> "tuple[tuple[float, Sketch], ...]":
        """A fresh sketch of each sketched term, with the root of its weight."""
        return tuple(
            (float(np.sqrt(weight)), term.sketch(size, rng)) for weight, term in self.sketched
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Columns that belong together."""

    columns: Columns
    text: bool = False
    """Whether they are the levels of one text column."""
    sizes: tuple[float, ...] = ()
    """How large the columns are beside one another, in a unit they share; none for all 1."""

    def moved(self, by: int) -> "Group":
        """The same group where its columns stand `by` places further on."""
        return replace(self, columns=tuple(column + by for column in self.columns))


def single_columns(count: int) -> tuple[Group, ...]:
    """Every column a group of its own."""
    return tuple(Group((column,)) for column in range(count))


def linear(groups: Sequence[Group]) -> Kernel:
    """A linear function of all columns."""
    return Kernel(exact=((1.0, Linear(_all(groups), len(groups))),), name="linear")


def radial(groups: Sequence[Group], lengthscale: float, smoothness: float = np.inf) -> Kernel:
    """One RBF or Matérn term over all columns; ℓ in units of √groups.

    Two random rows lie √(2·groups) apart, so the same ℓ means the same at any number of columns.
    """
    length = lengthscale * np.sqrt(len(groups))
    return Kernel(sketched=((1.0, Radial(_all(groups), length, smoothness)),), name="radial")


def additive(groups: Sequence[Group], lengthscale: float, smoothness: float = np.inf) -> Kernel:
    """One term per group, of equal weight.

    A single column has its `Waves`. The levels of a text are all equally far apart, so their term
    is linear but for a constant. Any other group has a `Radial` term of its own.
    """
    exact: list[tuple[float, ExactTerm]] = []
    sketched: list[tuple[float, SketchedTerm]] = []
    share = 1.0 / len(groups)
    singles = tuple(g.columns[0] for g in groups if len(g.columns) == 1 and not g.text)
    if singles:
        exact.append((share * len(singles), Waves(singles, lengthscale, smoothness)))
    for group in groups:
        if group.text:
            exact.append((share, Linear(group.columns, 1.0)))
        elif len(group.columns) > 1:
            length = lengthscale * float(np.sqrt(len(group.columns)))
            sketched.append((share, Radial(group.columns, length, smoothness)))
    return Kernel(tuple(exact), tuple(sketched), "additive")


def tanimoto(groups: Sequence[Group]) -> Kernel:
    """Shared bits over all columns, which are 0 or 1."""
    return Kernel(sketched=((1.0, Tanimoto(_all(groups))),), name="tanimoto")


def components(factors: Sequence[Levels]) -> Kernel:
    """An effect of each component of its own, whatever its columns say."""
    return Kernel(
        exact=tuple((1.0 / len(factors), factor) for factor in factors), name="components"
    )


def weighted(*parts: tuple[float, Kernel]) -> Kernel:
    """Σ w·k."""
    return Kernel(
        exact=tuple((w * weight, term) for w, part in parts for weight, term in part.exact),
        sketched=tuple((w * weight, term) for w, part in parts for weight, term in part.sketched),
        name=" + ".join(part.name for _, part in parts),
    )


def _all(groups: Sequence[Group]) -> Columns:
    if not groups or any(not group.columns for group in groups):
        raise InvalidInput("A kernel needs at least one group, and each group a column.")
    return tuple(column for group in groups for column in group.columns)


def default_kernels(groups: Sequence[Group], factors: Sequence[Levels] = ()) -> tuple[Kernel, ...]:
    """What is averaged over unless told: smooth surfaces, and these with straight lines and sums.

    Matérn 5/2 over all columns at three lengthscales; half a linear kernel and half of that one;
    half a sum of one function per group and half of that one, at two, which for texts alone would
    be the linear one again. Where the pool combines components, also their own effects, with the
    Matérn kernel, and with that and the linear one.

    Of numbers nothing is a plane or a sum alone. Labels that a policy chose lie where effects do
    add up, and a kernel that knows no more would be sure of all the rest (docs/models.md). What
    was said of a name reaches no other, so texts alone may also add up.
    """
    full, names = radial(groups, 1.0, 2.5), all(group.text for group in groups)
    lengths = () if names else (1.0, 2.0)
    return (
        *((linear(groups),) if names else ()),
        *(radial(groups, length, 2.5) for length in (0.5, 1.0, 2.0)),
        weighted((0.5, linear(groups)), (0.5, full)),
        *(weighted((0.5, additive(groups, length)), (0.5, full)) for length in lengths),
        *(_with_components(components(factors), linear(groups), full) if factors else ()),
    )


def _with_components(own: Kernel, line: Kernel, full: Kernel) -> tuple[Kernel, ...]:
    third = 1.0 / 3.0
    return (
        weighted((0.5, own), (0.5, full)),
        weighted((third, own), (third, line), (third, full)),
    )
