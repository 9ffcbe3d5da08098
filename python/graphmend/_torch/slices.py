"""`slice(a, t)`, where `t` is a tensor: Dynamo reads its number at once; to the program the slice has the tensor.

In: traces in which numbers are captured; else Dynamo breaks there. Out: the same, in which a slice that is looked at,
or handed out, has what it was made of.
"""

import contextlib
from collections.abc import Sequence
from typing import Any

from torch._dynamo.variables import ConstantVariable, SliceVariable, TensorVariable

from graphmend._torch.replaced import replaced


def slices_as_given() -> contextlib.AbstractContextManager[None]:
    """Inside, the parts of a slice are what it was given."""
    return replaced(
        (SliceVariable, "__init__", _keeping_parts),
        (SliceVariable, "var_getattr", _with_parts),
        (SliceVariable, "reconstruct", _with_parts),
        (SliceVariable, "is_python_constant", _no_constant),
    )


def _keeping_parts(original: Any) -> Any:
    # A variable is copied by its attributes.
    def init(self: Any, items: Sequence[Any], tx: Any = None, given: Any = None, **more: Any) -> None:
        original(self, items, tx, **more)
        parts = [each.realize() for each in items]
        if any(isinstance(each, TensorVariable) for each in parts):
            none = ConstantVariable.create(None)
            given = (none, *parts, none) if len(parts) == 1 else (*parts, none)[:3]
        if given is not None:
            self.given = given

    return init


def _with_parts(original: Any) -> Any:
    def method(self: Any, *args: Any) -> Any:
        numbers = self.items
        self.items = getattr(self, "given", numbers)
        try:
            return original(self, *args)
        finally:
            self.items = numbers

    return method


def _no_constant(original: Any) -> Any:
    return lambda self: not hasattr(self, "given") and original(self)
