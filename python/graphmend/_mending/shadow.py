"""What a graph that is being traced comes to, on the real inputs of the call: where predictions come from.

In: nodes of the graph so far. Out: their values. Nothing of the user's program runs, and nothing that it has is
changed: what the graph changes of its inputs is changed in copies.
"""

import itertools
from collections.abc import Container, Iterable, Sequence
from typing import Any

import torch
import torch.fx

from graphmend._mending.lift import MAX_COPIED_BYTES
from graphmend._torch.device_asserts import is_on_device
from graphmend._torch.graphs import CHECKPOINTS, changes_in_place, is_torch_function, made_of, storage_of
from graphmend._torch.markers import marker_name
from graphmend._torch.modes import (
    Modes,
    enters_dual_level,
    enters_level,
    is_of_transforms,
    is_transformed,
    saved_tensors_have_hooks,
)
from graphmend._torch.tensors import TorchDispatchMode, memory_of, random_state, set_random_state
from graphmend._torch.tracing import outside, real_input, traced_attribute

_CHECKS = ("check", "predicted")


class ImpureError(Exception):
    """A value that cannot be computed ahead, and why."""


class FailsError(ImpureError):
    """In this call a check fails in front of it; in another call it may be known."""


class _BeginAgainError(Exception):
    """What was computed so far does not count any more."""


class Shadow:
    """The values of one trace; computed when they are asked for."""

    def __init__(self) -> None:
        self.values: dict[torch.fx.Node, Any] = {}
        self.trouble: ImpureError | None = None
        # The memory of inputs: given as it is, or as a copy from which on it is changed.
        self.given: set[int] = set()
        self.copied: dict[int, torch.UntypedStorage | None] = {}
        # Where in the graph memory was changed last; and the node that is being computed.
        self.changed: dict[int, int] = {}
        self.position = 0
        # There are gradients among the values.
        self.derives = False

    def value(self, node: torch.fx.Node) -> Any:
        """The value of the node; raises `ImpureError` where it cannot be told."""
        if self.trouble:
            raise self.trouble
        # What is drawn here is drawn again by the graph. It may be another number; the graph compares.
        state = random_state()
        try:
            before = [*itertools.takewhile(lambda each: each is not node, node.graph.nodes), node]
            while not self._has_computed([node], before):
                set_random_state(state)
        except ImpureError as error:
            self.trouble = error.with_traceback(None)
            raise
        except Exception as error:
            # What is checked may be just that it does not.
            kind = FailsError if any(map(_is_check, node.graph.nodes)) else ImpureError
            self.trouble = kind(f"computing it raises {type(error).__name__}")
            raise self.trouble from None
        finally:
            set_random_state(state)
        return self.values[node]

    def _has_computed(self, nodes: Sequence[torch.fx.Node], before: Sequence[torch.fx.Node]) -> bool:
        """Whether all went well; else it must be tried again, which ends when all that is changed is copied, and what
        gradients are taken of has a history. `before`: the graph so far."""
        # On a GPU, what stands behind a check that fails must not be computed.
        checks = list(filter(_is_check, before)) if any(map(is_on_device, before)) else []
        needed = {*made_of([*nodes, *(each.args[-1] for each in checks)], before), *checks}
        if not self._has_outside(needed):
            return False
        modes = Modes()
        is_transform = any(map(is_of_transforms, needed))
        if is_transform:
            needed |= self._around_transforms(before, needed)
        try:
            if not self.derives and (is_transform or any(each.target is torch.autograd.grad for each in needed)):
                self._derive()
            with torch.set_grad_enabled(self.derives), _Watch(self):
                for self.position, each in enumerate(before, _beginning(before[0].graph)):
                    is_new = each in needed and each not in self.values
                    if is_new or (self.derives and _prepares_gradients(each, needed)):
                        self.values[each] = self._run(each)
        except _BeginAgainError:
            self._forget()
            return False
        finally:
            modes.restore()
        return True

    def _has_outside(self, needed: Iterable[torch.fx.Node]) -> bool:
        """The same of what a checkpointed function is given, by the graph around it as far as it goes."""
        given = {node: outside(node) for node in needed if node.op == "placeholder"}
        around = {node: each for node, each in given.items() if each is not None}
        if around:
            inner, outer = next(iter(around.items()))
            memories = {storage_of(each) for each in inner.graph.find_nodes(op="placeholder")}
            nodes = [each for each in inner.graph.nodes if each.target not in CHECKPOINTS]
            if any(storage_of(each) in memories for node in nodes for each in changes_in_place(node)):
                raise ImpureError("it hangs on what a checkpointed function changes in place")
            if not self._has_computed(list(around.values()), list(outer.graph.nodes)):
                return False
        self.values.update({inner: self.values[outer] for inner, outer in around.items()})
        return True

    def _forget(self) -> None:
        self.values.clear()
        self.given.clear()
        self.changed.clear()
        self.copied = dict.fromkeys(self.copied)

    def _around_transforms(
        self, before: Iterable[torch.fx.Node], needed: Container[torch.fx.Node]
    ) -> set[torch.fx.Node]:
        """What enters and leaves the levels of `torch.func`, all of it anew: a value is that of its level."""
        if is_transformed():
            raise ImpureError("a transform of `torch.func` is around it")
        if any(map(enters_dual_level, before)):
            raise ImpureError("it hangs on derivatives that are taken forward")
        self._forget()
        return {each for each in before if enters_level(each) or _prepares_gradients(each, needed)}

    def _derive(self) -> None:
        """Computes what was computed so far anew, with a history."""
        if saved_tensors_have_hooks():
            raise ImpureError("it hangs on a gradient, and somebody watches what autograd saves")
        self.derives = True
        raise _BeginAgainError

    def change(self, tensor: torch.Tensor) -> None:
        """Says that a tensor is about to be changed by the node that is being computed."""
        memory = memory_of(tensor)
        if memory in self.given:
            self.copied[memory] = None
            raise _BeginAgainError
        self.changed[memory] = self.position

    def _run(self, node: torch.fx.Node) -> Any:
        if node.op == "placeholder":
            return self._given(real_input(node))
        if node.op == "get_attr":
            return self._given(traced_attribute(str(node.target)))
        if _is_check(node):
            if self.values[node.args[-1]]:
                raise FailsError("a check before it fails")
            return None
        if marker_name(node.target):
            return None
        args = torch.fx.map_arg(node.args, self._operand)
        kwargs = torch.fx.map_arg(node.kwargs, self._operand)
        if node.op == "call_function" and is_torch_function(node.target):
            return node.target(*args, **kwargs)
        # What they are given is computed once more in the backward, and here it is computed once.
        if node.target in CHECKPOINTS:
            return args[0](*args[1:])
        if node.target is torch.ops.higher_order.autograd_function_apply:
            return node.target(*args, **kwargs)
        if node.target is torch.ops.higher_order.cond:
            return args[1 if args[0] else 2](*args[3])
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            raise ImpureError("it hangs on what an operator does with functions")
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        raise ImpureError("it hangs on a part of the graph that is not computed ahead")

    def _operand(self, node: torch.fx.Node) -> Any:
        value = self.values[node]
        if isinstance(value, torch.Tensor) and self.changed.get(memory_of(value), -1) > self.position:
            # It was read as it is later in the program.
            raise _BeginAgainError
        return value

    def _given(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        memory = memory_of(value)
        if memory not in self.copied:
            self.given.add(memory)
            # The program's own tensor may have hooks, and a history that is not in this graph.
            return value.detach().requires_grad_(value.requires_grad) if self.derives else value
        storage = self.copied[memory]
        if storage is None:
            is_plain = type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided
            if not is_plain or value.is_conj() or value.is_neg():
                raise ImpureError("it hangs on an input that is changed, and more than numbers in a row")
            if value.untyped_storage().nbytes() > MAX_COPIED_BYTES:
                raise ImpureError("it hangs on a large input that is changed")
            storage = self.copied[memory] = value.untyped_storage().clone()
        place = (value.storage_offset(), value.size(), value.stride())
        copy = torch.empty(0, dtype=value.dtype, device=value.device).set_(storage, *place)
        return copy.requires_grad_(value.requires_grad) if self.derives else copy


def _beginning(graph: torch.fx.Graph) -> int:
    """How many nodes stand before those of a graph, which is that of a checkpointed function."""
    around = next(filter(None, map(outside, graph.find_nodes(op="placeholder"))), None)
    return 0 if around is None else len(around.graph.nodes) + _beginning(around.graph)


def _prepares_gradients(node: torch.fx.Node, needed: Container[torch.fx.Node]) -> bool:
    """Whether a node, by whose value nothing is computed, decides what has a history."""
    if node.target in ("requires_grad_", torch._functorch.eager_transforms._set_tensor_requires_grad):
        return node.args[0] in needed
    return node.target is torch._C._set_grad_enabled


def _is_check(node: torch.fx.Node) -> bool:
    return marker_name(node.target) in _CHECKS


class _Watch(TorchDispatchMode):  # type: ignore[misc,unused-ignore]
    """Lets through what only computes, and changes of what was made on the way, or copied."""

    def __init__(self, shadow: Shadow) -> None:
        super().__init__()
        self.shadow = shadow

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if marker_name(func):
            # In a checkpointed function.
            if marker_name(func) in _CHECKS and args[-1]:
                raise FailsError("a check before it fails")
            return None
        if func.namespace not in ("aten", "prims") and func is not torch.ops.graphmend.by_python.default:
            raise ImpureError("it hangs on an operator that is not torch's own")
        if any(isinstance(value, torch.Generator) for value in (*args, *(kwargs or {}).values())):
            raise ImpureError("it hangs on random numbers of a generator")
        given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | (kwargs or {})
        changed = [
            given.get(argument.name)
            for argument in func._schema.arguments
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        # Its statistics are changed without a word in its schema.
        if "batch_norm" in func.__name__ and any(value is True for value in given.values()):
            changed += [given.get("running_mean"), given.get("running_var")]
        for value in changed:
            for tensor in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(tensor, torch.Tensor):
                    self.shadow.change(tensor)
        return func(*args, **(kwargs or {}))
