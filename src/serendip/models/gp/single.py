"""Kernels and paths in float32, each with a bound on its error: so a large pool is looked through.

Distances come from float64, as rounding there moves a kernel by much, and so do angles of waves
that float32 would put too far off; what is made of them, and all long products, from float32. A
product of F terms is off by at most (F + 2) u |a||b|, in whatever order it is summed, and what is
rounded to float32 by u, with u = 2⁻²⁴.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from serendip.core.arrays import Array, Floats
from serendip.models.gp.kernel_terms import Columns, Radial, Relevance, WaveSketch, chosen, norms
from serendip.models.gp.kernels import Kernel
from serendip.models.gp.path import Path

UNIT = 2.0**-24
"""u"""

_ENTRY = 16.0 * UNIT
"""How far a kernel or a wave may be off, over its largest value."""

_FINE = 2.0**-50
"""Rounding of a product in float64, over the number of its terms."""

RANGE = 2.0**60
"""Sizes beyond this, or below its reciprocal, are not for float32."""

_ANGLE = 2.0**-12
"""Angles that float32 may put further off than this come from float64."""

_LEVEL = 64.0
"""A level that is so much larger than the weights is added in float64."""

_Key = tuple[int, Columns, Relevance]


def lengths(rows: Array) -> Floats:
    """(b,) at least the length of each row."""
    return np.asarray(np.sqrt(np.einsum("bf,bf->b", rows, rows), dtype=np.float64) * 1.001)


def single(a: Array) -> Array:
    """In float32; infinite where that is too large, which the sizes beside it tell."""
    with np.errstate(over="ignore"):
        return np.asarray(a, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Others:
    """Rows z that many others are compared with."""

    z: Floats
    """(c, d)"""
    sides: dict[tuple[Columns, Relevance], tuple[Floats, float]] = field(default_factory=dict)
    """r² is one product of (x, |x|², 1) and (−2z, 1, |z|²); and the largest |z|²."""

    @classmethod
    def of(cls, kernels: Sequence[Kernel], z: Floats) -> "Others":
        """Ready for these kernels."""
        made = cls(z)
        for kernel in kernels:
            for _, term in kernel.sketched:
                if isinstance(term, Radial):
                    own = chosen(z, term.columns, term.relevance)
                    size = norms(own)
                    side = np.vstack([-2.0 * own.T, np.ones(len(z)), size])
                    made.sides[term.columns, term.relevance] = side, float(size.max(initial=0.0))
        return made

    def first(self, count: int) -> "Others":
        """The first of these rows alone."""
        sides = {
            key: (np.ascontiguousarray(side[:, :count]), float(side[-1, :count].max(initial=0.0)))
            for key, (side, _) in self.sides.items()
        }
        return Others(self.z[:count], sides)

    def near(self, kernel: Kernel, x: Floats, known: "dict[_Key, Array]") -> Array:
        """(b, c) k(x, z) of the sketched terms, in float32.

        Args:
            kernel: One of those it is ready for.
            x: (b, d)
            known: Squared distances of these x so far: kernels of other lengths share them.
        """
        total: Array | None = None
        for weight, term in kernel.sketched:
            if isinstance(term, Radial):
                key = (id(self), term.columns, term.relevance)
                if key not in known:
                    known[key] = self._squared(x, term)
                part = term.single(known[key], float(weight))
            else:
                part = (weight * term.matrix(x, self.z)).astype(np.float32)
            total = part if total is None else np.add(total, part, out=total)
        return np.zeros((len(x), len(self.z)), dtype=np.float32) if total is None else total

    def _squared(self, x: Floats, term: Radial) -> Array:
        own = chosen(x, term.columns, term.relevance)
        rows = np.column_stack([own, norms(own), np.ones(len(x))])
        found = (rows @ self.sides[term.columns, term.relevance][0]).astype(np.float32)
        return np.maximum(found, 0.0, out=found)

    def entry_error(self, kernel: Kernel, x: Floats) -> float:
        """How far any k(x, z) of the sketched terms may be off, from what float64 has.

        With the rounding of r² in float64, either way: |∂k/∂r²| ≤ 3/2.
        """
        total, longest = 0.0, float(norms(x).max(initial=0.0))
        for weight, term in kernel.sketched:
            total += (_ENTRY + 4.0 * UNIT * len(kernel.sketched)) * weight
            if isinstance(term, Radial):
                far = max(term.relevance, default=1.0) * longest
                far += self.sides[term.columns, term.relevance][1]
                total += 1.5 * weight * _FINE * (len(term.columns) + 8) * far / term.lengthscale**2
        return float(total)


@dataclass(frozen=True, slots=True, eq=False)
class SingleWaves:
    """Random waves whose angles come from float32, where that is close enough."""

    sketch: WaveSketch
    turns: Array
    """(d, F) frequencies over 2π, in float32."""
    fastest: float
    """The largest length of a frequency."""
    swing: Floats
    """(m,) Σ |w||ω| F^{−1/2}: what an angle that is off by |x| may do to each draw."""

    @classmethod
    def of(cls, sketch: WaveSketch, weights: Floats) -> "SingleWaves":
        """With the weights of the draws, (2F, m)."""
        size = np.linalg.norm(sketch.frequencies, axis=0)
        swing = np.tile(size, 2) @ np.abs(weights) / np.sqrt(len(size))
        turns = single(sketch.frequencies * (0.5 / np.pi))
        return cls(sketch, turns, float(size.max(initial=0.0)), swing)

    def written(self, x: Floats, out: Array) -> float:
        """In place; how far an angle may be off, over the length of its frequency."""
        own = chosen(x, self.sketch.columns, ())
        longest = float(np.sqrt(norms(own).max(initial=0.0)))
        off = float(own.shape[1] + 4) * UNIT * longest
        if off * self.fastest < _ANGLE:
            self.sketch.single(own.astype(np.float32), self.turns, out)
            return off
        self.sketch.written(x, out)
        return 0.0


@dataclass(frozen=True, slots=True, eq=False)
class SinglePath:
    """f_i(x) − level_i of a path, by one product."""

    path: Path
    others: Others
    weights: Array
    """(F, m) of all features, float32."""
    waves: tuple[SingleWaves | None, ...]
    """One for each sketch; none where it is of another kind."""
    sizes: Floats
    """(m,) the lengths of the weights"""
    spread: Floats
    """(m,) Σ |w| of those that rounding may move by u whatever they are, by the largest of each."""
    pull: Floats
    """(m,) Σ |u|"""

    @classmethod
    def of(cls, path: Path, others: Others) -> "SinglePath":
        """Of this path, where its X are the others."""
        parts = (path.exact, *path.random, path.pull) if path.sketches else (path.exact,)
        weights = np.concatenate(parts)
        top = max((float(np.sqrt(weight)) for weight, _ in path.kernel.exact), default=0.0)
        spread = top * np.abs(path.exact).sum(axis=0)
        for part in path.random:
            spread += np.abs(part).sum(axis=0) * (2.0 / len(part)) ** 0.5
        waves = tuple(
            SingleWaves.of(sketch, part) if isinstance(sketch, WaveSketch) else None
            for sketch, part in zip(path.sketches, path.random, strict=True)
        )
        pull = np.abs(path.pull).sum(axis=0)
        sizes = np.sqrt(np.einsum("fm,fm->m", weights, weights)) * 1.001
        return cls(path, others, single(weights), waves, sizes, spread, pull)

    def features(self, x: Floats, near: Array) -> tuple[Array, Floats]:
        """(b, F) in float32, given k(x, X); and (m,) what rounding of angles takes from values."""
        found = np.empty((len(x), len(self.weights)), dtype=np.float32)
        stop, off = len(self.path.exact), np.zeros(len(self.sizes))
        if stop:
            found[:, :stop] = self.path.kernel.features(x)
        for sketch, waves, part in zip(
            self.path.sketches, self.waves, self.path.random, strict=True
        ):
            start, stop = stop, stop + len(part)
            if waves is None:
                found[:, start:stop] = sketch(x)
            else:
                off += waves.written(x, found[:, start:stop]) * waves.swing
        if self.path.sketches:
            found[:, stop:] = near
        return found, off

    @property
    def ends(self) -> tuple[Array, Array]:
        """Of the weights, those of the exact features and those of k(x, X)."""
        stop = len(self.path.pull) if self.path.sketches else 0
        return self.weights[: len(self.path.exact)], self.weights[len(self.weights) - stop :]

    def error(self, longest: Floats | float, entry: Floats | float) -> Floats:
        """How far values may be off, of features so long at most and kernels so far off.

        By draw; where lengths are of many rows, of the only draw, by row.
        """
        product = UNIT * (len(self.weights) + 12) * longest * self.sizes
        return np.asarray(product + _ENTRY * self.spread + entry * self.pull)


@dataclass(frozen=True, slots=True, eq=False)
class PathScan:
    """Values of paths in float32; in float64 where their level is all that would be left."""

    x: Array
    parts: tuple[SinglePath, ...]
    level: Floats
    """(M,)"""
    steps: Floats
    """(M,) that exact values are told apart in."""
    wide: bool
    """Whether the level is too large for float32."""

    @classmethod
    def of(cls, paths: Sequence[Path], steps: Floats, x: Array) -> "PathScan | None":
        """None where sizes are not for float32."""
        level = np.empty(len(steps))
        others: dict[int, Others] = {}
        parts = []
        for path in paths:
            level[path.draws] = path.level
            if id(path.x) not in others:
                kernels = [one.kernel for one in paths if one.x is path.x]
                others[id(path.x)] = Others.of(kernels, path.x)
            parts.append(SinglePath.of(path, others[id(path.x)]))
        sizes = np.concatenate([part.sizes for part in parts])
        largest = max(float(sizes.max()), float(np.abs(level).max()))
        if not (sizes.min() > 1.0 / RANGE and largest < RANGE):
            return None
        wide = bool(np.abs(level).max() > _LEVEL * sizes.min())
        return cls(x, tuple(parts), level, steps, wide)

    def __call__(self, rows: slice) -> tuple[Array, Floats]:
        x = np.asarray(self.x[rows], dtype=np.float64)
        values = np.empty((len(x), len(self.level)), dtype=np.float32)
        slack = 2.0 * self.steps  # an array of its own
        known: dict[_Key, Array] = {}
        for part in self.parts:
            near = part.others.near(part.path.kernel, x, known)
            features, off = part.features(x, near)
            longest = float(lengths(features).max(initial=0.0))
            error = off + part.error(longest, part.others.entry_error(part.path.kernel, x))
            np.matmul(features, part.weights, out=values[:, part.path.draws])
            slack[part.path.draws] += error
            if not self.wide:
                size = np.abs(self.level[part.path.draws]) + longest * part.sizes
                slack[part.path.draws] += 4.0 * UNIT * size
        if self.wide:
            return values.astype(np.float64) + self.level, slack
        values += self.level.astype(np.float32)
        return values, slack
