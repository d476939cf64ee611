"""A model of a table of rows × columns, told of candidates by the levels of their texts.

The features of a pool of texts are indicators; the model of a table wants (row, column). The text
with the most levels makes the rows, and all others together the columns, which keep their levels
as features. So the model can be a member of a mixture whose other members see the indicators.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.random import Generator

from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Block, Contenders, HeldOut, Observation, Optima, Summary, Tradeoff
from serendip.core.likelihood import Likelihood
from serendip.core.protocols import BlockFn, Draws, MomentsFn
from serendip.models.draws import grouped_summary, sampled_tradeoff
from serendip.models.gp.kernels import Group
from serendip.models.lookahead import Outlook
from serendip.models.matrix.model import MatrixModel, MatrixPosterior

R = TypeVar("R")

_FILLED = 0.25
"""Share of the table's cells that must be candidates for a table to be meant."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """(b, d) indicators to (b, 2) row and column."""

    rows: Ints
    """Features that are the levels of the text of the rows."""
    others: tuple[Ints, ...]
    """Those of the other texts."""
    known: Ints
    """(columns,) the combinations of levels that the pool has, increasing."""

    def __call__(self, x: Array) -> Ints:
        rows = np.argmax(x[:, self.rows], axis=1)
        columns = np.searchsorted(self.known, _combined(x, self.others))
        return np.stack([rows, np.minimum(columns, len(self.known) - 1)], axis=1)


def _combined(x: Array, texts: Sequence[Ints]) -> Ints:
    """(b,) one number for each combination of levels."""
    found = np.zeros(len(x), dtype=np.int64)
    for text in texts:
        found = found * len(text) + np.argmax(x[:, text], axis=1)
    return found


def table_member(x: Array, groups: Sequence[Group]) -> "RecodedModel | None":
    """The model of a table for these features, or none where they are no table.

    Args:
        x: (n, d) features of the pool.
        groups: Features by the column they come from.
    """
    if len(groups) < 2 or not all(group.text for group in groups):
        return None
    texts = sorted((np.array(group.columns) for group in groups), key=len, reverse=True)
    rows, others = texts[0], tuple(texts[1:])
    combined = _combined(x, others)
    known, first = np.unique(combined, return_index=True)
    if len(x) < _FILLED * len(rows) * len(known):
        return None
    levels = [np.argmax(x[first][:, text], axis=1) for text in others] if len(others) > 1 else []
    model = MatrixModel(len(rows), len(known), column_groups=tuple(levels))
    return RecodedModel(model, Cells(rows, others, known))


@dataclass(frozen=True, slots=True, eq=False)
class RecodedModel:
    """A model of (row, column), for candidates given by indicators."""

    model: MatrixModel
    cells: Cells

    def posterior(self, seen: Sequence[Observation], rng: Generator) -> "RecodedPosterior":
        """The posterior given these observations."""
        told = [_told(one, self.cells) for one in seen]
        return RecodedPosterior(self.model.posterior(told, rng), self.cells)


def _told(seen: Observation, cells: Cells) -> Observation:
    return replace(seen, x=cells(np.asarray(seen.x)))


@dataclass(frozen=True, slots=True, eq=False)
class RecodedPosterior:
    """A posterior of (row, column), asked about indicators."""

    inner: MatrixPosterior
    cells: Cells

    @property
    def n_labels(self) -> int:
        """How many candidates have been labelled."""
        return self.inner.n_labels

    @property
    def labels(self) -> Floats:
        """(t,) every label so far."""
        return self.inner.labels

    @property
    def noise_variance(self) -> float:
        """E[σ_ε²]."""
        return float(np.mean(self.inner.noise_variance))

    def update(self, seen: Observation, rng: Generator) -> Self:
        """The posterior once this observation is taken in."""
        return replace(self, inner=self.inner.update(_told(seen, self.cells), rng))

    def sample(self, size: int, rng: Generator) -> "RecodedDraws":
        """Fresh draws."""
        return RecodedDraws(self.inner.sample(size, rng), self.cells)

    def moments(self) -> MomentsFn:
        """Mean and standard deviation of f(x)."""
        return Recoded(self.inner.moments(), self.cells)

    def lookahead(self, others: Block) -> BlockFn[Outlook]:
        """That of the table."""
        cells = Block(others.items, self.cells(others.x))
        return Recoded(self.inner.lookahead(cells), self.cells)

    def held_out(self) -> HeldOut:
        """That of the table."""
        return self.inner.held_out()


@dataclass(frozen=True, slots=True, eq=False)
class Recoded(Generic[R]):
    """A function of (row, column), of indicators."""

    inner: Callable[[Block], R]
    cells: Cells

    def __call__(self, block: Block) -> R:
        return self.inner(Block(block.items, self.cells(block.x)))


@dataclass(frozen=True, slots=True, eq=False)
class RecodedDraws:
    """Draws over (row, column), of indicators."""

    inner: Draws
    cells: Cells

    @property
    def weights(self) -> Floats:
        """(M,)"""
        return self.inner.weights

    @property
    def likelihood(self) -> Likelihood:
        """That of the table."""
        return self.inner.likelihood

    def values(self, block: Block) -> Array:
        """(b, M)"""
        return Recoded(self.inner.values, self.cells)(block)

    def slack(self, block: Block) -> Floats:
        """(M,)"""
        return Recoded(self.inner.slack, self.cells)(block)

    def refine(self, x: Array, draws: Ints) -> Floats:
        """(h,)"""
        return self.inner.refine(self.cells(x), draws)

    def summary(self, best: Optima) -> BlockFn[Summary]:
        """The fallback."""
        return grouped_summary(self, best)

    def tradeoff(self, contenders: Contenders) -> BlockFn[Tradeoff]:
        """The fallback."""
        return sampled_tradeoff(self, contenders)
