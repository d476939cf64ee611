"""A finite set of parameters with exact posterior masses: the test bed of exact IDS   [ASD §3]

Every quantity of the paper is a finite sum here: the posterior, the law of X*₁…X*ₖ, and the mutual
information I(X*₁…X*ₖ; Y_x). Candidates are numbered; parameter θ gives candidate x the mean label
f_θ(x), and labels scatter around it as the likelihood says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp, rel_entr

from serendip.core.arguments import floats, instance, masses
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Observation, Optima, Summary, settled
from serendip.core.errors import InvalidInput
from serendip.core.groups import Groups
from serendip.core.likelihood import Bernoulli, Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import SampledMoments, TableDraws, equal_weights
from serendip.models.fitting import check_draws, check_one, check_seen, places
from serendip.models.lookahead import Outlook, SampledLookahead


@dataclass(frozen=True, slots=True, eq=False)
class FiniteModel:
    """A prior over finitely many parameters.

    Attributes:
        values: (K, n) f_θ(x)
        masses: (K,) prior, summing to one; equal where not given.
    """

    values: Floats
    likelihood: Gaussian | Bernoulli
    masses: Floats | None = None

    def __post_init__(self) -> None:
        values = floats("values", self.values)
        if values.ndim != 2 or 0 in values.shape:
            raise InvalidInput(
                "A finite model needs a table of parameters × candidates; got values of shape "
                f"{values.shape}."
            )
        instance("likelihood", self.likelihood, (Gaussian, Bernoulli), "Gaussian(…) or Bernoulli()")
        if isinstance(self.likelihood, Bernoulli) and (values.min() < 0 or values.max() > 1):
            raise InvalidInput("Chances of a binary label must lie in [0, 1].")
        count = len(values)
        prior = np.ones(count) if self.masses is None else masses("masses", self.masses, count)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "masses", prior / prior.sum())

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "FinitePosterior":
        """The posterior given these observations; the generator is not used."""
        check_seen(seen)
        assert self.masses is not None  # set above
        posterior = FinitePosterior(self.values, self.likelihood, self.masses, np.empty(0), 0)
        for one in seen:
            posterior = posterior.update(one, rng)
        return posterior


@dataclass(frozen=True, slots=True, eq=False)
class FinitePosterior:
    """Exact masses of the parameters."""

    values: Floats
    likelihood: Gaussian | Bernoulli
    masses: Floats
    labels: Floats
    """(t,) every label so far."""
    n_labels: int

    @property
    def scales_known(self) -> bool:
        """Always: they are part of the parameters."""
        return True

    def update(self, seen: Observation, rng: Generator) -> Self:
        """Bayes' rule, in logs."""
        check_one(seen)
        items = self._places(seen.x, f"item {seen.item}")
        with np.errstate(divide="ignore"):
            log_mass = np.log(self.masses)
        for item, label in zip(items[:, 0], seen.y, strict=True):
            log_mass = log_mass + self.likelihood.log_density(float(label), self.values[:, item])
        if not np.isfinite(log_mass).any():
            raise InvalidInput(
                f"No parameter of the model allows the label of item {seen.item}; "
                "widen the parameter set or the likelihood."
            )
        masses = np.exp(log_mass - logsumexp(log_mass))
        labels = np.concatenate([self.labels, seen.y])
        return replace(
            self, masses=masses / masses.sum(), labels=labels, n_labels=self.n_labels + 1
        )

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        self._places(x, "the pool")

    def _places(self, x: Array, who: str) -> Ints:
        return places(x, self.values.shape[1:], "number of the candidate", who)

    def atoms(self) -> TableDraws:
        """Every parameter that is still possible, weighted by its mass."""
        alive = self.masses > 0
        return TableDraws(self.values[alive], self.masses[alive], self.likelihood)

    def sample(self, size: int, rng: Generator) -> TableDraws:
        """Parameters drawn by their masses."""
        check_draws(size, rng)
        picks = rng.choice(len(self.masses), size=size, p=self.masses)
        return TableDraws(self.values[picks], equal_weights(size), self.likelihood)

    def moments(self) -> MomentsFn:
        """Exact mean and standard deviation of f(x)."""
        return SampledMoments(self.atoms())

    def information(self, best: Optima, ordered: bool) -> BlockFn[Summary]:
        """Exact I(X*₁…X*ₖ; Y_x) about the ordered tuple, or about the set, of the k best."""
        targets = best.items if ordered else np.sort(best.items, axis=1)
        return ExactInformation(self.atoms(), Groups.of(targets, best.weights))

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """Exact for binary labels; for Gaussian ones by moments."""
        return SampledLookahead.of(self.atoms(), others)


@dataclass(frozen=True, slots=True)
class ExactInformation:
    """I(A; Y_x) = Σ_a p_a KL(law of Y_x given A = a ‖ law of Y_x).

    As a difference of entropies it would be rounding of either sign where it is zero.
    """

    atoms: TableDraws
    groups: Groups

    def __call__(self, block: Block) -> Summary:
        values = np.asarray(self.atoms.values(block)).T
        within, masses = self.groups.means(values), self.groups.masses
        likelihood = self.atoms.likelihood
        if isinstance(likelihood, Gaussian):
            gain = np.array([self._gaussian(column, likelihood) for column in values.T])
        else:
            hit = np.clip(within, 0.0, 1.0)
            gain = _divergence(masses, hit) + _divergence(masses, 1.0 - hit)
        return Summary(masses @ within, settled(gain, 1.0))

    def _gaussian(self, column: Floats, likelihood: Gaussian) -> float:
        """Divergences of mixtures of Gaussians by the trapezoid rule.

        The integrands are analytic and vanish at both ends, so the rule converges faster than any
        power of the step; an eighth of the noise width leaves errors near rounding.
        """
        width = np.sqrt(likelihood.noise_variance)
        low, high = column.min() - 9.0 * width, column.max() + 9.0 * width
        grid = np.linspace(low, high, int(np.ceil(8.0 * (high - low) / width)) + 1)
        density = np.exp(-0.5 * ((grid - column[:, None]) / width) ** 2)
        density /= width * np.sqrt(2.0 * np.pi)
        step = grid[1] - grid[0]
        return float(step * _divergence(self.groups.masses, self.groups.means(density)).sum())


def _divergence(masses: Floats, within: Floats) -> Floats:
    """Σ_a p_a q_a log(q_a / q) of each column of `within` (G, …), q their mean."""
    # Where all but underflow to nothing, a mean of zero would make the logarithm infinite.
    whole = np.maximum(masses @ within, np.finfo(np.float64).tiny)
    return np.asarray(masses @ rel_entr(within, whole))
