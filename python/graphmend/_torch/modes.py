"""Modes of a thread that a graph's own nodes switch, and would leave switched if it raises between them.

Relies on private functions of autograd and functorch.
"""

from __future__ import annotations

import contextlib
import traceback

import torch
import torch.fx
from torch.nn import attention

_AUTOCAST_DEVICES = ("cpu", "cuda")
# By whatever name a graph has them, these are restored below.
_RESTORED = frozenset(["_set_grad_enabled", "set_autocast_enabled", "set_default_dtype"])
# A level of forward derivatives, of which the process has one.
_DUAL = "_enter_dual_level"


def switches_settings(node: torch.fx.Node) -> bool:
    """Whether a node switches a setting of torch's for good, that nobody here restores."""
    if node.op != "call_function" or isinstance(node.meta.get("example_value"), torch.Tensor):
        return False
    name, module = getattr(node.target, "__name__", ""), getattr(node.target, "__module__", None) or ""
    is_setter = name.startswith(("set_", "_set_", "enable_", _DUAL)) and name not in _RESTORED
    return is_setter and module.startswith("torch") and module != "torch._C._functorch"


def without_inference_mode(graph: torch.fx.GraphModule) -> bool:
    """Has the graph disable gradients where it enters inference mode; whether it did anywhere. AOTAutograd, for which
    that comes to the same, refuses views in it of what was made outside."""
    is_on, before = torch.is_grad_enabled(), {}
    for node in list(graph.graph.nodes):
        if node.target is torch._C._set_grad_enabled:
            is_on = bool(node.args[0])
        if node.target is torch.autograd.grad_mode._enter_inference_mode:
            before[node], is_on = is_on, not node.args[0]
        elif node.target is torch.autograd.grad_mode._exit_inference_mode:
            is_on = before[node.args[0]]
        else:
            continue
        node.target, node.args = torch._C._set_grad_enabled, (is_on,)
    graph.recompile()
    return bool(before)


def saved_tensors_have_hooks() -> bool:
    """Whether somebody counts or keeps what autograd saves: activation checkpointing does, which runs a call again in
    the backward and takes what is saved there for what was saved before."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


def is_of_transforms(node: torch.fx.Node) -> bool:
    """Whether a node is a step of a transform of functorch's."""
    module = getattr(node.target, "__module__", None) or ""
    return node.op == "call_function" and module.startswith(("torch._functorch", "torch._C._functorch"))


def enters_level(node: torch.fx.Node) -> bool:
    """Whether a node, which makes no tensor, enters or leaves a level of such a transform."""
    of_hooks = node.op == "call_function" and getattr(node.target, "__module__", None) == "torch._C._autograd"
    return (of_hooks or is_of_transforms(node)) and node.meta.get("example_value") is None


def is_transformed() -> bool:
    """Whether what is computed goes through a transform of functorch's."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def enters_dual_level(node: torch.fx.Node) -> bool:
    return getattr(node.target, "__name__", "") == _DUAL


def leave_dual_levels(graph: torch.fx.GraphModule) -> None:
    """Leaves the level that a graph has entered and not left, if it is the graph's own."""
    if any(map(enters_dual_level, graph.graph.nodes)) and torch.autograd.forward_ad._current_level < 0:
        # It raises where there is none.
        with contextlib.suppress(RuntimeError):
            torch._C._exit_dual_level(level=0)


class _Autocast:
    """What autocast does at the moment."""

    def __init__(self) -> None:
        self.nesting = torch.autocast_increment_nesting() - 1
        torch.autocast_decrement_nesting()
        self.caches = torch.is_autocast_cache_enabled()
        self.devices = [
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
            for device in _AUTOCAST_DEVICES
        ]

    def restore(self) -> None:
        entered = torch.autocast_increment_nesting() - self.nesting
        left = [torch.autocast_decrement_nesting() for _ in range(entered)]
        # Its copies of weights are kept until the outermost is left.
        if entered > 1 and left[-1] == 0:
            torch.clear_autocast_cache()
        torch.set_autocast_cache_enabled(self.caches)
        for device, was_on, dtype in self.devices:
            if torch.is_autocast_enabled(device) != was_on:
                torch.set_autocast_enabled(device, was_on)
            if torch.get_autocast_dtype(device) != dtype:
                torch.set_autocast_dtype(device, dtype)


def _leave_inference_modes(error: BaseException) -> None:
    """Leaves those that the code of a graph has entered which has raised. Left to themselves they would end with its
    frame, one after the other in the order in which they began, or whenever somebody lets go of that."""
    entered: dict[int, torch._C._InferenceMode] = {}
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in list(frame.f_locals.values()):
            # Graphs are run as code, or node by node.
            kept = value.env.values() if isinstance(value, torch.fx.Interpreter) else [value]
            entered.update((id(each), each) for each in kept if isinstance(each, torch._C._InferenceMode))
    for each in reversed(entered.values()):
        torch.autograd.grad_mode._exit_inference_mode(each)


class Modes:
    """The modes of the moment in which it is made."""

    def __init__(self) -> None:
        self.inference = torch.is_inference_mode_enabled()
        self.grad = torch.is_grad_enabled()
        self.forward = torch._C._is_fwd_grad_enabled()
        self.threads = torch._C._is_multithreading_enabled()
        self.replays = torch._C._is_view_replay_enabled()
        self.dtype = torch.get_default_dtype()
        self.autocast = _Autocast()
        self.levels = torch._C._functorch.get_dynamic_layer_stack_depth()
        self.inplace = torch._C._functorch.get_inplace_requires_grad_allowed()
        # The kernels that attention may have, and their order.
        self.kernels = attention._cur_sdpa_kernel_backends()
        self.order = torch._C._get_sdp_priority_order()
        # Why saved tensors may have no hooks, if so.
        self.no_hooks = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()

    def restore(self, error: BaseException | None = None) -> None:
        """Leaves what was entered since, and was not left because of an exception."""
        if error is not None and torch.is_inference_mode_enabled() != self.inference:
            _leave_inference_modes(error)
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(self.levels)
        torch._C._functorch.set_inplace_requires_grad_allowed(self.inplace)
        torch.set_grad_enabled(self.grad)
        torch._C._set_fwd_grad_enabled(self.forward)
        # Inference mode ends with those that it began with, which may be a backend's own.
        torch._C._set_multithreading_enabled(self.threads)
        torch._C._set_view_replay_enabled(self.replays)
        if torch.get_default_dtype() != self.dtype:
            torch.set_default_dtype(self.dtype)
        self.autocast.restore()
        if attention._cur_sdpa_kernel_backends() != self.kernels:
            attention._sdpa_kernel(self.kernels)
        if torch._C._get_sdp_priority_order() != self.order:
            torch._C._set_sdp_priority_order(self.order)
        if self.no_hooks is None:
            torch._C._autograd._saved_tensors_hooks_enable()
        else:
            torch._C._autograd._saved_tensors_hooks_disable(self.no_hooks)
