"""How well a pool can explore: C_min of the sparse bound, by E-optimal design   [ASD App.]"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from serendip.core.arguments import number
from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.core.threads import one_blas_thread
from serendip.theory.arguments import as_table, squares

_FEWEST, _MOST = 200, 1000
"""Candidates of the first working set, as far as the pool has them."""
_STEPS = 60
"""Of the interior-point method on one working set; a third of them is the rule."""
_ROUNDS = 100
"""Working sets; three or four are the rule."""
_DROPPING = 10
"""Of them, those after which the useless are dropped: from then on the set only grows."""
_ZERO = 1e-12
"""A bound this small beside the longest candidate is zero but for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Exploration:
    """Bounds on C_min, each with the witness that proves it."""

    lower: float
    """λ_min(Σ π(x) x xᵀ) of `chances`."""
    upper: float
    """max_x xᵀZx for a Z ⪰ 0 of trace one."""
    chances: Floats
    """(n,) the distribution that attains `lower`."""

    @property
    def gap(self) -> float:
        """Upper − lower as a share of upper: what the design may fall short of the best."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


def exploration(x: npt.ArrayLike, tolerance: float = 1e-3) -> Exploration:
    """C_min(S) = max_π λ_min(E_{x~π}[x xᵀ]), the E-optimal design, with a certified gap.

    For any Z ⪰ 0 of trace one, λ_min(M) ≤ ⟨Z, M⟩ ≤ max_x xᵀZx. An interior-point method on a
    working set of candidates yields both a design and such a Z, the latter checked against the
    whole pool; candidates that Z reaches beyond the set join it. How long that takes depends on
    the machine, what comes out does not.

    Args:
        x: (n, d) the pool.
        tolerance: Stop once upper − lower is this share of upper; `gap` says what was reached,
            which is more where rounding allows no better.
    """
    table = as_table(x)
    if not 0 < number("tolerance", tolerance) < 1:
        raise InvalidInput(f"tolerance must lie between 0 and 1; got {tolerance}.")
    scale = float(squares(table).max())
    if scale == 0.0:
        return Exploration(0.0, 0.0, np.full(len(table), 1.0 / len(table)))
    with one_blas_thread():
        lower, upper, chances = _bounds(table / np.sqrt(scale), tolerance)
    if upper <= _ZERO:  # the pool does not span the space
        lower, upper = 0.0, 0.0
    return Exploration(lower * scale, upper * scale, chances)


def _bounds(table: Floats, tolerance: float) -> tuple[float, float, Floats]:
    """Lower and upper bound and the design, of rows no longer than one."""
    n, d = table.shape
    chances = np.full(n, 1.0 / n)
    values, basis = np.linalg.eigh((table.T * chances) @ table)
    lower = max(0.0, float(values[0]))
    upper = min(1.0 / d, float(((table @ basis[:, 0]) ** 2).max()))
    size = min(_MOST, max(_FEWEST, d * (d + 1)))  # twice as many as a best design may need
    work = _first(table, size)
    for turn in range(_ROUNDS):
        share, reach = np.empty(0), np.empty(0)
        for share, dual, gap in islice(_interior(table[work]), _STEPS):
            found = float(np.linalg.eigvalsh((table[work].T * share) @ table[work])[0])
            if found > lower:
                lower, chances = found, np.zeros(n)
                chances[work] = share
            reach = np.asarray(np.einsum("nd,nd->n", table @ dual, table))
            upper = min(upper, float(reach.max()))
            if upper <= max(_ZERO, lower / (1.0 - tolerance)):
                return lower, upper, chances
            if gap < 0.1 * tolerance * upper:
                break
            if gap < 0.1 * upper and reach.max() > reach[work].max() + 4.0 * gap:
                break
        if len(work) == n or not len(share):
            break
        kept = work[share > 1e-3 / len(work)] if turn < _DROPPING else work
        outside = np.setdiff1d(np.argsort(-reach, kind="stable")[: len(work) + size // 2], work)
        best = outside[np.argsort(-reach[outside], kind="stable")][: size // 2]
        work = np.union1d(kept, best)
    return lower, upper, chances


def _first(table: Floats, size: int) -> Ints:
    """The longest candidates and some of all others, increasing."""
    n = len(table)
    spread = np.linspace(0, n - 1, min(n, size)).astype(np.int64)
    longest = np.argsort(-squares(table), kind="stable")[: size // 4]
    return np.union1d(spread, longest).astype(np.int64)


def _interior(rows: Floats) -> Iterator[tuple[Floats, Floats, float]]:
    """Designs over these rows, the Z of trace one beside each, and how far apart both may be.

    Primal and dual at once (Helmberg et al. 1996): S = M(π) − tI and w = u − xᵀZx are kept
    positive, and driven towards SZ = μI and πw = μ with μ falling to zero.
    """
    n, d = rows.shape
    share, dual = np.full(n, 1.0 / n), np.eye(d) / d
    moment = (rows.T * share) @ rows
    level = float(np.linalg.eigvalsh(moment)[0] - np.trace(moment) / d)
    ceiling = 2.0 * float(squares(rows).max()) / d
    pull = 0.3
    while True:
        slack = (rows.T * share) @ rows - level * np.eye(d)
        room = ceiling - np.einsum("nd,nd->n", rows @ dual, rows)
        gap = float(np.sum(slack * dual) + share @ room)
        target = pull * gap / (n + d)
        try:
            root = np.asarray(np.linalg.cholesky(slack), dtype=np.float64)
            inverse = cho_solve((root, True), np.eye(d))
            step = _newton(rows, share, dual, room, ceiling, inverse, target)
            base = np.asarray(np.linalg.cholesky(dual), dtype=np.float64)
        except LinAlgError:  # as near as rounding lets it come
            return
        d_share, d_level, d_ceiling = step
        d_slack = (rows.T * d_share) @ rows - d_level * np.eye(d)
        turned = dual @ d_slack @ inverse
        d_dual = target * inverse - dual - 0.5 * (turned + turned.T)
        d_room = d_ceiling - np.einsum("nd,nd->n", rows @ d_dual, rows)
        ahead = min(_stay(share, d_share), _inside(root, d_slack))
        back = min(_stay(room, d_room), _inside(base, d_dual))
        share, level = share + ahead * d_share, level + ahead * d_level
        dual, ceiling = dual + back * d_dual, ceiling + back * d_ceiling
        share, dual = share / share.sum(), dual / np.trace(dual)
        pull = 0.05 if min(ahead, back) > 0.7 else 0.3
        if not (np.isfinite(share).all() and np.isfinite(dual).all() and share.min() > 0):
            return
        yield share, dual, gap * (1.0 - min(ahead, back) * (1.0 - pull))


def _newton(
    rows: Floats,
    share: Floats,
    dual: Floats,
    room: Floats,
    ceiling: float,
    inverse: Floats,
    target: float,
) -> tuple[Floats, float, float]:
    """The step of π, t and u towards SZ = target·I and πw = target."""
    solved = rows @ inverse
    system = (rows @ dual @ rows.T) * (solved @ rows.T)
    system[np.diag_indices(len(rows))] += room / share
    mixed = np.einsum("nd,nd->n", rows @ dual, solved)
    wanted = target * (np.einsum("nd,nd->n", solved, rows) + 1.0 / share) - ceiling
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    columns = np.stack([wanted, mixed, np.ones(len(rows))], axis=1)
    plain, by_level, by_ceiling = cho_solve(factor, columns, check_finite=False).T
    # Of the rows for t and u: −hᵀdπ + tr(ZS⁻¹)dt = 1 − target·tr S⁻¹, and Σ dπ = 0.
    corner = np.array(
        [
            [float(np.sum(dual * inverse)) - mixed @ by_level, mixed @ by_ceiling],
            [by_level.sum(), -by_ceiling.sum()],
        ]
    )
    ends = np.array([1.0 - target * np.trace(inverse) + mixed @ plain, -plain.sum()])
    d_level, d_ceiling = np.linalg.solve(corner, ends)
    return plain + d_level * by_level - d_ceiling * by_ceiling, float(d_level), float(d_ceiling)


def _stay(values: Floats, step: Floats) -> float:
    """How much of a step leaves all values positive, at most one."""
    fastest = float((-step / values).max())
    return min(1.0, 0.95 / fastest) if fastest > 0 else 1.0


def _inside(root: Floats, step: Floats) -> float:
    """How much of a step leaves a matrix, given its Cholesky factor, positive definite."""
    half = solve_triangular(root, step, lower=True)
    fastest = -float(np.linalg.eigvalsh(solve_triangular(root, half.T, lower=True))[0])
    return min(1.0, 0.95 / fastest) if fastest > 0 else 1.0
