"""Differences where Dynamo fails a call that eager passes, or passes one that eager fails."""

from __future__ import annotations

import re
from collections.abc import Callable

import torch

from .compare import Difference
from .known_program import Program
from .observe import Observation


def from_call(cause: Callable[[Observation, Observation], bool]) -> Callable[[Difference, Program], bool]:
    """Where Dynamo fails a call that eager passes, or the other way round, that call and those after it differ."""

    def matches(difference: Difference, program: Program) -> bool:
        last = difference.path[0]
        assert isinstance(last, int)
        return any(map(cause, program.eager[: last + 1], program.seen[: last + 1]))

    return matches


def _raises(seen: Observation, kind: str, text: str = "") -> bool:
    return seen.error is not None and seen.error["type"] == kind and text in repr(seen.error["args"])


def lost_number(eager: Observation, seen: Observation) -> bool:
    return eager.error is None and _raises(seen, "builtins.AttributeError", "'NoneType' object has no attribute 'item'")


def captured_assert(eager: Observation, seen: Observation) -> bool:
    return _raises(eager, "builtins.AssertionError") and _raises(seen, "builtins.RuntimeError")


def _formatted_float(eager: Observation, seen: Observation) -> bool:
    return _raises(seen, "exc.InternalTorchDynamoError", "Unknown format code") and eager.error != seen.error


def _joined_float(eager: Observation, seen: Observation) -> bool:
    texts = [f"expected str instance, {kind} found" for kind in ("float", "int")]
    return any(_raises(seen, "builtins.TypeError", text) for text in texts) and eager.error != seen.error


def exception_table(eager: Observation, seen: Observation) -> bool:
    return _raises(seen, "builtins.AssertionError", "exception table entry") and eager.error != seen.error


def fails_on_float(eager: Observation, seen: Observation) -> bool:
    return _formatted_float(eager, seen) or _joined_float(eager, seen)


def iterated_views(eager: Observation, seen: Observation) -> bool:
    return eager.error is not None and re.search(r"of Unbind\w* is a view", repr(eager.error["args"])) is not None


def hooked_view(eager: Observation, seen: Observation) -> bool:
    refuses = _raises(seen, "builtins.RuntimeError", "This view was created inside a custom Function")
    return refuses and torch.__version__ < "2.13" and eager.error != seen.error


def assert_message(eager: Observation, seen: Observation) -> bool:
    error = seen.error
    return error is not None and error["type"] == "builtins.TypeError" and "_assert_async()" in repr(error["args"])


def traced_error(eager: Observation, seen: Observation) -> bool:
    return eager.error is not None and _raises(seen, "exc.TorchRuntimeError")


def traced_text(eager: Observation, seen: Observation) -> bool:
    return _raises(seen, "exc.TorchRuntimeError", "can only concatenate str") and eager.error != seen.error


def traced_backward(eager: Observation, seen: Observation) -> bool:
    return _raises(seen, "exc.BackendCompilerFailed", "modified by an inplace operation")


def raised_class(eager: Observation, seen: Observation) -> bool:
    return _raises(seen, "builtins.AssertionError", "self._current_exception is not None")
