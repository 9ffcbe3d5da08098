"""What mended code calls, under the name `__graphmend__`.

In eager, `tracing()` is False and the user's own text runs, untouched. While Dynamo traces for one of our backends,
these functions are traced too: they put markers into the graph (see `_transaction`), or return False to say that the
statement must run as it stands, and so break the graph as it always did.
"""

import math
from collections.abc import Callable
from types import CodeType
from typing import Any

import torch
import torch._dynamo

from graphmend import _effects, _mended_code, _replay, _speculate, _stack, _torch_private, _values
from graphmend._transaction import MendedBackend


def _backend() -> MendedBackend | None:
    """The backend of ours for which Dynamo is tracing in this thread."""
    backend = _torch_private.traced_backend()
    return backend if isinstance(backend, MendedBackend) else None


def code_to_trace(code: CodeType, space: dict[str, Any]) -> CodeType:
    """What Dynamo asks for each function that it inlines."""
    backend = _backend()
    if backend is None or backend.frame.plain:
        return code
    backend.frame.traced[code] = space
    return _mended_code.replacement(code, space, bool(backend.speculates))


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _mends_apply() -> bool:
    backend = _backend()
    if backend is None or backend.frame.plain:
        return False
    if _torch_private.in_higher_order_op():
        backend.frame.trouble = "it stands in the body of a higher-order operator (checkpoint, cond, vmap, …)"
        return False
    return True


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _select_applies(site: str) -> bool:
    backend = _backend()
    if backend is None or site in backend.declined:
        return False
    backend.frame.trouble = backend.cannot_carry.get(_torch_private.traced_code())
    if backend.frame.trouble is not None:
        return False
    backend.frame.selected.append(site)
    return True


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _decline(site: str, reason: str) -> bool:
    """Says why a place is left as it is, for the report."""
    backend = _backend()
    if backend is not None:
        backend.notes[site] = reason
    return False


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _trace_again_without(site: str, reason: str) -> bool:
    backend = _backend()
    if backend is not None:
        backend.declined[site] = reason
    raise _torch_private.TraceAgain(restart_reason=reason)


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _carry() -> bool:
    backend = _backend()
    if backend is None:
        return False
    backend.frame.trouble = backend.cannot_carry.get(_torch_private.traced_code())
    return backend.frame.trouble is None


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _stack_of(site: str) -> str:
    """For an effect that asks who called it: the functions around it, as far as they are traced."""
    backend = _backend()
    if backend is None or not _effects.looks_at_stack(site):
        return ""
    spaces = {(code.co_filename, code.co_name): space for code, space in backend.frame.traced.items()}
    callers = [
        _stack.Caller(file, line, function, spaces.get((file, function), {}))
        for file, line, function in _torch_private.traced_stack()
        if file != __file__
    ]
    # The last of them is the function whose statement it is, which the effect itself stands for.
    return _values.describe_stack(_effects.keep_stack(callers[:-1]))


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _is_declined(site: str) -> bool:
    backend = _backend()
    return backend is None or site in backend.declined


def tracing() -> bool:
    """Whether this is being traced for a call that graphmend owns. In eager only while something runs again."""
    if torch.compiler.is_dynamo_compiling():
        return bool(_mends_apply())
    return _replay.active()


def checks() -> bool:
    """Whether a test may be predicted here; otherwise the user's own text breaks the graph as it always did."""
    return bool(torch.compiler.is_dynamo_compiling()) and bool(_mends_apply()) and bool(_carry())


def posts(site: str) -> bool:
    """Whether the statement at the site is carried out of the graph; asked before its arguments are evaluated."""
    if torch.compiler.is_dynamo_compiling():
        return bool(_mends_apply()) and bool(_carry()) and not _is_declined(site)
    return _replay.active()


def post(site: str, *values: Any) -> bool:
    """Carries an effect's values out of the graph; where one cannot travel, the trace begins anew without."""
    if not torch.compiler.is_dynamo_compiling():
        return _replay.next_is_done()
    spec = [_stack_of(site)]
    ints: list[int] = []
    tensors: list[torch.Tensor] = []
    for value in values:
        if not _values.describe(value, spec, ints, tensors):
            return bool(_trace_again_without(site, "an argument is neither a tensor, a number, text nor made of these"))
    torch.ops.graphmend.emit(site, "".join(spec), ints, tensors)
    return True


def _flag(value: torch.Tensor) -> torch.Tensor:
    return value.detach().reshape(()) != 0


def check(site: str, value: Any, predicted: bool) -> Any:
    """The predicted truth of a test, with a marker that compares it with the real one after the graph."""
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        return value
    if not torch.compiler.is_dynamo_compiling():
        # The test itself broke the graph, and what follows runs in eager.
        return value
    flag = _flag(value)
    torch.ops.graphmend.check(site, torch.logical_not(flag) if predicted else flag)
    return predicted


def number(value: Any) -> Any:
    """`value.item()` or `float(value)` as a test needs it: a tensor that compares as the Python number would."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        # Floats in double precision, as Python has them.
        return value.detach().reshape(()).double() if value.is_floating_point() else value.detach().reshape(())
    return value.item() if isinstance(value, torch.Tensor) else float(value)


def truth(value: Any) -> Any:
    """`bool(value)`"""
    return _flag(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else bool(value)


def equal(one: Any, other: Any) -> Any:
    """`torch.equal(one, other)`"""
    if type(one) is not torch.Tensor or type(other) is not torch.Tensor or one.dtype != other.dtype:
        return torch.equal(one, other)
    return (one == other).all() if one.shape == other.shape else False


def allclose(one: Any, other: Any, *args: Any, **kwargs: Any) -> Any:
    """`torch.allclose(one, other, …)`"""
    return torch.isclose(one, other, *args, **kwargs).all()


def negate(value: Any) -> Any:
    """`not value`"""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return torch.logical_not(_flag(value))
    return not value


def either(left: Any, right: Callable[[], Any]) -> Any:
    """`left or right()`"""
    if not isinstance(left, torch.Tensor) or left.numel() != 1:
        return left or right()
    other = right()
    if isinstance(other, torch.Tensor) and other.numel() == 1:
        return torch.logical_or(_flag(left), _flag(other))
    return True if other else left


def both(left: Any, right: Callable[[], Any]) -> Any:
    """`left and right()`"""
    if not isinstance(left, torch.Tensor) or left.numel() != 1:
        return left and right()
    other = right()
    if isinstance(other, torch.Tensor) and other.numel() == 1:
        return torch.logical_and(_flag(left), _flag(other))
    return left if other else False


def selects(
    site: str, tests: tuple[Any, ...], read: tuple[Any, ...], keeps_zero_gradient: bool, *assigned: tuple[Any, str]
) -> bool:
    """Whether all sides of a branch can be computed and joined.

    `read` is what they work on, `assigned` the attributes that they assign: of what, and their names.
    """
    if not torch.compiler.is_dynamo_compiling():
        return False
    for test in tests:
        if not isinstance(test, torch.Tensor) or test.numel() != 1:
            return False
    for value in read:
        if not _is_plain(value):
            return bool(_decline(site, "a side works on an object that is neither a tensor nor a plain value"))
    for owner, name in assigned:
        if not _is_plain_attribute(owner, name):
            return bool(_decline(site, "a side assigns an attribute that may be more than a value"))
    if torch.is_grad_enabled():
        for value in read:
            if isinstance(value, torch.Tensor) and value.requires_grad:
                if not keeps_zero_gradient:
                    return bool(_decline(site, "a gradient could come out of the side that was not meant"))
                if isinstance(value, torch.nn.Parameter) or value.is_leaf:
                    return bool(_decline(site, "a leaf would get a gradient of zeros where it had none"))
    return bool(_select_applies(site))


def _is_plain_attribute(owner: Any, name: str) -> bool:
    """Whether assigning the attribute again and again does nothing but keep the last value."""
    if not isinstance(owner, torch.nn.Module) or type(owner).__setattr__ is not torch.nn.Module.__setattr__:
        return False
    return hasattr(owner, name) and not hasattr(type(owner), name) and name not in owner._parameters


def _is_plain(value: Any) -> bool:
    """Whether operators, attributes and methods of the value run no code of the user's."""
    if isinstance(value, torch.Tensor):
        return type(value) is torch.Tensor or type(value) is torch.nn.Parameter
    if value is None or type(value) in (bool, int, float, complex, str, torch.Size):
        return True
    if isinstance(value, (torch.dtype, torch.device, torch.nn.Module)):
        return True
    if type(value) is tuple or type(value) is list:
        for item in value:  # noqa: SIM110 - Dynamo inlines a loop
            if not _is_plain(item):
                return False
        return True
    return False


def join(site: str, tests: tuple[torch.Tensor, ...], sides: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    """Each name's value on the side that was meant: that of the first test that holds, else of the last side."""
    values = sides[-1]
    for i in range(len(tests) - 1, -1, -1):
        flag = _flag(tests[i])
        joined = []
        for k in range(len(values)):
            joined.append(_pick(site, flag, sides[i][k], values[k]))
        values = tuple(joined)
    return values


def _pick(site: str, flag: torch.Tensor, one: Any, other: Any) -> Any:
    if one is other:
        return other
    if type(one) is torch.Tensor and type(other) is torch.Tensor:
        if one.shape != other.shape or one.dtype != other.dtype or one.device != other.device:
            return _trace_again_without(site, "the sides differ in shape, dtype or device")
        if one.requires_grad != other.requires_grad:
            return _trace_again_without(site, "the sides differ in requires_grad")
        result = torch.where(flag, one, other)
        if result.stride() != one.stride() or result.stride() != other.stride():
            return _trace_again_without(site, "the sides differ in their strides")
        torch.ops.graphmend.joined(site, result, one, other)
        return result
    if type(one) is type(other) and isinstance(one, (bool, int, float, str)) and one == other:
        return other
    if type(one) is tuple and type(other) is tuple and len(one) == len(other):
        items = []
        for k in range(len(one)):
            items.append(_pick(site, flag, one[k], other[k]))
        return tuple(items)
    return _trace_again_without(site, "the sides differ in what is not a tensor")


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _learn(site: str) -> str:
    """Predicts the value that was just marked as wanted; the name of the prediction, or nothing if there is none."""
    backend = _backend()
    if backend is None or not backend.speculates:
        if backend is not None:
            backend.notes[site] = "Python needs the value of a tensor here, and speculation is off"
        return ""
    frame = backend.frame
    if frame.attempt is not _torch_private.trace_attempt():
        frame.attempt = _torch_private.trace_attempt()
        frame.passed = {}
        frame.shadow = _speculate.Shadow()
    occurrence = frame.passed[site] = frame.passed.get(site, -1) + 1
    key = _speculate.key_of(site, occurrence, backend.number)
    try:
        value = _speculate.python_value(frame.shadow.value(_torch_private.last_wanted()))
    except _speculate.Impure as error:
        backend.notes[site] = f"its value is not known ahead: {error}"
        return ""
    if backend.speculates == "report":
        backend.notes[site] = f"speculation would predict {value!r} here"
        return ""
    if not _speculate.predict(key, value):
        backend.notes[site] = "its value was predicted wrongly too often"
        return ""
    return key


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _item(text: str, i: int) -> Any:
    return _speculate.decode(text)[i]


def _predicted(site: str, tensor: torch.Tensor) -> Any:
    """The value that is predicted for a tensor, compared after the graph; None if none is."""
    if not torch.compiler.is_dynamo_compiling() or not _mends_apply() or not _carry():
        return None
    if tensor.numel() > _speculate.MAX_ELEMENTS:
        _decline(site, "its value has too many elements to be predicted")
        return None
    torch.ops.graphmend.wanted(tensor)
    key = _learn(site)
    if key == "":
        return None
    text = getattr(_speculate.PREDICTIONS, key)
    # Built in the trace, so that each call has a list of its own.
    items = [_item(text, i) for i in range(tensor.numel())]
    value = _nested(items, tensor.shape, 0, 0)
    expected = torch.tensor(items, dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape)
    actual = tensor.detach()
    differs = actual != expected
    if tensor.is_floating_point():
        # Zeros have signs, and a NaN is what was predicted if a NaN was.
        differs = torch.logical_or(differs, torch.signbit(actual) != torch.signbit(expected))
        differs = torch.logical_and(differs, torch.logical_not(torch.isnan(actual) & torch.isnan(expected)))
    torch.ops.graphmend.predicted(key, text, tensor, differs.any())
    return value


def _nested(items: list[Any], shape: tuple[int, ...], dim: int, start: int) -> Any:
    """Items as `tolist` nests them."""
    if dim == len(shape):
        return items[start]
    step = math.prod(shape[dim + 1 :])
    return [_nested(items, shape, dim + 1, start + i * step) for i in range(shape[dim])]


def value(site: str, kind: str, tensor: Any) -> Any:
    """`tensor.item()`, `tensor.tolist()`, `int(tensor)`, `float(tensor)`, `bool(tensor)`"""
    # Of a tensor that requires grad, torch warns, and its value is another in every step.
    if isinstance(tensor, torch.Tensor) and not tensor.requires_grad and (kind == "tolist" or tensor.numel() == 1):
        predicted = _predicted(site, tensor if kind == "tolist" else tensor.reshape(()))
        if predicted is not None and (kind != "int" or -math.inf < predicted < math.inf):
            if kind == "int":
                return int(predicted)
            if kind == "float":
                return float(predicted)
            return bool(predicted) if kind == "bool" else predicted
    if kind == "item":
        return tensor.item()
    if kind == "tolist":
        return tensor.tolist()
    if kind == "int":
        return int(tensor)
    return float(tensor) if kind == "float" else bool(tensor)


def truth_of(site: str, test: Any) -> Any:
    """The truth of a test that is a tensor; anything else as it is."""
    if isinstance(test, torch.Tensor) and test.numel() == 1:
        predicted = _predicted(site, _flag(test))
        if predicted is not None:
            return predicted
    return test


def index(site: str, owner: Any, bound: Any) -> Any:
    """A size or a position; a tensor as the number it stands for. `owner` is whose method it is given to, if any."""
    if owner is not None and owner is not torch and not isinstance(owner, torch.Tensor):
        return bound
    if isinstance(bound, torch.Tensor) and bound.numel() == 1 and not bound.is_floating_point():
        predicted = _predicted(site, bound.reshape(()))
        if predicted is not None:
            return int(predicted)
    return bound


def _positions(site: str, tensor: Any) -> Any:
    """Where a tensor is not zero, a row for each of its dimensions; as many as are predicted, or None."""
    if not isinstance(tensor, torch.Tensor) or tensor.dim() == 0:
        return None
    count = _predicted(site, (tensor != 0).sum())
    if count is None:
        return None
    if count == 0:
        return torch.empty_strided((tensor.dim(), 0), (0, 1), dtype=torch.int64, device=tensor.device)
    rows = torch.empty(tensor.dim(), count, dtype=torch.int64, device=tensor.device)
    rows.copy_(torch.nonzero_static(tensor, size=count).t())
    return rows


def nonzero(site: str, kind: str, tensor: Any) -> Any:
    """`tensor.nonzero()`, or `torch.nonzero(tensor)`, whose columns lie together in memory"""
    rows = _positions(site, tensor)
    if rows is None:
        return tensor.nonzero() if kind == "method" else torch.nonzero(tensor)
    return rows.t()


def where(site: str, condition: Any) -> Any:
    """`torch.where(condition)`"""
    rows = _positions(site, condition)
    return torch.where(condition) if rows is None else rows.unbind(0)


class Marks:
    """The namespace that mended code sees; a class, because Dynamo takes only callables from builtins."""

    tracing = staticmethod(tracing)
    checks = staticmethod(checks)
    posts = staticmethod(posts)
    post = staticmethod(post)
    check = staticmethod(check)
    number = staticmethod(number)
    truth = staticmethod(truth)
    equal = staticmethod(equal)
    allclose = staticmethod(allclose)
    negate = staticmethod(negate)
    either = staticmethod(either)
    both = staticmethod(both)
    selects = staticmethod(selects)
    join = staticmethod(join)
    value = staticmethod(value)
    truth_of = staticmethod(truth_of)
    index = staticmethod(index)
    nonzero = staticmethod(nonzero)
    where = staticmethod(where)


# Where a frame runs in eager because Dynamo has skipped it, these run in eager too: they are never frames of their own.
for _mark in vars(Marks).values():
    if isinstance(_mark, staticmethod):
        _torch_private.skip_code(_mark.__func__.__code__)
