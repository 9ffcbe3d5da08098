"""`x[i]`, where `i` is a tensor of one integer: torch reads the number; Dynamo does so while numbers are captured.

A position that is a symbol may be none of the tensor's: backends then leave out what nobody wants, or read some memory.
So a check in the graph tells, and zero stands for it.
"""

import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    SliceVariable,
    SymNodeVariable,
    TensorVariable,
    TorchInGraphFunctionVariable,
    TupleVariable,
    VariableTracker,
)
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend._torch.raising import as_tensor, check
from graphmend._torch.replaced import replaced

_INTEGERS = frozenset([torch.int64, torch.int32, torch.int16, torch.int8])


def elements_by_number() -> contextlib.AbstractContextManager[None]:
    """Inside, what stands between the brackets of a tensor is read as a number where torch would."""
    return replaced(
        (BuiltinVariable, "call_function", _getitem_with_numbers),
        (TensorVariable, "method___getitem__", _getitem_method),
        (TensorVariable, "method___setitem__", _setitem_method),
        (TensorVariable, "call_method", _select_method),
        (TorchInGraphFunctionVariable, "call_function", _select_function),
    )


def _getitem_with_numbers(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        if self.fn is not operator.getitem or not isinstance(args[0].realize(), TensorVariable):
            return original(self, tx, args, kwargs)
        tensor = args[0].realize()
        return _take(tx, tensor, args[1].realize(), lambda key: original(self, tx, [tensor, key], kwargs))

    return call_function


def _getitem_method(original: Any) -> Any:
    def method(self: Any, tx: Any, key: Any) -> Any:
        return _take(tx, self, key.realize(), lambda key: original(self, tx, key))

    return method


def _setitem_method(original: Any) -> Any:
    def method(self: Any, tx: Any, key: Any, value: Any) -> Any:
        parts = _parts_with_numbers(tx, self, key.realize())
        if parts is None:
            return original(self, tx, _position(tx, self, 0, key), value)
        getitem = VariableTracker.build(tx, operator.getitem)
        view = _select(tx, lambda others: getitem.call_function(tx, [self, others], {}), parts)
        done = original(view, tx, VariableTracker.build(tx, ...), value)
        # A view that is changed changes what it is of: its history, and whether it has one.
        self.synchronize_attributes(tx)
        return done

    return method


def _select_method(original: Any) -> Any:
    def call_method(self: Any, tx: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if name == "select" and len(args) == 2 and not kwargs and _is_constant(args[0], int):
            args = [args[0], _position(tx, self, args[0].as_python_constant(), args[1].realize())]
        return original(self, tx, name, args, kwargs)

    return call_method


def _select_function(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if self.value is torch.select and len(args) == 3 and isinstance(args[0].realize(), TensorVariable):
            return args[0].realize().call_method(tx, "select", list(args[1:]), kwargs)
        return original(self, tx, args, kwargs)

    return call_function


def _take(tx: Any, tensor: Any, key: Any, take: Callable[[Any], Any]) -> Any:
    """What `take` takes of a tensor by a key that has no tensor of one integer; here it may."""
    parts = _parts_with_numbers(tx, tensor, key)
    return take(_position(tx, tensor, 0, key)) if parts is None else _select(tx, take, parts)


def _select(tx: Any, take: Callable[[Any], Any], parts: list[Any]) -> Any:
    """What is between brackets, one after the other: where one of several is a symbol, Python's own way of indexing
    wants to know it."""
    all_of_it = VariableTracker.build(tx, slice(None))
    places = [i for i, part in enumerate(parts) if _is_number(part)]
    # What comes behind the last symbol is taken last, as torch does: the result says by what it was made.
    behind = parts[places[-1] + 1 :]
    before = [all_of_it if i in places else part for i, part in enumerate(parts[: places[-1] + 1])]
    found = take(TupleVariable(before))
    for at in reversed(places):
        dimension = sum(not _is_constant(part, int) for part in before[:at])
        found = found.call_method(tx, "select", [VariableTracker.build(tx, dimension), parts[at]], {})
    if all(map(_is_all, behind)):
        return found
    kept = sum(not _is_constant(part, int) for part in before) - len(places)
    getitem = VariableTracker.build(tx, operator.getitem)
    return getitem.call_function(tx, [found, TupleVariable([all_of_it] * kept + behind)], {})


def _parts_with_numbers(tx: Any, tensor: Any, key: Any) -> list[Any] | None:
    """The parts of a key in which tensors of one integer stand among slices and numbers, if there is nothing else."""
    if not isinstance(key, TupleVariable) or not any(map(_is_number, key.items)):
        return None
    parts = []
    taken = sum(not _is_constant(each, type(None), type(...)) for each in key.items)
    for part in (each.realize() for each in key.items):
        if _is_constant(part, type(...)):
            parts += [VariableTracker.build(tx, slice(None))] * (tensor.ndim - taken)
        elif _is_number(part) or isinstance(part, SliceVariable) or _is_constant(part, int, type(None)):
            parts.append(part)
        else:
            return None
    return parts


def _is_all(part: Any) -> bool:
    return isinstance(part, SliceVariable) and all(_is_constant(each, type(None)) for each in part.items)


def _is_constant(part: Any, *kinds: type) -> bool:
    part = part.realize()
    return isinstance(part, ConstantVariable) and type(part.value) in kinds


def _position(tx: Any, tensor: Any, dimension: int, key: Any) -> Any:
    """A key that says one position, as a number that is one of the tensor's, with a check; any other key as it is."""
    if _is_symbol(key):
        key = as_tensor(tx, key, torch.int64)
    elif not _is_number(key):
        return key
    if not tensor.ndim:
        return key.call_method(tx, "item", [], {})
    size = tensor.call_method(tx, "size", [ConstantVariable.create(dimension)], {})
    behind = BuiltinVariable(operator.ge).call_function(tx, [key, size], {})
    before = BuiltinVariable(operator.lt).call_function(
        tx, [key, BuiltinVariable(operator.neg).call_function(tx, [size], {})], {}
    )
    outside = TorchInGraphFunctionVariable(torch.logical_or).call_function(tx, [behind, before], {})
    check(tx, outside)
    within = [outside, ConstantVariable.create(0), key]
    return TorchInGraphFunctionVariable(torch.where).call_function(tx, within, {}).call_method(tx, "item", [], {})


def _is_symbol(key: Any) -> bool:
    return (
        isinstance(key, SymNodeVariable)
        and isinstance(key.sym_num, torch.SymInt)
        and bool(free_unbacked_symbols(key.sym_num))
    )


def _is_number(key: Any) -> bool:
    key = key.realize()
    return isinstance(key, TensorVariable) and key.ndim == 0 and key.dtype in _INTEGERS
