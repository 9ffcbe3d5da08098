"""Objects from outside that Dynamo has no rule for: what is read of them while it traces, and guarded."""

import array
import builtins
import functools
import operator
import sys
from types import GeneratorType
from typing import Any

import torch
from torch._dynamo import source as sources
from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.variables import ConstantVariable, ConstDictVariable, LazyVariableTracker, TupleVariable
from torch._dynamo.variables import iter as iterators
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.dicts import DictViewVariable

from graphmend._torch.tracing import holds_while, on_variables

# Older versions of torch lack these.
_PLACE_IN_SET: Any = getattr(sources, "NonSerializableSetGetItemSource", None)
_DICT_ITERATOR: Any = getattr(iterators, "DictViewIterator", None)


@on_variables
def items_of(translator: Any, values: Any) -> Any:
    """What an iteration gives, in its order: the tensors of a set, the numbers of an array; or None."""
    value, source = _found(values)
    if source is None:
        return ConstantVariable.create(None)
    is_set = _PLACE_IN_SET is not None and type(value) is set and bool(value)
    if is_set and all(isinstance(each, torch.Tensor) for each in value):
        # Each place of the order that the set of a call has; which tensor is there is guarded as any other input is.
        install_guard(source.make_guard(GuardBuilder.TYPE_MATCH), source.make_guard(GuardBuilder.SEQUENCE_LENGTH))
        places = (_PLACE_IN_SET(source, i) for i in range(len(value)))
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


@on_variables
def changes_imports(translator: Any) -> Any:
    """Whether the frame has changed what an import goes by; that shows outside only when the graph has run."""
    effects = translator.output.side_effects
    tables = (sys.modules, sys.path, sys.meta_path, sys.path_hooks, sys.path_importer_cache)
    known = [effects.id_to_variable.get(id(each)) for each in (sys, builtins, *tables, *sys.meta_path)]
    return ConstantVariable.create(any(each is not None and effects.is_modified(each) for each in known))


@on_variables
def iterator_over(translator: Any, values: Any) -> Any:
    """`iter(values)` of a dict, or of its keys, values or items, which can leave the graph as long as it is unused."""
    values = values.realize()
    if _DICT_ITERATOR is None or not isinstance(values, (DictViewVariable, ConstDictVariable)):
        return ConstantVariable.create(None)
    iterator = values.tp_iter_impl(translator)
    if not isinstance(iterator, _DICT_ITERATOR):
        return ConstantVariable.create(None)
    iterator.reconstruct = functools.partial(_make_again, iterator, values)
    return iterator


def _make_again(iterator: Any, values: Any, codegen: Any) -> None:
    """Has `iter(values)` called after the graph, which is the same if nothing was taken and the dict is what it was."""
    held = values.dv_dict if isinstance(values, DictViewVariable) else values
    # The length that an iterator expects is none once its dict has another.
    is_unused = operator.length_hint(iterator._iter) == len(held.items)
    # Changes to what came from outside are written back last.
    if not is_unused or (held.source is not None and codegen.tx.output.side_effects.is_modified(held)):
        # So Dynamo is told that it cannot be made again, and breaks the graph.
        raise NotImplementedError
    codegen.add_push_null(lambda: codegen.load_import_from("builtins", "iter"))
    codegen(values)
    codegen.extend_output(create_call_function(1, False))


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
