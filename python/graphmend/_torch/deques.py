"""Deques from outside that hold only so many: Dynamo takes them for deques that hold any number.

In: traces. Out: the same, where such a deque drops what it has no room for, while it is traced and in what is written
back.
"""

import contextlib
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.lists import DequeVariable

from graphmend._torch.replaced import replaced
from graphmend._torch.tracing import holds_as_it_is


def deques_bounded() -> contextlib.AbstractContextManager[None]:
    return replaced(
        (SideEffects, "track_mutable", _with_room),
        (SideEffects, "codegen_update_mutated", _written_as_they_are),
    )


def _with_room(original: Any) -> Any:
    def track_mutable(self: Any, value: Any, variable: Any, *more: Any, **options: Any) -> Any:
        if isinstance(variable, DequeVariable) and variable.source and value.maxlen is not None:
            holds_as_it_is(variable.source, lambda deque: deque.maxlen, "how much a deque holds")
            variable.maxlen = ConstantVariable.create(value.maxlen)
        return original(self, value, variable, *more, **options)

    return track_mutable


def _written_as_they_are(original: Any) -> Any:
    def codegen_update_mutated(self: Any, *more: Any, **options: Any) -> Any:
        """What they hold at last is known, and fits: in which order it came does not matter, as Dynamo fears."""
        changed = [each for each in self.id_to_variable.values() if _is_bounded(each) and self.is_modified(each)]
        room = [each.maxlen for each in changed]
        for each in changed:
            each.maxlen = ConstantVariable.create(None)
        try:
            return original(self, *more, **options)
        finally:
            for each, most in zip(changed, room, strict=True):
                each.maxlen = most

    return codegen_update_mutated


def _is_bounded(variable: Any) -> bool:
    return (
        isinstance(variable, DequeVariable) and variable.source is not None and not variable.maxlen.is_constant_none()
    )
