"""What can be told of candidates from two numbers each, before their features are read.

A pool that knows the mean and the width of its candidates (`Sight`) asks a reduction which of them
may still matter, and hands over only those. Nothing is guessed: whoever is left out could not have
changed the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from serendip.core.arrays import Array, Floats
from serendip.core.bounds.ellipsoid import Belief, Ellipsoid
from serendip.core.protocols import BlockFn, Reduction

R = TypeVar("R")
T = TypeVar("T")
R_contra = TypeVar("R_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Sight:
    """Candidates as an ellipsoid (μ, B) sees them."""

    mean: Floats
    """(b,) at least xᵀμ"""
    width: Floats
    """(b,) at least √(xᵀBx)"""


BoundFn = Callable[[Sight], T]
"""The best that candidates could be: regrets no larger, gains, means and values no smaller."""


@runtime_checkable
class SupportsBounds(Protocol[T_co]):
    """A function of blocks that can be bounded without their features."""

    def bounded(self, around: Ellipsoid) -> BoundFn[T_co] | None:
        """The bound by an ellipsoid; None where there is none."""
        ...


def best_case(function: BlockFn[T], around: Ellipsoid) -> BoundFn[T] | None:
    """The best that candidates could be by a function, where it can be bounded."""
    return function.bounded(around) if isinstance(function, SupportsBounds) else None


class Screen(Protocol[R_contra]):
    """Tells who may matter to a reduction."""

    @property
    def n_needed(self) -> int:
        """How many must have been looked at before anyone can be left out."""
        ...

    def promise(self, sight: Sight) -> Floats:
        """(b,) who is to be looked at first: the higher, the sooner."""
        ...

    def kept(self, state: R_contra, sight: Sight, promise: Array) -> Array:
        """(b,) whether each may change this state; its promise is given, rounded to float32."""
        ...


@runtime_checkable
class Screenable(Reduction[R], Protocol[R]):
    """A reduction that can leave out candidates it has not seen."""

    @property
    def belief(self) -> Belief | None:
        """What the widths should fit, if it is known here."""
        ...

    def screen(self, around: Ellipsoid) -> Screen[R] | None:
        """Who may matter, by the widths of this ellipsoid; None where that cannot be told."""
        ...

    def given(self, state: R) -> Reduction[R]:
        """The same reduction, where what this state has shown is known from the start."""
        ...


def screenable(reduction: Reduction[R]) -> Screenable[R] | None:
    """The reduction, where it can be screened."""
    return reduction if isinstance(reduction, Screenable) else None


@runtime_checkable
class SupportsReach(Protocol):
    """Draws of linear functions: how far they are from the centre of an ellipsoid."""

    @property
    def belief(self) -> Belief:
        """The posterior they were drawn from."""
        ...

    def reach(self, around: Ellipsoid) -> Floats:
        """(M,) r with f_i(x) ≤ mean + r_i · width."""
        ...
