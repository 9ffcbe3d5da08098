"""`x[i]`, where `i` is a tensor of one integer: torch reads the number; Dynamo does so while numbers are captured."""

import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    SliceVariable,
    TensorVariable,
    TupleVariable,
    VariableTracker,
)

from graphmend._torch.replaced import replaced

_INTEGERS = frozenset([torch.int64, torch.int32, torch.int16, torch.int8])


def elements_by_number() -> contextlib.AbstractContextManager[None]:
    """Inside, what stands between the brackets of a tensor is read as a number where torch would."""
    return replaced(
        (BuiltinVariable, "call_function", _getitem_with_numbers),
        (TensorVariable, "method___getitem__", _getitem_method),
        (TensorVariable, "method___setitem__", _setitem_method),
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
            return original(self, tx, _as_number(tx, key), value)
        getitem = VariableTracker.build(tx, operator.getitem)
        view = _select(tx, lambda others: getitem.call_function(tx, [self, others], {}), parts)
        done = original(view, tx, VariableTracker.build(tx, ...), value)
        # A view that is changed changes what it is of: its history, and whether it has one.
        self.synchronize_attributes(tx)
        return done

    return method


def _take(tx: Any, tensor: Any, key: Any, take: Callable[[Any], Any]) -> Any:
    """What `take` takes of a tensor by a key that has no tensor of one integer; here it may."""
    parts = _parts_with_numbers(tx, tensor, key)
    return take(_as_number(tx, key)) if parts is None else _select(tx, take, parts)


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
        number = _as_number(tx, parts[at])
        found = found.call_method(tx, "select", [VariableTracker.build(tx, dimension), number], {})
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


def _as_number(tx: Any, key: Any) -> Any:
    return key.call_method(tx, "item", [], {}) if _is_number(key) else key


def _is_number(key: Any) -> bool:
    key = key.realize()
    return isinstance(key, TensorVariable) and key.ndim == 0 and key.dtype in _INTEGERS
