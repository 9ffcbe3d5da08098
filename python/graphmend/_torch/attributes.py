"""What Dynamo reads of an input tensor without a guard: the history that it has, and whether it is a view.

In: traces. Out: the same, compiled for inputs of which these say the same. What Dynamo reads of its own stand-in, which
has no hooks and is nobody's output, breaks the graph; what no tensor has raises, as it does in Python, where it is read
and not after the graph, if its value is still wanted there.
"""

import contextlib
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, TensorVariable

from graphmend._torch.own_breaks import leave_to_python
from graphmend._torch.replaced import replaced
from graphmend._torch.texts import raise_as_python
from graphmend._torch.tracing import holds_as_it_is, stand_in

_GUARDED = frozenset(["_base", "grad_fn", "is_leaf"])
_UNKNOWN = frozenset(["_backward_hooks", "output_nr", "retains_grad"])
NOT_OF_STAND_INS = _GUARDED | _UNKNOWN


def attributes_guarded() -> contextlib.AbstractContextManager[None]:
    return replaced((TensorVariable, "var_getattr", _guarding))


def _guarding(original: Any) -> Any:
    def var_getattr(self: Any, tx: Any, name: str) -> Any:
        if name in _UNKNOWN and self.source is not None:
            why = f"Dynamo traces with a tensor of its own, whose `{name}` is another."
            leave_to_python("Attribute of an input tensor that Dynamo does not know", name, why)
        if name in _GUARDED and self.source is not None:
            holds_as_it_is(self.source, lambda tensor: _told(tensor, name), f"{name} of a tensor")
            given = _given(self) if name == "_base" else None
            if given is not None and given._base is None:
                # Of a stand-in that may not be so.
                return ConstantVariable.create(None)
        if self.source is None and type(self) is TensorVariable and _is_missing(self, name):
            text = f"'{self.python_type().__name__}' object has no attribute '{name}'"
            raise_as_python(AttributeError, tx, text)
        return original(self, tx, name)

    return var_getattr


def _is_missing(variable: Any, name: str) -> bool:
    """Whether no tensor has it. What is to come of another process is a tensor to Dynamo, which can wait."""
    is_plain = variable.python_type() in (torch.Tensor, torch.nn.Parameter)
    return is_plain and not hasattr(torch.Tensor, name) and name != "wait"


def _given(variable: Any) -> Any:
    """The tensor that an input's variable stands for, also where the variable has become another of the graph."""
    first = getattr(variable, "_graphmend_key", stand_in(variable))
    nodes = variable.as_proxy().node.graph.nodes
    inputs = (each.meta for each in nodes if each.op == "placeholder" and "grapharg" in each.meta)
    return next((meta["grapharg"].example for meta in inputs if meta["example_value"] is first), None)


def _told(tensor: Any, name: str) -> bool:
    """What it says, or whether there is anything: Dynamo makes nothing of what there is."""
    value = getattr(tensor, name)
    return value if isinstance(value, bool) else value is None
