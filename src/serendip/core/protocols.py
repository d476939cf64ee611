"""The shapes that models, pools, policies and oracles share."""

from collections.abc import Callable, Sequence
from functools import cache
from inspect import signature
from typing import Any, Protocol, Self, TypeVar, cast, get_type_hints, runtime_checkable

from numpy.random import Generator

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import (
    Block,
    Choice,
    Contenders,
    HeldOut,
    Observation,
    Optima,
    Summary,
    Tradeoff,
)
from serendip.core.errors import MissingCapability
from serendip.core.likelihood import Likelihood

R = TypeVar("R")
P = TypeVar("P", bound="Posterior")
P_co = TypeVar("P_co", bound="Posterior", covariant=True)
P_contra = TypeVar("P_contra", bound="Posterior", contravariant=True)

BlockFn = Callable[[Block], R]
"""A function of one block. Always a frozen dataclass with __call__, so that it can travel."""

MomentsFn = BlockFn[tuple[Floats, Floats]]
"""Mean and standard deviation (or width) of each candidate of a block."""


class Reduction(Protocol[R]):
    """A fold over a pool: what to start from, how to take in a block, how to join two results.

    `merge` is associative and commutative, and the result must not depend on how the pool was cut.
    `step` sees the state so far, so that it may skip what can no longer matter.
    """

    def start(self) -> R:
        """The result for no candidates at all."""
        ...

    def step(self, state: R, block: Block) -> R:
        """The result once this block is taken in."""
        ...

    def merge(self, left: R, right: R) -> R:
        """The result for both parts together."""
        ...


class Draws(Protocol):
    """M functions f₁ … f_M drawn from one posterior."""

    @property
    def weights(self) -> Floats:
        """(M,), summing to one."""
        ...

    @property
    def likelihood(self) -> Likelihood:
        """How labels scatter around f."""
        ...

    def values(self, block: Block) -> Array:
        """(b, M) values, in the precision of the block."""
        ...

    def slack(self, block: Block) -> Floats:
        """(M,) bounds on how far `values` may be from `refine`."""
        ...

    def refine(self, x: Array, draws: Ints) -> Floats:
        """(h,) float64 values of draw `draws[j]` at features `x[j]`, the same in any company."""
        ...

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """Mean, and v(x) = Var(E[f(x) | X*₁])  [ASD Alg. 2]."""
        ...

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """Against the budget: Δ(x) = E[(f_(k) − f(x))₊], and g(x) as in `policies.budget_ids`."""
        ...


class Posterior(Protocol):
    """What is believed after the labels so far."""

    @property
    def n_labels(self) -> int:
        """How many candidates have been labelled."""
        ...

    def update(self, seen: Observation, rng: Generator) -> Self:
        """The posterior once this observation is taken in."""
        ...

    def sample(self, size: int, rng: Generator) -> Draws:
        """Fresh draws, `size` of them; a mixture may give so many of each of its parts."""
        ...


@runtime_checkable
class SupportsSeveral(Posterior, Protocol):
    """Who takes in many observations at the price of one, as a batch brings them."""

    def update_all(self, seen: Sequence[Observation], rng: Generator) -> Self:
        """The posterior once all of these are taken in: as after `update` with each in turn."""
        ...


def update_all(posterior: P, seen: Sequence[Observation], rng: Generator) -> P:
    """The posterior once these observations are taken in; at once, where it can."""
    if isinstance(posterior, SupportsSeveral):
        return posterior.update_all(seen, rng)
    for one in seen:
        posterior = posterior.update(one, rng)
    return posterior


@runtime_checkable
class SupportsMoments(Posterior, Protocol):
    """What UCB and greedy need."""

    def moments(self) -> MomentsFn:
        """Posterior mean and standard deviation of f(x)."""
        ...


@runtime_checkable
class SupportsSeen(Posterior, Protocol):
    """Who tells what has been seen, so that a candidate can be compared with the best so far."""

    @property
    def labels(self) -> Floats:
        """(t,) every label so far in the order seen, side information too; larger is better.

        In the units that the model sees. Labels that a batch expects for its first choices count.
        """
        ...


@runtime_checkable
class SupportsImprovement(SupportsMoments, SupportsSeen, Protocol):
    """What expected improvement needs."""


@runtime_checkable
class SupportsScales(Posterior, Protocol):
    """Who can say whether its scales were given; whoever cannot is taken to infer them."""

    @property
    def scales_known(self) -> bool:
        """Whether it was told noise and width of the prior, and can be relied upon at once."""
        ...


@runtime_checkable
class SupportsCheck(Posterior, Protocol):
    """Who can say beforehand which candidates do not fit; whoever cannot is asked to take any."""

    def check(self, x: Array) -> None:
        """Refuses candidates (r, d) that have other features than the model."""
        ...


@runtime_checkable
class SupportsHeldOut(Posterior, Protocol):
    """What forecasts, diagnostics and model weights need."""

    def held_out(self) -> HeldOut:
        """Each label predicted from all others, in the order seen; rows of one observation apart.

        It is what a fit to the other labels would say; what is held fixed instead, such as
        hyper-parameters that were learnt from all labels, the docstring of the model names.
        """
        ...


@runtime_checkable
class MixtureMember(SupportsMoments, SupportsHeldOut, Protocol):
    """What a mixture needs of its members, which are then weighed against each other."""

    @property
    def noise_variance(self) -> float:
        """E[σ_ε²]."""
        ...


@runtime_checkable
class SupportsConfidence(Posterior, Protocol):
    """What OFUL needs: a band that holds for all candidates and all steps at once."""

    def confidence(self, failure: float) -> MomentsFn:
        """Mean and half-width of a band that fails with at most this probability."""
        ...


@runtime_checkable
class SupportsDesign(Posterior, Protocol):
    """What GLM-UCB needs."""

    def design(self) -> MomentsFn:
        """Plug-in mean μ(xᵀθ̂) and the design norm ‖x‖_{V⁻¹}, V = XᵀX + I/σ_θ²."""
        ...


@runtime_checkable
class SupportsNeighbours(Posterior, Protocol):
    """Whose labels come with those of others, so that values alone do not say what one tells."""

    @property
    def closed(self) -> Any:
        """(n, n) whose labels the label of each candidate comes with, its own included."""
        ...


@runtime_checkable
class SupportsInformation(Posterior, Protocol):
    """What exact IDS needs: a finite set of parameters, each with its mass."""

    def atoms(self) -> Draws:
        """Every parameter as a weighted draw."""
        ...

    def information(self, best: Optima, ordered: bool) -> BlockFn[Summary]:
        """Mean, and the exact I(X*₁…X*ₖ; Y_x) about the ordered tuple or about the set."""
        ...


@runtime_checkable
class SupportsLookahead(Posterior, Protocol):
    """What ENS needs: how the means of others would move with the label of x."""

    def lookahead(self, others: Block) -> BlockFn[tuple[Floats, Floats, Floats]]:
        """Mean (b,), chances (b, q) of q outcomes, and means (b, q, n) of the others after each."""
        ...


class Model(Protocol[P_co]):
    """Settings that turn observations into a posterior."""

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> P_co:
        """The posterior given these observations; () gives the prior."""
        ...


class Names(Protocol):
    """The user's names of the candidates, looked up one at a time; a tuple of texts will do."""

    def __len__(self) -> int: ...

    def __getitem__(self, item: int, /) -> str: ...


class Pool(Protocol):
    """The candidates that are still unlabelled."""

    def __len__(self) -> int: ...

    def __contains__(self, item: int) -> bool: ...

    def take(self, items: Ints) -> Array:
        """(len(items), d) features, of labelled candidates too."""
        ...

    def without(self, item: int) -> Self:
        """The pool once this item has left it."""
        ...

    def fold(self, reduction: Reduction[R]) -> R:
        """The reduction over all blocks."""
        ...


class Policy(Protocol[P_contra]):
    """A rule for what to label next."""

    def choose(self, posterior: P_contra, pool: Pool, remaining: int, rng: Generator) -> Choice:
        """One candidate of the pool, with `remaining` labels still to buy (this one included)."""
        ...


@runtime_checkable
class BatchPolicy(Policy[P_contra], Protocol[P_contra]):
    """A rule that minds how late a label comes."""

    def choose_in_batch(
        self, posterior: P_contra, pool: Pool, remaining: int, later: int, rng: Generator
    ) -> Choice:
        """As `choose`, where only the last `later` labels are bought with this one known."""
        ...


class Oracle(Protocol):
    """Whoever labels: a simulator, a table, a chemist."""

    def reveal(self, item: int, rng: Generator) -> Observation:
        """What labelling this item shows."""
        ...


_CAPABILITIES: dict[type, str] = {
    SupportsMoments: "a posterior with moments",
    SupportsImprovement: "a posterior with moments that tells the labels seen",
    SupportsSeen: "a posterior that tells the labels seen",
    SupportsConfidence: "a posterior with a uniform confidence band",
    SupportsDesign: "a generalised linear posterior",
    SupportsInformation: "a posterior over a finite parameter set",
    SupportsHeldOut: "a posterior that predicts held-out labels",
    MixtureMember: "members with moments that predict held-out labels",
    SupportsLookahead: "a posterior that can look one label ahead",
}


def require(
    posterior: object,
    capability: Callable[..., P],
    by: object,
    instead: str = "another model",
    whose: str = "",
) -> P:
    """The posterior, once it is known to offer the capability; an error that helps otherwise.

    Args:
        posterior: Who is asked.
        capability: A runtime-checkable protocol, such as `SupportsMoments`. Type checkers take a
            protocol for what it makes, where they would refuse it as a `type[P]`, being abstract.
        by: Who asks, or their name.
        instead: What would do.
        whose: How the user calls the model; by default the class of its posterior is named.
    """
    kind = cast("type[P]", capability)
    if isinstance(posterior, kind):
        return posterior
    wanted = _CAPABILITIES.get(kind, f"a posterior that is a {kind.__module__}.{kind.__name__}")
    who = by if isinstance(by, str) else getattr(by, "__name__", type(by).__name__)
    found = f"that of the {whose} model" if whose else type(posterior).__name__
    raise MissingCapability(f"{who} needs {wanted}; {found} is not one. Use {instead} instead.")


def capability_of(policy: object) -> type:
    """What a policy needs: the capability that stands in the signature of its `choose`.

    `Posterior`, which every model offers, where it names none, or one that only a type checker
    could tell.
    """
    return _named(cast(Any, type(policy)))


@cache
def _named(kind: Any) -> type:
    try:
        name = list(signature(kind.choose).parameters)[1]
        found = get_type_hints(kind.choose).get(name, Posterior)
    except Exception:  # no plain function, or names that are imported for the type checker alone
        return Posterior
    if found is Any or not isinstance(found, type):
        return Posterior
    checkable = getattr(found, "_is_runtime_protocol", not getattr(found, "_is_protocol", False))
    return found if checkable else Posterior
