"""Dynamo captures an `assert` on a tensor as an operator, which raises what the program does not, past its handlers."""

import contextlib
from collections.abc import Callable
from typing import Any

from torch._dynamo import symbolic_convert

from graphmend._torch.replaced import replaced


def asserts_left(are_left: Callable[[], bool]) -> contextlib.AbstractContextManager[None]:
    """Inside, an `assert` breaks the graph like any other test while `are_left` says so."""
    return replaced((symbolic_convert, "_detect_and_normalize_assert_statement", lambda it: _unless(are_left, it)))


def _unless(are_left: Callable[[], bool], original: Any) -> Any:
    def is_assert(*args: Any) -> Any:
        return not are_left() and original(*args)

    return is_assert
