"""Modes of a thread that a graph's own nodes switch, and would leave switched if it raises between them.

Relies on private functions of autograd and functorch.
"""

from __future__ import annotations

import torch

_AUTOCAST_DEVICES = ("cpu", "cuda")


class Modes:
    """The modes of the moment in which it is made."""

    def __init__(self) -> None:
        self.grad = torch.is_grad_enabled()
        self.autocast = [torch.is_autocast_enabled(device) for device in _AUTOCAST_DEVICES]
        self.levels = torch._C._functorch.get_dynamic_layer_stack_depth()
        # Why saved tensors may have no hooks, if so.
        self.no_hooks = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()

    def restore(self) -> None:
        """Leaves what was entered since, and was not left."""
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(self.levels)
        torch.set_grad_enabled(self.grad)
        for device, was_on in zip(_AUTOCAST_DEVICES, self.autocast, strict=True):
            if torch.is_autocast_enabled(device) != was_on:
                torch.set_autocast_enabled(device, was_on)
        if self.no_hooks is None:
            torch._C._autograd._saved_tensors_hooks_enable()
        else:
            torch._C._autograd._saved_tensors_hooks_disable(self.no_hooks)
