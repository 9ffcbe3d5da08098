"""Functions of floats that Python alone computes to its last digit: an operator in the graph has Python compute them.

`t ** 2` is not `t * t`, and no two libraries have the same logarithm. Where Python raises, the operator says so.
"""

import contextlib
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    ListVariable,
    SymNodeVariable,
    TorchInGraphFunctionVariable,
)

from graphmend._torch.raising import as_double, check, fits_double
from graphmend._torch.replaced import replaced
from graphmend._torch.symbols import read_symbols

_MATH = """acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees erf erfc exp exp2 expm1 fabs fmod gamma
hypot isfinite isinf isnan lgamma log log10 log1p log2 nextafter pow radians remainder sin sinh tan tanh ulp""".split()

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"math.{name}": getattr(math, name) for name in _MATH if hasattr(math, name)},
    "pow": operator.pow,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "__round__": lambda number, digits: round(number, int(digits)),
    "is_integer": float.is_integer,
}
_TRUTHS = frozenset(["math.isfinite", "math.isinf", "math.isnan", "is_integer"])

_library = torch.library.Library("graphmend", "FRAGMENT")
_library.define("by_python(str function, Tensor[] numbers) -> (Tensor result, Tensor raised)")


def _compute(function: str, numbers: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    try:
        result = _FUNCTIONS[function](*(number.item() for number in numbers))
    except (ArithmeticError, ValueError):
        result = None
    # A negative number to the power of a half is complex.
    is_real = isinstance(result, (bool, float))
    made = torch.tensor(result if is_real else 0.0, dtype=torch.float64, device="cpu")
    return made, torch.tensor(not is_real, device="cpu")


def _like(function: str, numbers: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    return numbers[0].new_empty(()), numbers[0].new_empty((), dtype=torch.bool)


_library.impl("by_python", _compute, "CPU")
_library.impl("by_python", _like, "Meta")


def name_in_python(target: Any) -> str | None:
    """How the operator knows a function, method or operator of floats; None if it does not."""
    name = target if isinstance(target, str) else target.__name__
    name = f"math.{name}" if getattr(target, "__module__", None) == "math" else name.removeprefix("_sym_")
    return name if name in _FUNCTIONS else None


def computed_by_python(tx: Any, name: str, operands: Sequence[Any]) -> Any:
    """A symbol for what Python makes of numbers, in a graph that does not count where it raises; None if one of them
    is no number, or no float comes of them."""
    if not _gives_float(name, operands) or not all(fits_double(tx, each) for each in operands):
        return None
    numbers = ListVariable([as_double(tx, each) for each in operands])
    call = TorchInGraphFunctionVariable(torch.ops.graphmend.by_python.default)
    result, raised = call.call_function(tx, [ConstantVariable.create(name), numbers], {}).unpack_var_sequence(tx)
    check(tx, raised)
    if name in _TRUTHS:
        result = result.call_method(tx, "bool", [], {})
    return result.call_method(tx, "item", [], {})


def _gives_float(name: str, operands: Sequence[Any]) -> bool:
    types = [each.python_type() for each in operands]
    if name == "__round__":
        return types == [float, int]
    return name.startswith("math.") or float in types


def functions_by_python() -> contextlib.AbstractContextManager[None]:
    """Inside, functions of `math`, and powers, which torch has for positive numbers alone, take numbers that were read
    from tensors."""
    return replaced(
        (TorchInGraphFunctionVariable, "call_function", _calling(lambda self: self.value)),
        (BuiltinVariable, "call_function", _calling(lambda self: POWERS.get(self.fn))),
    )


POWERS: dict[Any, Any] = dict.fromkeys((pow, operator.pow, operator.ipow), operator.pow)


def _calling(function_of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
            function = function_of(self)
            made = None
            if function is operator.pow or getattr(function, "__module__", None) == "math":
                made = _of_read(tx, function, [each.realize() for each in args]) if not kwargs else None
            return original(self, tx, args, kwargs) if made is None else made

        return call_function

    return make


def _of_read(tx: Any, function: Any, numbers: list[Any]) -> Any:
    """What Python makes of numbers, if one of them is read from a tensor, and the result is a float's."""
    symbols = [each for each in numbers if isinstance(each, SymNodeVariable)]
    name = name_in_python(function)
    if name is None or not any(read_symbols(each.sym_num) for each in symbols):
        return None
    if function is operator.pow and len(numbers) > 2:
        return None
    return computed_by_python(tx, name, numbers)
