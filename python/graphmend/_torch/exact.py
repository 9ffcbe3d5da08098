"""Numbers that were read from tensors are computed as Python computes them, also while they are symbols.

torch knows what is computed from a symbol as an expression of sympy's, which takes floats for real numbers: `k - k` is
zero and `k != k` false, and NaN, infinities and roundings are nowhere. Where that shows, the operation is one of
tensors of doubles, whose result is read again, or Python itself computes it. Of what is left, Python needs the number.
"""

import contextlib
import operator
from collections.abc import Iterator
from typing import Any

import sympy  # type: ignore[import-untyped,import-not-found,unused-ignore]
import torch
from torch._dynamo.source import CallMethodItemSource, TensorPropertySource
from torch._dynamo.symbolic_convert import compare_op_handlers
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    SymNodeVariable,
    UnspecializedPythonVariable,
)
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.functions import ToFloat
from torch.utils._sympy.symbol import SymT, symbol_is_type
from torch.utils._sympy.value_ranges import bound_sympy

from graphmend._torch.by_python import POWERS, computed_by_python, functions_by_python, name_in_python
from graphmend._torch.raising import FIRST_ROUNDED, as_double, fits_double, raising_checked
from graphmend._torch.replaced import replaced
from graphmend._torch.symbols import read_symbols
from graphmend._torch.tracing import traced_backend

# Of these, sympy forgets the order of the operands, which a NaN and the sign of a zero show.
_UNORDERED = (torch.sym_max, torch.sym_min, max, min)
_COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
# What tensors of doubles make of numbers as Python does.
_ON_DOUBLES = (operator.add, operator.sub, operator.mul, operator.truediv, *_COMPARISONS)
_DIVISIONS = (
    divmod,
    *(operator.truediv, operator.floordiv, operator.mod),
    *(operator.itruediv, operator.ifloordiv, operator.imod),
)
_NEGATIONS = (operator.neg, operator.not_, torch.sym_not)


@contextlib.contextmanager
def numbers_exact() -> Iterator[None]:
    """Inside, what is computed of symbols of values is what Python computes, or a check in the graph tells."""
    inputs = replaced((ShapeEnv, "create_unspecified_symbol", _no_fraction), (ShapeEnv, "create_symfloatnode", _if_any))
    with replaced((SymNodeVariable, "create", _if_kept)), functions_by_python(), inputs:
        yield


def _no_fraction(original: Any) -> Any:
    """Of an input that is a double by itself, Dynamo would read the number before the graph, and have a graph for
    each."""

    def create_unspecified_symbol(self: Any, val: Any, source: Any, *args: Any, **options: Any) -> Any:
        is_fraction = isinstance(source, CallMethodItemSource) and isinstance(val, float)
        return None if is_fraction else original(self, val, source, *args, **options)

    return create_unspecified_symbol


def _if_any(original: Any) -> Any:
    def create_symfloatnode(self: Any, sym: Any, **options: Any) -> Any:
        return None if sym is None else original(self, sym, **options)

    return create_symfloatnode


@contextlib.contextmanager
def numbers_compared() -> Iterator[None]:
    """Inside, numbers that may change are compared as Python does it where Dynamo does otherwise: it takes a large
    number for the float next to it, and divides by zero. One that meets a number which was drawn is the one it is."""
    originals = {name: compare_op_handlers[name] for name in ("==", "!=", "<", "<=", ">", ">=")}
    compare_op_handlers.update({name: _of_constants(original) for name, original in originals.items()})
    try:
        with replaced((BuiltinVariable, "call_function", _with_drawn)):
            yield
    finally:
        compare_op_handlers.update(originals)


def _of_constants(original: Any) -> Any:
    def handle(tx: Any, args: Any, kwargs: Any) -> Any:
        left, right = (each.realize() for each in args)
        if any(isinstance(each, SymNodeVariable) for each in (left, right)) and _round(left, right):
            args = [as_constant(tx, left), as_constant(tx, right)]
        return original(tx, args, kwargs)

    return handle


def _with_drawn(original: Any) -> Any:
    """Of a number that may change and one that Python's `random` has drawn, Dynamo would make a tensor; and a fraction,
    of a power that is complex. It is not told of a divisor that becomes zero."""

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in _DIVISIONS and len(args) == 2:
            _note_zero(*(each.realize() for each in args))
        known = [each.realize() if each.is_realized() else each for each in args]
        is_drawn = any(isinstance(each, UnspecializedPythonVariable) for each in known)
        if is_drawn or (self.fn in POWERS and _may_be_complex(known)):
            args = [as_constant(tx, each) for each in known]
        return original(self, tx, args, kwargs)

    return call_function


def _note_zero(dividend: Any, divisor: Any) -> None:
    """Has what is compiled hold for a divisor that is zero, or for one that is not: Python raises for zero. Sizes of
    tensors are not asked, which the program may have said to be any; nor is anything under `fullgraph=True`, where what
    raises while it is traced is an error of Dynamo's."""
    if type_of_number(dividend) not in (bool, int, float) or not isinstance(divisor, SymNodeVariable):
        return
    if getattr(traced_backend(), "fullgraph", False):
        return
    node = divisor.sym_num.node
    sources = [each for symbol in node.expr.free_symbols for each in node.shape_env.var_to_sources.get(symbol, ())]
    if node.hint is not None and not any(isinstance(each, TensorPropertySource) for each in sources):
        bool(divisor.sym_num == 0)


def _may_be_complex(operands: list[Any]) -> bool:
    """Whether it is a power of a negative number, with a fraction that may change."""
    if len(operands) != 2:
        return False
    base, exponent = operands
    if not isinstance(exponent, SymNodeVariable) or exponent.python_type() is not float:
        return False
    is_known = not isinstance(base, SymNodeVariable) and type_of_number(base) in (int, float)
    return is_known and base.as_python_constant() < 0


def _round(left: Any, right: Any) -> bool:
    """Whether sympy, which compares at the float's precision, would round one of two numbers."""
    if {type_of_number(left), type_of_number(right)} != {int, float}:
        return False
    return any(
        isinstance(number, (int, float)) and abs(number) >= FIRST_ROUNDED for number in map(_hint, (left, right))
    )


def _hint(value: Any) -> Any:
    """What a number is in the call that is traced; None if it is read from a tensor in the graph."""
    return value.sym_num.node.hint if isinstance(value, SymNodeVariable) else value.as_python_constant()


def type_of_number(value: Any) -> Any:
    """The type of a number; None of anything else."""
    is_number = isinstance(value, SymNodeVariable) or value.is_python_constant()
    return value.python_type() if is_number else None


def as_constant(tx: Any, value: Any) -> Any:
    """A number that may change as the one it is: guarded on, or predicted if it is a symbol of values."""
    return ConstantVariable.create(value.evaluate_expr(tx.output)) if isinstance(value, SymNodeVariable) else value


def _if_kept(original: Any) -> Any:
    def create(tx: Any, proxy: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(tx, proxy, *args, **kwargs)
        node = proxy.node
        values = [each.meta.get("example_value") if isinstance(each, torch.fx.Node) else each for each in node.args]
        if not any(map(read_symbols, values)):
            return made
        operands = [_variable(proxy, *each) for each in zip(node.args, values, strict=True)]
        if _compares_truth(node.target, values):
            if all(fits_double(tx, each) for each in operands):
                return _on_doubles(tx, node.target, operands)
        elif raising_checked(tx, node.target, operands):
            if not _hangs_on_float(values) or _keeps(node, values):
                return made
            if node.target in _ON_DOUBLES and all(fits_double(tx, each) for each in operands):
                return _on_doubles(tx, node.target, operands)
        elif _hangs_on_float(values) and (name := name_in_python(node.target)):
            computed = computed_by_python(tx, name, operands)
            if computed is not None:
                return computed
        next(each for each, value in zip(operands, values, strict=True) if read_symbols(value)).evaluate_expr(tx.output)
        return made

    return create


def _variable(proxy: Any, argument: Any, value: Any) -> Any:
    """An operand of a node as Dynamo has it."""
    is_node = isinstance(argument, torch.fx.Node)
    return SymNodeVariable(torch.fx.Proxy(argument, proxy.tracer), value) if is_node else ConstantVariable.create(value)


def _on_doubles(tx: Any, target: Any, operands: list[Any]) -> Any:
    """What a node computes as a symbol of its own: read from a tensor, with nothing known of how it came about."""
    made = BuiltinVariable(target).call_function(tx, [as_double(tx, each) for each in operands], {})
    return made.call_method(tx, "item", [], {})


def _compares_truth(target: Any, values: list[Any]) -> bool:
    """Whether a truth is compared with a number, which to sympy no truth is equal to."""
    truths = [isinstance(each, (bool, torch.SymBool)) for each in values]
    return target in _COMPARISONS and any(truths) and not all(truths)


def _hangs_on_float(values: list[Any]) -> bool:
    """Whether floats are computed of what was read from tensors, or a truth of what such floats came to."""
    of_truths = {symbol for each in values if isinstance(each, torch.SymBool) for symbol in read_symbols(each)}
    if any(symbol_is_type(symbol, SymT.UNBACKED_FLOAT) for symbol in of_truths):
        return True
    return any(isinstance(each, (float, torch.SymFloat)) for each in values) and any(map(read_symbols, values))


def _keeps(node: torch.fx.Node, values: list[Any]) -> bool:
    """Whether the expression of what a node computes has its operands as they are, and nothing else."""
    if node.target in _UNORDERED:
        return False
    parts = list(_expression(node.meta["example_value"]).args)
    operands = [_expression(each) for each in values]
    if len(operands) == 1:
        # Of other functions of one number nothing is taken together.
        return node.target not in _NEGATIONS or parts in ([operands[0]], [-1, operands[0]])
    if len(parts) != 2 or operands[0] == operands[1] or _is_foregone(node, operands):
        return False
    forms = [(each,) if isinstance(each, sympy.logic.boolalg.Boolean) else _forms(each) for each in operands]
    one, other = parts
    return (one in forms[0] and other in forms[1]) or (one in forms[1] and other in forms[0])


def _is_foregone(node: torch.fx.Node, operands: list[Any]) -> bool:
    """Whether sympy may know what a comparison comes to, NaN or not: `k + 1 > k`, `k <= inf`, `sqrt(k) > -1`."""
    one, other = (each.free_symbols for each in operands)
    is_infinite = any(each in (sympy.oo, -sympy.oo) or each.is_infinite for each in operands)
    return node.target in _COMPARISONS and (is_infinite or not one.isdisjoint(other) or any(map(_is_bounded, operands)))


def _is_bounded(operand: Any) -> bool:
    """Whether torch takes a fraction that may change to be in a range, where no NaN is: a square root, say."""
    if not operand.free_symbols or operand.is_integer:
        return False
    known = bound_sympy(operand)
    return bool(known.lower != -sympy.oo or known.upper != sympy.oo)


def _forms(operand: Any) -> tuple[Any, ...]:
    return operand, -operand, ToFloat(operand)


def _expression(value: Any) -> Any:
    is_symbolic = isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
    return value.node.expr if is_symbolic else sympy.sympify(value)
