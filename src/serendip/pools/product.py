"""Pools of combinations, one of each kind: reagents A × B × C. None of them is ever listed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from serendip.core.arguments import array, flag
from serendip.core.arrays import Array, Ints
from serendip.core.errors import InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class ProductRows:
    """Every combination of one row from each table, in the order of nested loops.

    The item (i, j, k) of tables with n₁, n₂ and n₃ rows is number (i·n₂ + j)·n₃ + k. Its features
    are those of its parts side by side, then, with `interactions`, all products of a feature of
    one part and a feature of another, and a constant.
    """

    tables: tuple[Array, ...]
    """(nᵢ, dᵢ) each, finite."""
    interactions: bool = False

    def __post_init__(self) -> None:
        if len(self.tables) < 2:
            raise InvalidInput(f"A product needs at least two tables; got {len(self.tables)}.")
        flag("interactions", self.interactions)
        tables = tuple(
            array(f"Table {place} of a product", table)
            for place, table in enumerate(self.tables, start=1)
        )
        object.__setattr__(self, "tables", tables)
        for place, table in enumerate(tables, start=1):
            if table.ndim != 2 or 0 in table.shape:
                raise InvalidInput(
                    f"A table of a product needs rows and columns of finite numbers; table {place} "
                    f"has shape {table.shape} or holds something else."
                )
        if prod(self.sizes) >= 2**62:
            raise InvalidInput("The product of the tables is too large to be numbered.")

    def __len__(self) -> int:
        return prod(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """(n₁, n₂, …)"""
        return tuple(len(table) for table in self.tables)

    @property
    def width(self) -> int:
        """Features of all parts, their products, and the constant."""
        widths = [int(table.shape[1]) for table in self.tables]
        crossed = sum(a * b for a, b in combinations(widths, 2)) if self.interactions else 0
        return sum(widths) + crossed + 1

    def read(self, start: int, stop: int) -> Array:
        """(stop − start, d) consecutive rows."""
        return self.take(np.arange(start, stop))

    def take(self, items: Ints) -> Array:
        """(len(items), d) rows in this order."""
        parts = [
            table[place]
            for table, place in zip(self.tables, places(items, self.sizes), strict=True)
        ]
        x = np.empty((len(items), self.width), dtype=np.result_type(*self.tables))
        end = 0
        for block in (*parts, *self._crossed(parts)):
            x[:, end : end + block.shape[1]] = block
            end += block.shape[1]
        x[:, end] = 1.0
        return x

    def _crossed(self, parts: Sequence[Array]) -> list[Array]:
        if not self.interactions:
            return []
        return [
            (one[:, :, None] * other[:, None, :]).reshape(len(one), one.shape[1] * other.shape[1])
            for one, other in combinations(parts, 2)
        ]


def places(items: Ints, sizes: Sequence[int]) -> list[Ints]:
    """Which row of each table an item is made of."""
    found: list[Ints] = []
    rest = np.asarray(items)
    for size in reversed(sizes):
        rest, place = np.divmod(rest, size)
        found.append(place)
    return found[::-1]


def item_at(places: Sequence[int], sizes: Sequence[int]) -> int:
    """The number of a combination."""
    item = 0
    for place, size in zip(places, sizes, strict=True):
        item = item * size + place
    return item
