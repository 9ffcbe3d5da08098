"""What mended code calls, under the name `__graphmend__`.

In eager, `tracing()` is False and the user's own text runs, untouched. While Dynamo traces for one of our backends,
these functions are traced too: they put markers into the graph (see `_transaction`), or return False to say that the
statement must run as it stands, and so break the graph as it always did.
"""

from collections.abc import Callable
from types import CodeType
from typing import Any

import torch
import torch._dynamo

from graphmend import _mended_code, _torch_private, _values
from graphmend._transaction import MendedBackend


def _backend() -> MendedBackend | None:
    """The backend of ours for which Dynamo is tracing in this thread."""
    backend = _torch_private.traced_backend()
    return backend if isinstance(backend, MendedBackend) else None


def code_to_trace(code: CodeType, space: dict[str, Any]) -> CodeType:
    """What Dynamo asks for each function that it inlines."""
    backend = _backend()
    return _mended_code.replacement(code, space) if backend and not backend.frame.plain else code


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _mends_apply() -> bool:
    backend = _backend()
    return backend is not None and not backend.frame.plain and not _torch_private.in_higher_order_op()


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _carry() -> bool:
    backend = _backend()
    return backend is not None and backend.carries(_torch_private.traced_code())


def tracing() -> bool:
    """Whether this is being traced for a call that graphmend owns. One cheap test in eager."""
    return bool(torch.compiler.is_dynamo_compiling()) and bool(_mends_apply())


def post(site: str, *values: Any) -> bool:
    """Carries an effect's values out of the graph. False: a value cannot travel, the statement runs as it stands."""
    if not _carry():
        return False
    spec: list[str] = []
    ints: list[int] = []
    tensors: list[torch.Tensor] = []
    for value in values:
        if not _values.describe(value, spec, ints, tensors):
            return False
    torch.ops.graphmend.emit(site, "".join(spec), ints, tensors)
    return True


def _flag(value: torch.Tensor) -> torch.Tensor:
    return value.detach().reshape(()) != 0


def check(site: str, value: Any, predicted: bool) -> Any:
    """The predicted truth of a test, with a marker that compares it with the real one after the graph."""
    if not isinstance(value, torch.Tensor) or value.numel() != 1 or not _carry():
        return value
    flag = _flag(value)
    torch.ops.graphmend.check(site, torch.logical_not(flag) if predicted else flag)
    return predicted


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


class Marks:
    """The namespace that mended code sees; a class, because Dynamo takes only callables from builtins."""

    tracing = staticmethod(tracing)
    post = staticmethod(post)
    check = staticmethod(check)
    negate = staticmethod(negate)
    either = staticmethod(either)
    both = staticmethod(both)
