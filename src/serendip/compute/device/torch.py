"""PyTorch, an extra: imported here and nowhere else in this package."""

from importlib import import_module
from typing import Any

from serendip.core.errors import SerendipError

Tensor = Any
"""torch.Tensor"""


def torch_module() -> Any:
    """The module, or an error that names the extra."""
    try:
        return import_module("torch")
    except ImportError:
        raise SerendipError(
            "A pool on a GPU needs PyTorch, which is not installed: pip install 'serendip[gpu]'."
        ) from None


def found_device() -> str:
    """The GPU of this machine."""
    if not torch_module().cuda.is_available():
        raise SerendipError(
            "--engine gpu needs an NVIDIA GPU, and PyTorch sees none on this machine. Use "
            "--engine threads, whose proposals are the same."
        )
    return "cuda"
