"""Modes of a thread that a graph's own nodes switch, and would leave switched if it raises between them.

Relies on private functions of autograd and functorch.
"""

from __future__ import annotations

import torch
import torch.fx

_AUTOCAST_DEVICES = ("cpu", "cuda")
# By whatever name a graph has them, these are restored below.
_RESTORED = frozenset(["_set_grad_enabled", "set_autocast_enabled", "set_default_dtype"])


def switches_settings(node: torch.fx.Node) -> bool:
    """Whether a node switches a setting of torch's for good, that nobody here restores."""
    if node.op != "call_function" or isinstance(node.meta.get("example_value"), torch.Tensor):
        return False
    name, module = getattr(node.target, "__name__", ""), getattr(node.target, "__module__", None) or ""
    is_setter = name.startswith(("set_", "_set_", "enable_")) and name not in _RESTORED
    return is_setter and module.startswith("torch") and module != "torch._C._functorch"


def saved_tensors_have_hooks() -> bool:
    """Whether somebody counts or keeps what autograd saves: activation checkpointing does, which runs a call again in
    the backward and takes what is saved there for what was saved before."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


class Modes:
    """The modes of the moment in which it is made."""

    def __init__(self) -> None:
        self.grad = torch.is_grad_enabled()
        self.dtype = torch.get_default_dtype()
        self.autocast = [torch.is_autocast_enabled(device) for device in _AUTOCAST_DEVICES]
        self.levels = torch._C._functorch.get_dynamic_layer_stack_depth()
        # Why saved tensors may have no hooks, if so.
        self.no_hooks = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()

    def restore(self) -> None:
        """Leaves what was entered since, and was not left."""
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(self.levels)
        torch.set_grad_enabled(self.grad)
        if torch.get_default_dtype() != self.dtype:
            torch.set_default_dtype(self.dtype)
        for device, was_on in zip(_AUTOCAST_DEVICES, self.autocast, strict=True):
            if torch.is_autocast_enabled(device) != was_on:
                torch.set_autocast_enabled(device, was_on)
        if self.no_hooks is None:
            torch._C._autograd._saved_tensors_hooks_enable()
        else:
            torch._C._autograd._saved_tensors_hooks_disable(self.no_hooks)
