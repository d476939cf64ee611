"""How well a pool can explore: C_min of the sparse bound, by E-optimal design   [ASD App.]"""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Floats
from serendip.theory.arguments import as_table, positive, squares


@dataclass(frozen=True, slots=True, eq=False)
class Exploration:
    """Bounds on C_min, each with the witness that proves it."""

    lower: float
    """λ_min(Σ π(x) x xᵀ) of `chances`."""
    upper: float
    """max_x xᵀZx for a Z ⪰ 0 of trace one."""
    chances: Floats
    """(n,) the distribution that attains `lower`."""


def exploration(x: npt.ArrayLike, tolerance: float = 1e-3, time_limit: float = 10.0) -> Exploration:
    """C_min(S) = max_π λ_min(E_{x~π}[x xᵀ]), the E-optimal design, with a certified gap.

    For any Z ⪰ 0 of trace one, λ_min(M) ≤ ⟨Z, M⟩ ≤ max_x xᵀZx. An interior-point method on a
    working set of candidates yields both a design and such a Z, the latter checked against the
    whole pool; candidates that Z reaches beyond the set join it.

    Args:
        x: (n, d) the pool.
        tolerance: Stop once upper − lower is this share of upper.
        time_limit: Seconds; past it the bounds are as wide as they then are.
    """
    table = as_table(x)
    positive(tolerance=tolerance, time_limit=time_limit)
    deadline = time.monotonic() + time_limit
    scale = float(squares(table).max()) or 1.0
    table = table / np.sqrt(scale)
    n, d = table.shape
    work = np.union1d(np.linspace(0, n - 1, min(n, 300)), np.argsort(-squares(table))[:100])
    work = work.astype(np.int64)
    chances = np.full(n, 1.0 / n)
    eigenvalues, basis = np.linalg.eigh((table.T * chances) @ table)
    lower = max(0.0, float(eigenvalues[0]))
    upper = min(1.0 / d, float(((table @ basis[:, 0]) ** 2).max()))
    before = np.empty(0, dtype=np.int64)
    while upper > max(1e-12, lower / (1.0 - tolerance)) and not np.array_equal(work, before):
        rows = table[work]
        share, level, barrier = np.full(len(work), 1.0 / len(work)), -1.0 / d, 1.0
        reach = np.empty(0)
        while barrier * (len(work) + d) > 0.2 * tolerance * upper:
            share, level = _centred(rows, share, level, barrier)
            barrier *= 0.2
            moment = (rows.T * share) @ rows
            found = float(np.linalg.eigvalsh(moment)[0])
            if found > lower:
                lower, chances = found, np.zeros(n)
                chances[work] = share
            values, vectors = np.linalg.eigh(moment - level * np.eye(d))
            dual = 1.0 / values / np.sum(1.0 / values)
            reach = np.asarray((table @ vectors) ** 2 @ dual)
            upper = min(upper, float(reach.max()))
            if time.monotonic() > deadline:
                return Exploration(lower * scale, upper * scale, chances)
            if reach.max() > 1.02 * reach[work].max() and barrier * len(work) < 0.01 * upper:
                break
        before, kept = work, work[share > 1e-3 / len(work)]
        work = np.union1d(kept, np.argsort(-reach)[:150])
    return Exploration(lower * scale, upper * scale, chances)


def _centred(rows: Floats, share: Floats, level: float, barrier: float) -> tuple[Floats, float]:
    """The maximiser of level/barrier + log det(M(share) − level·I) + Σ log share, by Newton."""
    n, d = rows.shape
    diagonal = np.arange(n)
    for _ in range(50):
        slack = (rows.T * share) @ rows - level * np.eye(d)
        solved = np.linalg.solve(slack, rows.T)
        cross = rows @ solved
        values = np.linalg.eigvalsh(slack)
        slope = np.r_[cross[diagonal, diagonal] + 1.0 / share, 1.0 / barrier - (1 / values).sum()]
        system = np.zeros((n + 2, n + 2))
        system[:n, :n] = cross**2
        system[diagonal, diagonal] += share**-2.0
        system[:n, n] = system[n, :n] = -np.einsum("dn,dn->n", solved, solved)
        system[n, n] = (values**-2.0).sum()
        system[:n, n + 1] = system[n + 1, :n] = 1.0
        step = np.linalg.solve(system, np.r_[slope, 0.0])[: n + 1]
        decrement = max(0.0, float(step @ slope))
        # A damped step stays inside the domain: the barrier is self-concordant.
        size = 1.0 / (1.0 + np.sqrt(decrement)) if decrement > 0.1 else 1.0
        share, level = share + size * step[:n], level + size * float(step[n])
        if decrement < 1e-4:
            break
    return share / share.sum(), level
