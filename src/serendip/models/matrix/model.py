"""A table of rows × columns of unknown rank, noise and scales, with features of both, by Gibbs.

    y_ij = a_i + b_j + u_iᵀv_j + ε,  ε ~ N(0, σ²),  u_i, v_j in ℝᴿ

a_i and u_i are linear in the features of row i, plus a part of the row's own; b_j and v_j likewise
(`matrix_lines`). Every scale has a prior that reaches down to nothing: a factor, a feature or an
effect that the labels have no use for fades, so R is only the most that the rank may be. Later
factors are weaker a priori. Labels are measured in units of their own size, as in the linear model.

M chains run side by side, every step batched over them, and go on from where the last label left
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.random import Generator

from serendip.core.arguments import generator, whole_fields
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, HeldOut, Observation
from serendip.core.likelihood import Gaussian
from serendip.core.progress import counted
from serendip.core.protocols import BlockFn, MomentsFn
from serendip.models.draws import FactorDraws, SampledMoments, equal_weights
from serendip.models.fitting import FITTING, check_draws, check_one, check_seen, check_unit, places
from serendip.models.label_scale import far_apart, label_scale
from serendip.models.left_out import reweighted
from serendip.models.lookahead import Outlook, SampledLookahead
from serendip.models.matrix.groups import group_of
from serendip.models.matrix.lines import Lines
from serendip.models.matrix.sweeps import (
    MatrixChains,
    MatrixPriors,
    Table,
    joined,
    prior_chains,
    remeasured,
    taken,
)
from serendip.models.mixing import Mixing, chain_picks

_CELLS = 1 << 18
"""Numbers worked on at once, so that a sweep stays in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class MatrixModel:
    """A table of known size; candidates are (row, column), and nothing else need be known.

    Attributes:
        row_groups: Features of the rows: whole numbers (n_rows,) are levels, numbers (n_rows, p)
            descriptors, which should be standardised.
        column_groups: Likewise of the columns.
        max_rank: R, the most that u_iᵀv_j may have; 0 leaves only effects.
        n_chains: M, how many draws there are to sample from.
        sweeps: Gibbs sweeps per label.
        warm_up: Gibbs sweeps where chains start afresh with labels at hand.
        label_unit: What labels of the usual size measure, where it is known: 1 for yields in [0,
            1], 100 for percentages. Otherwise it is taken from the labels seen.
    """

    n_rows: int
    n_columns: int
    row_groups: Sequence[Array] = ()
    column_groups: Sequence[Array] = ()
    max_rank: int = 4
    n_chains: int = 200
    sweeps: int = 6
    warm_up: int = 60
    label_unit: float | None = None
    priors: MatrixPriors = field(default_factory=MatrixPriors)

    def __post_init__(self) -> None:
        for name in ("n_rows", "n_columns", "n_chains", "sweeps", "warm_up"):
            whole_fields(self, 1, name)
        whole_fields(self, 0, "max_rank")
        check_unit(self.label_unit)
        self._sides()  # refuses features that do not fit

    def _sides(self) -> tuple[Lines, Lines]:
        # More factors than lines on a side add nothing.
        rank = min(self.max_rank, self.n_rows, self.n_columns)
        scales, freedom = self.priors.scales(rank), self.priors.freedom
        rows = [group_of(given, self.n_rows, "row") for given in self.row_groups]
        columns = [group_of(given, self.n_columns, "column") for given in self.column_groups]
        return (
            Lines.of(rows, self.n_rows, scales, freedom),
            Lines.of(columns, self.n_columns, scales, freedom),
        )

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "MatrixPosterior":
        """The posterior given these observations; () gives exact draws from the prior."""
        check_seen(seen)
        generator("rng", rng)
        sides = self._sides()
        empty = MatrixPosterior(
            model=self,
            sides=sides,
            entries=np.empty((0, 2), dtype=np.int64),
            y=np.empty(0),
            chains=prior_chains(sides, self.priors, self.n_chains, rng),
            offset=0.0,
            unit=self.label_unit or 1.0,
            history=np.empty((0, self.n_chains, 0)),
            n_labels=0,
        )
        return empty.absorb(seen).settle(self.warm_up, rng) if seen else empty


@dataclass(frozen=True, slots=True, eq=False)
class MatrixPosterior:
    """A bag of M tables, each the latest state of its chain."""

    model: MatrixModel
    sides: tuple[Lines, Lines]
    entries: Ints
    """(t, 2) row and column of each label."""
    y: Floats
    """(t,) labels; (t, M) gives each chain its own, as the joint-distribution test does."""
    chains: MatrixChains
    offset: float
    """What labels are measured from, and in."""
    unit: float
    history: Floats
    """(S, M, w) watched entries, in units, in the sweeps since the last label."""
    n_labels: int

    def absorb(self, seen: Sequence[Observation]) -> Self:
        """These observations among the labels, the chains not yet told of them."""
        entries = np.concatenate(
            [self.entries, *(self._places(one.x, f"item {one.item}") for one in seen)]
        )
        y = np.concatenate([self.y, *(one.y for one in seen)])
        offset, unit = label_scale(y, constant=True, unit=self.model.label_unit)
        return replace(
            self, entries=entries, y=y, offset=offset, unit=unit, n_labels=self.n_labels + len(seen)
        )

    def update(self, seen: Observation, rng: Generator) -> Self:
        """A few sweeps with the new rows among the data, starting where the chains stand.

        They go on with the same tables, measured anew; draws of the prior have no unit, and where
        the unit changes much they begin afresh.
        """
        check_one(seen)
        generator("rng", rng)
        model, grown = self.model, self.absorb((seen,))
        if not len(self.y):
            return grown.settle(model.sweeps, rng)
        if far_apart(self.y, self.unit, grown.unit):
            chains = prior_chains(self.sides, model.priors, model.n_chains, rng)
            return replace(grown, chains=chains).settle(model.warm_up, rng)
        shift = (self.offset - grown.offset) / grown.unit
        chains = remeasured(self.chains, self.unit / grown.unit, shift)
        return replace(grown, chains=chains).settle(model.sweeps, rng)

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.y

    def check(self, x: Array) -> None:
        """Refuses candidates that have other features than the model."""
        self._places(x, "the pool")

    def _places(self, x: Array, who: str) -> Ints:
        return places(x, (self.model.n_rows, self.model.n_columns), "row, column", who)

    def settle(self, n_sweeps: int, rng: Generator) -> Self:
        """The chains after more sweeps over the same labels, watched entries kept for `mixing`."""
        model, n_chains = self.model, self.model.n_chains
        if len(self.entries) == 0:
            chains = prior_chains(self.sides, model.priors, n_chains, rng)
            return replace(self, chains=chains)
        q = len(self.sides[0].scales)
        n_parts = -(-q * q * max(model.n_rows, model.n_columns) * n_chains // _CELLS)
        swept, histories = [], []
        for part in np.array_split(np.arange(n_chains), min(n_parts, n_chains)):
            table = self._table(part)
            kept = [table.sweep(rng) for _ in counted(FITTING, n_sweeps)]
            swept.append(table.chains)
            histories.append(np.stack(kept))
        return replace(self, chains=joined(swept), history=np.concatenate(histories, axis=1))

    def _table(self, part: Ints) -> Table:
        """Some of the chains with their labels, ready to be swept."""
        labels = (self.y - self.offset) / self.unit
        return Table.of(
            self.sides,
            self.model.priors,
            self.entries,
            labels[:, None] if labels.ndim == 1 else labels[:, part],
            taken(self.chains, part),
        )

    @property
    def noise_variance(self) -> Floats:
        """(M,) σ² of each chain, in the unit of the labels squared."""
        return np.asarray(self.chains.noise_variance * self.unit**2)

    def sample(self, size: int, rng: Generator) -> FactorDraws:
        """States of different chains; where there are not so many, all equally often or nearly."""
        check_draws(size, rng)
        return self._draws(chain_picks(size, self.model.n_chains, rng))

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of each entry over all chains."""
        return SampledMoments(self._draws(np.arange(self.model.n_chains)))

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """By the tables of all chains."""
        return SampledLookahead.of(self._draws(np.arange(self.model.n_chains)), others)

    def _draws(self, picks: Ints) -> FactorDraws:
        """The table as products: (u, a, 1)ᵀ(v, 1, b), in the unit of the labels."""
        rows = self.sides[0].total(self.chains.rows)[:, :, picks]
        columns = self.sides[1].total(self.chains.columns)[:, :, picks]
        effect = rows[:1] * self.unit + self.offset
        left = np.concatenate([rows[1:] * self.unit, effect, np.full_like(effect, self.unit)])
        right = np.concatenate([columns[1:], np.ones_like(columns[:1]), columns[:1]])
        return FactorDraws(
            np.ascontiguousarray(np.moveaxis(left, 0, 2).swapaxes(0, 1)),
            np.ascontiguousarray(np.moveaxis(right, 0, 2).swapaxes(0, 1)),
            equal_weights(len(picks)),
            Gaussian(float(self.noise_variance.mean())),
        )

    def mixing(self) -> Mixing:
        """R̂ and effective size of entries of the table over the sweeps since the last label.

        The watched are all seen entries and a few unseen ones. A handful of sweeps cannot show R̂
        near 1: `posterior.settle(200, rng).mixing()` is the longer look.
        """
        return Mixing.of(self.history)

    def held_out(self) -> HeldOut:
        """From the chains, by importance weights.

        The own weights of the label's row and column are integrated out, the rest is left to the
        weights; the unit of the labels is that of all.
        """
        if len(self.entries) == 0:
            return HeldOut(np.empty(0), np.empty(0), np.empty(0))
        table = self._table(np.arange(self.model.n_chains))
        found = reweighted(table.y, *table.foretold())
        return HeldOut(
            self.offset + self.unit * found.mean,
            self.unit * found.deviation,
            found.log_density - np.log(self.unit),
        )
