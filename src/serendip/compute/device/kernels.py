"""What a device computes over all its rows, by PyTorch alone: any device, and not the fastest.

`triton_kernels.py` has the same functions for NVIDIA GPUs. Both multiply float16 numbers and add
up in float32.
"""

from types import ModuleType
from typing import Any

from serendip.compute.device.torch import Tensor, torch_module

_VALUES = 2**24
"""Values held at once."""


def block_maxima(half: Tensor, theta: Tensor, block_rows: int) -> Tensor:
    """(blocks, M) the largest value of each draw in each block."""
    torch = torch_module()
    n_blocks, side = len(half) // block_rows, theta.float().T
    most = torch.empty((n_blocks, len(theta)), dtype=torch.float32, device=half.device)
    step = max(1, _VALUES // (block_rows * len(theta)))
    for start in range(0, n_blocks, step):
        stop = min(start + step, n_blocks)
        values = half[start * block_rows : stop * block_rows].float() @ side
        most[start:stop] = values.reshape(stop - start, block_rows, -1).amax(1)
    return most


def reaching(
    most: Tensor, residual: Tensor, norm: Tensor, size: Tensor, miss: Tensor, bar: Tensor
) -> tuple[Tensor, Tensor]:
    """Blocks and draws whose maximum may reach the bar of the draw.

    The error of a maximum is at most residual · size + norm · miss.
    """
    torch = torch_module()
    slack = torch.outer(residual, size) + torch.outer(norm, miss)
    block, draw = torch.nonzero(most + slack >= bar, as_tuple=True)
    return block, draw


def pair_values(
    half: Tensor, theta: Tensor, block: Tensor, draw: Tensor, block_rows: int
) -> Tensor:
    """(pairs, block_rows) the values of draw `draw[j]` over the rows of block `block[j]`."""
    torch = torch_module()
    rows = half.reshape(-1, block_rows, half.shape[1])
    found = torch.empty((len(block), block_rows), dtype=torch.float32, device=half.device)
    step = max(1, _VALUES // (block_rows * half.shape[1]))
    for start in range(0, len(block), step):
        part = slice(start, start + step)
        values = rows[block[part]].float() @ theta[draw[part]].float()[:, :, None]
        found[part] = values[:, :, 0]
    return found


def forms(half: Tensor, matrix: Tensor, square: Tensor, linear: Tensor) -> Tensor:
    """(4, rows) Σ_j square[q, j] y_j² + linear[q, j] y_j with y = matrix x."""
    torch = torch_module()
    found = torch.empty((4, len(half)), dtype=torch.float32, device=half.device)
    step = max(1, _VALUES // len(matrix))
    for start in range(0, len(half), step):
        y = half[start : start + step].float() @ matrix.float().T
        found[:, start : start + step] = (y**2 @ square.T + y @ linear.T).T
    return found


class _Plain:
    block_maxima = staticmethod(block_maxima)
    reaching = staticmethod(reaching)
    pair_values = staticmethod(pair_values)
    forms = staticmethod(forms)
    ratio_bounds = None


def kernels_for(device: str, width: int) -> Any:
    """The fastest functions that a device has for rows of this width."""
    if device.startswith("cuda") and width <= 256:
        fast = _triton()
        if fast is not None:
            return fast
    return _Plain


def _triton() -> ModuleType | None:
    try:
        from serendip.compute.device import triton_kernels
    except ImportError:
        return None
    return triton_kernels
