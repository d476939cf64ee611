"""Who may have the lowest score, told from float16 rows: bounds on both sides, row by row.

The scores of linear models depend on x through two linear and two quadratic forms. A device
computes them for all rows; what rounding may have done to them bounds the score. Whoever cannot be
the lowest is left out; the few others are scored on their exact features, as on any pool.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from serendip.compute.device.halved import Halved, accumulation, halved, rounded
from serendip.compute.device.rows import Slab
from serendip.compute.device.torch import Tensor, torch_module
from serendip.core.arrays import Array, Floats, Ints
from serendip.core.data import Scores
from serendip.core.likelihood import Gaussian
from serendip.core.protocols import BlockFn
from serendip.models.linear.model import LinearMoments
from serendip.models.linear_forms import LinearSummary, LinearTradeoff, square_root
from serendip.models.wide import Spanned
from serendip.policies.index import IndexScores, Optimism
from serendip.policies.ratio import PeakTradeoff, RatioScores, RegretScores

_ROWS = 2**25
"""Rows whose forms are held at once."""

_ROOM = 1e-5
"""Relative error that float32 functions are allowed; they make less."""

_FLUSHED = 1e-35
"""More than numbers too small for float32 can add up to; they may be taken for zero."""


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers between two bounds."""

    low: Tensor
    high: Tensor


@dataclass(frozen=True, slots=True)
class Forms:
    """Two linear forms and two quadratic ones, Σ_j weight_j (axes_jᵀx)²."""

    linear: Floats
    """(2, d)"""
    axes: Floats
    """(d, r)"""
    weights: Floats
    """(2, r), not negative."""


@dataclass(frozen=True, slots=True)
class Question:
    """A score as a function of forms."""

    forms: Forms
    span: Callable[[Span, Span, Span, Span], Span]
    """Of the score, given those of the two linear forms and of the two quadratic ones."""


def question(score: BlockFn[Scores]) -> Question | None:
    """What to ask a device, where it can tell anything of this score."""
    if isinstance(score, IndexScores) and isinstance(score.score, Optimism):
        moments, multiple = score.moments, score.score.multiple
        if not isinstance(moments, LinearMoments) or isinstance(moments.covariance, Spanned):
            return None
        forms = _forms(moments.mean, None, square_root(moments.covariance), None)
        return Question(forms, _OptimismSpan(multiple * moments.width))
    if not isinstance(score, RatioScores | RegretScores):
        return None
    tradeoff = score.tradeoff
    parts: _PeakSpan | _BudgetSpan
    if isinstance(tradeoff, PeakTradeoff) and isinstance(tradeoff.summary, LinearSummary):
        summary = tradeoff.summary
        forms = _forms(summary.mean, None, summary.root, None)
        parts = _PeakSpan(tradeoff.best_mean, tradeoff.size)
    elif isinstance(tradeoff, LinearTradeoff) and isinstance(tradeoff.likelihood, Gaussian):
        forms = _forms(tradeoff.mean, tradeoff.level_covariance, tradeoff.axes, tradeoff.sizes)
        noise = tradeoff.likelihood.noise_variance
        parts = _BudgetSpan(tradeoff.level, tradeoff.level_variance, noise)
    else:
        return None
    if isinstance(score, RegretScores):
        return Question(forms, _ScoreSpan(parts, None))
    return Question(forms, _ScoreSpan(parts, score.power, score.floor))


def _forms(mean: Floats, other: Floats | None, axes: Floats, sizes: Floats | None) -> Forms:
    linear = np.stack([mean, np.zeros_like(mean) if other is None else other])
    ones = np.ones(axes.shape[1])
    weights = np.stack([ones, np.zeros_like(ones) if sizes is None else sizes])
    return Forms(linear, axes, weights)


@dataclass(frozen=True, slots=True)
class _OptimismSpan:
    """−(mean + multiple · width)."""

    multiple: float

    def __call__(self, mean: Span, _: Span, variance: Span, __: Span) -> Span:
        low = -(mean.high + self.multiple * variance.high.sqrt())
        high = -(mean.low + self.multiple * variance.low.sqrt())
        return Span(low - _ROOM * low.abs(), high + _ROOM * high.abs())


@dataclass(frozen=True, slots=True)
class _PeakSpan:
    """Δ = E[max f] − f̄ and v."""

    best_mean: float
    size: float

    def __call__(self, mean: Span, _: Span, gain: Span, __: Span) -> tuple[Span, Span]:
        room = _ROOM * abs(self.best_mean)
        low = (self.best_mean - mean.high - room - _settled(self.size)).clamp(min=0.0)
        high = (self.best_mean - mean.low + room).clamp(min=0.0)
        return Span(low, high), gain


@dataclass(frozen=True, slots=True)
class _BudgetSpan:
    """Δ = E[(f_(k) − f(x))₊] by two moments, and g."""

    level: float
    level_variance: float
    noise_variance: float

    @property
    def size(self) -> float:
        return float(np.hypot(self.level, np.sqrt(self.level_variance)))

    def __call__(self, mean: Span, joint: Span, variance: Span, top: Span) -> tuple[Span, Span]:
        room = _ROOM * abs(self.level)
        least = self.level_variance - 2.0 * joint.high + variance.low
        most = self.level_variance - 2.0 * joint.low + variance.high
        less = _ROOM * (self.level_variance + variance.high)
        lowest = _shortfall(self.level - mean.high - room, least - less, -_ROOM)
        regret = Span(
            (lowest - _settled(self.size)).clamp(min=0.0),
            _shortfall(self.level - mean.low + room, most + less, _ROOM),
        )
        noise = self.noise_variance
        return regret, Span(top.low / (variance.high + noise), top.high / (variance.low + noise))


def _score_room(power: float) -> float:
    """What logarithms in float32 may be off by, many times over."""
    return 10.0 * _ROOM * (1.0 + power)


def _settled(size: float) -> float:
    """More than regrets may be apart that count as zero (`core.data.settled`)."""
    return 1e-11 * (1.0 + size)


def _shortfall(mean: Tensor, variance: Tensor, room: float) -> Tensor:
    """E[D₊] of a Gaussian, somewhat lower or higher as room is negative or not.

    Three deviations below zero, where terms cancel, nothing is said: 0 from below, and from above
    what is known at three.
    """
    torch = torch_module()
    deviation = variance.clamp(min=1e-24).sqrt()
    level = mean / deviation
    near = level.clamp(min=-3.0)
    density = torch.exp(-0.5 * near**2) / np.sqrt(2.0 * np.pi)
    found = density + near * torch.special.ndtr(near) + 0.2 * room
    found = deviation * found.clamp(min=0.0) * (1.0 + 100.0 * room)
    return torch.where(level > -3.0, found, 0.0) if room < 0 else found


@dataclass(frozen=True, slots=True)
class _ScoreSpan:
    """λ log(Δ + η) − log g, or Δ itself."""

    parts: "_PeakSpan | _BudgetSpan"
    power: float | None
    floor: float = 0.0

    def __call__(self, mean: Span, joint: Span, first: Span, second: Span) -> Span:
        regret, gain = self.parts(mean, joint, first, second)
        if self.power is None:
            return regret
        low = self.power * (regret.low + self.floor).log() - gain.high.log()
        high = self.power * (regret.high + self.floor).log() - gain.low.log()
        room = _score_room(self.power)
        return Span(low - room - _ROOM * low.abs(), high + room + _ROOM * high.abs())


# --- forms on a device ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """A ratio in numbers, for kernels that bound it as they go along."""

    power: float
    floor: float
    level: float
    level_variance: float
    noise_variance: float
    budget: bool
    unit: float
    room: float
    settled: float
    score_room: float
    flushed: float = _FLUSHED


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question as a device takes it: one product with all columns, then four weighted sums."""

    span: Callable[[Span, Span, Span, Span], Span]
    columns: Halved
    square: Tensor
    linear: Tensor
    room: Floats
    """(4, 2) error over residual and over norm: of the linear forms, of roots of the others."""


def asked(what: Question, width: int, device: str) -> Asked:
    """The question on a device; linear forms go in two halves, which together are exact enough."""
    torch = torch_module()
    forms = what.forms
    parts = np.concatenate([forms.axes.T, forms.linear, forms.linear - rounded(forms.linear)])
    n_axes = forms.axes.shape[1]
    n_columns = max(16, 1 << (len(parts) - 1).bit_length())
    columns = halved(parts, width, n_columns, device)
    square, linear = np.zeros((4, n_columns)), np.zeros((4, n_columns))
    square[2:, :n_axes] = forms.weights / columns.unit[:n_axes] ** 2
    for form in (0, 1):
        for place in (n_axes + form, n_axes + 2 + form):
            linear[form, place] = 1.0 / columns.unit[place]
    lost = parts - rounded(parts)
    added = accumulation(width) + n_columns * 2.0**-22
    room = np.zeros((4, 2))
    for form in (0, 1):
        low_order = lost[n_axes + 2 + form]
        room[form] = np.linalg.norm(forms.linear[form]), np.linalg.norm(low_order)
        room[form, 1] += 4.0 * added * room[form, 0]
        roots = np.sqrt(forms.weights[form])
        if roots.any():
            whole = forms.axes * roots
            miss = np.linalg.norm(lost[:n_axes].T * roots)
            room[2 + form] = np.linalg.norm(whole, 2), miss + 4.0 * added * np.linalg.norm(whole)
    both = torch.as_tensor(np.stack([square, linear]).astype(np.float32), device=device)
    return Asked(what.span, columns, both[0], both[1], room * (1.0 + 1e-6))


def _told(span: Callable[[Span, Span, Span, Span], Span], scale: float) -> Told | None:
    """The numbers of a ratio; None for other scores."""
    if not isinstance(span, _ScoreSpan) or span.power is None:
        return None
    parts, budget = span.parts, isinstance(span.parts, _BudgetSpan)
    level = parts.level if isinstance(parts, _BudgetSpan) else parts.best_mean
    return Told(
        power=span.power,
        floor=span.floor,
        level=level,
        level_variance=parts.level_variance if isinstance(parts, _BudgetSpan) else 0.0,
        noise_variance=parts.noise_variance if isinstance(parts, _BudgetSpan) else 0.0,
        budget=budget,
        unit=1.0 / scale,
        room=_ROOM,
        settled=_settled(parts.size),
        score_room=_score_room(span.power),
    )


def survivors(slab: Slab, ask: Asked, best: float, kernels: Any) -> tuple[Array, float]:
    """Items of a slab that may score lowest, and the best score known: someone is at or below it.

    Whatever is not a number counts as a survivor.
    """
    torch = torch_module()
    step = max(1, _ROWS // slab.block_rows)
    told = _told(ask.span, slab.scale)
    last: list[Tensor] = []
    bar = torch.tensor(best, dtype=torch.float32, device=slab.half.device)
    bounds = [
        _bounds(slab, ask, told, slice(start, start + step), kernels)
        for start in range(0, len(slab.residual), step)
    ]
    for _, high in bounds:
        bar = torch.minimum(bar, high.amin())
    for place, (low, _) in enumerate(bounds):
        kept = torch.nonzero(~(low > bar))[:, 0]
        last.append(kept + place * step * slab.block_rows)
    items: Ints = torch.cat(last).cpu().numpy()
    items = items[items < slab.n_rows]
    if slab.gone.size:
        items = np.setdiff1d(items, slab.gone, assume_unique=True)
    return items + slab.first, float(bar)


def _bounds(
    slab: Slab, ask: Asked, told: Told | None, blocks: slice, kernels: Any
) -> tuple[Tensor, Tensor]:
    """What each row scores at least, and what the best of some rows scores at most."""
    torch = torch_module()
    residual, norm = slab.residual[blocks], slab.norm[blocks]
    rows = slab.half[blocks.start * slab.block_rows :][: len(residual) * slab.block_rows]
    if told is not None and kernels.ratio_bounds is not None:
        room = torch.as_tensor(ask.room / slab.scale, dtype=torch.float32, device=rows.device)
        low, high = kernels.ratio_bounds(
            rows, ask.columns.theta, ask.square, ask.linear, residual, norm, room,
            slab.block_rows, told,
        )  # fmt: skip
    else:
        found = kernels.forms(rows, ask.columns.theta, ask.square, ask.linear)
        span = ask.span(*_spans(slab.scale, ask, residual, norm, found))
        low, high = span.low, torch.nan_to_num(span.high, nan=torch.inf, neginf=-torch.inf)
    dead = slab.dead_among(blocks)
    if dead is not None:
        high = high.reshape(len(residual), -1)
        high[dead] = torch.inf
    return low.reshape(-1), high


def _spans(scale: float, ask: Asked, residual: Tensor, norm: Tensor, found: Tensor) -> list[Span]:
    """Bounds on the four forms, each (blocks, block_rows)."""
    found = found.reshape(4, len(residual), -1)
    spans = []
    for form, value in enumerate(found):
        over_residual, over_norm = ask.room[form] / scale
        room = (residual * over_residual + norm * over_norm)[:, None] + _FLUSHED
        if form < 2:
            middle = value / scale
            spans.append(Span(middle - room, middle + room))
        else:
            low = (value - _FLUSHED).clamp(min=0.0).sqrt() / scale
            high = (value.clamp(min=0.0) + _FLUSHED).sqrt() / scale
            low, high = (low - room).clamp(min=0.0) ** 2, (high + room) ** 2
            spans.append(Span((low - _FLUSHED).clamp(min=0.0), high + _FLUSHED))
    return spans
