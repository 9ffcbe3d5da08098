"""`x[i]`, where `i` is a tensor of one integer: torch reads the number; Dynamo does so while numbers are captured."""

import contextlib
import operator
from collections.abc import Iterator, Sequence
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

_INTEGERS = frozenset([torch.int64, torch.int32, torch.int16, torch.int8])


@contextlib.contextmanager
def elements_by_number() -> Iterator[None]:
    """Inside, what stands between the brackets of a tensor is read as a number where torch would."""
    replaced = [
        (BuiltinVariable, "call_function", _getitem_with_numbers),
        (TensorVariable, "method___getitem__", _method_with_numbers),
        (TensorVariable, "method___setitem__", _method_with_numbers),
    ]
    originals = [(kind, name, getattr(kind, name)) for kind, name, _ in replaced]
    for kind, name, replace in replaced:
        setattr(kind, name, replace(getattr(kind, name)))
    try:
        yield
    finally:
        for kind, name, original in originals:
            setattr(kind, name, original)


def _getitem_with_numbers(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: Any) -> Any:
        if self.fn is not operator.getitem or not isinstance(args[0].realize(), TensorVariable):
            return original(self, tx, args, kwargs)
        tensor, key = args[0].realize(), args[1].realize()
        places = _places_of_numbers(key)
        if not places:
            return original(self, tx, [tensor, _as_number(tx, key)], kwargs)
        # Where one of several is a symbol, Python's own way of indexing wants to know it.
        all_of_it = VariableTracker.build(tx, slice(None))
        parts = [all_of_it if i in places else part for i, part in enumerate(key.items)]
        found = original(self, tx, [tensor, TupleVariable(parts)], kwargs)
        for at in reversed(places):
            dimension = sum(not _is_constant(part, int) for part in parts[:at])
            number = _as_number(tx, key.items[at])
            found = found.call_method(tx, "select", [VariableTracker.build(tx, dimension), number], {})
        return found

    return call_function


def _places_of_numbers(key: Any) -> list[int]:
    """Where tensors of one integer stand among slices and numbers, if there is nothing else."""
    if not isinstance(key, TupleVariable):
        return []
    places = [i for i, part in enumerate(key.items) if _is_number(part)]
    others = [part.realize() for i, part in enumerate(key.items) if i not in places]
    plain = all(isinstance(each, SliceVariable) or _is_constant(each, int, type(None)) for each in others)
    return places if plain else []


def _is_constant(part: Any, *kinds: type) -> bool:
    part = part.realize()
    return isinstance(part, ConstantVariable) and type(part.value) in kinds


def _method_with_numbers(original: Any) -> Any:
    def method(self: Any, tx: Any, key: Any, *rest: Any, **named: Any) -> Any:
        return original(self, tx, _as_number(tx, key), *rest, **named)

    return method


def _as_number(tx: Any, key: Any) -> Any:
    return key.call_method(tx, "item", [], {}) if _is_number(key) else key


def _is_number(key: Any) -> bool:
    key = key.realize()
    return isinstance(key, TensorVariable) and key.ndim == 0 and key.dtype in _INTEGERS
