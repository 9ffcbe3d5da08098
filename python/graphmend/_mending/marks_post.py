"""The marks that post effects and check tests, and the operators of which traced tests are made."""

import math
import operator
from collections.abc import Callable
from typing import Any

import torch

from graphmend._mending import effects, mended_code, replay, talkers
from graphmend._mending.kept import keep
from graphmend._mending.marks_asked import (
    may_carry,
    may_mend,
    mends_apply,
    own_backend,
    runs_twice,
    trace_again_without,
)
from graphmend._mending.stack import Caller
from graphmend._mending.values import describe, describe_mode, describe_stack
from graphmend._torch.modes import is_transformed
from graphmend._torch.raising import FIRST_ROUNDED
from graphmend._torch.tracing import (
    assume_constant_result,
    changes_print_options,
    changes_streams,
    handles_exception,
    takes_objects,
    traced_stack,
)
from graphmend._torch.variables import was_read


@assume_constant_result
def _stack_of(site: str) -> str:
    """For an effect that asks who called it: the functions around it, as far as they are traced."""
    backend = own_backend()
    if backend is None or not effects.looks_at_stack(site):
        return ""
    spaces = {(code.co_filename, code.co_name): space for code, space in backend.frame.traced}
    callers = [
        Caller(file, line, function, spaces.get((file, function), {})) for file, line, function in traced_stack()
    ]
    # The last of them is the function whose statement it is, which the effect itself stands for.
    return describe_stack(effects.keep_stack(callers[:-1]))


@assume_constant_result
def _stays_for(site: str) -> str:
    """Why a statement would show something else after the graph, if it would."""
    if own_backend() is None:
        return ""
    if effects.tells_of_exception(site) and handles_exception():
        return "it tells of the exception that is handled where it stands"
    if changes_streams():
        return "the function changes where texts go"
    return "the function changes how tensors are printed" if changes_print_options() else ""


def tracing() -> bool:
    """Whether this is being traced for a call that graphmend owns. In eager only while something runs again."""
    if torch.compiler.is_dynamo_compiling():
        return mends_apply()
    return replay.active()


def checks() -> bool:
    """Whether a test may be predicted here; otherwise the user's own text breaks the graph as it always did."""
    return torch.compiler.is_dynamo_compiling() and may_carry()


def asks(site: str) -> bool:
    """Whether the test at the site may be predicted, or what is compared in it."""
    return torch.compiler.is_dynamo_compiling() and may_mend(site)


def posts(site: str) -> bool:
    """Whether the statement at the site is carried out of the graph; asked before its arguments are evaluated."""
    if torch.compiler.is_dynamo_compiling():
        return may_mend(site) and not runs_twice()
    return replay.waits_for(site)


def post(site: str, *values: Any) -> bool:
    """Carries an effect's values out of the graph; where one cannot travel, the trace begins anew without."""
    is_traced = torch.compiler.is_dynamo_compiling()
    if not is_traced and replay.expects(site):
        replay.pass_over()
        return True
    # A break among the arguments may have ended the graph that was asked about; or the statement runs again, and it is
    # a later time that it was delivered.
    if not is_traced or not may_mend(site):
        _tell(site, *values)
        return True
    reason = _stays_for(site)
    if reason:
        return bool(trace_again_without(site, reason))
    spec = [_stack_of(site), describe_mode()]
    ints: list[int] = []
    tensors: list[torch.Tensor] = []
    met: list[Any] = []
    for value in values:
        if not describe(value, spec, ints, tensors, met):
            return bool(trace_again_without(site, "an argument is neither a tensor, a number, text nor made of these"))
    if tensors and _is_transformed():
        return bool(trace_again_without(site, "a transform of `torch.func` is around it, and its tensors say so"))
    torch.ops.graphmend.emit(site, "".join(spec), ints, tensors)
    return True


@assume_constant_result
def _is_transformed() -> bool:
    return is_transformed()


@torch.compiler.disable  # type: ignore[untyped-decorator,unused-ignore]
def _tell(site: str, *values: Any) -> None:
    """Runs the statement at the site at once; what it needs is evaluated already."""
    effects.tell(site, values)


def talker(site: str, name: str, receiver: object) -> object:
    """The key by which what a statement talks through is found again; the trace begins anew if it does more. Itself,
    where nothing is traced."""
    if not torch.compiler.is_dynamo_compiling() or not may_mend(site):
        return receiver
    return str(_key_of(site, name, receiver))


@takes_objects
def _key_of(site: str, name: str, receiver: object) -> str:
    number = keep(receiver) if talkers.talks(receiver, name.rpartition(".")[2]) else None
    if number is not None:
        return str(number)
    mended_code.note_silent(site, name)
    return str(trace_again_without(site, f"`{name}` is not known to only talk; `graphmend.effect` declares it"))


def as_flag(value: torch.Tensor) -> torch.Tensor:
    """The truth of a tensor of one element, in memory of its own. Each operator takes time in a trace."""
    if value.requires_grad:
        value = value.detach()
    return (value if value.dim() == 0 else value.reshape(())) != 0


def as_tensor(test: Any) -> Any:
    """A test as it is; that of a number that was read from a tensor as a tensor again."""
    if torch.compiler.is_dynamo_compiling() and was_read(test):
        # Where the number is, which may not be where tensors are made by default.
        return torch.full((), test if isinstance(test, bool) else test != 0, device="cpu")
    return test


def check(site: str, value: Any, predicted: bool) -> Any:
    """The predicted truth of a test, with a marker that compares it with the real one after the graph."""
    value = as_tensor(value)
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        return value
    # The test itself may have broken the graph that was asked about.
    if not checks():
        return value
    flag = as_flag(value)
    torch.ops.graphmend.check(site, torch.logical_not(flag) if predicted else flag)
    return predicted


def number(value: Any, *args: Any, **kwargs: Any) -> Any:
    """`value.item()` as a test needs it: a tensor that compares as the Python number would, in `compared`."""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and value.dtype != torch.uint64:
        # In the widest type, as Python has them.
        flat = value.detach().reshape(())
        if flat.is_complex():
            return flat.to(torch.complex128)
        if flat.is_floating_point():
            return flat.double()
        return flat if flat.dtype == torch.bool else flat.long()
    return value.item(*args, **kwargs)


def real(value: Any) -> Any:
    """`float(value)` as a test needs it"""
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_complex():
        return value.detach().reshape(()).double()
    return float(value)


def middle(value: Any) -> Any:
    """`b` of `a < b < c`, which is kept for the second comparison: no gradients lead back from it."""
    return value.detach() if isinstance(value, torch.Tensor) else value


def compared(numbers: str, by: str, left: Any, right: Any) -> Any:
    """A comparison of which the left or the right side (`numbers`), or either, is a Python number in eager."""
    if numbers == "lr" and isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return _compared_exactly(by, left, right)
    if numbers == "l" or (numbers == "lr" and isinstance(left, torch.Tensor)):
        left = _beside(left, right)
    else:
        right = _beside(right, left)
    return _COMPARISONS[by](left, right)


def _compared_exactly(by: str, left: torch.Tensor, right: torch.Tensor) -> Any:
    """A whole number and a fraction compare as the fractions do that they are, unless these are the same."""
    compare = _COMPARISONS[by]
    if right.dtype == torch.int64 and left.dtype == torch.float64:
        left, right, compare = right, left, _COMPARISONS[_TURNED[by]]
    if left.dtype != torch.int64 or right.dtype != torch.float64:
        return compare(left, right)
    rounded = left.double()
    # Whole numbers end here.
    has_whole = right < 2.0**63
    same = compare(torch.where(has_whole, left, -1), torch.where(has_whole, right, 0.0).long())
    return torch.where(rounded == right, same, compare(rounded, right))


def _beside(number: Any, other: Any) -> Any:
    """A number as it is compared: with Python's in double precision, with a tensor's in the type that has."""
    if not isinstance(number, torch.Tensor) or number.is_complex():
        return number
    if not isinstance(other, torch.Tensor):
        # Python compares whole numbers and fractions without rounding either.
        if type(other) in (int, float) and FIRST_ROUNDED <= abs(other) < math.inf:
            return number.item()
        return number.double() if isinstance(other, float) else number
    if other.is_complex() or (other.dtype == torch.bool and not number.is_floating_point()):
        return number
    if number.is_floating_point() and not other.is_floating_point():
        return number.to(torch.get_default_dtype())
    return number.to(other.dtype)


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


# What a comparison is when its sides are exchanged.
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def truth(value: Any) -> Any:
    """`bool(value)`"""
    value = as_tensor(value)
    return as_flag(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else bool(value)


def _has_its_own(owner: Any, method: str) -> bool:
    """Whether a method is not a tensor's: `numpy.allclose`, or one that the program has written."""
    return not isinstance(owner, torch.Tensor) and hasattr(owner, method)


def equal(one: Any, other: Any) -> Any:
    """`torch.equal(one, other)` or `one.equal(other)`"""
    if _has_its_own(one, "equal"):
        return one.equal(other)
    if type(one) is not torch.Tensor or type(other) is not torch.Tensor or one.dtype != other.dtype:
        return torch.equal(one, other)
    # A GPU does not look into what is the same, whether it has a NaN or not.
    if one is other and one.device.type == "cuda":
        return True
    return (one == other).all() if one.shape == other.shape else False


def holds(is_in: bool, item: Any, container: Any) -> Any:
    """`item in container`, or `item not in container`; of a tensor's elements as a tensor"""
    is_number = isinstance(item, (bool, int, float)) or (type(item) is torch.Tensor and item.dim() == 0)
    if torch.compiler.is_dynamo_compiling() and type(container) is torch.Tensor and is_number:
        found = (item == container).any()
        return found if is_in else torch.logical_not(found)
    return item in container if is_in else item not in container


def allclose(*args: Any, **kwargs: Any) -> Any:
    """`torch.allclose(one, other, …)` or `one.allclose(other, …)`"""
    if args and _has_its_own(args[0], "allclose"):
        return args[0].allclose(*args[1:], **kwargs)
    return torch.isclose(*args, **kwargs).all()


def negate(value: Any) -> Any:
    """`not value`"""
    value = as_tensor(value)
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return torch.logical_not(as_flag(value))
    return not value


def in_vain(operand: Callable[[], Any]) -> Any:
    """An operand that Python may not come to: what it raises must not be seen."""
    return as_tensor(operand())


def either(left: Any, right: Callable[[], Any]) -> Any:
    """`left or right()`"""
    left = as_tensor(left)
    # A break among the operands may have ended the graph that was asked about.
    if not isinstance(left, torch.Tensor) or left.numel() != 1 or not checks():
        return left or right()
    other = in_vain(right)
    if isinstance(other, torch.Tensor) and other.numel() == 1:
        return torch.logical_or(as_flag(left), as_flag(other))
    return True if other else left


def both(left: Any, right: Callable[[], Any]) -> Any:
    """`left and right()`"""
    left = as_tensor(left)
    # A break among the operands may have ended the graph that was asked about.
    if not isinstance(left, torch.Tensor) or left.numel() != 1 or not checks():
        return left and right()
    other = in_vain(right)
    if isinstance(other, torch.Tensor) and other.numel() == 1:
        return torch.logical_and(as_flag(left), as_flag(other))
    return left if other else False
