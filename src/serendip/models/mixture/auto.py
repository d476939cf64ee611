"""Several models at once, trusted by how well they foretell labels they have not seen.

    p(y) = Σ_j w_j p_j(y),   w = argmax Σ_i log Σ_j w_j p_j(y_i | y_−i) + c Σ_j π_j log w_j

Every model is fitted to all labels and asked for each label with that one left out; the trust w
stacks these densities (Yao et al. 2018), held back by a prior π that counts for c labels. Draws of
a model count by its trust.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import able, generator, instance, number, shown
from serendip.core.arrays import Array, Floats
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.errors import InvalidInput
from serendip.core.progress import counted
from serendip.core.protocols import (
    BlockFn,
    Draws,
    MixtureMember,
    Model,
    MomentsFn,
    SupportsCheck,
    SupportsLookahead,
    require,
    update_all,
)
from serendip.models.fitting import FITTING, check_draws, check_one, check_seen
from serendip.models.left_out import mixed
from serendip.models.lookahead import MixedLookahead, Outlook
from serendip.models.majority import major
from serendip.models.mixture.blend import BlendedDraws, BlendedMoments

_PRIOR_LABELS = 5.0
"""c"""
_ROUNDS = 200
"""Of the EM algorithm; its steps are then below 10⁻³ of a weight."""


@dataclass(frozen=True, slots=True)
class Member:
    """A model that may be trusted.

    Attributes:
        prior: π, before it is divided by the sum over the members.
    """

    name: str
    model: Model[MixtureMember]
    prior: float = 1.0

    def __post_init__(self) -> None:
        instance("name", self.name, str, "a text")
        able("model", self.model, ("posterior",), "LinearModel(3)")
        if not number("prior", self.prior) > 0:
            raise InvalidInput(f"The prior of a member must be above 0; got {self.prior}.")


@dataclass(frozen=True, slots=True)
class Trust:
    """How far one member is believed, and why."""

    name: str
    weight: float
    score: float
    """Mean log density of the labels, each left out in turn."""


@dataclass(frozen=True, slots=True)
class AutoModel:
    """A mixture of models that weighs them itself."""

    members: tuple[Member, ...]

    def __post_init__(self) -> None:
        if isinstance(self.members, Member) or not isinstance(self.members, Sequence):
            raise InvalidInput(f"members must be a tuple of Member; got {shown(self.members)}.")
        for member in self.members:
            instance("Each of members", member, Member, "a Member(name, model)")
        names = [member.name for member in self.members]
        if not names or len(set(names)) < len(names):
            raise InvalidInput(f"auto needs members with different names; got {names}.")

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "AutoPosterior":
        """The posterior given these observations."""
        check_seen(seen)
        generator("rng", rng)
        parts = tuple(
            require(self.members[place].model.posterior(seen, rng), MixtureMember, by=self)
            for place in counted(FITTING, len(self.members))
        )
        labels = np.concatenate([np.empty(0), *(one.y for one in seen)])
        return AutoPosterior(self, parts, _trusted(self.members, parts), labels)


@dataclass(frozen=True, slots=True)
class AutoPosterior:
    """The posteriors of the members, with the trust in each."""

    model: AutoModel
    parts: tuple[MixtureMember, ...]
    trust: tuple[Trust, ...]
    labels: Floats
    """(t,) every label so far."""

    @property
    def n_labels(self) -> int:
        """How many candidates have been labelled."""
        return self.parts[0].n_labels

    def update(self, seen: Observation, rng: Generator) -> Self:
        """Every member updated, and weighed anew."""
        check_one(seen)
        return self.update_all((seen,), rng)

    def update_all(self, seen: Sequence[Observation], rng: Generator) -> Self:
        """Every member once, and weighed once."""
        generator("rng", rng)
        parts = tuple(update_all(part, seen, rng) for part in self.parts)
        labels = np.concatenate([self.labels, *(one.y for one in seen)])
        return replace(self, parts=parts, trust=_trusted(self.model.members, parts), labels=labels)

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        for part in self.parts:
            if isinstance(part, SupportsCheck):
                part.check(x)

    @property
    def _counted(self) -> tuple[list[MixtureMember], Floats]:
        """The members that count, with weights that sum to one; all are fitted and weighed."""
        weights = np.array([one.weight for one in self.trust])
        kept = np.flatnonzero(major(weights))
        return [self.parts[j] for j in kept], weights[kept] / weights[kept].sum()

    def sample(self, size: int, rng: Generator) -> Draws:
        """Fresh draws: so many of each member, counting by its trust; one alone is of one member.

        A share of `size` by trust would leave a member that is half believed with half the draws,
        and what is learnt from a candidate is a covariance, which needs many.
        """
        check_draws(size, rng)
        parts, weights = self._counted
        if size == 1:
            return parts[rng.choice(len(parts), p=weights)].sample(1, rng)
        found = tuple(part.sample(size, rng) for part in parts)
        return found[0] if len(found) == 1 else BlendedDraws(found, weights, self.noise_variance)

    def moments(self) -> MomentsFn:
        """Mean and standard deviation over the mixture."""
        parts, weights = self._counted
        return BlendedMoments(tuple(part.moments() for part in parts), weights)

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """The mean over the members of what each expects."""
        parts, weights = self._counted
        able = [require(part, SupportsLookahead, by=self) for part in parts]
        return MixedLookahead(tuple(part.lookahead(others) for part in able), weights)

    def held_out(self) -> HeldOut:
        """Σ_j w_j p_j(y_i | y_−i), with the trust w that all labels have earned."""
        parts, weights = self._counted
        return mixed([part.held_out() for part in parts], weights)

    @property
    def noise_variance(self) -> float:
        """E[σ_ε²]."""
        parts, weights = self._counted
        return float(weights @ [part.noise_variance for part in parts])


def _trusted(members: Sequence[Member], parts: Sequence[MixtureMember]) -> tuple[Trust, ...]:
    prior = np.array([member.prior for member in members])
    logs = np.stack([part.held_out().log_density for part in parts])
    weights = stacked(logs, prior / prior.sum())
    scores = logs.mean(axis=1) if logs.shape[1] else np.zeros(len(members))
    return tuple(
        Trust(member.name, float(weight), float(score))
        for member, weight, score in zip(members, weights, scores, strict=True)
    )


def stacked(logs: Floats, prior: Floats, prior_labels: float = _PRIOR_LABELS) -> Floats:
    """(J,) weights that foretell the labels best, by EM; the problem is concave.

    Args:
        logs: (J, t) log p_j(y_i | y_−i).
        prior: (J,) weights for no labels at all, summing to one.
        prior_labels: How many labels the prior counts for.
    """
    weights = prior.copy()
    if logs.shape[1] == 0:
        return weights
    densities = np.exp(logs - logs.max(axis=0))
    for _ in range(_ROUNDS):
        shares = weights[:, None] * densities
        shares /= shares.sum(axis=0)
        weights = (shares.sum(axis=1) + prior_labels * prior) / (logs.shape[1] + prior_labels)
    return weights
