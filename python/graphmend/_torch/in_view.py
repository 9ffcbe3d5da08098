"""Tensors that are made of whole numbers in view: what is read from them are those numbers.

`int(torch.tensor(x.shape)[0])` is `x.shape[0]`, which Dynamo knows without a look at any value.
"""

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    ListVariable,
    SymNodeVariable,
    TensorVariable,
    TorchInGraphFunctionVariable,
)
from torch._dynamo.variables.base import ValueMutationNew

from graphmend._torch.graphs import changes_in_place, storage_of
from graphmend._torch.replaced import replaced

_MAKERS = (torch.tensor, torch.as_tensor, torch._refs.tensor)


def numbers_in_view() -> contextlib.AbstractContextManager[None]:
    """Inside, `item` and `tolist` look for the numbers that a tensor was made of, and numbers may be symbols in all
    that makes tensors of them."""
    return replaced(
        (TensorVariable, "method_item", _read_by(_the_only)),
        (TensorVariable, "method_tolist", _read_by(lambda known: known)),
        (TorchInGraphFunctionVariable, "call_function", _made),
    )


def _read_by(take: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def method(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
            proxy = self.as_proxy()
            known = take(_numbers(proxy.node)) if not (args or kwargs) else None
            return original(self, tx, *args, **kwargs) if known is None else _as_variables(proxy, known)

        return method

    return make


def _the_only(known: Any) -> Any:
    """The number that a tensor of one holds; None of others."""
    while isinstance(known, (list, tuple)):
        known = known[0] if len(known) == 1 else None
    return known


def _as_variables(proxy: Any, known: Any) -> Any:
    if isinstance(known, (list, tuple)):
        return ListVariable([_as_variables(proxy, each) for each in known], mutation_type=ValueMutationNew())
    if isinstance(known, torch.fx.Node):
        return SymNodeVariable(torch.fx.Proxy(known, proxy.tracer), known.meta["example_value"])
    return ConstantVariable.create(known)


def _numbers(node: torch.fx.Node) -> Any:
    """The numbers that a tensor holds, nested as they are there: numbers, and nodes of those that may change; None if
    they are not known."""
    if node.op != "call_function" or not node.args:
        return None
    if node.target in _MAKERS:
        return node.args[0] if _is_as_made(node) and _are_whole(node.args[0]) else None
    if node.target is operator.getitem and type(node.args[1]) is int:
        assert isinstance(node.args[0], torch.fx.Node)
        held = _numbers(node.args[0])
        index = node.args[1]
        return held[index] if isinstance(held, (list, tuple)) and -len(held) <= index < len(held) else None
    return None


def _is_as_made(node: torch.fx.Node) -> bool:
    """Whether a tensor of whole numbers is what it was when it was made. Autograd does not count all changes."""
    value = node.meta["example_value"]
    if value.dtype != torch.int64 or value.is_inference() or value._version:
        return False
    changed = (storage_of(each) for other in node.graph.nodes for each in changes_in_place(other))
    return storage_of(node) not in changed


def _are_whole(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return all(map(_are_whole, data))
    return type(data) is int or (
        isinstance(data, torch.fx.Node) and isinstance(data.meta.get("example_value"), torch.SymInt)
    )


def _made(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value is torch.as_tensor and len(args) == 1:
            data = args[0].realize()
            if _has_symbol(data):
                # It copies what is no tensor, as `tensor` does, which takes symbols for what they are.
                self = TorchInGraphFunctionVariable(torch.tensor)
        return original(self, tx, args, kwargs)

    return call_function


def _has_symbol(data: Any) -> bool:
    """Whether something consists of numbers, one of which may change."""
    leaves = _leaves(data)
    is_symbol = [isinstance(each, SymNodeVariable) for each in leaves]
    return any(is_symbol) and all(map(operator.or_, is_symbol, (each.is_python_constant() for each in leaves)))


def _leaves(data: Any) -> list[Any]:
    data = data.realize()
    return [leaf for each in data.items for leaf in _leaves(each)] if isinstance(data, BaseListVariable) else [data]
