"""Operators that have a number among their operands, for which Dynamo computes the same in steps, rounded otherwise.

In: their calls while a frame is traced. Out: the operators themselves, with the number that such a tensor has.
"""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.variables import TensorVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

from graphmend._torch.replaced import replaced

# By the name of the method, the operand that is a number.
_NUMBERS = {"add_": "alpha", "addcmul_": "value", "addcdiv_": "value"}
_FUNCTIONS = {torch.addcdiv: ("addcdiv", "value")}


def operators_whole() -> contextlib.AbstractContextManager[None]:
    """Inside, they are traced as they are, and as for Python a tensor that is taken for a number is read."""
    methods = [(TensorVariable, f"method_{name}", _as_method(name, number)) for name, number in _NUMBERS.items()]
    return replaced(*methods, (TorchInGraphFunctionVariable, "call_function", _as_function))


def _as_method(name: str, number: str) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def method(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
            if _is_tensor(kwargs.get(number)):
                return self.call_method(tx, name, list(args), _read(tx, kwargs, number))
            # None is Dynamo's word for the operator itself.
            return None

        return method

    return make


def _as_function(original: Any) -> Any:
    def call_function(self: Any, tx: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        name, number = _FUNCTIONS.get(self.value, ("", ""))
        if number not in kwargs or not args or not _is_tensor(args[0]):
            return original(self, tx, args, kwargs)
        operands = _read(tx, kwargs, number) if _is_tensor(kwargs[number]) else kwargs
        return args[0].realize().call_method(tx, name, list(args[1:]), operands)

    return call_function


def _is_tensor(variable: Any) -> bool:
    return variable is not None and isinstance(variable.realize(), TensorVariable)


def _read(tx: Any, kwargs: dict[str, Any], number: str) -> dict[str, Any]:
    return {**kwargs, number: kwargs[number].realize().call_method(tx, "item", [], {})}
