"""Objects from outside that Dynamo has no rule for: what is read of them while it traces, and guarded."""

import array
from types import GeneratorType
from typing import Any

import torch
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import NonSerializableSetGetItemSource
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.lazy import LazyVariableTracker
from torch._dynamo.variables.lists import TupleVariable

from graphmend._torch.tracing import holds_while, on_variables


@on_variables
def items_of(translator: Any, values: Any) -> Any:
    """What an iteration gives, in its order: the tensors of a set, the numbers of an array; or None."""
    value, source = _found(values)
    if source is None:
        return ConstantVariable.create(None)
    if type(value) is set and value and all(isinstance(each, torch.Tensor) for each in value):
        # Each place of the order that the set of a call has; which tensor is there is guarded as any other input is.
        install_guard(source.make_guard(GuardBuilder.TYPE_MATCH), source.make_guard(GuardBuilder.SEQUENCE_LENGTH))
        places = (NonSerializableSetGetItemSource(source, i) for i in range(len(value)))
        return TupleVariable([VariableBuilder(translator, place)(each) for place, each in zip(places, value)])  # noqa: B905
    if type(value) is array.array or type(value) is bytearray:
        kept = _contents(value)
        holds_while(source, lambda found: _contents(found) == kept, f"{source.name} has the same contents")
        return TupleVariable([ConstantVariable.create(each) for each in value])
    return ConstantVariable.create(None)


@on_variables
def has_ended(translator: Any, values: Any) -> Any:
    """Whether this is a generator that has come to its end."""
    value, source = _found(values)
    if source is None or not _has_ended(value):
        return ConstantVariable.create(False)
    holds_while(source, _has_ended, f"{source.name} has come to its end")
    return ConstantVariable.create(True)


def _has_ended(value: object) -> bool:
    return type(value) is GeneratorType and value.gi_frame is None


def _contents(value: Any) -> Any:
    if type(value) is bytearray:
        return bytes(value)
    return (value.typecode, value.tobytes()) if type(value) is array.array else None


def _found(variable: Any) -> tuple[Any, Any]:
    """An object of the program's, and where it was found; nothing of what the frame itself has made."""
    if isinstance(variable, LazyVariableTracker) and not variable.is_realized():
        return variable._cache.value, variable._cache.source
    variable = variable.realize()
    return getattr(variable, "value", None), variable.source
