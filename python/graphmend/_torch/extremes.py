"""`max` and `min` of tensors of one element, and of numbers that may change, as Python compares them.

Dynamo takes them for `torch.maximum` and `torch.minimum`, which pass a NaN on and share the gradient among equals, and
makes a fraction of the whole number that is larger than one. Python keeps the first unless a later one is larger.
"""

import contextlib
import operator
from typing import Any

import torch
import torch.fx
from torch._dynamo.symbolic_convert import compare_op_handlers
from torch._dynamo.variables import (
    BuiltinVariable,
    SymNodeVariable,
    TensorVariable,
    TorchInGraphFunctionVariable,
)
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend._torch.exact import as_constant
from graphmend._torch.graphs import changes_in_place, storage_of
from graphmend._torch.raising import as_double
from graphmend._torch.replaced import replaced

_IS_ONE_OF_TWO = "graphmend_one_of_two"


def extremes_compared() -> contextlib.AbstractContextManager[None]:
    return replaced((BuiltinVariable, "_call_min_max_binary", _comparing))


def _comparing(original: Any) -> Any:
    def call(self: Any, tx: Any, first: Any, second: Any) -> Any:
        # What Dynamo does not compare; then the least of several has none.
        if first is None or second is None:
            return original(self, tx, first, second)
        if _are_of_two_types(first, second):
            exceeds = compare_op_handlers[">" if self.fn is max else "<"](tx, [second, first], {})
            return second if as_constant(tx, exceeds).as_python_constant() else first
        if _are_read(first, second):
            return _joined(self.fn, tx, *(as_double(tx, each) for each in (first, second))).call_method(
                tx, "item", [], {}
            )
        tensors = [_example(each) for each in (first, second)]
        if not _can_be_joined(*tensors):
            return original(self, tx, first, second)
        return _joined(self.fn, tx, first, second)

    return call


def _joined(function: Any, tx: Any, first: Any, second: Any) -> Any:
    exceeds = BuiltinVariable(operator.gt if function is max else operator.lt)
    flag = exceeds.call_function(tx, [second, first], {})
    made = TorchInGraphFunctionVariable(torch.where).call_function(tx, [flag, second, first], {})
    made.as_proxy().node.meta[_IS_ONE_OF_TWO] = True
    return made


def changes_extreme(graph: torch.fx.GraphModule) -> bool:
    """Whether what `max` or `min` gives, which in Python is one of the tensors, is changed in place."""
    made = {storage_of(node) for node in graph.graph.nodes if _IS_ONE_OF_TWO in node.meta}
    return bool(made) and any(storage_of(each) in made for node in graph.graph.nodes for each in changes_in_place(node))


def _are_read(one: Any, other: Any) -> bool:
    """Whether two fractions are compared, one of which is read from a tensor in the graph: sympy, for which there is no
    NaN, would take the larger one for that of two real numbers."""
    numbers = [each.realize() for each in (one, other)]
    if not all(isinstance(each, SymNodeVariable) or each.is_python_constant() for each in numbers):
        return False
    symbols = [each.sym_num for each in numbers if isinstance(each, SymNodeVariable)]
    return {each.python_type() for each in numbers} == {float} and any(map(free_unbacked_symbols, symbols))


def _are_of_two_types(one: Any, other: Any) -> bool:
    """Whether two numbers, one of which may change, are a whole one and a fraction."""
    numbers = [each.realize() for each in (one, other)]
    if not any(isinstance(each, SymNodeVariable) for each in numbers):
        return False
    is_number = all(isinstance(each, SymNodeVariable) or each.is_python_constant() for each in numbers)
    return is_number and {each.python_type() for each in numbers} == {int, float}


def _example(variable: Any) -> Any:
    # Numbers that may change, and arrays of numpy's, are subclasses.
    return variable.proxy.node.meta.get("example_value") if type(variable) is TensorVariable else None


def _can_be_joined(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    # One element by its sizes alone, whatever is a symbol.
    is_single = all(isinstance(size, int) and size == 1 for size in one.shape)
    return is_single and one.shape == other.shape and one.dtype == other.dtype and one.device == other.device
