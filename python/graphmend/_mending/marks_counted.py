"""The marks of calls whose result is as long as a tensor has different values: how many these are is predicted."""

from typing import Any

import torch

from graphmend._mending.marks_value import expect, is_plain_tensor
from graphmend._torch.variables import is_module

_OPERANDS = {
    "unique": ("input", "sorted", "return_inverse", "return_counts", "dim"),
    "unique_consecutive": ("input", "return_inverse", "return_counts", "dim"),
    "bincount": ("input", "weights", "minlength"),
}


def counted(site: str, name: str, owner: Any, /, *args: Any, **named: Any) -> Any:
    """`owner.name(…)`, of a tensor or of torch itself"""
    if torch.compiler.is_dynamo_compiling() and (is_module(owner, torch) or is_plain_tensor(owner)):
        given = (owner, *args) if is_plain_tensor(owner) else args
        found = _counted(site, name, {**dict(zip(_OPERANDS[name], given, strict=False)), **named})
        if found is not None:
            return found
    return getattr(owner, name)(*args, **named)


def _counted(site: str, name: str, operands: dict[str, Any]) -> Any:
    tensor = operands["input"]
    if not is_plain_tensor(tensor) or tensor.requires_grad or tensor.is_complex() or tensor.numel() == 0:
        return None
    if name == "bincount":
        return _bincount(site, tensor, operands)
    if operands.get("dim") is not None:
        return None
    values = tensor.reshape(-1)
    order = None
    if name == "unique":
        values, order = torch.sort(values, stable=True)
    return _runs(site, tensor.shape, values, order, operands)


def _runs(site: str, shape: Any, values: torch.Tensor, order: torch.Tensor | None, operands: dict[str, Any]) -> Any:
    """One of each run of equal values, and what else is wanted; None where their number is not predicted."""
    begins = torch.cat([torch.ones(1, dtype=torch.bool, device=values.device), values[1:] != values[:-1]])
    number = begins.sum()
    if order is not None and values.is_floating_point():
        # Of two zeros, whose signs differ, either may be kept; and a NaN is no other's like.
        is_odd = torch.isnan(values) | ((values == 0) & torch.signbit(values))
        number = torch.where(is_odd.any(), -1, number)
    count = expect(site, number)
    if count is None or count < 0:
        return None
    starts = torch.nonzero_static(begins, size=count, fill_value=0).reshape(-1)
    found = [values[starts]]
    if operands.get("return_inverse", False):
        runs = begins.cumsum(0) - 1
        found.append((runs if order is None else torch.empty_like(runs).scatter_(0, order, runs)).reshape(shape))
    if operands.get("return_counts", False):
        ends = torch.cat([starts[1:], torch.full((1,), len(values), device=values.device)])
        found.append(ends - starts)
    return found[0] if len(found) == 1 else tuple(found)


def _bincount(site: str, tensor: torch.Tensor, operands: dict[str, Any]) -> Any:
    is_whole = not tensor.is_floating_point() and tensor.dtype != torch.bool
    if not is_whole or tensor.dim() != 1 or operands.get("weights") is not None or operands.get("minlength", 0) < 0:
        return None
    # Where a value is negative, torch raises.
    length = expect(site, torch.where(tensor.min() < 0, -1, tensor.max().long() + 1))
    if length is None or length < 1:
        return None
    counts = torch.zeros(max(length, operands.get("minlength", 0)), dtype=torch.int64, device=tensor.device)
    return counts.scatter_add_(0, tensor.long().clamp(0, length - 1), torch.ones_like(tensor, dtype=torch.int64))
