"""Gaussian processes with unknown kernel, noise and scale, all averaged over.

    f ~ GP(0, s²(k_j + 1)),  y = f(x) + ε,  ε ~ N(0, s²r),  s² ~ InvGamma(shape, rate)

The 1 is a constant of prior variance s². A grid over the kernels k_j and the noise ratio r carries
weights proportional to the marginal likelihood, a multivariate t: a draw picks a grid point, then
s², then a path. Labels are measured from a zero and in a unit of their own, as in the
linear model.

Some kernels are given, others have relevances learnt from the labels (`relevance.py`); the weight
of those is corrected for what was learnt, so that few labels do not buy many settings. Where the
pool combines components (`factors.py`), some kernels give each an effect of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Self

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import instance, number, numbers, shown, whole_fields
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.errors import InvalidInput
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import equal_weights
from serendip.models.fitting import check_draws, check_one, check_seen, check_unit, features
from serendip.models.gp.company import Company
from serendip.models.gp.inducing import inducing_points, plausible_kernels, solved_through
from serendip.models.gp.kernel_terms import Levels
from serendip.models.gp.kernels import Group, Kernel, default_kernels, single_columns
from serendip.models.gp.path import Path
from serendip.models.gp.paths import PathDraws
from serendip.models.gp.process import Fit, Grid, Scale, Solution, mixture_moments, solved
from serendip.models.gp.relevance import learnt_kernels
from serendip.models.label_scale import label_scale
from serendip.models.lookahead import Outlook, ProcessLookahead
from serendip.models.majority import major

_NEGLIGIBLE = 1e-3
"""Grid points with less weight than this are left out of draws and moments."""


@dataclass(frozen=True, slots=True)
class GaussianProcessModel:
    """Gaussian-process regression that needs no settings but the number of features.

    Attributes:
        groups: Columns that belong together; by default each stands alone.
        vectors: Columns that may be the coordinates of one vector, such as principal components,
            with their sizes: kernels are learnt with one relevance for all of them, besides those
            of the groups.
        factors: The components that the pool combines, where it does, each with its columns.
        kernels: What to average over; by default `default_kernels` of the groups and the factors.
        learn: Widths of the log relevances that are learnt besides the default kernels, increasing.
        noise_ratios: r, the noise variance over s².
        label_unit: What labels of the usual size measure, where it is known: 1 for yields in [0,
            1], 100 for percentages. Otherwise it is taken from the labels seen.
        n_waves: Random features that a path has for each term without features of its own.
        n_inducing: Labels up to which the posterior is exact; of more, so many inducing points
            stand for all (`inducing.py`).
    """

    n_features: int
    groups: Sequence[Group] | None = None
    vectors: Sequence[Group] = ()
    factors: Sequence[Levels] = ()
    kernels: Sequence[Kernel] | None = None
    learn: Sequence[float] = (0.5, 1.0, 2.0)
    noise_ratios: Sequence[float] = (0.003, 0.015, 0.07, 0.3, 1.0)
    shape: float = 1.5
    rate: float = 0.09
    label_unit: float | None = None
    n_waves: int = 512
    n_inducing: int = 2048

    def __post_init__(self) -> None:
        whole_fields(self, 1, "n_features")
        number("shape", self.shape)
        number("rate", self.rate)
        check_unit(self.label_unit)
        if min(numbers("noise_ratios", self.noise_ratios), default=0.0) <= 0:
            raise InvalidInput(f"noise_ratios must be positive; got {self.noise_ratios}.")
        if any(width <= 0 for width in numbers("learn", self.learn)):
            raise InvalidInput(f"learn takes positive widths; got {self.learn}.")
        if not (self.shape > 1 and self.rate > 0):
            raise InvalidInput(
                f"shape must exceed 1 and rate 0; got shape {self.shape} and rate {self.rate}."
            )
        whole_fields(self, 2, "n_waves", "n_inducing")
        for name, kind in (("groups", Group), ("vectors", Group), ("factors", Levels)):
            _check_parts(name, getattr(self, name) or (), kind)
        _check_parts("kernels", self.kernels or (), Kernel)
        terms = [term for kernel in self.kernels or () for _, term in kernel.terms]
        named = [group.columns for group in (*(self.groups or ()), *self.vectors)]
        named += [one.columns for one in (*self.factors, *terms)]
        for columns in named:
            if any(not 0 <= column < self.n_features for column in columns):
                raise InvalidInput(
                    f"Groups must name columns 0 to {self.n_features - 1}; got {columns}."
                )

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "GaussianProcessPosterior":
        """The posterior given these observations; the generator is not used."""
        check_seen(seen)
        groups = single_columns(self.n_features) if self.groups is None else self.groups
        kernels, learn = self.kernels, tuple[float, ...]()
        if kernels is None:
            kernels, learn = default_kernels(groups, self.factors), tuple(self.learn)
        prior = GaussianProcessPosterior(
            model=self,
            partitions=_partitions(groups, self.vectors),
            kernels=tuple(kernels),
            learn=learn,
            x=np.empty((0, self.n_features)),
            y=np.empty(0),
            n_labels=0,
        )
        return prior.absorb(seen)


def _check_parts(name: str, parts: object, kind: type) -> None:
    if isinstance(parts, kind) or not isinstance(parts, Sequence):
        raise InvalidInput(f"{name} must be a sequence of {kind.__name__}; got {shown(parts)}.")
    for one in parts:
        instance(f"Each of {name}", one, kind, f"a {kind.__name__}")


def _partitions(groups: Sequence[Group], vectors: Sequence[Group]) -> tuple[tuple[Group, ...], ...]:
    """The groups, and where there are vectors these in place of the groups of their columns."""
    if not vectors:
        return (tuple(groups),)
    inside = {column for vector in vectors for column in vector.columns}
    others = (group for group in groups if inside.isdisjoint(group.columns))
    return tuple(groups), (*others, *vectors)


@dataclass(frozen=True, slots=True)
class GaussianProcessPosterior:
    """A mixture of Gaussian processes."""

    model: GaussianProcessModel
    partitions: tuple[tuple[Group, ...], ...]
    """The columns in groups, each of which is to have one relevance; in one way or two."""
    kernels: tuple[Kernel, ...]
    """Those given."""
    learn: tuple[float, ...]
    x: Floats
    """(t, d) what has been labelled."""
    y: Floats
    """(t,)"""
    n_labels: int
    weights: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """(kernels, noise ratios) posterior weights of the grid, those learnt last; they sum to one.

    Of many labels, of those kernels alone that a sample of them does not rule out (`inducing.py`).
    """
    fits: tuple[Fit, ...] = ()
    """One for each kernel whose weight counts."""
    grid: Grid = field(default_factory=Grid.empty)
    """All of it."""

    def absorb(self, seen: Sequence[Observation]) -> Self:
        """The posterior once these observations are taken in; their order does not matter."""
        width = self.model.n_features
        rows = (features(one.x, width, f"item {one.item}") for one in seen)
        x = np.concatenate([self.x, *rows])
        y = np.concatenate([self.y, *(one.y for one in seen)])
        grown = replace(self, x=x, y=y, n_labels=self.n_labels + len(seen))
        weights, fits, grid = grown._fit()
        return replace(grown, weights=weights, fits=fits, grid=grid)

    def update(self, seen: Observation, rng: Generator) -> Self:
        """Conjugate: the generator is not used."""
        check_one(seen)
        return self.absorb((seen,))

    def update_all(self, seen: Sequence[Observation], rng: Generator) -> Self:
        """Likewise."""
        return self.absorb(seen)

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.y

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        features(x, self.model.n_features, "the pool")

    def _fit(self) -> tuple[Floats, tuple[Fit, ...], Grid]:
        """Weights of the grid by the evidence, and what counts of it."""
        model, t = self.model, len(self.y)
        offset, unit = label_scale(self.y, constant=True, unit=model.label_unit)
        labels = (self.y - offset) / unit
        noise = np.asarray(model.noise_ratios, dtype=np.float64)
        given = tuple((kernel, 0.0) for kernel in self.kernels)
        scale = Scale(model.shape, model.rate)
        learnt = (
            learnt_kernels(self.x, labels, groups, self.learn, scale) for groups in self.partitions
        )
        kernels = (*given, *chain.from_iterable(learnt))
        kernels = plausible_kernels(kernels, self.x, labels, noise, scale)
        solve: Callable[..., Solution] = solved
        if t > model.n_inducing:
            solve = partial(solved_through, inducing_points(self.x, labels, model.n_inducing))
        found = [solve(kernel, self.x, labels, unit, noise) for kernel, _ in kernels]
        weights = scale.weights(found, [correction for _, correction in kernels])
        shape = scale.shape + 0.5 * t
        rates = np.stack([scale.rates(one) for one in found]) * unit**2
        kept = (weights > _NEGLIGIBLE) & major(weights.sum(axis=1))[:, None]
        total = float(weights[kept].sum())
        fits = tuple(
            Fit(
                kernel=kernel,
                x=one.x,
                basis=one.basis,
                sizes=one.sizes,
                offset=offset,
                noise=noise[use],
                weights=weights[place, use] / total,
                shape=shape,
                rates=rates[place, use],
                pull=one.pull[use],
            )
            for place, (one, (kernel, _)) in enumerate(zip(found, kernels, strict=True))
            if (use := kept[place]).any()
        )
        grid = Grid(
            shape=shape,
            rates=rates.ravel(),
            weights=weights.ravel(),
            pull=np.concatenate([one.held for one in found]),
            precision=np.concatenate([one.precision for one in found]),
        )
        return weights, fits, grid

    @property
    def noise_variance(self) -> float:
        """E[σ_ε²]."""
        return float(sum((fit.weights * fit.scales) @ fit.noise for fit in self.fits))

    def sample(self, size: int, rng: Generator) -> PathDraws:
        """Fresh paths by Matheron's rule (Wilson et al. 2020)."""
        check_draws(size, rng)
        owners = np.repeat(np.arange(len(self.fits)), [len(fit.noise) for fit in self.fits])
        chances = np.concatenate([fit.weights for fit in self.fits])
        picks = rng.choice(len(owners), size=size, p=chances / chances.sum())
        gammas = rng.standard_gamma(self.fits[0].shape, size=size)
        order = np.argsort(owners[picks], kind="stable")  # the draws of each kernel side by side
        picks, gammas = picks[order], gammas[order]
        paths = []
        for place in np.unique(owners[picks]).tolist():
            own = slice(*np.searchsorted(owners[picks], (place, place + 1)).tolist())
            first = int(np.searchsorted(owners, place))
            paths.append(self._path(place, own, picks[own] - first, gammas[own], rng))
        return PathDraws(
            tuple(paths), equal_weights(size), Gaussian(self.noise_variance), self.fits
        )

    def _path(self, place: int, own: slice, grid: Ints, gammas: Floats, rng: Generator) -> Path:
        """E f + s(g − c(·, X)A⁻¹(g(X) + ε)), g drawn from the prior and ε from the noise.

        Through inducing points E f + s(g − c(·, Z)B diag(1 / (μ + r)) (Bᵀg(Z) + Pᵀε)).
        """
        fit = self.fits[place]
        spread = np.sqrt(fit.rates[grid] / gammas)
        sketches = fit.kernel.sketches(self.model.n_waves, rng)
        features = fit.kernel.features(fit.x)
        waves = [root * sketch(fit.x) for root, sketch in sketches]
        exact = rng.standard_normal((features.shape[1], len(grid)))
        random = [rng.standard_normal((wave.shape[1], len(grid))) for wave in waves]
        level = rng.standard_normal(len(grid))
        noise = np.sqrt(fit.noise[grid]) * rng.standard_normal((len(fit.sizes), len(grid)))
        drawn = features @ exact + level
        at_labels = len(fit.x) == len(self.x)
        if at_labels:
            drawn += noise
        for wave, weights in zip(waves, random, strict=True):
            drawn += wave @ weights
        turned = fit.basis.T @ drawn
        if not at_labels:  # it is Pᵀε, which no noise at Z is like
            turned += noise
        turned /= fit.sizes[:, None] + fit.noise[grid]
        pull = fit.pull[grid].T - spread * (fit.basis @ turned)
        return Path(
            draws=own,
            fit=place,
            kernel=fit.kernel,
            x=fit.x,
            sketches=tuple(sketch for _, sketch in sketches),
            level=fit.offset + spread * level + pull.sum(axis=0),
            exact=spread * exact + features.T @ pull,
            random=tuple(
                root * spread * weights for (root, _), weights in zip(sketches, random, strict=True)
            ),
            pull=pull,
        )

    def moments(self) -> MomentsFn:
        """Mean and standard deviation over the mixture."""
        return ProcessMoments(self.fits)

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """By the exact mean and covariance of the mixture, whose weights stay as they are."""
        company = Company.of(self.fits, np.asarray(others.x, dtype=np.float64))
        return ProcessLookahead(company, self.noise_variance)

    def held_out(self) -> HeldOut:
        """Exact given what was learnt from all labels: relevances, and what they are measured in.

        Of all kernels, those too light to be drawn from included. Inducing points stay as they are.
        """
        return self.grid.held_out(self.y)


@dataclass(frozen=True, slots=True)
class ProcessMoments:
    """Exact mean and standard deviation of f(x)."""

    fits: tuple[Fit, ...]

    def __call__(self, block: Block) -> tuple[Floats, Floats]:
        x = features(block.x, self.fits[0].x.shape[1], "the block")
        mean, variance = mixture_moments(self.fits, x)
        return mean, np.sqrt(variance)
