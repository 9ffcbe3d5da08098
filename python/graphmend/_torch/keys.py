"""Objects that say themselves what they are equal to, as keys, as members of sets, or looked for in a list.

In: traces. Out: the same, in which such objects are compared by their own `__eq__`, which Dynamo does by identity. What
was made in the frame, and hashes itself, cannot be put into a dict or a set behind the graph, where its attributes are
not written yet: that breaks the graph.
"""

import contextlib
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from torch._dynamo import variables
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    FrozenDataClassVariable,
    SetVariable,
    TupleVariable,
    UserDefinedObjectVariable,
    lists,
)
from torch._dynamo.variables.base import AttributeMutationNew

from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced
from graphmend._torch.tracing import stand_in

# Before torch 2.13 these are elsewhere, or not at all.
_HASHABLE: Any = getattr(variables, "hashable", None)
_PROTOCOL: Any = getattr(variables, "object_protocol", None)


def keys_compared() -> contextlib.AbstractContextManager[None]:
    if not hasattr(_HASHABLE, "HashableTracker") or not hasattr(_PROTOCOL, "generic_richcompare_bool"):
        return contextlib.nullcontext()
    parts: list[tuple[Any, str, Callable[[Any], Any]]] = [
        (_HASHABLE.HashableTracker, "__eq__", _compared),
        (FrozenDataClassVariable, "hash_impl", _hashed),
        *((kind, "is_python_equal", _compared_inside) for kind in (UserDefinedObjectVariable, FrozenDataClassVariable)),
        (ConstDictVariable, "install_dict_contains_guard", _guarded),
        (lists, "iter_contains", _contained),
        (PyCodegen, "__call__", _put_back),
    ]
    return replaced(*parts)


def _compared(original: Any) -> Any:
    def equals(self: Any, other: Any) -> Any:
        if not isinstance(other, _HASHABLE.HashableTracker):
            return original(self, other)
        left, right = _known(self.vt), _known(other.vt)
        if left is right:
            return True
        if _compares(left) or _compares(right):
            return _are_equal(left, right)
        is_lazy = left is not self.vt or right is not other.vt
        is_object = isinstance(left, UserDefinedObjectVariable)
        return left.is_python_equal(right) if is_lazy and is_object else original(self, other)

    return equals


def _compared_inside(original: Any) -> Any:
    """Of what stands in a tuple, say."""

    def is_python_equal(self: Any, other: Any) -> Any:
        return _are_equal(self, _known(other)) if _compares(self) else original(self, other)

    return is_python_equal


def _hashed(original: Any) -> Any:
    def hash_impl(self: Any, tx: Any) -> Any:
        is_plain = _is_generated(self, "__hash__")
        return original(self, tx) if is_plain else UserDefinedObjectVariable.hash_impl(self, tx)

    return hash_impl


def _guarded(original: Any) -> Any:
    """Dynamo guards on whether a dict has a key if that is a constant, or came from outside."""

    def install(self: Any, tx: Any, args: Any) -> Any:
        key = args[0].realize()
        is_made = key.source is None and isinstance(key, (UserDefinedObjectVariable, TupleVariable))
        if is_made and self.source is not None and not tx.output.side_effects.is_modified(self):
            self.install_dict_keys_match_guard()
        return original(self, tx, args)

    return install


def _contained(original: Any) -> Any:
    def contains(items: Any, search: Any, tx: Any, *more: Any, **options: Any) -> Any:
        known, wanted = [_known(each) for each in items], _known(search)
        if wanted.is_tensor() and known and known[0].is_tensor() and stand_in(known[0]) is stand_in(wanted):
            # Not compared: what is the same is found. What stands before it would be.
            return ConstantVariable.create(True)
        if not any(_compares(each) for each in [*known, wanted]):
            return original(items, search, tx, *more, **options)
        return ConstantVariable.create(any(_are_equal(each.realize(), wanted) for each in known))

    return contains


def _put_back(original: Any) -> Any:
    def generate(self: Any, value: Any, allow_cache: bool = True) -> Any:
        is_loaded = allow_cache and getattr(value, "source", None) is not None
        if isinstance(value, (ConstDictVariable, SetVariable)) and isinstance(value.items, dict) and not is_loaded:
            unready = next((key for key in value.items if _is_unready(key.vt, self.tx.output.side_effects)), None)
            if unready is not None:
                what = "Object that hashes itself, as a key that leaves the graph"
                leave_to_python(what, unready.vt, "Its attributes are written after it is hashed.")
        return original(self, value, allow_cache)

    return generate


def _are_equal(left: Any, right: Any) -> bool:
    tx = InstructionTranslator.current_tx()
    result = _PROTOCOL.generic_richcompare_bool(tx, left, right, "__eq__")
    if not result.is_python_constant():
        what = "Comparison of objects that is not known while tracing"
        leave_to_python(what, f"{left} == {right}", "Whether a key or a member is found depends on it.")
    return bool(result.as_python_constant())


def _known(variable: Any) -> Any:
    """What a variable has turned out to be, if Dynamo has looked."""
    return variable.realize() if variable.is_realized() else variable


def _compares(variable: Any) -> bool:
    """Whether code of the program's says what is equal. Of frozen dataclasses Dynamo does what theirs would."""
    if isinstance(variable, TupleVariable):
        return any(_compares(_known(each)) for each in variable.items)
    if not isinstance(variable, UserDefinedObjectVariable) or _is_generated(variable, "__eq__"):
        return False
    return isinstance(type(variable.value).__eq__, FunctionType)


def _is_generated(variable: Any, name: str) -> bool:
    """Whether a frozen dataclass has a method as `dataclass` makes it, of all its fields."""
    if not isinstance(variable, FrozenDataClassVariable):
        return False
    method: Any = getattr(type(variable.value), name)
    fields = type(variable.value).__dataclass_fields__.values()
    is_made = isinstance(method, FunctionType) and method.__code__.co_filename == "<string>"
    return is_made and all(each.compare and each.hash is None for each in fields)


def _is_unready(variable: Any, effects: SideEffects) -> bool:
    return any(_hashes(each) and _is_new(each, effects) for each in _held(_known(variable)))


def _held(variable: Any) -> Iterator[Any]:
    yield variable
    if isinstance(variable, TupleVariable):
        for each in variable.items:
            yield from _held(_known(each))


def _hashes(variable: Any) -> bool:
    is_object = isinstance(variable, UserDefinedObjectVariable) and not isinstance(variable, FrozenDataClassVariable)
    return is_object and isinstance(type(variable.value).__hash__, FunctionType)


def _is_new(variable: Any, effects: SideEffects) -> bool:
    return isinstance(variable.mutation_type, AttributeMutationNew) or effects.has_pending_mutation(variable)
