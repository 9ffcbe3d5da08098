"""What an operator of a graph calls itself on the device that it is for.

While a graph is traced only shapes are known, and some operators are then others than on a device: `batch_norm`,
`interpolate`, a `matmul` of many matrices. What they are is found by calling one on zeros.

Relies on private functions of torch's dispatch.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.fx
from torch._dispatch.python import enable_python_dispatcher
from torch.utils._python_dispatch import _disable_current_modes

from graphmend._torch.graphs import is_torch_function

# More is not computed just to learn a name.
_MAX_ELEMENTS = 1 << 22


class _UnknownError(Exception):
    """It cannot be called on zeros."""


def name_on_device(node: torch.fx.Node, name: str) -> str:
    """The name that what a node makes has on its device, if `name` is what it has while only shapes are known."""
    example = node.meta["example_value"]
    fake = getattr(example, "fake_mode", None)
    if fake is None or not _only_computes(node):
        return name
    devices = [example.device] if example.device.type == "cuda" else []
    # Those of the program belong to the real run.
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)
    try:
        with torch.enable_grad(), hooks, torch.random.fork_rng(devices):
            with fake, enable_python_dispatcher():
                # If not, it was changed since.
                is_its_own = _name_of(_call(node)) == name
            with _disable_current_modes():
                return (is_its_own and _name_of(_call(node))) or name
    except Exception:
        return name


def _only_computes(node: torch.fx.Node) -> bool:
    """Whether a node calls an operator of torch's own."""
    if isinstance(node.target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(node.target).startswith("aten")
    return node.op == "call_method" or (node.op == "call_function" and is_torch_function(node.target))


def _name_of(made: Any) -> str | None:
    function = made.grad_fn if isinstance(made, torch.Tensor) else None
    return None if function is None else type(function).__name__


def _call(node: torch.fx.Node) -> Any:
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), _zeros)
    if node.op == "call_method":
        return getattr(args[0], str(node.target))(*args[1:], **kwargs)
    return node.target(*args, **kwargs)


def _zeros(node: torch.fx.Node) -> Any:
    value = node.meta.get("example_value")
    if isinstance(value, torch.Tensor):
        sizes, strides = [*map(_number, value.size())], [*map(_number, value.stride())]
        needed = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        if needed > _MAX_ELEMENTS or 0 in sizes:
            raise _UnknownError
        made = torch.zeros(needed, dtype=value.dtype, device=value.device)
        made = made.requires_grad_(value.requires_grad).as_strided(sizes, strides)
        # No leaf: it may be changed in place.
        return made * 1 if value.requires_grad else made
    return _number(value)


def _number(value: Any) -> Any:
    """A number as it was in the call that is traced; nothing is remembered of having asked."""
    if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return value
    hint = value.node.hint
    if hint is None:
        raise _UnknownError
    return hint
