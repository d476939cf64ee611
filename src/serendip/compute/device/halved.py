"""Linear functions in float16, each multiplied by a power of two, with what rounding took."""

from dataclasses import dataclass

import numpy as np

from serendip.compute.device.torch import Tensor, torch_module
from serendip.core.arrays import Floats

_UP = 1.0 + 1e-6


def accumulation(width: int) -> float:
    """Over ‖x̃‖‖θ̃‖: what adding up in float32 can lose.

    Four times the bound of rounding to nearest, since matrix units may cut off instead; what is
    left over covers the additions that bounds themselves are made of.
    """
    return 4.0 * (width + 16) * 2.0**-23


@dataclass(frozen=True, slots=True, eq=False)
class Halved:
    """M functions x ↦ xᵀθ on a device."""

    theta: Tensor
    """(M′, D) float16, M′ ≥ M; rows beyond M and columns beyond d are zero."""
    unit: Floats
    """(M,) the power of two that each was multiplied by."""
    size: Tensor
    """(M′,) float32: at least ‖unit · θ‖."""
    miss: Tensor
    """(M′,) float32: the error of a value is at most residual · size + norm · miss."""


def units(theta: Floats) -> Floats:
    """(M,) powers of two that bring the largest entry of each row between 1 and 2."""
    largest = np.abs(theta).max(axis=1, initial=0.0)
    return np.where(largest > 0, 2.0 ** (1 - np.frexp(largest)[1]), 1.0)


def rounded(theta: Floats) -> Floats:
    """(M, d) what float16 leaves of θ."""
    unit = units(theta)[:, None]
    return np.asarray((theta * unit).astype(np.float16) / unit)


def halved(theta: Floats, width: int, n_rows: int, device: str) -> Halved:
    """Functions (M, d) as a table of n_rows × width on a device."""
    torch = torch_module()
    unit = units(theta)
    exact = theta * unit[:, None]
    table = np.zeros((n_rows, width), dtype=np.float16)
    table[: len(theta), : theta.shape[1]] = exact
    size = np.sqrt(np.einsum("md,md->m", exact, exact))
    exact -= table[: len(theta), : theta.shape[1]]
    lost = np.sqrt(np.einsum("md,md->m", exact, exact))
    bounds = np.zeros((2, n_rows), dtype=np.float32)
    bounds[0, : len(theta)] = size * _UP
    bounds[1, : len(theta)] = (lost + accumulation(width) * (size + lost)) * _UP
    both = torch.as_tensor(bounds, device=device)
    return Halved(torch.as_tensor(table, device=device), unit, both[0], both[1])


def table_rows(count: int, least: int) -> int:
    """How many rows a table of `count` functions has: a multiple of `least`."""
    return -(-count // least) * least
