"""Floats in f-strings. Dynamo rebuilds `f"{x:.2f}"` behind a break as `x`, or fails, where `x` may change."""

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import SymNodeVariable
from torch._dynamo.variables.misc import StringFormatVariable

_CONVERSIONS = ("", "!s", "!r", "!a")


@contextlib.contextmanager
def formats_kept() -> Iterator[None]:
    """Inside, a float that may change is formatted after the graph, as it is written."""
    original = InstructionTranslatorBase._format_value

    def format_value(self: Any, spec: Any, flags: int) -> None:
        value = self.stack[-1].realize()
        if not isinstance(value, SymNodeVariable) or value.python_type() is not float:
            original(self, spec, flags)
            return
        self.pop()
        form = "{" + _CONVERSIONS[flags & 3] + ":" + spec.as_python_constant() + "}"
        self.push(StringFormatVariable.create(form, [value], {}))

    InstructionTranslatorBase._format_value = format_value
    try:
        yield
    finally:
        InstructionTranslatorBase._format_value = original
