"""Deques from outside that hold only so many: Dynamo takes them for deques that hold any number.

In: traces. Out: the same, where such a deque drops what it has no room for, while it is traced and in what is written
back.
"""

import contextlib
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.base import ValueMutationNew
from torch._dynamo.variables.lists import DequeVariable

from graphmend._torch.replaced import replaced
from graphmend._torch.tracing import holds_as_it_is


def deques_bounded() -> contextlib.AbstractContextManager[None]:
    return replaced(
        (SideEffects, "track_mutable", _with_room),
        (DequeVariable, "__init__", _without_room),
        (DequeVariable, "call_method", _kept),
        (SideEffects, "codegen_update_mutated", _written_as_they_are),
    )


def _with_room(original: Any) -> Any:
    def track_mutable(self: Any, value: Any, variable: Any, *more: Any, **options: Any) -> Any:
        if isinstance(variable, DequeVariable) and variable.source and value.maxlen is not None:
            holds_as_it_is(variable.source, lambda deque: deque.maxlen, "how much a deque holds")
            variable.maxlen = ConstantVariable.create(value.maxlen)
        return original(self, value, variable, *more, **options)

    return track_mutable


def _without_room(original: Any) -> Any:
    def init(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        _drop_all(self)

    return init


def _kept(original: Any) -> Any:
    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "copy" and not args and not kwargs:
            return DequeVariable(list(self.items), maxlen=self.maxlen, mutation_type=ValueMutationNew())
        result = original(self, tx, name, args, kwargs)
        _drop_all(self)
        return result

    return call_method


def _drop_all(variable: Any) -> None:
    """A deque that holds nothing keeps all in Dynamo."""
    if variable.maxlen.as_python_constant() == 0:
        variable.items[:] = []


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
