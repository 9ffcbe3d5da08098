"""Differences where Dynamo fails a call that eager passes, or passes one that eager fails."""

from __future__ import annotations

import re
from collections.abc import Callable

import torch

from .compare import Difference, compare_values
from .known_program import Program
from .observe import Observation


def from_call(cause: Callable[[Observation, Observation], bool]) -> Callable[[Difference, Program], bool]:
    """Where Dynamo fails a call that eager passes, or the other way round, that call and those after it differ."""

    def matches(difference: Difference, program: Program) -> bool:
        last = difference.path[0]
        assert isinstance(last, int)
        return any(map(cause, program.eager[: last + 1], program.plain[: last + 1]))

    return matches


def _raises(seen: Observation, kind: str, text: str = "") -> bool:
    return seen.error is not None and seen.error["type"] == kind and text in repr(seen.error["args"])


def lost_number(eager: Observation, plain: Observation) -> bool:
    return eager.error is None and _raises(
        plain, "builtins.AttributeError", "'NoneType' object has no attribute 'item'"
    )


def captured_assert(eager: Observation, plain: Observation) -> bool:
    return _raises(eager, "builtins.AssertionError") and _raises(plain, "builtins.RuntimeError")


def assert_in_try(difference: Difference, program: Program) -> bool:
    call = difference.path[0]
    assert isinstance(call, int)
    given, seen = difference.expected, difference.seen
    fails = captured_assert(program.eager[call], program.seen[call]) and "finally:" in program.text
    return fails and difference.place == "events" and not compare_values(given[: len(seen)], seen, program.rules)


def _formatted_float(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "exc.InternalTorchDynamoError", "Unknown format code") and eager.error != plain.error


def _joined_float(eager: Observation, plain: Observation) -> bool:
    texts = [f"expected str instance, {kind} found" for kind in ("float", "int")]
    return any(_raises(plain, "builtins.TypeError", text) for text in texts) and eager.error != plain.error


def exception_table(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "builtins.AssertionError", "exception table entry") and eager.error != plain.error


def fails_on_float(eager: Observation, plain: Observation) -> bool:
    return _formatted_float(eager, plain) or _joined_float(eager, plain)


def iterated_views(eager: Observation, plain: Observation) -> bool:
    return eager.error is not None and re.search(r"of Unbind\w* is a view", repr(eager.error["args"])) is not None


def hooked_view(difference: Difference, program: Program) -> bool:
    last = difference.path[0]
    assert isinstance(last, int)
    text = "This view was created inside a custom Function"
    refuses = any(_raises(each, "builtins.RuntimeError", text) for each in program.seen[: last + 1])
    return refuses and torch.__version__ < "2.13" and ".register_hook(" in program.text


def assert_message(eager: Observation, plain: Observation) -> bool:
    error = plain.error
    return error is not None and error["type"] == "builtins.TypeError" and "_assert_async()" in repr(error["args"])


def traced_error(eager: Observation, plain: Observation) -> bool:
    return eager.error is not None and _raises(plain, "exc.TorchRuntimeError")


def traced_text(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "exc.TorchRuntimeError", "can only concatenate str") and eager.error != plain.error


def traced_backward(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "exc.BackendCompilerFailed", "modified by an inplace operation")


def raised_class(eager: Observation, plain: Observation) -> bool:
    return _raises(plain, "builtins.AssertionError", "self._current_exception is not None")
