"""Operations on numbers read from tensors that raise in Python for some numbers: a check in the graph tells those.

Backends compute symbols in languages of their own, where a division by zero is infinite and `int(nan)` some number.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    SymNodeVariable,
    TorchInGraphFunctionVariable,
    TupleVariable,
)

_NEVER = frozenset(
    getattr(operator, name)
    for name in "add sub mul neg pos abs invert eq ne lt le gt ge and_ or_ xor not_ truth".split()
) | {torch.sym_max, torch.sym_min, torch.sym_not, torch.sym_float, max, min}
_DIVISIONS = frozenset([operator.truediv, operator.floordiv, operator.mod])
_TO_WHOLE = frozenset([torch.sym_int, math.floor, math.ceil, math.trunc, "__round__"])
# From here on, not every whole number is a float, and none has room in 64 bits.
FIRST_ROUNDED = 2**53
FIRST_TOO_LARGE = 2**63


def raising_checked(tx: Any, target: Any, operands: Sequence[Any]) -> bool:
    """Whether backends compute an operation on numbers as Python does, but for those that a check in the graph tells:
    it is added."""
    if target in _NEVER:
        return True
    if target in _TO_WHOLE and len(operands) == 1:
        return not _is_float(operands[0]) or check(tx, _reaches(tx, operands[0], FIRST_TOO_LARGE))
    if target is torch._sym_sqrt:
        return fits_double(tx, operands[0]) and check(tx, _compared(tx, operator.lt, operands[0], 0.0))
    of_floats = any(map(_is_float, operands))
    if target is operator.pow:
        return not of_floats and operands[1].is_python_constant() and bool(operands[1].as_python_constant() >= 0)
    if target not in _DIVISIONS or (of_floats and target is not operator.truediv):
        return False
    if target is operator.truediv and not all(fits_double(tx, each) for each in operands):
        return False
    if operands[1].is_python_constant():
        return bool(operands[1].as_python_constant() != 0)
    # Inductor's kernels compute it for all that, and on a processor the process ends.
    if target is operator.mod:
        return False
    return check(tx, _compared(tx, operator.eq, operands[1], 0.0))


def fits_double(tx: Any, number: Any) -> bool:
    """Whether something is a number that is the same as a double, but for those that a check in the graph tells."""
    if isinstance(number, SymNodeVariable):
        return _is_float(number) or check(tx, _reaches(tx, number, FIRST_ROUNDED))
    if not number.is_python_constant() or type(number.as_python_constant()) not in (bool, int, float):
        return False
    return _is_float(number) or abs(number.as_python_constant()) < FIRST_ROUNDED


def as_double(tx: Any, number: Any) -> Any:
    return as_tensor(tx, number, torch.float64)


def as_tensor(tx: Any, number: Any, dtype: torch.dtype) -> Any:
    """A tensor where the number is, which may not be where tensors are made by default."""
    said = {"dtype": ConstantVariable.create(dtype), "device": ConstantVariable.create("cpu")}
    return TorchInGraphFunctionVariable(torch.full).call_function(tx, [TupleVariable([]), number], said)


def check(tx: Any, flag: Any) -> bool:
    """Has the graph not count where the flag is set; true."""
    call = TorchInGraphFunctionVariable(torch.ops.graphmend.check.default)
    call.call_function(tx, [ConstantVariable.create(""), flag], {})
    return True


def _is_float(number: Any) -> bool:
    return bool(number.python_type() is float)


def _compared(tx: Any, by: Callable[..., Any], operand: Any, number: float) -> Any:
    return BuiltinVariable(by).call_function(tx, [as_double(tx, operand), ConstantVariable.create(number)], {})


def _reaches(tx: Any, operand: Any, number: int) -> Any:
    """Whether a number is as large as another one, whatever its sign, or none."""
    size = BuiltinVariable(abs).call_function(tx, [as_double(tx, operand)], {})
    less = BuiltinVariable(operator.lt).call_function(tx, [size, ConstantVariable.create(float(number))], {})
    return TorchInGraphFunctionVariable(torch.logical_not).call_function(tx, [less], {})
