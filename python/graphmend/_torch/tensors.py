"""Tensors: the memory behind them, how near they must be, and values that hold them."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode


def memory_of(tensor: torch.Tensor) -> int:
    """The same number for tensors that share their memory."""
    storage: int = tensor.untyped_storage()._cdata
    return storage


def tolerances(dtype: torch.dtype, rtol: float | None, atol: float | None) -> tuple[float, float]:
    """How far values of this dtype may differ, relatively and absolutely; what is None is torch's own choice."""
    chosen: tuple[float, float] = torch.testing._comparison.get_tolerances(dtype, rtol=rtol, atol=atol)
    return chosen


def leaves(value: Any) -> list[Any]:
    """What stands in a value of nested lists, tuples, dicts and what else torch knows to hold others."""
    found: list[Any] = torch.utils._pytree.tree_leaves(value)
    return found
