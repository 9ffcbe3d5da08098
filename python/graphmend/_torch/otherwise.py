"""What Dynamo makes something else of than Python does, and nobody sees while a break leaves it to Python.

In: traces. Out: the same, in which the `__dict__` of an object that was made is that object's. Sets of a class of the
program's, numbers that numpy or a `random.Random` draws, quantiles of numpy's, tensors that no array can be, a number
of Python's `random` that would decide a result's type, and a name that is given twice break the graph.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import (
    ConstDictVariable,
    NumpyVariable,
    TensorVariable,
    UserDefinedObjectVariable,
    UserDefinedSetVariable,
    dicts,
)
from torch._dynamo.variables.base import AttributeMutationNew
from torch._dynamo.variables.misc import RandomVariable
from torch.utils import _pytree as pytree

from graphmend._torch.graphs import lends_its_type
from graphmend._torch.instructions import on_instructions
from graphmend._torch.markers import marker_name
from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced

_OF_ARRAYS = frozenset(
    f"torch.{name}"
    for name in (
        "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
    )
)
_OF_RANKS = frozenset("median nanmedian percentile nanpercentile quantile nanquantile".split())
# Not before torch 2.13.
_OWN_DICT: Any = getattr(dicts, "DunderDictVariable", None)


def left_as_in_python() -> contextlib.AbstractContextManager[None]:
    parts: list[tuple[Any, str, Callable[[Any], Any]]] = [
        (PyCodegen, "__call__", _put_back),
        (SideEffects, "codegen_update_mutated", _written_back),
        (SideEffects, "store_attr", _exchanged),
        (UserDefinedObjectVariable, "var_getattr", _read),
        (NumpyVariable, "call_function", _drawn),
        (RandomVariable, "call_method", _drawn_by_object),
        (TensorVariable, "method_numpy", _as_array),
        (OutputGraph, "create_proxy", _met_by_drawn),
        *on_instructions(_given_once, "DICT_MERGE"),
    ]
    if _OWN_DICT is not None:
        parts += [(_OWN_DICT, "__init__", _owned), (_OWN_DICT, "reconstruct", _as_its_own)]
    return replaced(*parts)


def _put_back(original: Any) -> Any:
    def generate(self: Any, value: Any, *more: Any, **options: Any) -> Any:
        if isinstance(value, UserDefinedSetVariable) and isinstance(value.mutation_type, AttributeMutationNew):
            is_mutable = isinstance(value.value, set)
            if value.source is None or (is_mutable and _members(value).set_items):
                leave_to_python(
                    "Set of a class of the program's leaves the graph", value, "Dynamo makes an empty one of it."
                )
        return original(self, value, *more, **options)

    return generate


def _members(variable: Any) -> Any:
    return variable._base_vt if hasattr(variable, "_base_vt") else variable._set_vt


def _written_back(original: Any) -> Any:
    def generate(self: Any, *args: Any, **options: Any) -> Any:
        for each in self.id_to_variable.values():
            is_given = isinstance(each, UserDefinedSetVariable) and not isinstance(
                each.mutation_type, AttributeMutationNew
            )
            if is_given and self.is_modified(_members(each)):
                leave_to_python("Set of a class of the program's is changed", each, "Dynamo does not write it back.")
        return original(self, *args, **options)

    return generate


def _owned(original: Any) -> Any:
    """What is made lives while a variable holds it as its own."""

    def init(self: Any, vt: Any, *args: Any, **options: Any) -> None:
        original(self, vt, *args, **options)
        self.owner = vt

    return init


def _as_its_own(original: Any) -> Any:
    def reconstruct(self: Any, codegen: Any) -> None:
        if not isinstance(self.owner, UserDefinedObjectVariable):
            original(self, codegen)
            return
        codegen(self.owner)
        codegen.extend_output([codegen.create_load_attr("__dict__")])

    return reconstruct


def _exchanged(original: Any) -> Any:
    def store_attr(self: Any, item: Any, name: str, value: Any, *more: Any, **options: Any) -> Any:
        if name == "__dict__" and isinstance(item, UserDefinedObjectVariable):
            had = self.store_attr_mutations.get(item) or getattr(item.value, "__dict__", None)
            if had:
                leave_to_python("An object is given another `__dict__`", item, "Dynamo reads what it had before.")
        return original(self, item, name, value, *more, **options)

    return store_attr


def _read(original: Any) -> Any:
    def var_getattr(self: Any, tx: Any, name: str) -> Any:
        if name == "__dict__" or not hasattr(type(self.value), name):
            _leave_if_exchanged(tx.output.side_effects, self)
        return original(self, tx, name)

    return var_getattr


def _leave_if_exchanged(effects: Any, variable: Any) -> None:
    """Of a dict that is not a plain one, such as the object itself, Dynamo does not read what it holds."""
    given = effects.store_attr_mutations.get(variable, {}).get("__dict__")
    if given is not None and type(given.realize()) is not ConstDictVariable:
        leave_to_python("An attribute from an object's other `__dict__`", variable, "Dynamo does not look there.")


def _drawn(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        # Most functions of `numpy.random` are methods of a stream.
        owner = type(getattr(self.value, "__self__", None))
        if any(str(each.__module__).startswith("numpy.random") for each in (self.value, owner)):
            leave_to_python("Numbers that numpy draws", self.value, "Dynamo draws others.")
        if getattr(self.value, "__name__", "") in _OF_RANKS:
            leave_to_python(
                "Quantiles of numpy's", self.value, "Dynamo rounds them otherwise, or gives them a dimension."
            )
        return original(self, tx, args, kwargs)

    return call_function


def _drawn_by_object(original: Any) -> Any:
    def call_method(self: Any, tx: Any, name: str, *args: Any, **options: Any) -> Any:
        leave_to_python("A method of a `random.Random`", name, "Dynamo goes on from the state that it has traced.")

    return call_method


def _as_array(original: Any) -> Any:
    def method_numpy(self: Any, *args: Any, force: Any = False, **options: Any) -> Any:
        tensor = self.as_proxy().node.meta["example_value"]
        is_forced = bool(force and force.as_python_constant())
        has_more = tensor.requires_grad or tensor.is_conj() or tensor.is_neg() or tensor.device.type != "cpu"
        if str(tensor.dtype) not in _OF_ARRAYS or (has_more and not is_forced):
            leave_to_python("A tensor that has no array", self, "Python raises, and Dynamo does not.")
        return original(self, *args, force=force, **options)

    return method_numpy


def _met_by_drawn(original: Any) -> Any:
    def create_proxy(self: Any, kind: str, target: Any, args: Any, kwargs: Any, *more: Any, **options: Any) -> Any:
        if self.random_calls and kind.startswith("call_") and not marker_name(target):
            operands = [each.node for each in pytree.tree_leaves((args, kwargs)) if isinstance(each, torch.fx.Proxy)]
            if lends_its_type(operands, _outside(self.current_tracer)):
                leave_to_python(
                    "A number of `random` decides a type", target, "Dynamo takes the number for a tensor of a double."
                )
        return original(self, kind, target, args, kwargs, *more, **options)

    return create_proxy


def _outside(tracer: Any) -> dict[torch.fx.Node, torch.fx.Node]:
    """What the inputs of the function that is traced for an operator are in the graph around it."""
    found: dict[torch.fx.Node, torch.fx.Node] = {}
    while tracer.parent is not None:
        found |= {inside.node: around.node for around, inside in tracer.lifted_freevars.items()}
        tracer = tracer.parent
    return found


def _given_once(original: Any) -> Any:
    def merge(self: Any, instruction: Any) -> None:
        named, more = self.stack[-instruction.arg - 1].realize(), self.stack[-1].realize()
        keys = list(getattr(more, "items", None) or ())
        if any(key in named.items or key.vt.python_type() is not str for key in keys):
            leave_to_python("A name is given twice, or is none", instruction, "Dynamo takes what is given last.")
        original(self, instruction)

    return merge
